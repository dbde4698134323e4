"""Metrics of node_exporter: its text, and what Prometheus answers to a range query."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from skelgen.documents import Field, json_field
from skelgen.documents.numbers import NumberError
from skelgen.errors import InputError
from skelgen.sources.types import (
    BOOT,
    BUSY,
    IDLE,
    INTERRUPTS,
    LOAD,
    MEMORY,
    QUEUED,
    RECEIVED,
    RUNNABLE,
    SENT,
    STEAL,
    WAITED,
    Line,
    Look,
    number,
)

_CPU, _RUNNING = "node_cpu_seconds_total", "node_procs_running"
_TIME, _NAME = "node_time_seconds", "node_uname_info"
#: Counters and the label that says of what they are.
_COUNTERS = {
    "node_schedstat_running_seconds_total": (QUEUED, ""),
    "node_schedstat_waiting_seconds_total": (QUEUED, ""),
    "node_pressure_cpu_waiting_seconds_total": (WAITED, ""),
    "node_network_receive_bytes_total": (RECEIVED, "device"),
    "node_network_transmit_bytes_total": (SENT, "device"),
}
_GAUGES = {
    "node_load1": LOAD,
    "node_memory_MemAvailable_bytes": MEMORY,
    "node_boot_time_seconds": BOOT,
}
#: Times of cores by their label; guests are part of the users' time.
_MODES = {
    **dict.fromkeys(("user", "nice", "system"), (BUSY,)),
    **dict.fromkeys(("irq", "softirq"), (BUSY, INTERRUPTS)),
    **dict.fromkeys(("idle", "iowait"), (IDLE,)),
    "steal": (STEAL,),
}
_WANTED = frozenset([_CPU, _RUNNING, _TIME, _NAME, *_COUNTERS, *_GAUGES])

_METRIC = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)[ \t]*([{ \t])")
_LABEL = re.compile(
    r'[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"[ \t]*(,|(?=\}))'
)
_ESCAPES = {"n": "\n", '"': '"', "\\": "\\"}


def read_text(source: str, lines: Iterable[Line], seen: float) -> Iterator[Look]:
    """Read what node_exporter answers; several answers may follow one another.

    Parameters
    ----------
    source : str
        For messages.
    lines : iterable of Line
    seen : float
        When it was read, for text without a time; seconds since 1970 in UTC [s].

    Raises
    ------
    InputError
        With the line that is none of Prometheus text, or when there are no metrics of
        node_exporter.
    """
    part: set[str] = set()
    look, found = Look("", math.nan), False
    for at, line in lines:
        if line.startswith("#") or not line.strip():
            continue
        match = _METRIC.match(line)
        if match is None:
            raise InputError(
                f"{source}: line {at}: read {line[:60]!r}, expected a metric such as "
                'node_load1 0.5 or node_cpu_seconds_total{cpu="0",mode="idle"} 12.5'
            )
        if match[1] not in _WANTED:
            continue
        try:
            labels, value, stamp = _parsed(line, match)
        except NumberError as error:
            raise InputError(f"{source}: line {at}: {match[1]}: {error}") from error
        identity = line[: line.rfind("}") + 1] or match[1]
        if identity in part:
            yield from _whole(look, seen)
            look, part = Look("", math.nan), set()
        part.add(identity)
        found = True
        if match[1] == _TIME or (math.isnan(look.time) and not math.isnan(stamp)):
            look.time = value if match[1] == _TIME else stamp
        _take(look, match[1], labels, value)
    if not found:
        raise InputError(
            f"{source}: has no metrics of node_exporter, such as {_CPU}; give "
            "what http://HOST:9100/metrics answers (node_exporter 0.16 or newer)"
        )
    yield from _whole(look, seen)


def _whole(look: Look, seen: float) -> Iterator[Look]:
    """Give a look its time: as the node says it, else as it was read."""
    look.time = seen if math.isnan(look.time) else look.time
    if look.counters or look.gauges or look.unusable:
        yield look


def _parsed(line: str, match: re.Match[str]) -> tuple[dict[str, str], float, float]:
    """Read labels, value and time [s] of a line; nan where there is no time.

    Raises
    ------
    NumberError
    """
    labels, at = {}, match.end()
    if match[2] == "{":
        while label := _LABEL.match(line, at):
            labels[label[1]] = _plain(label[2])
            at = label.end()
        if line[at : at + 1] != "}":
            raise NumberError(f"read the labels {line[match.end() :][:40]!r}")
        at += 1
    words = line[at:].split()
    if not 1 <= len(words) <= 2:
        raise NumberError(f"read {line[at:][:40]!r}, expected a number")
    stamp = number(words[1]) / 1e3 if len(words) == 2 else math.nan
    return labels, number(words[0]), stamp


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), text)


def _take(look: Look, name: str, labels: Mapping[str, str], value: float) -> None:
    """Put a metric into a look."""
    if name == _NAME:
        look.host = look.host or labels.get("nodename", "")
    elif name == _CPU:
        for kind in _MODES.get(labels.get("mode", ""), ()):
            look.count(kind, labels.get("cpu", ""), value)
    elif name in _COUNTERS:
        kind, label = _COUNTERS[name]
        look.count(kind, labels.get(label, ""), value)
    elif name == _RUNNING:
        look.show(RUNNABLE, max(0.0, value - 1.0))  # one of them looks
    elif name in _GAUGES:
        look.show(_GAUGES[name], value)


def read_range(source: str, text: str) -> Iterator[Look]:
    """Read the answer of Prometheus to a range query, in the order of time.

    Raises
    ------
    InputError
        When it is something else.
    """
    answer = json_field(text, Path(source)).mapping(("data",), None)
    data = answer["data"].mapping(("result",), None)
    looks: dict[tuple[str, float], Look] = {}
    for one in data["result"].items():
        fields = one.mapping(("metric", "values"), None)
        metric = fields["metric"].mapping(optional=None)
        labels = {name: label.text() for name, label in metric.items()}
        name = labels.get("__name__", "")
        if name not in _WANTED or name in (_TIME, _NAME):
            continue
        host = labels.get("instance", "")
        for point in fields["values"].items():
            moment, value = _point(point)
            look = looks.setdefault((host, moment), Look(host, moment))
            _take(look, name, labels, value)
    if not looks:
        raise InputError(
            f"{source}: has no metrics of node_exporter, such as {_CPU}; ask "
            "Prometheus for these metrics themselves, not for rates of them"
        )
    yield from (looks[key] for key in sorted(looks))


def _point(point: Field) -> tuple[float, float]:
    """Read a time [s] and a value."""
    both = point.items()
    if len(both) != 2:
        raise point.error(f"read a list of {len(both)}, expected a time and a value")
    try:
        return both[0].number(), number(both[1].text())
    except NumberError as error:
        raise both[1].error(str(error)) from error
