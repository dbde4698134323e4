"""What is usual at a time of the day is the mean of the days before."""

from __future__ import annotations

import numpy as np
import pytest

from skelgen.forecasts.daily import usual, usual_and_away

DAY = 48
HOURS = np.arange(12 * DAY)
PATTERN = 1.0 + 0.5 * np.sin(2 * np.pi * HOURS / DAY)


def test_a_pattern_that_comes_back_is_known_after_one_day() -> None:
    positions = np.array([DAY - 1, 3 * DAY + 5, 9 * DAY])
    found = usual(PATTERN, positions, 4, DAY)
    for position, said in zip(positions, found, strict=True):
        assert said == pytest.approx(
            PATTERN[position + 1 - DAY : position + 5 - DAY].mean()
        )


def test_nothing_is_usual_before_a_day_has_passed() -> None:
    found = usual(PATTERN, np.array([0, DAY - 2]), 4, DAY)
    assert np.isnan(found).all()


def test_seven_days_count_and_older_ones_do_not() -> None:
    values = np.repeat(np.arange(12.0), DAY)
    (found,) = usual(values, np.array([10 * DAY - 1]), 1, DAY)
    assert found == pytest.approx(np.arange(3, 10).mean())


def test_only_what_is_past_counts_for_a_horizon_beyond_a_day() -> None:
    values = np.repeat(np.arange(12.0), DAY)
    position = np.array([6 * DAY - 1])
    future = values.copy()
    future[position[0] + 1 :] = 1e9
    assert usual(values, position, DAY + 1, DAY) == usual(
        future, position, DAY + 1, DAY
    )


def test_a_load_that_is_away_from_the_usual_one_comes_back_to_it() -> None:
    rng = np.random.default_rng(3)
    away = np.zeros(len(HOURS))
    for cell in range(1, len(away)):
        away[cell] = 0.9 * away[cell - 1] + rng.normal(0, 0.02)
    away[10 * DAY - 3 : 10 * DAY] += 1.0
    values = PATTERN + away
    position = np.array([10 * DAY - 1])
    known = usual(values, position, 2, DAY)
    near = usual_and_away(values, position, 2, DAY)
    far = usual_and_away(values, position, DAY // 2, DAY)
    assert near > known
    assert far - usual(values, position, DAY // 2, DAY) < near - known


def test_a_load_has_to_be_known_for_more_than_a_day() -> None:
    assert np.isnan(usual_and_away(PATTERN, np.array([DAY]), 2, DAY)).all()
