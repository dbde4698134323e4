"""Runs of a node set of which some were disturbed, on machines that are made up."""

from __future__ import annotations

import statistics
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.disturbed_runs import (
    BUSY,
    RARE,
    Load,
    Machine,
    Program,
    Summary,
    summary,
)
from skelgen.prediction.campaign import campaign
from skelgen.prediction.set_runs import SetRuns
from skelgen.prediction.types import Timed
from skelgen.trust import intervals
from tests.known_skeleton import FACTS
from tests.method_errors import ERRORS

QUIET, SLOW = Timed(1.0, computed_s=0.8), Timed(1.4, computed_s=1.2)


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch) -> None:
    monkeypatch.setattr(intervals, "DRAWS", 500)


def generator() -> np.random.Generator:
    return np.random.default_rng(1)


def test_one_slow_run_among_quick_ones_is_disturbed_and_only_widens_the_interval():
    runs = SetRuns((QUIET, SLOW, QUIET, QUIET))
    assert runs.disturbed == (1,)
    assert runs.repeats == 1
    assert runs.typical_s == 1.0
    assert runs.excess == pytest.approx(0.4)
    longer = runs.longer(generator())
    assert np.min(longer) >= 1.0
    assert 1.02 < np.quantile(longer, 0.95) < 1.4


def test_the_more_runs_are_slow_the_more_they_count():
    typical = [
        SetRuns((QUIET,) * (8 - slow) + (SLOW,) * slow).typical_s for slow in range(6)
    ]
    assert typical[:2] == [1.0, 1.0]
    assert typical == sorted(typical)
    mean_s = statistics.fmean([1.0] * 3 + [1.4] * 5)
    assert typical[5] == pytest.approx(mean_s, abs=0.03)


def test_a_load_that_lasts_is_no_disturbance():
    runs = SetRuns((SLOW,) * 4)
    assert runs.disturbed == ()
    assert runs.typical_s == 1.4
    (note,) = SetRuns((SLOW, SLOW, SLOW, QUIET, QUIET)).notes(None)
    assert "3 of 5 runs computed 1.50 times as long as the others" in note
    assert "the nodes are busy; all count" in note


def test_notes_name_the_run_with_what_was_planned():
    (one,) = SetRuns((QUIET, SLOW, QUIET, QUIET)).notes(0.75)
    assert one == (
        "run 2 of 4 was disturbed: it computed 1.50 times as long as the others "
        "(1.2 s, planned 750 ms); it hardly counts"
    )
    (two,) = SetRuns((SLOW, SLOW, QUIET, QUIET, QUIET)).notes(None)
    assert two.startswith("runs 1, 2 of 5 were disturbed")


def test_runs_that_lost_all_their_computation_to_others_disturb_nothing():
    lost = Timed(1.4, computed_s=0.0)
    for runs in (SetRuns((lost, SLOW)), SetRuns((lost, lost, SLOW))):
        assert runs.disturbed == ()
        assert runs.notes(planned_s=0.8) == ()
        assert runs.excess == 0.0


def test_computation_that_hardly_shows_in_the_time_disturbs_nothing():
    small = replace(QUIET, computed_s=0.01)
    assert SetRuns((small, small, replace(small, computed_s=0.02))).disturbed == ()


@given(st.lists(st.floats(0.1, 10.0), min_size=1, max_size=9))
def test_runs_that_say_nothing_of_their_computation_count_alike(times_s):
    runs = SetRuns.of(times_s)
    assert runs.disturbed == ()
    assert runs.typical_s == statistics.median(times_s)
    assert runs.longer(generator()) == 1.0
    assert runs.undisturbed_s == tuple(times_s)


@given(st.lists(st.sampled_from([QUIET, SLOW]), min_size=3, max_size=12))
def test_the_typical_time_lies_between_the_quickest_and_the_slowest(runs):
    known = SetRuns(tuple(runs))
    assert min(known.times_s) <= known.typical_s <= max(known.times_s) + 1e-9
    assert len(known.undisturbed_s) + len(known.disturbed) == len(runs)


def test_a_disturbed_run_is_made_again_and_stays_in_the_answer():
    """The second run meets a load, the first three would be enough otherwise."""

    class Disturbed(Machine):
        def run_s(self, work_s: float) -> float:
            first = not any(len(runs) != 1 for runs in self.runs.values())
            slow = 1.5 if self.runs and first else 1.0
            return slow * super().run_s(work_s)

    machine = Disturbed(load=Load("", 0.0, noise=0.001), generator=generator())
    (found,), _ = campaign(
        Program(replace(FACTS, calibration=None, planned_compute_s=0.9)),
        [()],
        machine,
        budget_s=100.0,
        interval_bound=0.2,
        errors=ERRORS,
        generator=generator(),
    )
    assert len(found.runs_s) >= 4
    assert found.disturbed == (1,)
    assert found.computed_s[1] == pytest.approx(1.35)
    assert found.planned_compute_s == 0.9
    assert found.time_s.p50 == pytest.approx(FACTS.expected_ratio, rel=0.01)
    assert "planned 900 ms" in found.notes[0]


def mean(found: list[Summary], name: str) -> float:
    return statistics.fmean(getattr(one, name) for one in found)


def test_weighing_disturbed_runs_down_does_no_harm_on_busy_nodes():
    """Both meet the same loads; the truth is an application 20 times as long."""
    kinds = [load for load in BUSY if load.length_s == 1.0]
    alone = [summary(load, 30, says=False, runs=20) for load in kinds]
    both = [summary(load, 30, runs=20) for load in kinds]
    assert mean(both, "error") <= mean(alone, "error")
    assert mean(both, "score") <= mean(alone, "score")


def test_rare_disturbances_take_fewer_runs_for_the_same_error():
    alone = [summary(load, 40, says=False) for load in RARE]
    both = [summary(load, 40) for load in RARE]
    assert mean(both, "error") <= mean(alone, "error") + 0.002
    assert mean(both, "score") <= 1.1 * mean(alone, "score")
    assert mean(both, "runs") < mean(alone, "runs")
