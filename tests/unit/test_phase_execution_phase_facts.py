"""An application that is run for its phases, as predictions see it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skelgen.phase_execution.phase_facts import PhaseFacts
from skelgen.phase_execution.plan import ExecutedExtent, in_one_run
from skelgen.phases.store import load
from skelgen.prediction import SkeletonFacts, TrialFacts
from skelgen.prediction.predict import predict
from skelgen.prediction.set_runs import SetRuns
from tests.known_skeleton import FACTS
from tests.method_errors import ERRORS
from tests.unit.test_prediction_predict import OF_PHASES

STORED = Path(__file__).parents[2] / "signatures/lammps-lj-2r"


def predicted(facts: TrialFacts, runs_s: tuple[float, ...]):
    """Predict with what is run for an application."""
    return predict(
        facts,
        SetRuns.of(runs_s),
        hosts=(),
        mpi="MPICH 5.0.2",
        interval_bound=0.05,
        errors=ERRORS,
        generator=np.random.default_rng(1),
    )


def test_times_of_phases_are_those_of_the_application():
    found = predicted(OF_PHASES, (19.0, 21.0, 20.0))
    assert (found.ratio, found.time_s.p50) == (1.0, 20.0)
    assert found.calibration is None
    assert OF_PHASES.shortened(2.0) is OF_PHASES


def test_what_is_not_a_skeleton_has_nothing_of_one():
    assert OF_PHASES.scaling_factor is None
    assert not isinstance(OF_PHASES, SkeletonFacts)
    for name in ("dealers", "dropped_share", "smallest_good_s", "command"):
        assert hasattr(FACTS, name)
        assert not hasattr(OF_PHASES, name)


@pytest.mark.parametrize(("application_s", "codes"), [(0.2, ["too-short"]), (0.3, [])])
def test_a_short_application_is_doubted_in_its_own_words(application_s, codes):
    facts = replace(OF_PHASES, application_s=application_s)
    doubts = predicted(facts, (0.25, 0.25, 0.25)).doubts
    assert [one.code for one in doubts] == codes
    assert not any("skeleton" in str(one) for one in doubts)


def test_the_facts_are_those_of_the_signature_and_of_what_is_measured():
    signature = load(STORED)
    plan = in_one_run(signature, ExecutedExtent())
    facts = PhaseFacts.of(signature, plan)
    assert facts.ranks == signature.ranks
    assert facts.quiet_s == facts.expected_s == signature.application_s
    assert facts.mpi == signature.provenance.mpi
    less = PhaseFacts.of(signature, replace(plan, wanted=plan.wanted[:1]))
    assert less.unmeasured_share >= facts.unmeasured_share
