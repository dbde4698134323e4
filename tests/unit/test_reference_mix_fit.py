"""The fit of a compute mix: shares and working set from slowdowns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.reference.calibration import Mix
from skelgen.reference.mix_fit import WORKING_SETS, Fit, fit, fit_measured
from skelgen.reference.thresholds import SLOWDOWN_NOISE

#: What parts cost beside competitors on some machine: small sets hardly notice.
SMALL, LARGE = 1 << 19, 12 << 20
PARTS = {
    SMALL: [(1.0, 1.0), (1.01, 1.0), (1.1, 1.0)],
    LARGE: [(1.0, 1.0), (1.05, 1.5), (1.8, 3.6)],
}


def slowed(mix: Mix) -> tuple[float, float]:
    first, second = np.array(mix.shares) @ np.array(PARTS[mix.working_set_bytes])
    return float(first), float(second)


@pytest.mark.parametrize(
    ("wanted", "shares"),
    [
        ((1.0, 1.0), (1, 0, 0)),
        ((1.05, 1.5), (0, 1, 0)),
        ((1.8, 3.6), (0, 0, 1)),
        ((1.4, 2.3), (0.5, 0, 0.5)),
    ],
)
def test_a_known_kind_of_computation_is_recovered(wanted, shares) -> None:
    found = fit(wanted, PARTS)
    assert found.error <= SLOWDOWN_NOISE
    assert found.mix.shares == pytest.approx(shares, abs=0.09)


@settings(deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3), st.sampled_from([*PARTS]))
def test_any_mix_of_the_parts_is_matched_within_the_noise(weights, size_bytes) -> None:
    total = sum(weights) or 1.0
    streaming, chasing = weights[1] / total, weights[2] / total
    mix = Mix(max(1 - streaming - chasing, 0.0), streaming, chasing, size_bytes)
    found = fit(slowed(mix), PARTS)
    assert found.error <= SLOWDOWN_NOISE
    assert sum(found.mix.shares) == pytest.approx(1)


def test_of_mixes_that_nothing_tells_apart_the_simplest_is_taken() -> None:
    assert fit((1.005, 1.01), PARTS).mix.shares == (1.0, 0.0, 0.0)


def test_what_no_mix_can_do_is_stated_as_an_error() -> None:
    found = fit((1.8, 7.2), PARTS)
    assert found.mix.shares == (0.0, 0.0, 1.0)
    assert found.error == pytest.approx(0.5)


def test_a_mixture_that_slows_down_otherwise_than_its_parts_is_corrected() -> None:
    measured: list[Mix] = []

    def measure(mix: Mix) -> tuple[float, float]:
        """Sets evict each other: everything above 1 counts half as much again."""
        measured.append(mix)
        first, second = slowed(mix)
        return 1 + 1.5 * (first - 1), 1 + 1.5 * (second - 1)

    wanted = 1.2, 1.75
    found = fit_measured(wanted, PARTS, measure)
    first = Fit(measured[0], wanted, measure(measured[0]))
    assert found.error < first.error / 2
    assert found.got == measure(found.mix)


def test_little_that_a_mixture_multiplies_does_not_become_arithmetic() -> None:
    def measure(mix: Mix) -> tuple[float, float]:
        first, second = slowed(mix)
        return 1 + 4 * (first - 1), 1 + 4 * (second - 1)

    found = fit_measured(measure(Mix(0.97, 0.0, 0.03, LARGE)), PARTS, measure)
    assert found.error <= SLOWDOWN_NOISE


def test_where_the_best_working_set_is_missed_the_next_best_is_tried() -> None:
    """Parts of the larger set do in a mixture what their sum does not."""
    next_best = 8 << 20
    parts = {LARGE: PARTS[LARGE], next_best: [(1.0, 1.0), (1.0, 1.4), (1.5, 2.0)]}
    tried: list[int] = []

    def measure(mix: Mix) -> tuple[float, float]:
        tried.append(mix.working_set_bytes)
        return (1.3, 1.3) if mix.working_set_bytes == LARGE else (1.04, 1.48)

    found = fit_measured((1.05, 1.5), parts, measure)
    assert tried[0] == LARGE
    assert found.mix.working_set_bytes == next_best
    assert found.got == (1.04, 1.48)


def test_a_mixture_that_is_no_better_than_arithmetic_is_not_taken() -> None:
    """Streaming seemed right, and was off by more when it was measured again."""
    found = fit_measured((1.0, 1.05), PARTS, lambda mix: (1.1, 1.0))
    assert found.mix == Mix()
    assert found.got == (1.0, 1.0)


def test_arithmetic_is_taken_of_what_cannot_be_told_apart() -> None:
    parts = {LARGE: [(1.0, 1.0), (1.0, 1.01), (1.0, 1.02)]}
    assert fit((1.0, 1.01), parts).mix == Mix()


def test_what_is_not_known_of_the_application_is_error_too() -> None:
    known = Fit(Mix(), (1.0, 1.0), (1.0, 1.03))
    assert known.error == pytest.approx(0.03)
    assert replace(known, uncertainty=0.04).error == pytest.approx(0.05)


def test_working_sets_stand_inside_and_outside_of_caches() -> None:
    assert sorted(WORKING_SETS) == list(WORKING_SETS)
    for size_bytes in WORKING_SETS:
        Mix(working_set_bytes=size_bytes)
