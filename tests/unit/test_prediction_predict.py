"""From times of the skeleton to a time of the application with a verdict."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.launch.hosts import Host
from skelgen.phase_execution.phase_facts import PhaseFacts
from skelgen.prediction.predict import cores_of, doubts_of, predict
from skelgen.prediction.scaling import scaled
from skelgen.prediction.set_runs import SetRuns
from skelgen.prediction.skeleton_facts import SkeletonFacts
from skelgen.prediction.types import Timed
from skelgen.trust.errors import MethodErrors
from skelgen.trust.recording_doubts import Unseen, Used
from skelgen.trust.types import PAPER_2005
from tests.known_skeleton import FACTS, MEASURED
from tests.method_errors import ERRORS, method_error
from tests.unit.test_trust_recording_doubts import CODES, EVERYTHING

OF_PHASES = PhaseFacts("app", "", 20.5, 2, (2,), "MPICH Version: 5.0.2", 0.0, 0.0)
STEADY = (3.0, 3.01, 2.99)


def predicted(
    facts: SkeletonFacts = FACTS, runs_s=STEADY, *, bound: float = 0.05, errors=ERRORS
):
    return predict(
        facts,
        SetRuns.of(runs_s),
        hosts=(),
        mpi="MPICH 5.0.2",
        interval_bound=bound,
        errors=errors,
        generator=np.random.default_rng(1),
    )


@given(
    quiet_s=st.floats(0.1, 10.0),
    scale=st.floats(1.0, 1000.0),
    off=st.floats(1 / 1.5, 1.5),
    longer=st.floats(1.0, 50.0),
)
def test_a_prediction_begins_at_the_quiet_time_and_nears_the_scaled_one(
    quiet_s, scale, off, longer
):
    application_s = scale * quiet_s * off

    def after(times: float) -> float:
        return float(scaled(quiet_s * times, application_s, quiet_s, scale))

    assert after(1.0) == pytest.approx(application_s)
    assert after(0.5) == pytest.approx(0.5 * application_s)
    assert after(1.1 * longer) > after(longer)
    differ = after(longer) / (scale * quiet_s * longer) - 1
    assert abs(differ) <= abs(off - 1) / longer + 1e-9


def test_what_the_skeleton_takes_longer_counts_by_the_part_that_was_kept():
    found = predicted()
    assert found.ratio == pytest.approx(10.0)
    scale = 20.5 / 2.1
    expected_s = scale * 3.0 + 20.0 - scale * 2.0
    assert found.time_s.p50 == pytest.approx(expected_s)
    assert found.time_s.p5 < expected_s < found.time_s.p95
    assert found.verdict == "trust"
    assert found.doubts == ()


def test_the_application_is_as_much_faster_as_its_skeleton():
    assert predicted(runs_s=(1.5, 1.5, 1.5)).time_s.p50 == pytest.approx(15.0)


@pytest.mark.parametrize(
    "change",
    [
        {"method": PAPER_2005},
        {"application_s": 2 * 20.5},  # calibrated with half of the recorded work
    ],
)
def test_other_rules_and_runs_take_the_measured_ratio(change):
    assert predicted(replace(FACTS, **change)).time_s.p50 == pytest.approx(30.0)


@pytest.mark.parametrize(("off", "doubted"), [(1.05, False), (1.4, True), (2.0, True)])
def test_a_calibration_of_another_run_than_the_recorded_one_is_doubted(off, doubted):
    application_s = 2.0 * 20.5 / 2.1 * off
    known = replace(MEASURED, application_runs_s=(application_s,) * 3)
    found = predicted(replace(FACTS, calibration=known))
    scale = 20.5 / 2.1 * (off if off > 1.5 else 1.0)
    differ_s = application_s - scale * 2.0
    assert found.time_s.p50 == pytest.approx(scale * 3.0 + differ_s)
    told = [one for one in found.doubts if one.code == "other-ratio"]
    assert bool(told) == doubted
    assert found.verdict == ("do not trust" if doubted else "trust")


def test_without_calibration_the_expected_ratio_is_used_and_doubted():
    facts = replace(FACTS, calibration=None)
    assert facts.ratio == pytest.approx(20.5 / 2.1)
    assert predicted(facts).verdict == "do not trust"
    assert "skelgen calibrate" in predicted(facts).doubts[0].remedy


def test_noisy_runs_widen_the_interval_and_are_doubted():
    noisy = predicted(runs_s=(3.0, 3.6, 2.5))
    assert noisy.time_s.half_width > 3 * predicted().time_s.half_width
    assert any("more runs (" in one.remedy for one in noisy.doubts)


@pytest.mark.parametrize(
    ("queued_s", "mix_error", "cores"),
    [
        ((0.0, 0.1, 1.0), None, "own"),
        ((0.0, 0.1, 1.0), 0.02, "own"),
        ((0.0, 0.4, 1.0), None, "shared"),
        ((0.0, 0.4, 1.0), 0.02, ""),
        ((None, None, None), None, "shared"),
        ((None, None, 0.0), None, "own"),
    ],
)
def test_a_skeleton_says_whether_others_had_its_cores(queued_s, mix_error, cores):
    runs = [Timed(4.0, one) for one in queued_s]
    assert cores_of(replace(FACTS, mix_error=mix_error), runs) == cores


def test_an_application_run_for_its_phases_computes_as_it_does():
    assert cores_of(OF_PHASES, [Timed(4.0)]) == ""


def test_on_shared_cores_the_interval_has_the_error_of_arithmetic_there():
    errors = MethodErrors(
        (*ERRORS.entries, method_error("whole-events", 0.2, cores="shared"))
    )
    alone, shared = (
        predict(
            FACTS,
            SetRuns.of(STEADY),
            hosts=(),
            mpi="MPICH 5.0.2",
            interval_bound=0.05,
            errors=errors,
            generator=np.random.default_rng(1),
            cores=cores,
        )
        for cores in ("own", "shared")
    )
    assert (alone.cores, shared.cores) == ("own", "shared")
    assert alone == replace(predicted(), cores="own")
    assert shared.time_s.half_width > 2.5 * alone.time_s.half_width
    assert shared.measured_s == alone.measured_s
    assert shared.verdict == "trust"


def test_runs_of_phases_are_not_to_be_calibrated():
    noisy = predicted(OF_PHASES, runs_s=(3.0, 3.6, 2.5))
    assert any(one.code == "interval-too-wide" for one in noisy.doubts)
    assert not any("calibrat" in str(one) for one in noisy.doubts)


def test_an_application_that_varies_says_nothing_about_runs_of_its_skeleton():
    varying = replace(MEASURED, application_runs_s=(20.0, 22.0, 18.0))
    facts = replace(FACTS, calibration=varying)
    near = predicted(facts, runs_s=(2.0, 2.0)).time_s.half_width
    assert near > 2 * predicted(runs_s=(2.0, 2.0)).time_s.half_width
    far = predicted(facts, runs_s=(20.0, 20.0)).time_s.half_width
    assert far < 1.2 * predicted(runs_s=(20.0, 20.0)).time_s.half_width


def test_a_noisy_calibration_widens_the_interval():
    noisy = replace(MEASURED, skeleton_runs_s=(2.0, 2.2, 1.8))
    facts = replace(FACTS, calibration=noisy)
    assert predicted(facts).time_s.half_width > 1.5 * predicted().time_s.half_width


def test_the_error_of_the_method_is_part_of_the_interval():
    exact = replace(
        MEASURED, application_runs_s=(20.0,) * 3, skeleton_runs_s=(2.0,) * 3
    )
    found = predicted(replace(FACTS, calibration=exact), runs_s=(3.0,) * 3)
    assert found.time_s.half_width == pytest.approx(0.06, rel=0.05)


@pytest.mark.parametrize(
    ("facts", "field"), [(OF_PHASES, "unmeasured_share"), (FACTS, "dropped_share")]
)
def test_time_that_was_not_measured_widens_the_interval(facts, field):
    whole, part = (
        predicted(replace(facts, **{field: share}), runs_s=(3.0,) * 3).measured_s
        for share in (0.0, 0.1)
    )
    assert part.p95 > 1.03 * whole.p95
    assert part.p5 < 0.98 * whole.p5
    assert part.p50 == whole.p50


def test_drift_of_the_recording_widens_the_interval():
    steady, drifting = (
        predicted(replace(OF_PHASES, drift=drift), runs_s=(3.0,) * 3).time_s
        for drift in (0.0, 0.1)
    )
    assert drifting.half_width > steady.half_width + 0.05
    assert drifting.p50 == steady.p50


@pytest.mark.parametrize(
    ("change", "telling"),
    [
        ({"dropped_share": 0.03}, "dropped"),
        ({"mix_error": 0.2}, "mix is not representative"),
        ({"smallest_good_s": 5.0}, "too short"),
        ({"dealers": (2, 3)}, "rank 2 answers whoever comes first"),
        ({"not_computed": (("slept", 0.4), ("files", 0.01))}, "slept, or waited"),
        ({"not_computed": (("files", 0.4),)}, "waited for files for 40.0% of the"),
        ({"mpi": "Open MPI v5.0.11"}, "recorded with Open MPI"),
        ({"ranks_per_host": (1, 1)}, "recorded on 2 hosts"),
        (
            {
                "calibration": replace(MEASURED, skeleton_runs_s=(0.1, 0.1, 0.1)),
                "expected_s": 0.1,
            },
            "too short",
        ),
        (
            {"calibration": replace(MEASURED, mpi="Open MPI 5.0.11")},
            "calibrated with Open MPI",
        ),
    ],
)
def test_each_doubt_is_named(change, telling):
    doubts = doubts_of(replace(FACTS, **change), hosts=(), mpi="MPICH 5.0.2")
    (doubt,) = doubts
    assert telling in str(doubt)


def test_the_same_number_of_hosts_is_no_doubt():
    facts = replace(FACTS, ranks_per_host=(1, 1))
    assert doubts_of(facts, hosts=(Host("a"), Host("b")), mpi="MPICH 4.0") == ()


def test_what_no_event_showed_makes_a_prediction_doubtful():
    codes = [one.code for one in predicted(replace(FACTS, unseen=EVERYTHING)).doubts]
    assert codes == CODES
    assert predicted(replace(FACTS, unseen=Unseen())).verdict == "trust"


def test_waits_for_files_are_no_second_doubt():
    waits = replace(FACTS, not_computed=(("files", 0.03),))
    assert [one.code for one in predicted(waits).doubts] == ["files"]
    timed = replace(waits, unseen=Unseen(files=Used(1.0, 0.04)))
    assert [one.code for one in predicted(timed).doubts] == ["file-io"]
