"""Stopping runs that cannot narrow an interval in time, on made-up machines."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.disturbed_runs import LAUNCH_S, Load, Machine, Program, summary
from skelgen.launch.hosts import Host
from skelgen.prediction.campaign import campaign
from skelgen.prediction.predict import outlook
from skelgen.prediction.set_runs import SetRuns
from skelgen.prediction.stopping import projected
from skelgen.prediction.types import Need, Prediction, Timed
from skelgen.trust import intervals
from tests.known_skeleton import FACTS
from tests.method_errors import ERRORS

UNCALIBRATED = replace(FACTS, calibration=None)


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch) -> None:
    monkeypatch.setattr(intervals, "DRAWS", 500)


def predicted(
    machine: Machine, budget_s: float, bound: float, facts=UNCALIBRATED
) -> Prediction:
    (found,), _ = campaign(
        Program(facts),
        [()],
        machine,
        budget_s=budget_s,
        interval_bound=bound,
        errors=ERRORS,
        generator=np.random.default_rng(1),
    )
    return found


@settings(max_examples=40)
@given(
    noise=st.floats(0.001, 0.5),
    bound=st.floats(0.01, 0.2),
    budget_s=st.floats(0.0, 100.0),
    seed=st.integers(0, 1 << 30),
)
def test_runs_end_early_if_and_only_if_the_bound_is_out_of_reach(
    noise, bound, budget_s, seed
):
    generator = np.random.default_rng(seed)
    machine = Machine(load=Load("", 0.0, noise=noise), generator=generator)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "DRAWS", 500)
        found = predicted(machine, budget_s, bound)
        (runs,) = (SetRuns(tuple(runs)) for runs in machine.runs.values())
        for made in range(3, len(runs) + 1):
            view = outlook(UNCALIBRATED, SetRuns(runs.runs[:made]), bound)
            left_s = budget_s - made * (1.0 + LAUNCH_S)
            over = float(np.median(runs.times_s[:made])) > left_s
            ends = over or view.is_enough or view.is_hopeless(left_s)
            assert ends is (made == len(runs))
            given_up = not over and not view.is_enough and view.is_hopeless(left_s)
    if len(runs) > 3:  # the last one began in time
        assert (len(runs) - 1) * (1 + LAUNCH_S) <= budget_s
    if found.need is not None:
        assert found.need.stopped is given_up


def test_a_short_program_whose_runs_differ_is_given_up_after_a_few():
    """As seen: 126 runs in a minute, though running the program was cheaper."""
    facts = replace(UNCALIBRATED, application_s=1.7, expected_s=1.0)
    machine = Machine(load=Load("", 0.0, noise=0.2), generator=np.random.default_rng(5))
    found = predicted(machine, 12.0, 0.05, facts)
    assert 3 <= len(found.runs_s) <= 5
    assert found.need is not None
    assert found.need.stopped
    assert found.need.is_dearer
    (doubt,) = (one for one in found.doubts if one.code == "interval-too-wide")
    assert "more runs (" in doubt.remedy
    assert "running the application itself takes 1." in doubt.remedy


def test_sets_that_one_by_one_had_time_enough_are_given_up_together():
    """Each takes about 25 runs, and the budget has 60 for eight of them."""
    generator = np.random.default_rng(8)
    machine = Machine(load=Load("", 0.0, noise=0.12), generator=generator)
    sets = [(Host(f"n{number}"),) for number in range(8)]
    found, _ = campaign(
        Program(UNCALIBRATED),
        sets,
        machine,
        budget_s=60 * (1.0 + LAUNCH_S),
        interval_bound=0.05,
        errors=ERRORS,
        generator=np.random.default_rng(1),
    )
    assert len(found) == 8
    assert sum(len(one.runs_s) for one in found) < 50
    assert any(one.need is not None and one.need.stopped for one in found)


def test_without_an_end_nothing_is_given_up():
    machine = Machine(load=Load("", 0.0, noise=0.1), generator=np.random.default_rng(3))
    found = predicted(machine, math.inf, 0.05)
    assert found.need is None
    assert found.measured_s.half_width <= 0.05


def test_runs_may_differ_by_chance_so_that_a_few_more_are_tried():
    runs = SetRuns.of((1.0, 1.08, 0.93))
    view = outlook(UNCALIBRATED, runs, 0.05)
    more = view.further_runs()
    assert more is not None
    assert more > 5
    assert view.is_hopeless(0.1 * more)
    assert not view.is_hopeless(0.7 * more)
    assert not view.is_hopeless(math.inf)


def test_a_calibration_that_is_too_wide_is_not_mended_by_runs():
    known = replace(FACTS.calibration, application_runs_s=(20.0, 26.0, 15.0))
    facts = replace(FACTS, calibration=known)
    machine = Machine(load=Load("", 0.0, noise=0.2), generator=np.random.default_rng(5))
    found = predicted(machine, 60.0, 0.05, facts)
    assert 3 <= len(found.runs_s) <= 5
    assert found.need is not None
    assert found.need.runs is None
    assert "calibrate with more --runs" in str(found.need)


@given(
    times_s=st.lists(st.floats(0.5, 2.0), min_size=3, max_size=9),
    more=st.integers(0, 50),
)
def test_runs_to_come_differ_as_much_as_those_that_were_made(times_s, more):
    runs = SetRuns.of(times_s)
    then = projected(runs, len(runs) + more)
    logs, later = ([math.log(one) for one in x.times_s] for x in (runs, then))
    assert len(then) == len(runs) + more
    assert statistics.median(later) == pytest.approx(statistics.median(logs), abs=1e-9)
    spread = statistics.stdev(logs)
    assert statistics.stdev(later) == pytest.approx(spread, abs=1e-9)
    best = projected(runs, len(runs) + more, optimistic=True)
    least = statistics.stdev(math.log(one) for one in best.times_s)
    assert least <= 0.85 * spread + 1e-9


def test_a_lasting_load_is_there_in_runs_to_come_too():
    quiet, slow = Timed(1.0, computed_s=1.0), Timed(1.5, computed_s=1.5)
    runs = SetRuns((quiet, slow, quiet, slow, quiet))
    assert len(projected(runs, 50).disturbed) == 20
    assert len(projected(runs, 50, optimistic=True).disturbed) == 2


@pytest.mark.parametrize("noise", [0.02, 0.08])
def test_intervals_hold_as_often_when_hopeless_runs_are_given_up(noise):
    load = Load("", 0.0, noise=noise)
    early = summary(load, 40, runs=12)
    late = summary(load, 40, runs=12, gives_up=False)
    assert early.holds >= max(0.82, late.holds - 0.05)
    assert early.runs <= late.runs


def test_what_it_takes_is_said_in_a_sentence():
    assert str(Need(1, 2.0, 60.0)) == "raise --budget: about 1 more run (2 s) would do"
    assert str(Need(340, 170.0, 1.7)) == (
        "raise --budget: about 340 more runs (170 s) would do; running the "
        "application itself takes 1.7 s"
    )
    assert str(Need(1000, 500.0, 600.0, more=True)).startswith(
        "raise --budget: more than 1000 more runs"
    )
