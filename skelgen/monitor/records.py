"""The lines of a monitor's files: short JSON, each with a checksum.

A line is JSON, a tab and the CRC-32 of that JSON in eight digits. An object is a mark:
what came next begins, a gap, a clock that jumped. A list is a sample: time, number of
samples that it is the mean of when there are several, and values in the order that the
last mark ``columns`` named.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skelgen.monitor.sensor import Sample

#: Version of the lines.
_VERSION = 1
#: Quantities of every node, with how many digits are kept.
_QUANTITIES = (
    ("cpu", 4),
    ("run_queue", 2),
    ("pressure", 4),
    ("steal", 4),
    ("memory_bytes", -4),
    ("traffic_bytes_per_s", -3),
)
#: Quantities of a link, likewise.
LINK_QUANTITIES = (
    ("bandwidth", 4),
    ("bandwidth_bytes_per_s", -4),
    ("latency_s", -3),
)
#: Of a node while an application is watched: what others leave.
_LEFT = "cpu_left"
#: Of these, parts of one: nothing but 0 to 1 is true.
SHARES = frozenset(["bandwidth", "cpu", "cpu_left", "pressure", "steal"])
#: Rounding may exceed 1 by so much.
_SLACK = 1e-6
#: Longest line [characters].
MOST_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class SampleRow:
    """A sample as a file keeps it.

    Attributes
    ----------
    time : float
        Its end, seconds since 1970 in UTC [s].
    values : tuple of float or None
        In the order of the columns; None where nothing is known.
    count : int
        So many samples it is the mean of.
    """

    time: float
    values: tuple[float | None, ...]
    count: int = 1


@dataclass(frozen=True, slots=True)
class SampleMark:
    """What happened between samples.

    Attributes
    ----------
    kind : str
        ``begin`` and ``end`` of the monitor, ``columns``, ``gap``, ``back`` (the clock
        jumped back) or ``refused``.
    time : float
        Seconds since 1970 in UTC [s].
    columns : tuple of str
        Of ``columns``: the quantities of the samples that follow.
    interval_s : float
        Of ``columns`` [s].
    length_s : float
        Of ``gap`` and ``back`` [s].
    reason : str
        Of ``refused``.
    """

    kind: str
    time: float
    columns: tuple[str, ...] = ()
    interval_s: float = math.nan
    length_s: float = math.nan
    reason: str = ""


_KINDS = ("begin", "end", "columns", "gap", "back", "refused")


def columns_of(sample: Sample) -> tuple[str, ...]:
    """Return the quantities of a sample, in their order."""
    more = [f"received_bytes_per_s:{name}" for name, _ in sample.received]
    more += [f"sent_bytes_per_s:{name}" for name, _ in sample.sent]
    more += [_LEFT] if math.isfinite(sample.cpu_left) else []
    return (*(name for name, _ in _QUANTITIES), *more)


def row_of(sample: Sample, time: float) -> tuple[SampleRow, list[str]]:
    """Return a sample as it is kept, and a line for each value that cannot be true."""
    values = [getattr(sample, name) for name, _ in _QUANTITIES]
    values += [value for _, value in (*sample.received, *sample.sent)]
    values += [sample.cpu_left] if math.isfinite(sample.cpu_left) else []
    kept: list[float | None] = []
    refused = []
    for name, value in zip(columns_of(sample), values, strict=True):
        reason = wrong(name, value)
        if reason and not (math.isnan(value) and name != "cpu"):
            refused.append(reason)
        kept.append(None if reason else value)
    return SampleRow(time, tuple(kept)), refused


def wrong(quantity: str, value: float) -> str:
    """Say why a value cannot be true; empty when it can.

    Examples
    --------
    >>> wrong("cpu", 1.3)
    'cpu is 130 %, expected 0 to 100 %'
    """
    if not math.isfinite(value):
        return f"{quantity} is {value}, expected a number"
    if quantity in SHARES and not -_SLACK <= value <= 1 + _SLACK:
        return f"{quantity} is {value:.0%}, expected 0 to 100 %".replace("%,", " %,")
    if value < -_SLACK:
        return f"{quantity} is {value:g}, expected no less than 0"
    return ""


def text_of(what: SampleRow | SampleMark, columns: Sequence[str] = ()) -> str:
    """Return the line of a sample or mark, its end included."""
    if isinstance(what, SampleMark):
        said: Any = {what.kind: round(what.time, 1)}
        if what.kind == "columns":
            said |= {
                "version": _VERSION,
                "interval_s": what.interval_s,
                "names": list(what.columns),
            }
        elif what.kind in ("gap", "back"):
            said["s"] = round(what.length_s, 1)
        elif what.kind == "refused":
            said["reason"] = what.reason
    else:
        digits = {**dict((*_QUANTITIES, *LINK_QUANTITIES)), _LEFT: 4}
        said = [_short(what.time, 1)]
        said += [[what.count]] if what.count > 1 else []
        said += [
            _short(value, digits.get(name, 0))
            for name, value in zip(columns, what.values, strict=True)
        ]
        while said and said[-1] is None:
            said.pop()
    text = json.dumps(said, separators=(",", ":"), allow_nan=False)
    return f"{text}\t{zlib.crc32(text.encode()):08x}\n"


def _short(value: float | None, digits: int) -> float | int | None:
    """Round; negative digits are so many significant ones of large numbers."""
    if value is None:
        return None
    if digits < 0 and value:
        digits = -digits - 1 - math.floor(math.log10(abs(value)))
    value = round(value, digits)
    return int(value) if value == int(value) else value


class LineError(ValueError):
    """A line is damaged; the message says how."""


def read_line(line: str, columns: Sequence[str]) -> SampleRow | SampleMark:
    """Read a line.

    Parameters
    ----------
    line : str
        Without its end.
    columns : sequence of str
        Those that the last mark ``columns`` named.

    Raises
    ------
    LineError
    """
    text, tab, checksum = line.rpartition("\t")
    if not tab or checksum != f"{zlib.crc32(text.encode(errors='replace')):08x}":
        raise LineError("its checksum does not fit")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LineError("it is no JSON") from error
    if isinstance(said, dict):
        return _mark(said)
    if isinstance(said, list) and said:
        return _row(said, columns)
    raise LineError("it is neither a sample nor a mark")


def _row(said: list[Any], columns: Sequence[str]) -> SampleRow:
    time, *values = said
    count = 1
    if values and isinstance(values[0], list):
        (count,), *values = values if len(values[0]) == 1 else ((0,),)
    if not _number(time) or not isinstance(count, int) or not count >= 1:
        raise LineError("it begins with no time")
    if len(values) > len(columns):
        raise LineError(f"it has {len(values)} values, expected {len(columns)}")
    values += [None] * (len(columns) - len(values))
    for name, value in zip(columns, values, strict=True):
        if value is None:
            continue
        if not _number(value):
            raise LineError(f"{name} is no number")
        if reason := wrong(name, value):
            raise LineError(reason)
    return SampleRow(
        float(time), tuple(None if v is None else float(v) for v in values), count
    )


def _mark(said: dict[str, Any]) -> SampleMark:
    kind = next((kind for kind in _KINDS if kind in said), "")
    if not kind or not _number(said[kind]):
        raise LineError("it is a mark of no known kind")
    time = float(said[kind])
    if kind == "columns":
        if said.get("version") != _VERSION:
            raise LineError(
                f"it is of version {str(said.get('version'))[:20]}, expected {_VERSION}"
            )
        columns, interval_s = said.get("names"), said.get("interval_s")
        if not isinstance(columns, list) or not all(
            isinstance(c, str) for c in columns
        ):
            raise LineError("its columns are no list of names")
        if len(set(columns)) != len(columns):
            raise LineError("two of its columns have one name")
        if interval_s is None or not _number(interval_s) or not interval_s > 0:
            raise LineError("its interval is no time")
        return SampleMark(kind, time, tuple(columns), float(interval_s))
    length = said.get("s", 0)
    reason = said.get("reason", "")
    if not _number(length) or not isinstance(reason, str):
        raise LineError(f"its {kind} is incomplete")
    return SampleMark(kind, time, length_s=float(length), reason=reason)


def _number(value: Any) -> bool:
    """Say whether it is a number that a float holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 1e300 and math.isfinite(value)
