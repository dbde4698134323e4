"""Read moments that people and other tools write."""

from __future__ import annotations

from datetime import UTC, datetime

from skelgen.documents.numbers import NumberError, real

#: Moments: from 1970 to 2286 [s].
MOST_S = 1e10
#: What is said of a text that is none.
EXPECTED = "expected a date such as 2026-01-31T12:00:00Z, or seconds since 1970"


def moment_s(text: str) -> float:
    """Read a moment: seconds since 1970, or a date as ISO 8601 has it [s].

    A date without a zone is in UTC.

    Raises
    ------
    NumberError
        When it is neither, or not between 1970 and 2286.

    Examples
    --------
    >>> moment_s("2026-01-31T12:00:00Z"), moment_s("1769860800")
    (1769860800.0, 1769860800.0)
    """
    try:
        found = real(text)
    except NumberError:
        found = _date_s(text)
    if not 0 <= found <= MOST_S:
        raise NumberError(f"read {text[:40]!r}, {EXPECTED}")
    return found


def _date_s(text: str) -> float:
    try:
        found = datetime.fromisoformat(text)
        aware = found if found.tzinfo else found.replace(tzinfo=UTC)
        return aware.timestamp()
    except (ValueError, OverflowError):
        return -1.0
