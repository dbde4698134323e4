"""Which run a prediction meant, and how good predictions were."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.store import Run, StoredPrediction
from skelgen.store.pairing import paired
from skelgen.store.track_record import cases, track_records
from skelgen.trust import Interval

MADE = 1000.0
RUN = Run(
    "cfd",
    12.0,
    ranks=8,
    inputs=(("n", 2000.0),),
    hosts=("n1", "n2"),
    started=MADE + 60,
    identity="run",
)
PREDICTION = StoredPrediction(
    "whole-events",
    "cfd",
    Interval(9.0, 10.0, 11.0),
    MADE,
    inputs=(("n", 2000.0),),
    ranks=8,
    hosts=("n1", "n2"),
    identity="prediction",
)


def truth(
    *runs: Run, prediction: StoredPrediction = PREDICTION, **options: float
) -> str:
    (found,) = paired([prediction], runs, **options)
    return found.truth


class TestPairing:
    def test_the_truth_is_the_first_comparable_run_after_it(self):
        second = replace(RUN, started=MADE + 120, identity="second")
        before = replace(RUN, started=MADE - 1, identity="before")
        (found,) = paired([PREDICTION], [second, before, RUN])
        assert (found.truth, found.truth_s) == ("run", 12.0)

    @pytest.mark.parametrize(
        "other",
        [
            {"application": "other"},
            {"inputs": (("n", 1000.0),)},
            {"inputs": ()},
            {"inputs": (("n", 2000.0), ("steps", 5.0))},
            {"ranks": 4},
            {"ranks": 0},
            {"hosts": ("n1", "n3")},
            {"hosts": ("n1",)},
            {"hosts": ("n1", "n2", "n3")},
            {"hosts": ()},
            {"status": "exit 1"},
            {"status": "signal 9"},
            {"started": math.nan},
            {"started": MADE - 0.001},
            {"time_s": math.nan},
            {"time_s": 0.0},
        ],
    )
    def test_a_run_that_is_something_else_is_no_truth(self, other: dict):
        assert truth(replace(RUN, **other)) == ""
        later = replace(RUN, started=MADE + 99, identity="later")
        assert truth(replace(RUN, **other), later) == "later"

    @pytest.mark.parametrize(
        "alike",
        [
            {"hosts": ("n2", "n1")},
            {"hosts": ("n2", "n1", "n2")},
            {"hosts": ("n1.cluster", "N2.cluster")},
            {"inputs": (("n", "2000"),)},
            {"inputs": (("n", 2000.0 * (1 + 1e-15)),)},
            {"started": MADE},
        ],
    )
    def test_the_same_written_otherwise_is_the_truth(self, alike: dict):
        assert truth(replace(RUN, **alike)) == "run"

    def test_hosts_of_two_domains_are_two_hosts(self):
        there = replace(PREDICTION, hosts=("n1.here", "n2.here"))
        assert truth(replace(RUN, hosts=("n1.b", "n2.b")), prediction=there) == ""
        assert truth(replace(RUN, hosts=("n1.here", "n2")), prediction=there) == "run"

    def test_addresses_are_compared_whole(self):
        there = replace(PREDICTION, hosts=("10.0.0.1",))
        assert truth(replace(RUN, hosts=("10.0.0.2",)), prediction=there) == ""
        assert truth(replace(RUN, hosts=("10.0.0.1",)), prediction=there) == "run"

    def test_a_prediction_without_hosts_or_ranks_is_about_any(self):
        anywhere = replace(PREDICTION, hosts=(), ranks=0)
        assert truth(replace(RUN, hosts=()), prediction=anywhere) == "run"
        assert truth(RUN, prediction=anywhere) == "run"

    def test_a_run_typed_without_its_start_counts_from_then(self):
        typed = replace(RUN, started=math.nan, added=MADE + 5, identity="typed")
        assert truth(typed, RUN) == "typed"
        assert truth(replace(typed, added=MADE - 5)) == ""
        assert truth(replace(typed, started=MADE - 5)) == ""

    def test_inputs_in_another_order_are_the_same(self):
        both = (("a", 1.0), ("b", "x"))
        asked = replace(PREDICTION, inputs=both)
        assert truth(replace(RUN, inputs=both[::-1]), prediction=asked) == "run"

    def test_a_run_that_came_too_late_is_no_truth(self):
        assert truth(RUN, within_s=60.0) == "run"
        assert truth(RUN, within_s=59.0) == ""

    def test_one_run_is_the_truth_of_several_predictions(self):
        again = replace(PREDICTION, made=MADE + 30, identity="again")
        found = paired([PREDICTION, again], [RUN])
        assert [one.truth for one in found] == ["run", "run"]

    def test_a_truth_that_is_known_stays(self):
        known = replace(PREDICTION, truth="known", truth_s=9.5)
        assert paired([known], [RUN]) == [known]

    @given(
        st.lists(
            st.tuples(
                st.floats(900, 1400),
                st.sampled_from([(), ("n1",), ("n1", "n2"), ("n2.x", "n1.x")]),
                st.sampled_from([0, 4, 8]),
                st.sampled_from(["ok", "exit 1"]),
            ),
            max_size=12,
        ),
        st.sampled_from([(), ("n1",), ("n2", "n1"), ("n1.y", "n2")]),
        st.sampled_from([0, 8]),
    )
    def test_it_finds_what_looking_at_every_run_finds(self, drawn, hosts, ranks):
        runs = [
            replace(
                RUN, started=at, hosts=on, ranks=many, status=ended, identity=str(n)
            )
            for n, (at, on, many, ended) in enumerate(drawn)
        ]
        asked = replace(PREDICTION, hosts=hosts, ranks=ranks)
        (found,) = paired([asked], runs, within_s=300.0)

        def comparable(run: Run) -> bool:
            late = MADE <= run.started <= MADE + 300.0
            names = {name.partition(".")[0] for name in run.hosts}
            same = names == {name.partition(".")[0] for name in hosts}
            clash = "n1.y" in hosts and "n1.x" in run.hosts
            placed = not hosts or (same and not clash)
            return run.status == "ok" and late and placed and ranks in (0, run.ranks)

        fitting = [run for run in runs if comparable(run)]
        first = min((run.started for run in fitting), default=math.nan)
        told = {run.identity: run.started for run in fitting}
        if fitting:
            assert told[found.truth] == first
        else:
            assert found == asked


def happened(predicted_s: float, truth_s: float, **fields) -> StoredPrediction:
    interval = Interval(0.9 * predicted_s, predicted_s, 1.1 * predicted_s)
    return replace(
        PREDICTION, interval=interval, truth="run", truth_s=truth_s, **fields
    )


class TestTrackRecord:
    def test_each_method_has_its_own_figures(self):
        found = track_records(
            [
                happened(10.0, 10.0),
                happened(11.0, 10.0),
                happened(5.0, 10.0, verdict="do not trust"),
                PREDICTION,
                happened(12.0, 10.0, method="phases"),
            ]
        )
        phases, skeletons = found
        assert (skeletons.method, phases.method) == ("whole-events", "phases")
        assert (skeletons.predictions, skeletons.happened) == (4, 3)
        assert skeletons.doubted == 1
        assert skeletons.median_error == pytest.approx(0.1)
        assert skeletons.p90_error == pytest.approx(0.1 + 0.8 * 0.4)
        assert skeletons.inside == pytest.approx(2 / 3)
        assert phases.median_error == phases.p90_error == pytest.approx(0.2)
        assert phases.inside == 0.0

    def test_a_method_without_a_truth_has_no_error(self):
        (found,) = track_records([PREDICTION])
        assert (found.predictions, found.happened) == (1, 0)
        assert math.isnan(found.median_error) and math.isnan(found.inside)

    def test_doubted_predictions_teach_nothing(self):
        known = happened(10.0, 11.0, measured=Interval(9.8, 10.0, 10.3), family="MPICH")
        doubted = happened(10.0, 30.0, verdict="do not trust")
        (only,) = cases([known, doubted, PREDICTION])
        assert (only.method, only.application) == ("whole-events", "cfd")
        assert (only.predicted_s, only.truth_s) == (10.0, 11.0)
        assert (only.p5_s, only.p95_s, only.family) == (9.8, 10.3, "MPICH")

    def test_without_what_was_measured_the_error_is_the_methods(self):
        (only,) = cases([happened(10.0, 11.0)])
        assert (only.p5_s, only.p95_s) == (10.0, 10.0)
