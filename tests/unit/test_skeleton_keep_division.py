"""Where calls are too coarse for K, iterations stay and computation is divided."""

from __future__ import annotations

import random

import numpy as np
import pytest

from skelgen.errors import UsageError
from skelgen.skeleton.emit.skeleton_files import render
from skelgen.skeleton.keep.division import with_part_of_bytes
from skelgen.skeleton.plan import plan
from skelgen.skeleton.proof.simulation import simulate
from skelgen.skeleton.quantities.series import series_sums
from skelgen.skeleton.types import Plan
from tests.random_programs import random_program
from tests.skeletons import script, signature
from tests.unit.test_pipeline_target_time import FEW
from tests.unit.test_skeleton_paper2005 import CALIBRATION
from tests.unit.test_skeleton_plan import STEPS


def computed_ns(made: Plan) -> float:
    """Return the computation of all ranks [ns]."""
    return sum(
        float((program.tail_ns + program.head_ns).sum())
        + sum(
            float(series_sums(o.compute_ns.values, o.occurrences).sum())
            for o in program.operations
        )
        for program in made.programs
    )


@pytest.mark.parametrize("factor", [1.3, 2.5, 4.4, 10, 13, 50, 400])
def test_computation_is_a_kth_and_iterations_are_whole(factor: float) -> None:
    known = signature(FEW)
    made = plan(known, factor)
    assert made.report.expected_s * factor == pytest.approx(
        known.application_s, rel=0.1
    )
    (program,) = made.programs
    often = {o.occurrences for o in program.operations if o.occurrences > 1}
    assert len(often) <= 1
    assert made.report.divided
    assert computed_ns(made) == pytest.approx(known.computed_s * 1e9 / factor)


def test_bytes_shrink_as_the_computation_between_calls_does() -> None:
    made = plan(signature(FEW), 10)
    sent = {
        made.functions[made.symbols[o.symbol]["function"]]: o.size_bytes.values.max()
        for program in made.programs
        for o in program.operations
    }
    # One iteration of six, and none of the call before them: 2 calls of 13.
    assert sent["MPI_Alltoall"] == pytest.approx(100_000 / 10 / (2 / 13), rel=0.01)
    assert sent["MPI_Allreduce"] == 8


def test_set_up_before_a_repeated_call_stays_apart() -> None:
    made = plan(signature(FEW), 4)
    (program,) = made.programs
    first = program.operations[0]
    assert first.occurrences == 2
    assert program.head_ns == pytest.approx([20e6 / 4] * 2)
    assert first.compute_ns.values.mean() == pytest.approx(6 * 60e6 / 4 / 2)
    assert "Set-up: " in render(made, calibration=CALIBRATION)["skeleton.c"]


@pytest.mark.parametrize("factor", [2, 10, 20])
def test_many_iterations_are_not_divided(factor: float) -> None:
    assert plan(signature(STEPS), factor).report.divided == ""


def test_few_bytes_stay_whole_and_all_bytes_are_the_signature_itself() -> None:
    known = signature(FEW)
    assert with_part_of_bytes(known, 1.0) is known
    half = with_part_of_bytes(known, 0.5).groups[0].size_bytes
    total = known.groups[0].size_bytes.total
    assert np.array_equal(half.total, total * [[1.0], [0.5], [1.0]])


@pytest.mark.parametrize("batch", range(4))
def test_random_programs_take_a_kth_or_say_that_they_do_not(batch: int) -> None:
    divided = 0
    for seed in range(batch, 120, 4):
        rng = random.Random(seed)
        known = signature(random_program(rng, calls=rng.choice((60, 150))))
        factor = rng.choice((1.3, 2, 3.3, 5, 8, 21, 60))
        if not any(group.count.sum() for group in known.groups):
            continue
        try:
            made = plan(known, factor)
        except UsageError:  # no call has all its partners
            continue
        report = made.report
        off = abs(report.expected_s * factor / known.application_s - 1)
        said = any("is not met" in text for text in report.warnings)
        assert (off > 0.1) == said, (seed, factor, off)
        divided += bool(report.divided)
        given = script(made)
        assert simulate(given, rendezvous=True).sound, (seed, factor)
        assert simulate(given, rendezvous=False).sound, (seed, factor)
    assert divided > 5
