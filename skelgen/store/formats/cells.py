"""Values of a table's cells: numbers, times with units, dates, hosts, words."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime

from skelgen.documents.dates import EXPECTED, moment_s
from skelgen.documents.numbers import NumberError, format_real, integer, real
from skelgen.errors import UsageError
from skelgen.launch.hosts import parse_hosts
from skelgen.store.formats.limits import (
    MOST_STARTED_S,
    LimitError,
    check_number,
    check_word,
)

#: A cell: text of CSV, or a plain value of JSON.
Cell = str | float | bool | None

#: Seconds of each unit of time.
TIME_UNITS = {
    **dict.fromkeys(("ns", "nsec", "nanoseconds"), 1e-9),
    **dict.fromkeys(("us", "usec", "µs", "microseconds"), 1e-6),
    **dict.fromkeys(("ms", "msec", "milliseconds"), 1e-3),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hour", "hours"), 3600.0),
}
#: Numbers that need no further look: no file has many others.
_is_plain_number = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,17})?").fullmatch
_WITH_UNIT = re.compile(r"([-+0-9.eE]+)\s*([a-zµ]+)")
_STATUS = re.compile(r"ok|unknown|unseen|(exit|signal) [0-9]{1,3}")
_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+")


def number(cell: Cell) -> float:
    """Read a number.

    Raises
    ------
    LimitError
        When it is none, with what was read.
    """
    if isinstance(cell, str):
        if _is_plain_number(cell):
            return float(cell)
        try:
            return check_number(real(cell))
        except NumberError as error:
            hint = "; write a point, not a comma" if _COMMA.fullmatch(cell) else ""
            raise LimitError(f"{error}{hint}") from None
    if cell is None or isinstance(cell, bool):
        raise LimitError(f"read {json.dumps(cell)}, expected a number")
    return check_number(cell)


def count(cell: Cell) -> int:
    """Read a number of ranks or nodes; see `number`."""
    if isinstance(cell, str):
        try:
            return integer(cell, 0, 10_000_000)
        except NumberError as error:
            raise LimitError(str(error)) from None
    found = number(cell)
    if found != int(found) or not 0 <= found <= 10_000_000:
        raise LimitError(f"read {found:g}, expected an integer from 0 to 10000000")
    return int(found)


def time_and_unit(cell: Cell) -> tuple[float, str]:
    """Read a time, ``12.3`` or ``12.3 ms``: its number, and its unit or nothing."""
    if not isinstance(cell, str) or _is_plain_number(cell):
        return number(cell), ""
    found = _WITH_UNIT.fullmatch(cell)
    if found is None:
        return number(cell), ""
    if found[2] not in TIME_UNITS:
        raise LimitError(f"read the unit {found[2][:20]!r}, expected s, ms, us or min")
    return number(found[1]), found[2]


def date(cell: Cell) -> float:
    """Read a start: seconds since 1970, or a date as ISO 8601 has it, in UTC [s]."""
    if isinstance(cell, str):
        try:
            return moment_s(cell)
        except NumberError as error:
            raise LimitError(str(error)) from None
    try:
        started = number(cell)
    except LimitError as error:
        read = str(error).partition(", expected")[0]
        raise LimitError(f"{read}, {EXPECTED}") from None
    if not 0 <= started <= MOST_STARTED_S:
        raise LimitError(f"read {started:g}, {EXPECTED}")
    return started


def hosts(cell: Cell) -> tuple[str, ...]:
    """Read hosts: ``n1,n2``, ``n1 n2``, ``n[1-2]``, or what `written_hosts` writes."""
    if isinstance(cell, str) and cell.startswith('["'):
        return _listed(cell)
    text = ",".join(word(cell).replace(";", " ").split())
    try:
        return tuple(host.name for host in parse_hosts(text))
    except UsageError as error:
        raise LimitError(str(error)) from None


def written_hosts(names: Sequence[str]) -> str:
    """Write hosts so that `hosts` gives them back, whatever they are called."""
    plain = " ".join(names)
    try:
        stays = not plain.startswith(_FORMULA) and hosts(plain) == tuple(names)
    except LimitError:
        stays = False
    return plain if stays or not names else json.dumps(names)


def _listed(cell: str) -> tuple[str, ...]:
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError) as error:
        raise LimitError(f"read {cell[:60]!r}, expected a list of hosts") from error
    if not all(isinstance(one, str) for one in found):
        raise LimitError(f"read {cell[:60]!r}, expected a list of hosts")
    return tuple(check_word(one) for one in found)


def status(cell: Cell) -> str:
    """Read how a run ended: ``ok``, ``exit 3``, ``signal 9``, or an exit code."""
    if not isinstance(cell, str) or cell.isdecimal():
        return status_of(count(cell))
    if not _STATUS.fullmatch(cell):
        raise LimitError(f"read {cell[:60]!r}, expected ok, exit 3 or signal 9")
    return cell


def status_of(code: int) -> str:
    """Return how a run ended from its exit code, as a shell reports it.

    Examples
    --------
    >>> status_of(0), status_of(3), status_of(137)
    ('ok', 'exit 3', 'signal 9')
    """
    if code == 0:
        return "ok"
    return f"signal {code - 128}" if 128 < code <= 192 else f"exit {code}"


def word(cell: Cell) -> str:
    """Read text; a number of JSON as it is written there."""
    if isinstance(cell, str):
        return _quoted(cell) if _is_quoted(cell) else check_word(cell)
    return json.dumps(cell)


def written_word(text: str) -> str:
    """Write text so that `word` gives it back from a cell whose ends were stripped.

    What a terminal would obey, and ends of lines, are escaped. So is what a spreadsheet
    would take for a formula.
    """
    return text if _stays(text) else json.dumps(text)


#: How cells begin that spreadsheets compute.
_FORMULA = ("=", "+", "-", "@")


def _stays(text: str) -> bool:
    """Say whether a cell gives text back as it stands."""
    try:
        text.encode()
    except UnicodeError:  # a name that is not UTF-8, which JSON can write
        return False
    if text.startswith(_FORMULA):
        return False
    return text == text.strip() and text[:1] != '"' and text.isprintable()


def value(cell: Cell) -> float | str:
    """Read an input: a number, or else a word.

    A word that would be read as a number stands in quotation marks of its own.
    """
    if isinstance(cell, str) and _is_plain_number(cell):
        return float(cell)
    if isinstance(cell, bool):
        return json.dumps(cell)
    if not isinstance(cell, str):
        return number(cell)
    if _is_quoted(cell):
        return _quoted(cell)
    try:
        return check_number(real(cell))
    except NumberError:
        if _COMMA.fullmatch(cell) or cell.lower() in ("nan", "inf", "-inf"):
            raise LimitError(
                f"read {cell!r}, expected a number such as 12.3 or a word"
            ) from None
        return check_word(cell)


def written(value: float | str) -> str:
    """Write an input so that `value` gives it back."""
    if isinstance(value, str):
        return value if _is_plain(value) else json.dumps(value)
    return format_real(value)


def _is_quoted(cell: str) -> bool:
    return len(cell) > 1 and cell[0] == '"' == cell[-1]


def _quoted(cell: str) -> str:
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        found = None
    return check_word(found if isinstance(found, str) else cell)


def _is_plain(text: str) -> bool:
    """Say whether a word is read as it stands."""
    if not text or not _stays(text):
        return False
    try:
        return value(text) == text
    except LimitError:
        return False


def shown_date(started: float) -> str:
    """Write a start so that `date` gives it back; nothing for nan.

    Examples
    --------
    >>> shown_date(0.0)
    '1970-01-01T00:00:00+00:00'
    """
    if math.isnan(started):
        return ""
    try:
        text = datetime.fromtimestamp(started, UTC).isoformat()
        exact = datetime.fromisoformat(text).timestamp() == started
    except (OverflowError, ValueError, OSError):  # of a year that no calendar has
        return repr(started)
    return text if exact else repr(started)
