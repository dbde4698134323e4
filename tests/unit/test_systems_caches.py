"""Sizes of caches from latencies over working sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.systems.caches import cache_sizes

#: As the program measures them: three for each power of two.
SIZES = [round(4096 * 2 ** (n / 3) / 512) * 512 for n in range(46)]


def latency(size, levels, memory):
    """Go from one level to the next over about an octave, as real caches do."""
    found = memory
    for capacity, time_s in reversed(levels):
        inside = 1 / (1 + (size / capacity / 1.2) ** 8)
        found = time_s * inside + found * (1 - inside)
    return found


@given(st.integers(0, 2**32 - 1))
def test_three_caches_are_found_to_half_an_octave(seed):
    generator = np.random.default_rng(seed)
    levels = [(32 << 10, 1.1e-9), (1 << 20, 4e-9), (32 << 20, 15e-9)]
    exact = np.array([latency(size, levels, 90e-9) for size in SIZES])
    times = exact * np.exp(np.abs(0.04 * generator.standard_normal(len(SIZES))))
    found = cache_sizes(SIZES, list(times))
    assert len(found) == 3
    for one, (capacity, time_s) in zip(found, levels, strict=True):
        assert capacity / 1.6 <= one.size_bytes <= capacity * 1.6
        assert one.latency_s == pytest.approx(time_s, rel=0.25)
        assert one.next_bytes == SIZES[SIZES.index(one.size_bytes) + 1]


def test_a_disturbed_time_is_no_cache():
    times = [1e-9 if size <= 48 << 10 else 5e-9 for size in SIZES]
    for at in range(len(SIZES)):
        moved = list(times)
        moved[at] *= 50 if at < len(SIZES) - 1 else 1
        (found,) = cache_sizes(SIZES, moved)
        assert 32 << 10 <= found.size_bytes <= 64 << 10


def test_a_flat_line_has_no_cache():
    assert cache_sizes(SIZES, [2e-9] * len(SIZES)) == ()
    assert cache_sizes(SIZES[:5], [1e-9, 1e-9, 1e-9, 9e-9, 9e-9]) == ()


@given(st.lists(st.floats(1e-10, 1e-3), min_size=1, max_size=len(SIZES)))
def test_any_latencies_give_rising_sizes(times):
    found = cache_sizes(SIZES[: len(times)], times)
    sizes = [one.size_bytes for one in found]
    assert sizes == sorted(set(sizes))
    assert all(one.size_bytes < one.next_bytes for one in found)
