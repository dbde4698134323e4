"""Short spins, and what they say of an estimate."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.monitor.correction import Correction
from skelgen.monitor.spin import Spin, spin
from skelgen.monitor.thresholds import LONGEST_SPIN_CPU_S, LONGEST_SPIN_S, SPINNING_COST

MS = 10**6


class Core:
    """A core that is ours and others' in turns [ns]."""

    def __init__(self, ours: int, others: int, began: int = 0) -> None:
        self.ours, self.others, self.time, self.had = ours, others, began, 0

    def wall(self) -> int:
        step = 10_000
        self.had += step
        self.time += step
        if self.others and self.had % self.ours < step:
            self.time += self.others
        return self.time

    def spin(self) -> Spin:
        return spin(self.wall, lambda: self.had)


@pytest.mark.parametrize("others", [1, 2, 3, 10])
def test_a_spin_sees_how_others_take_turns(others: int) -> None:
    found = Core(4 * MS, others * 4 * MS).spin()
    assert found.share == pytest.approx(1 / (1 + others), abs=0.01)
    assert found.within < 0.2


def test_a_spin_alone_is_short_and_gets_all() -> None:
    found = Core(4 * MS, 0).spin()
    assert found.share == 1.0
    assert found.cost_s == pytest.approx(LONGEST_SPIN_CPU_S, rel=0.05)


def test_a_spin_ends_where_others_have_the_core_for_long() -> None:
    core = Core(4 * MS, 300 * MS)
    found = core.spin()
    assert core.time < 1.8 * LONGEST_SPIN_S * 1e9
    assert found.share < 0.1


@given(st.integers(1, 20), st.integers(1, 40))
def test_a_spin_is_right_within_what_it_says(ours: int, others: int) -> None:
    found = Core(ours * MS, others * MS).spin()
    truth = ours / (ours + others)
    assert abs(found.share - truth) <= found.within + 0.25 * truth + 0.05


def learnt(passive: float, spins: list[Spin]) -> Correction:
    correction = Correction(0.0)
    for number, found in enumerate(spins):
        correction.wants(passive, 1000.0 * number)
        correction.learn(passive, found)
    return correction


def test_one_spin_is_no_reason_two_that_agree_are() -> None:
    low = Spin(0.5, 0.01, 0.0)
    assert learnt(0.9, [low]).corrected(0.9) == 0.9
    assert learnt(0.9, [low, low]).corrected(0.9) == pytest.approx(0.5)


def test_spins_that_do_not_agree_change_nothing() -> None:
    assert learnt(0.5, [Spin(0.9, 0.0, 0), Spin(0.1, 0.0, 0)]).error == 0.0
    assert learnt(0.5, [Spin(0.9, 0.0, 0), Spin(0.5, 0.0, 0)]).error == 0.0


def test_a_spin_that_cannot_tell_changes_nothing() -> None:
    assert learnt(0.9, [Spin(1.0, 0.1, 0), Spin(1.0, 0.1, 0)]).error == 0.0
    assert learnt(0.9, [Spin(0.1, 0.5, 0), Spin(0.1, 0.5, 0)]).error == 0.0


def test_another_load_forgets_what_was_learnt() -> None:
    correction = learnt(0.9, [Spin(0.5, 0.01, 0.0)] * 2)
    correction.wants(0.7, 5000.0)
    assert correction.corrected(0.7) == 0.7


def test_a_corrected_estimate_stays_a_share() -> None:
    correction = learnt(0.2, [Spin(0.9, 0.01, 0.0)] * 2)
    assert correction.corrected(0.24) <= 1.0
    assert learnt(0.9, [Spin(0.0, 0.0, 0.0)] * 2).corrected(0.86) >= 0.0


@given(st.lists(st.floats(0, 1), min_size=50, max_size=50))
def test_spins_cost_no_more_than_they_may(estimates: list[float]) -> None:
    correction, spent_s = Correction(0.0), 0.0
    for now_s, passive in zip(itertools.count(10.0, 10.0), estimates, strict=False):
        if correction.wants(passive, now_s):
            correction.learn(passive, Spin(0.5, 0.1, LONGEST_SPIN_CPU_S))
            spent_s += LONGEST_SPIN_CPU_S
    assert spent_s <= SPINNING_COST * 500.0 + 3 * LONGEST_SPIN_CPU_S
