"""Read moments that people and other tools write, and give them a date."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from skelgen.documents.numbers import NumberError, real

#: Moments: from 1970 to 2286 [s].
LATEST_S = 1e10
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
    if not 0 <= found <= LATEST_S:
        raise NumberError(f"read {text[:40]!r}, {EXPECTED}")
    return found


def date_of(moment: float) -> datetime | None:
    """Return the date of seconds since 1970; None for nan or a year without calendar.

    Examples
    --------
    >>> date_of(1769860800.0).isoformat(), date_of(float("nan")), date_of(1e300)
    ('2026-01-31T12:00:00+00:00', None, None)
    """
    if math.isnan(moment):
        return None
    try:
        return datetime.fromtimestamp(moment, UTC)
    except (OverflowError, ValueError, OSError):  # of a year that no calendar has
        return None


def _date_s(text: str) -> float:
    try:
        found = datetime.fromisoformat(text)
        aware = found if found.tzinfo else found.replace(tzinfo=UTC)
        return aware.timestamp()
    except (ValueError, OverflowError):
        return -1.0
