"""What machines and people are told of systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from skelgen.cli.output import print_table
from skelgen.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from skelgen.pipeline.known_systems import SystemRows
    from skelgen.store import Fact, Message

#: Prefixes of large numbers.
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
#: A bandwidth from here on means that size does not matter [bytes/s].
_NO_LIMIT = 0.99e15
#: Kinds of facts with a value for each size of the working set.
_OF_SIZES = ("read", "write", "latency")


def show_system(rows: SystemRows, title: str) -> None:
    """Print the values of a host, those of sizes in a table of their own."""
    from skelgen.pipeline.system_facts import measured_date

    date = measured_date(rows.measured) or "at an unknown time"
    plain = [one for one in rows.facts if not _has_size(one)]
    print_table(
        ["value", "cores", "median", "low", "high", "repeats", "doubt"],
        [
            [
                one.name,
                str(one.cores or ""),
                *(
                    quantity(number, one.unit)
                    for number in (one.value, one.low, one.high)
                ),
                str(one.repeats),
                _short(one.doubt),
            ]
            for one in plain
        ],
        title=f"{title}, measured {date}",
    )
    _show_sizes([one for one in rows.facts if one not in plain])
    if rows.messages:
        _show_messages(rows.messages)


def _show_sizes(facts: Sequence[Fact]) -> None:
    """Print bandwidths and latencies of memory: a line for each size."""
    columns = list(
        dict.fromkeys((one.name.partition("_")[0], one.cores) for one in facts)
    )
    lines: dict[str, dict[tuple[str, int], str]] = {}
    for one in facts:
        kind, _, size = one.name.partition("_")
        lines.setdefault(size, {})[kind, one.cores] = quantity(one.value, one.unit)
    if not lines:
        return
    print_table(
        ["working set", *(f"{kind}, {_cores(cores)}" for kind, cores in columns)],
        [
            [size, *(cells.get(one, "") for one in columns)]
            for size, cells in lines.items()
        ],
    )


def _show_messages(messages: Sequence[Message]) -> None:
    head = ["operation", "hosts", "ranks", "latency", "bandwidth", "eager", "stretches"]
    print_table(
        [*head, "spread", "doubt"],
        [
            [
                one.operation,
                ",".join(one.hosts),
                str(one.ranks),
                format_seconds(one.latency_s),
                quantity(one.bandwidth_bytes_per_s, "bytes/s"),
                format_bytes(one.eager_bytes) if one.eager_bytes else "",
                ", ".join(
                    f"from {format_bytes(begin)}" for begin, _, _ in one.knees[1:]
                ),
                f"{one.spread:.0%}" if one.spread < 10 else "> 1000%",
                _short(one.doubt),
            ]
            for one in messages
        ],
    )


def _has_size(fact: Fact) -> bool:
    """Say whether a fact is of one size of the working set."""
    return fact.name.partition("_")[0] in _OF_SIZES


def _spread(fact: Fact) -> list[str]:
    return [quantity(one, fact.unit) for one in (fact.value, fact.low, fact.high)]


def _cores(count: int) -> str:
    return f"{count} core" if count == 1 else f"{count} cores"


def _short(doubt: str) -> str:
    """Return the kinds of doubts in one."""
    return ", ".join(part.partition(":")[0] for part in doubt.split("; ") if part)


def quantity(number: float, unit: str) -> str:
    """Write a number with its unit, in three digits."""
    if math.isnan(number) or number >= _NO_LIMIT:
        return ""
    if unit == "s":
        return _time(number)
    if unit == "bytes":
        return format_bytes(number)
    if unit == "1":
        return f"{number:g}"
    unit = {"bytes/s": "B/s", "1/s": "/s"}.get(unit, unit)
    for factor, prefix in _PREFIXES:
        if abs(number) >= factor:
            return f"{number / factor:.3g} {prefix}{unit}"
    return f"{number:.3g} {unit}"


def _time(time_s: float) -> str:
    """Write a time as `format_seconds`, those below 1 us in nanoseconds."""
    return f"{time_s * 1e9:.3g} ns" if 0 < time_s < 1e-6 else format_seconds(time_s)
