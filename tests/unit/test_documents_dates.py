"""Moments as people and tools write them."""

from __future__ import annotations

import pytest

from skelgen.documents.dates import LATEST_S, date_of, moment_s
from skelgen.documents.numbers import NumberError

NOON_S = 1769860800.0


@pytest.mark.parametrize(
    "text",
    [
        "1769860800",
        "2026-01-31T12:00:00Z",
        "2026-01-31 12:00",
        "2026-01-31T14:00:00+02:00",
        "20260131T120000Z",
    ],
)
def test_a_moment_is_the_same_in_every_way_to_write_it(text: str) -> None:
    assert moment_s(text) == NOON_S


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "-1",
        "nan",
        "inf",
        f"{2 * LATEST_S}",
        "1969-12-31",
        "2026-13-01",
    ],
)
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(NumberError):
        moment_s(text)


def test_a_date_without_a_day_of_any_calendar_is_none() -> None:
    found = date_of(NOON_S)
    assert found is not None
    assert found.isoformat() == "2026-01-31T12:00:00+00:00"
    assert [date_of(one) for one in (float("nan"), float("inf"), 1e300)] == [None] * 3
