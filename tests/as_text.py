"""Writes events in the text format of `tests.builders`, to look at them or keep them.

``python -m tests.as_text SEED [CALLS]`` prints a random program.
"""

from __future__ import annotations

import random
import sys
from typing import Any

from skelgen.events import CallKind, Communicator, Events, function_info
from skelgen.events.functions import SENDING, TWO_SIDED
from skelgen.events.types import (
    HOLES,
    IN_PLACE,
    NO_COMMUNICATOR,
    NO_PEER,
    NO_TAG,
    PROC_NULL,
    WILDCARD_SOURCE,
    WILDCARD_TAG,
)
from tests.random_programs import random_program

_FROM = {CallKind.RECEIVE, CallKind.IRECEIVE, CallKind.RECEIVE_INIT, CallKind.PROBE}
_TO = set(SENDING)
_BUILT_IN = {"world": "world", "self": "self"}


def as_text(events: Events) -> str:
    """Write events as text from which `builders.events` makes the same again."""
    calls = events.calls
    lines = [f"ranks {calls.ranks}"]
    lines += [
        _communicator(one, calls.communicators)
        for one in calls.communicators
        if one.kind not in _BUILT_IN
    ]
    for rank in range(calls.ranks):
        lines.append(f"rank {rank}")
        for call in range(*calls.first[rank : rank + 2].tolist()):
            lines.append(f"  {_call(events, call)}")
        if events.tail_ns[rank]:
            lines.append(f"  tail {events.tail_ns[rank]}")
    return "\n".join(lines) + "\n"


def _name(one: Communicator) -> str:
    return _BUILT_IN.get(one.kind, f"family{one.family}")


def _numbers(values: Any) -> str:
    return ",".join(str(int(value)) for value in values)


def _communicator(one: Communicator, others: tuple[Communicator, ...]) -> str:
    words = [f"comm {_name(one)} family={one.family} kind={one.kind}"]
    words.append(f"members={_numbers(one.members)}")
    words += [
        f"{key}={_numbers(getattr(one, key))}"
        for key in ("remote", "dims", "periods")
        if getattr(one, key)
    ]
    words += [
        f"{key}={';'.join(_numbers(ranks) or '-' for ranks in getattr(one, key))}"
        for key in ("sources", "destinations")
        if getattr(one, key)
    ]
    if one.parent > 0:
        words.append(f"parent={_name(others[one.parent])}")
    return " ".join(words)


def _call(events: Events, call: int) -> str:
    calls = events.calls
    row = calls.shapes[calls.shape[call]]
    name = calls.functions[row["function"]].removeprefix("MPI_")
    words = [f"{events.compute_ns[call]:>8} {name}"]
    words += _partners(row, function_info(name).kind)
    if row["communicator"] != NO_COMMUNICATOR:
        words.append(f"comm={_name(calls.communicators[row['communicator']])}")
    words.append(f"bytes={calls.size_bytes[call]}")
    words += [f"{key}={row[key]}" for key in ("op", "site") if row[key]]
    words.append(f"type={row['datatype_bytes']}")
    words += [f"piece={row['piece_bytes']}"] * bool(row["piece_bytes"])
    flags = (("inplace", IN_PLACE), ("holes", HOLES))
    words += [word for word, flag in flags if row["flags"] & flag]
    first, last = calls.age_first[calls.ages[call] :][:2]
    if last > first:
        words.append(f"ages={_numbers(calls.age_values[first:last])}")
    for vector, both in zip(calls.vector_call, calls.vectors, strict=True):
        if vector == call:
            words += [
                f"{key}={_numbers(side)}"
                for key, side in zip(("sends", "receives"), both, strict=True)
                if side is not None
            ]
    words.append(f"mpi={events.leave_ns[call] - events.enter_ns[call]}")
    return " ".join(words)


def _partners(row: Any, kind: CallKind) -> list[str]:
    words = []
    wild_source = "*" if row["flags"] & WILDCARD_SOURCE else ""
    wild_tag = "*" if row["flags"] & WILDCARD_TAG else ""
    second = kind in TWO_SIDED
    receives = "peer2" if second else "peer"
    key = "to" if kind in _TO else "root"
    if kind in _FROM or second:
        words.append(f"from={_partner(row[receives], wild_source)}")
    if kind not in _FROM and row["peer"] != NO_PEER:
        words.append(f"{key}={_partner(row['peer'], '')}")
    for name in ("tag", "tag2"):
        mark = wild_tag if second == (name == "tag2") else ""
        if row[name] != NO_TAG or mark:
            words.append(f"{name}={mark}{'' if row[name] == NO_TAG else row[name]}")
    return words


def _partner(peer: int, mark: str) -> str:
    if peer == PROC_NULL:
        return "null"
    return mark + ("" if peer == NO_PEER else str(peer))


if __name__ == "__main__":
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    program = random_program(random.Random(int(sys.argv[1])), calls=wanted)
    sys.stdout.write(as_text(program))
