"""Slowdowns that one run shows while competitors come and go."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import MachineError
from skelgen.reference.turns import (
    GAP_DTYPE,
    CompetitorTurns,
    TurnsSlowdown,
    slowdown_in_turns,
    turn_s,
)

MS = 1_000_000
ORDER = (0, 1, 0, 2)


def turns_of(count: int, length_ns: int = 200 * MS) -> CompetitorTurns:
    kind = np.resize(np.array(ORDER), count)
    return CompetitorTurns(np.arange(count) * length_ns, kind)


def run_of(
    turns: CompetitorTurns,
    leaves: dict[int, tuple[float, float, float]],
    *,
    shared: float = 1.0,
) -> np.ndarray:
    """Compute the leaves in turn until the turns end: quiet time [ms], slowdowns.

    Beside arithmetic each takes `shared` times as long on the wall, at no CPU time.
    """
    rows, now_ns, end_ns = [], 0, int(turns.begin_ns[-1])
    while now_ns < end_ns:
        for leaf, (quiet_ms, first, second) in leaves.items():
            kind = int(turns.kind[np.searchsorted(turns.begin_ns, now_ns, "right") - 1])
            cpu_ns = quiet_ms * MS * (1.0, first, second)[kind]
            wall_ns = int(cpu_ns * (shared if kind == 1 else 1.0))
            rows.append((now_ns, now_ns + wall_ns, int(cpu_ns), leaf))
            now_ns += wall_ns + 1000
    return np.array(rows, GAP_DTYPE)


@settings(max_examples=15)
@given(first=st.floats(1.0, 2.0), second=st.floats(1.0, 4.0))
def test_the_slowdown_is_that_of_the_same_computations(first, second):
    turns = turns_of(20)
    gaps = run_of(turns, {7: (4.0, first, second), 8: (12.0, 1.0, 1.0)}, shared=2.0)
    found = slowdown_in_turns(gaps, turns)
    wanted = [(4 * slow + 12) / 16 for slow in (first, second)]
    assert found.slowdown == pytest.approx(wanted, rel=1e-2)
    assert found.enough
    assert found.covered == pytest.approx(1.0)


def test_what_came_once_is_not_covered():
    turns = turns_of(40)
    gaps = run_of(turns, {1: (3.0, 1.2, 1.5)})
    setup = np.array([(0, 2000 * MS, 2000 * MS, 2)], GAP_DTYPE)
    gaps = np.concatenate([setup, gaps[gaps["begin_ns"] > 2000 * MS]])
    found = slowdown_in_turns(gaps, turns)
    assert found.slowdown == pytest.approx((1.2, 1.5), rel=1e-3)
    assert 0.6 < found.covered < 0.8


def test_computations_longer_than_turns_tell_nothing():
    turns = turns_of(40)
    found = slowdown_in_turns(run_of(turns, {1: (300.0, 1.2, 1.5)}), turns)
    assert found.covered == 0.0
    assert not found.enough


def test_a_run_before_the_first_turn_tells_nothing():
    gaps = np.array([(-5, -1, 4, 1)], GAP_DTYPE)
    assert not slowdown_in_turns(gaps, turns_of(4)).enough
    assert not slowdown_in_turns(gaps[:0], turns_of(4)).enough


def test_the_uncertainty_is_as_large_as_the_spread_of_repeated_runs():
    """Computations of one turn differ together, and by themselves."""
    generator, turns, found = np.random.default_rng(3), turns_of(60), []
    whole = run_of(turns, {1: (8.0, 1.3, 1.6)})
    for _ in range(60):
        gaps = whole.copy()
        place = np.searchsorted(turns.begin_ns, gaps["begin_ns"], "right") - 1
        together = np.exp(0.03 * generator.standard_normal(60))[place]
        alone = np.exp(0.02 * generator.standard_normal(len(gaps)))
        gaps["cpu_ns"] = gaps["cpu_ns"] * together * alone
        found.append(slowdown_in_turns(gaps, turns))
    spread = np.std([np.log(one.slowdown) for one in found], axis=0)
    told = np.mean([one.uncertainty for one in found])
    assert 0.7 * max(spread) < told < 1.5 * max(spread)


def test_turns_are_as_long_as_computations_need():
    gaps = run_of(turns_of(4), {1: (2.0, 1, 1), 2: (0.001, 1, 1)})
    assert turn_s(gaps, 6.0) == 0.2
    assert turn_s(gaps, 1.0) is None
    assert turn_s(gaps[:0], 100.0) is None


def test_turns_that_nobody_wrote_are_an_error(tmp_path: Path):
    path = tmp_path / "turns"
    with pytest.raises(MachineError, match="did not write down their turns"):
        CompetitorTurns.read(path)
    path.write_text("0 17\n1 x\n")
    with pytest.raises(MachineError, match="did not write down their turns"):
        CompetitorTurns.read(path)
    path.write_text("0 17\n1 29\n")
    read = CompetitorTurns.read(path)
    assert (read.begin_ns.tolist(), read.kind.tolist()) == ([17, 29], [0, 1])


def test_an_infinite_uncertainty_is_never_enough():
    assert not TurnsSlowdown((1.0, 1.0), math.inf, 1.0).enough
