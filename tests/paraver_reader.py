"""Reads Paraver traces for tests, from what the format says and nothing of ours."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

HEADER = re.compile(
    r"#Paraver \((\d\d/\d\d/\d{4} at \d\d:\d\d)\):(\d+)_ns:(\d+)\(([\d,]+)\):(\d+):"
    r"(\d+)\(([\d:,]+)\),(\d+)"
)
Thread = tuple[int, int]  # task, thread


@dataclass
class Prv:
    """What a .prv file holds.

    `states` are (begin, end, state) and `events` (time, {type: value}) by thread,
    `messages` rows of numbers, `times` what the records are ordered by.
    """

    end: int
    nodes: list[int]
    tasks: list[tuple[int, int]]
    communicators: dict[int, list[int]]
    states: dict[Thread, list[tuple[int, int, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    events: dict[Thread, list[tuple[int, dict[int, int]]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    messages: list[tuple[int, ...]] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    cpus: dict[Thread, set[int]] = field(default_factory=lambda: defaultdict(set))


def read_prv(path: Path) -> Prv:
    lines = path.read_text().splitlines()
    match = HEADER.fullmatch(lines[0])
    assert match, lines[0]
    _, end, nodes, cpus, applications, tasks, threads, communicators = match.groups()
    prv = Prv(
        int(end),
        [int(count) for count in cpus.split(",")],
        [tuple(map(int, one.split(":"))) for one in threads.split(",")],  # type: ignore[misc]
        {},
    )
    assert (int(nodes), int(applications)) == (len(prv.nodes), 1)
    assert len(prv.tasks) == int(tasks)
    for line in lines[1 : 1 + int(communicators)]:
        kind, application, number, size, *members = line.split(":")
        assert (kind, application, int(size)) == ("c", "1", len(members)), line
        prv.communicators[int(number)] = [int(member) for member in members]
    for line in lines[1 + int(communicators) :]:
        _record(prv, [int(word) for word in line.split(":")])
    return prv


def _record(prv: Prv, words: list[int]) -> None:
    kind, cpu, application, task, thread, time, *rest = words
    assert application == 1
    prv.times.append(time)
    prv.cpus[task, thread].add(cpu)
    if kind == 1:
        end, state = rest
        prv.states[task, thread].append((time, end, state))
    elif kind == 2:
        assert len(rest) % 2 == 0
        pairs = dict(zip(rest[::2], rest[1::2], strict=True))
        prv.events[task, thread].append((time, pairs))
    else:
        assert kind == 3
        assert len(words) == 15
        prv.messages.append(tuple(words[1:]))


def read_pcf(path: Path) -> tuple[dict[int, str], dict[int, dict[int, str]]]:
    """Return the names of states, and of the values of each type."""
    states: dict[int, str] = {}
    values: dict[int, dict[int, str]] = {}
    section, types = "", []
    for line in path.read_text().splitlines():
        if line in ("STATES", "STATES_COLOR", "EVENT_TYPE", "VALUES"):
            section = line
            types = [] if line == "EVENT_TYPE" else types
        elif not line:
            section = ""
        elif section == "STATES":
            number, name = line.split(None, 1)
            states[int(number)] = name
        elif section == "EVENT_TYPE":
            types.append(int(line.split()[1]))
            values[types[-1]] = {}
        elif section == "VALUES":
            number, name = line.split(None, 1)
            values[types[-1]][int(number)] = name
    return states, values


def read_row(path: Path) -> dict[str, list[str]]:
    """Return the names of each level."""
    levels: dict[str, list[str]] = {}
    for block in path.read_text().strip().split("\n\n"):
        head, *names = block.splitlines()
        word, level, size, count = head.split()
        assert (word, size, int(count)) == ("LEVEL", "SIZE", len(names))
        levels[level] = names
    return levels
