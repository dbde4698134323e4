"""Laws of times over sizes from noisy times whose law is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skelgen.systems.cuts import best_cuts
from skelgen.systems.fitting import fit_times, noise_of

#: As the program measures them: two sizes for each power of two.
SIZES = [0, 1, 8, *(64 * 2**n * k // 2 for n in range(17) for k in (2, 3))][:-1]

latencies = st.floats(1e-7, 1e-4)
bandwidths = st.floats(1e7, 3e10)
seeds = st.integers(0, 2**32 - 1)


def disturbed(times, seed, noise=0.03, outliers=1):
    """Add noise of 3 % and a few times that are half again as long."""
    generator = np.random.default_rng(seed)
    found = np.array(times) * (1 + noise * generator.standard_normal(len(times)))
    found[generator.choice(len(times), outliers, replace=False)] *= 1.5
    return found


@given(latencies, bandwidths, seeds)
def test_latency_and_bandwidth_are_found_within_a_tenth(latency, bandwidth, seed):
    largest = SIZES[-1] / bandwidth
    law = fit_times(
        SIZES, disturbed([latency + size / bandwidth for size in SIZES], seed)
    )
    assert law.time_s(0) == pytest.approx(latency, rel=0.1)
    assert law.time_s(SIZES[-1]) == pytest.approx(latency + largest, rel=0.1)
    if largest > 10 * latency:
        assert law.bandwidth_bytes_per_s == pytest.approx(bandwidth, rel=0.1)
    assert law.error < 0.06


@given(
    st.sampled_from(
        [SIZES.index(size) for size in SIZES if 1 << 10 <= size <= 1 << 17]
    ),
    latencies,
    st.floats(1.5, 10.0),
    seeds,
)
def test_a_jump_is_the_eager_limit_to_one_size(at, latency, factor, seed):
    limit, bandwidth = SIZES[at], SIZES[at] / latency * 2
    times = [
        (latency if size <= limit else factor * latency) + size / bandwidth
        for size in SIZES
    ]
    law = fit_times(SIZES, disturbed(times, seed, outliers=0))
    jumps = times[at + 1] / times[at]
    if jumps > 1.5:
        assert SIZES[at - 1] <= law.eager_bytes <= SIZES[at + 1]
        begins = [one.begin_bytes for one in law.stretches]
        assert law.eager_bytes + 1 in begins


@given(st.integers(10, 16), st.floats(3e-7, 1e-5), st.floats(3.0, 10.0), seeds)
def test_times_around_a_knee_are_found_within_a_seventh(power, latency, slower, seed):
    knee = 1 << power
    fast = 4 * knee / latency / 10
    times = [
        latency + min(size, knee) / fast + max(0, size - knee) * slower / fast
        for size in SIZES
    ]
    law = fit_times(SIZES, disturbed(times, seed, noise=0.02))
    assert law.bandwidth_bytes_per_s == pytest.approx(fast / slower, rel=0.12)
    assert law.latency_s == pytest.approx(latency, rel=0.1)
    assert law.eager_bytes == 0
    assert len(law.stretches) >= 2
    for size, time_s in zip(SIZES, times, strict=True):
        assert law.time_s(size) == pytest.approx(time_s, rel=0.15)


def test_a_knee_without_noise_is_where_the_lines_meet():
    times = [1e-6 + min(s, 5000) / 1e10 + max(0, s - 5000) / 1e9 for s in SIZES]
    law = fit_times(SIZES, times)
    assert [one.begin_bytes for one in law.stretches] == [
        0,
        pytest.approx(5000, rel=0.05),
    ]


def test_noise_makes_no_stretches():
    """One law in one stretch: in 100 of 100 draws."""
    for seed in range(100):
        times = disturbed([2e-6 + size / 5e9 for size in SIZES], seed, outliers=0)
        assert len(fit_times(SIZES, times).stretches) == 1


def test_one_time_that_is_far_off_moves_nothing():
    times = [2e-6 + size / 5e9 for size in SIZES]
    plain = fit_times(SIZES, times)
    for at in range(len(SIZES)):
        moved = list(times)
        moved[at] *= 100
        law = fit_times(SIZES, moved)
        assert law.latency_s == pytest.approx(plain.latency_s, rel=0.02)
        assert law.bandwidth_bytes_per_s == pytest.approx(
            plain.bandwidth_bytes_per_s, rel=0.02
        )


def test_a_limit_that_was_tested_wins_and_begins_a_stretch():
    times = [(1e-6 if size <= 8192 else 3e-6) + size / 1e10 for size in SIZES]
    law = fit_times(SIZES, times, eager_bytes=9000)
    assert law.eager_bytes == 9000
    assert [one.begin_bytes for one in law.stretches] == [0, 9001]


@given(
    st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=40),
    st.integers(0, 1000),
)
@example([4.0, 1.0, 4.0], 0)
def test_any_times_have_a_law_that_is_positive_and_finite(times, first):
    sizes = [first + 3 * n * n for n in range(len(times))]
    law = fit_times(sizes, times)
    assert law.stretches[0].begin_bytes == 0
    assert law.latency_s >= 0 or first > 0
    begins = [one.begin_bytes for one in law.stretches]
    assert begins == sorted(set(begins))
    for one in law.stretches:
        assert math.isnan(one.bandwidth_bytes_per_s) or one.bandwidth_bytes_per_s > 0
    for size in sizes:
        assert 0 < law.time_s(size) < math.inf


def test_one_size_has_a_latency_only():
    law = fit_times([0], [3e-6])
    assert (law.latency_s, law.time_s(1e9)) == (3e-6, 3e-6)
    assert math.isnan(law.bandwidth_bytes_per_s)


@pytest.mark.parametrize(
    ("sizes", "times"),
    [
        ([], []),
        ([1, 2], [1.0]),
        ([1, 1], [1.0, 1.0]),
        ([2, 1], [1.0, 1.0]),
        ([-1, 1], [1.0, 1.0]),
        ([1, 2], [0.0, 1.0]),
        ([1, 2], [math.nan, 1.0]),
        ([1, 2], [math.inf, 1.0]),
    ],
)
def test_what_is_no_time_over_sizes_is_refused(sizes, times):
    with pytest.raises(ValueError, match=r"sizes|times"):
        fit_times(sizes, times)


def test_noise_is_that_of_most_points():
    times = [1e-6 + size / 1e9 for size in SIZES]
    assert noise_of(np.array(SIZES, float), np.array(times)) == 0.01
    times[7] *= 3
    assert noise_of(np.array(SIZES, float), np.array(times)) == 0.01
    noisy = disturbed(times, 1, noise=0.1, outliers=0)
    assert 0.05 < noise_of(np.array(SIZES, float), noisy) < 0.2


def test_cuts_are_the_cheapest_of_all():
    """Compared with every way to cut five points."""
    generator = np.random.default_rng(3)
    for _ in range(50):
        costs = generator.uniform(0, 3, (5, 5))
        sums = {}
        for number in range(16):
            cuts = [0, *(n + 1 for n in range(4) if number >> n & 1)]
            ends = [*cuts[1:], 5]
            pairs = zip(cuts, ends, strict=True)
            sums[tuple(cuts)] = sum(costs[a, b - 1] + 0.5 for a, b in pairs)
        assert tuple(best_cuts(costs, 0.5, most=5)) == min(sums, key=sums.__getitem__)
