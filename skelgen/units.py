"""Conversions between the units of traces (ns, int64) and of predictions (s)."""

from __future__ import annotations

import itertools
import math
import re

NS_PER_S = 1_000_000_000


def seconds(time_ns: float) -> float:
    """Convert a time from nanoseconds to seconds.

    Examples
    --------
    >>> seconds(1_500_000_000)
    1.5
    """
    return float(time_ns) / NS_PER_S


_SECONDS = {
    "ms": 1e-3,
    None: 1.0,
    "s": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
#: No run takes so long [s].
_LONGEST_S = 1e12


def parse_seconds(text: str) -> float:
    """Read a duration such as ``5s``, ``500ms``, ``2min`` or ``0.5`` [s].

    Raises
    ------
    ValueError
        When the text is not a positive duration.

    Examples
    --------
    >>> parse_seconds("500ms")
    0.5
    """
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(ms|s|m|min|h|d)?\s*", text)
    found = float(match[1]) * _SECONDS[match[2]] if match else 0.0
    if not 0 < found <= _LONGEST_S:
        raise ValueError(f"{text[:60]!r} is not a duration such as 5s, 500ms or 2min")
    return found


_BYTES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def parse_bytes_per_hour(text: str) -> float:
    """Read a number of bytes per hour such as ``50MB/h`` or ``1.5 GB`` [bytes/h].

    Raises
    ------
    ValueError
        When the text is no such number.

    Examples
    --------
    >>> parse_bytes_per_hour("50MB/h")
    50000000.0
    """
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kMGT]?)B(/h)?\s*", text)
    if match is None:
        raise ValueError(f"{text!r} is not a number of bytes per hour such as 50MB/h")
    return float(match[1]) * _BYTES[match[2]]


def parse_bytes(text: str) -> int:
    """Read a size such as ``64MiB``, ``1.5 GB`` or ``4096`` [bytes].

    Raises
    ------
    ValueError
        When the text is none.

    Examples
    --------
    >>> parse_bytes("64MiB"), parse_bytes("1kB")
    (67108864, 1000)
    """
    match = re.fullmatch(r"\s*([0-9]{0,9}\.?[0-9]{1,9})\s*([kMGT]?)(i?)B?\s*", text)
    if match is None or (match[3] and not match[2]):
        raise ValueError(f"read {text[:40]!r}, expected a size such as 64MiB or 1GB")
    powers = {"": 0, "k": 1, "M": 2, "G": 3, "T": 4}
    return int(float(match[1]) * (1024 if match[3] else 1000) ** powers[match[2]])


#: Longer times are written in two of these units, from the largest that fits [s].
_LONG = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
#: Up to here a time is written in seconds; 599 s have the digits that count [s].
_IN_SECONDS_S = 599.5


def format_seconds(time_s: float) -> str:
    """Write a time as people do: in a fitting unit, or in two of them.

    Short times have three significant digits.

    Examples
    --------
    >>> format_seconds(0.00123), format_seconds(142.3), format_seconds(3600.0)
    ('1.23 ms', '142 s', '1 h')
    >>> format_seconds(5400.0), format_seconds(725.0), format_seconds(259123.0)
    ('1 h 30 min', '12 min 5 s', '3 d')
    """
    if math.isfinite(time_s) and abs(time_s) >= _IN_SECONDS_S:
        return _long(time_s)
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if abs(time_s) * factor >= 1 or time_s == 0 or unit == "us":
            return f"{time_s * factor:.3g} {unit}"
    raise AssertionError("unreachable")


def _long(time_s: float) -> str:
    """Write a time of ten minutes and more, in the two largest units that fit."""
    whole = round(abs(time_s))
    for (large, name), (small, below) in itertools.pairwise(_LONG):
        rounded = round(whole / small) * small
        if rounded >= large:
            many, rest = divmod(rounded, large)
            more = f" {rest // small} {below}" if rest else ""
            return f"{'-' if time_s < 0 else ''}{many} {name}{more}"
    raise AssertionError("unreachable")


def format_bytes(size_bytes: float) -> str:
    """Write a size with a binary prefix.

    Examples
    --------
    >>> format_bytes(65536)
    '64 KiB'
    """
    size = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1024 or unit == "GiB":
            return f"{size:.3g} {unit}" if size % 1 else f"{int(size)} {unit}"
        size /= 1024
    raise AssertionError("unreachable")


def number_of(count: int, what: str) -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> number_of(1, "run"), number_of(2, "run"), number_of(0, "run")
    ('1 run', '2 runs', '0 runs')
    """
    return f"{count} {what}{'' if count == 1 else 's'}"


def format_moment(date: str) -> str:
    """Write an ISO date of UTC for people, to the second.

    Examples
    --------
    >>> format_moment("2026-11-24T13:02:11.042+00:00")
    '2026-11-24 13:02:11 UTC'
    """
    return f"{date[:19].replace('T', ' ')} UTC" if date else "unknown date"
