"""What was measured on another machine, completed by the recordings of the first."""

from __future__ import annotations

import math

import pytest

from skelgen.errors import InputError
from skelgen.models.model import fit_model
from skelgen.workload.parts import WorkloadPart
from skelgen.workload.transfer import (
    PartFit,
    PartFunction,
    completed,
    refitted,
    times_table,
    weights_table,
)
from skelgen.workload.types import Point, PointPhase


def phase(key, weight, time_s, recorded_s=0.0):
    return PointPhase(key, key, ("MPI_Send",), 2, weight, time_s, recorded_s)


def point(n, *phases, measured=False, ranks=2):
    return Point((("n", float(n)),), "run", ranks, 10.0, phases, measured=measured)


def part(times_s, weights=None):
    return WorkloadPart(
        "x", ("MPI_Send",), tuple(weights or [5.0] * len(times_s)), tuple(times_s)
    )


def function(runs):
    model = fit_model(runs, "workload")
    return PartFunction(model, runs, runs.at)


SIZES = [{"n": float(n)} for n in (100, 200, 400, 800)]
NAN = math.nan


def fit(law, here):
    """Return a part that follows a law on the first machine, and what was seen here."""
    times_s = [law(one["n"]) for one in SIZES]
    return PartFit(
        part([*times_s, *here]),
        function(times_table(SIZES, times_s)),
        function(weights_table(SIZES, [5.0] * 4)),
    )


def test_what_was_executed_has_the_weight_of_the_recording_and_its_own_slowness():
    recorded = point(100, phase("x", 50, 0.2), phase("y", 7, 0.1))
    here = point(100, phase("x", 3, 0.6, recorded_s=0.3), measured=True)
    (found,) = completed(here, [recorded]).phases
    assert found.weight == 50
    assert found.time_s == pytest.approx(0.2 * 0.6 / 0.3)


@pytest.mark.parametrize(
    "other",
    [
        point(200, phase("x", 50, 0.2)),
        point(100, phase("x", 50, 0.2), ranks=4),
        point(100, phase("x", 50, 0.2), measured=True),
        point(100, phase("z", 50, 0.2)),
    ],
)
def test_recordings_of_something_else_complete_nothing(other):
    here = point(100, phase("x", 3, 0.6, recorded_s=0.3), measured=True)
    assert completed(here, [other]) == here


def test_a_recording_is_complete_as_it_is():
    recorded = point(100, phase("x", 3, 0.6))
    assert completed(recorded, [point(100, phase("x", 50, 0.2))]) is recorded


def test_what_was_not_measured_is_in_no_table():
    runs = times_table(SIZES, [1.0, NAN, 3.0, NAN])
    assert runs.columns["n"].tolist() == [100.0, 400.0]
    assert runs.values.tolist() == [1.0, 3.0]


def test_a_part_that_was_measured_here_has_the_coefficients_of_here():
    one = fit(lambda n: 1e-3 * n, [0.3, 1.2])
    workloads = [*SIZES, {"n": 100.0}, {"n": 400.0}]
    (found,) = refitted([one], workloads, slice(4, 6))
    assert found.measured
    assert found.time.at([{"n": 1000.0}]) == pytest.approx([3.0], rel=1e-3)
    assert found.time.reach.ravel().tolist() == [100, 200, 400, 800, 100, 400]
    assert one.time.at([{"n": 1000.0}]) == pytest.approx([1.0], rel=1e-3)


def test_a_part_that_was_not_is_slower_by_as_much_as_all_that_was():
    seen = fit(lambda n: 1e-3 * n, [0.25])
    unseen = fit(lambda n: 1e-6 * n**2, [NAN])
    workloads = [*SIZES, {"n": 100.0}]
    found = refitted([seen, unseen], workloads, slice(4, 5))
    assert [one.measured for one in found] == [True, False]
    asked = [{"n": 100.0}, {"n": 800.0}]
    wanted = [2.5 * 1e-6 * n**2 for n in (100, 800)]
    assert found[1].time.at(asked) == pytest.approx(wanted, rel=1e-3)
    assert found[1].weight is unseen.weight


def test_where_nothing_was_measured_nothing_is_scaled():
    one = fit(lambda n: 1e-3 * n, [NAN])
    with pytest.raises(InputError, match="record another workload here"):
        refitted([one], [*SIZES, {"n": 100.0}], slice(4, 5))
