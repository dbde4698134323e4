"""A workload study matches phases by structure and predicts other workloads."""

import fcntl
import functools
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from skelgen import workload
from skelgen.cli.main import run
from skelgen.errors import InputError, UsageError
from skelgen.models.planning import Range
from skelgen.phase_execution.estimate import Estimate
from skelgen.phases.types import Phase
from skelgen.pipeline import workload as pipeline_workload
from skelgen.pipeline.keep_predictions import Subject
from skelgen.pipeline.measure import Measurement
from skelgen.pipeline.workload import workload_add, workload_plan
from skelgen.results import to_json
from skelgen.results.measurements import MeasureResult
from skelgen.trust import Doubt, Interval
from skelgen.trust.errors import MethodErrors
from skelgen.web.workload_picture import render_workload
from skelgen.workload import (
    Study,
    aligned,
    matched,
    next_workload,
    share_known,
    store,
)
from skelgen.workload.predicting import predict_workload as predict_with
from skelgen.workload.types import Point, PointPhase, point_phases
from tests.method_errors import ERRORS, method_error
from tests.sealed import unsealed
from tests.trace_writer import RankWriter

predict = functools.partial(predict_with, errors=ERRORS)

SIZES = (1000, 1500, 2200, 3000)


def phase(key, weight, time_s, events=2):
    return PointPhase(key, key, ("MPI_Sendrecv", f"MPI_{key}"), events, weight, time_s)


def point(n, steps=100, *, ranks=2, factor=1.0, more=()):
    """Two phases, O(n) and O(n^2), as in the thesis' synthetic application."""
    one = phase("linear", steps, factor * 1e-4 * n)
    two = phase("square", steps - 1, factor * 3e-7 * n**2)
    total_s = math.fsum(p.total_s for p in (one, two, *more)) + 0.01
    at = (("n", float(n)), ("steps", float(steps)))
    return Point(at, f"run-{n}-{steps}", ranks, total_s, (one, two, *more))


def study(*points):
    found = Study()
    for one in points:
        found = found.with_point(one)
    return found


def kinds(found):
    return {doubt.code for doubt in found.doubts}


WHOLE = study(*(point(n) for n in SIZES), *(point(2200, steps) for steps in (200, 300)))


def test_a_study_predicts_times_and_weights_of_another_workload():
    found = predict(WHOLE, {"n": 2500, "steps": 200})
    square, linear, rest = found.parts
    assert square.time.interval.p50 == pytest.approx(3e-7 * 2500**2, rel=1e-6)
    assert (square.weight.interval.p50, linear.weight.interval.p50) == (199, 200)
    assert rest.total_s == pytest.approx(0.01, rel=1e-3)
    truth = point(2500, 200).application_s
    assert found.time_s.p50 == pytest.approx(truth, rel=1e-6)
    assert found.time_s.p5 <= found.time_s.p50 <= found.time_s.p95


def test_a_time_of_nothing_is_refused():
    def whole(n):
        one = phase("square", 10, 3e-7 * n**2)
        total_s = one.total_s + 1e-6 * n
        return Point((("n", float(n)),), f"run-{n}", 2, total_s, (one,))

    with pytest.raises(InputError, match="all functions are 0 at n=0"):
        predict(study(*(whole(n) for n in SIZES)), {"n": 0.0})


def test_each_dimension_on_its_own_and_the_method_of_the_thesis_agree_here():
    truth = point(2500, 200).application_s
    for options in ({"separately": True}, {"method": "thesis"}):
        found = predict(WHOLE, {"n": 2500, "steps": 200}, **options)
        assert found.time_s.p50 == pytest.approx(truth, rel=1e-3)


def test_a_workload_outside_the_recorded_ones_is_flagged_once():
    found = predict(WHOLE, {"n": 9000, "steps": 200})
    codes = [doubt.code for doubt in found.doubts]
    assert codes.count("extrapolation") == 1


@pytest.mark.parametrize(
    ("method", "weight", "factor", "at", "kind"),
    [
        ("thesis", lambda n: 16 - n // 100, 1.0, 1900.0, "negative"),
        ("combinations", lambda _: 10, 3.0, 50.0, "misfit"),
    ],
    ids=["no weight is left", "no time is left"],
)
def test_a_phase_that_was_large_keeps_its_flags_where_its_function_makes_it_small(
    method, weight, factor, at, kind
):
    def whole(n):
        time_s = n**3 / 1e9 * factor ** (n // 400 % 2)
        one, two = phase("odd", weight(n), time_s), phase("other", 10, 1.0)
        total_s = one.total_s + two.total_s
        return Point((("n", float(n)),), f"run{n}", 2, total_s, (one, two))

    few = study(*(whole(n) for n in (200, 600, 1000, 1400)))
    found = predict(few, {"n": at}, method=method)
    (odd,) = [one for one in found.parts if one.part.key == "odd"]
    assert odd.total_s < 0.01 * found.time_s.p50
    assert any(
        f"of phase {found.parts.index(odd) + 1}:" in f.text for f in found.doubts
    )
    assert kind in kinds(found)


def test_phases_of_some_workloads_only_are_in_the_rest_and_flagged():
    switched = study(
        *(
            point(n, more=[phase("other", 10, 1e-6 * n**2)] if n > 2000 else ())
            for n in SIZES
        )
    )
    found = predict(switched, {"n": 2500, "steps": 100})
    assert [one.part.key for one in found.parts] == ["square", "linear", ""]
    assert "algorithm-switch" in kinds(found)
    (told,) = [one.text for one in found.doubts if one.code == "algorithm-switch"]
    assert "run-2200-100, run-3000-100" in told


def test_another_machine_needs_few_workloads_for_the_same_functions():
    there = study(point(1000, 100, factor=2.0))
    found = predict(there, {"n": 2500, "steps": 200}, families=WHOLE)
    truth = 2 * (point(2500, 200).application_s - 0.01) + 0.01
    assert found.time_s.p50 == pytest.approx(truth, rel=1e-6)
    assert "few-points" in kinds(found)


def measured(n, *keys, factor=2.0):
    """A workload of which only some phases were executed, on a slower machine."""
    whole = point(n, factor=factor)
    phases = tuple(one for one in whole.phases if one.key in keys)
    return replace(whole, run="measured.json", phases=phases, measured=True)


def test_what_was_not_measured_on_another_machine_is_scaled_and_told():
    there = study(measured(1000, "square"))
    found = predict(there, {"n": 2500, "steps": 200}, families=WHOLE)
    assert found.time_s.p50 == pytest.approx(
        2 * point(2500, 200).application_s, rel=1e-6
    )
    told = [one.text for one in found.doubts if one.code == "not-measured"]
    assert [text.split(" (")[0] for text in told] == ["phase 2, the rest"]
    assert "algorithm-switch" not in kinds(found)


def test_what_was_not_measured_may_take_half_or_twice_as_long():
    there = study(measured(1000, "square"))
    found = predict(there, {"n": 2500, "steps": 200}, families=WHOLE)
    _, linear, _ = found.parts
    measured_s, little_s = found.measured_s, 0.01 * found.measured_s.p50
    assert 0 <= measured_s.p50 - measured_s.p5 - linear.total_s / 2 < little_s
    assert 0 <= measured_s.p95 - measured_s.p50 - linear.total_s < little_s


def test_what_was_measured_elsewhere_has_the_error_of_that_method_too():
    there = study(measured(1000, "square", "linear"))
    at = {"n": 2500, "steps": 200}
    sure, rough = (
        predict(
            there,
            at,
            families=WHOLE,
            errors=MethodErrors(
                (method_error("workload", 0.03), method_error("phases", half_width))
            ),
        )
        for half_width in (0.0, 0.04)
    )
    assert sure.time_s.p95 == pytest.approx(sure.time_s.p50 * math.exp(0.03), rel=1e-3)
    assert rough.time_s.p95 == pytest.approx(
        rough.time_s.p50 * math.exp(0.05), rel=1e-3
    )
    assert "interval-too-wide" not in kinds(rough)


@pytest.mark.parametrize("families", [WHOLE, None], ids=["scaled", "by itself"])
def test_a_prediction_is_no_surer_than_what_was_measured(families):
    at = {"n": 2500, "steps": 100}
    sure, rough = (
        study(*(replace(measured(n, "linear", "square"), half_width=w) for n in SIZES))
        for w in (0.01, 0.15)
    )
    assert "interval-too-wide" not in kinds(predict(sure, at, families=families))
    found = predict(rough, at, families=families)
    assert "interval-too-wide" in kinds(found)
    assert found.time_s.p95 >= 1.149 * found.time_s.p50
    assert found.time_s.p5 <= 0.851 * found.time_s.p50


def test_what_was_measured_of_small_phases_only_scales_nothing():
    whole = study(*(point(n, more=[phase("small", 10, 1e-6)]) for n in SIZES))
    there = replace(measured(1000), phases=(phase("small", 10, 2e-6),))
    with pytest.raises(InputError, match="is in none of its phases, so what was not"):
        predict(study(there), {"n": 2500, "steps": 100}, families=whole)


@pytest.mark.parametrize("order", [1, -1], ids=["as recorded", "turned"])
def test_occurrences_that_were_not_executed_are_as_much_slower_as_the_others(order):
    """40 of the 99 were executed, which had taken half of the mean."""
    some = phase("square", 40, 0.3)
    some = replace(some, recorded_s=0.15)
    here = measured(1000, "square")
    there = study(replace(here, phases=(some,), at=here.at[::order]))
    found = predict(there, {"n": 2500, "steps": 200}, families=WHOLE)
    assert found.time_s.p50 == pytest.approx(
        2 * point(2500, 200).application_s, rel=1e-6
    )
    assert "not-whole" not in kinds(found)


def test_a_phase_that_was_measured_only_is_told():
    strange = replace(
        measured(1000, "square"), phases=(phase("square", 99, 0.6), phase("a", 50, 0.6))
    )
    found = predict(study(strange), {"n": 2500, "steps": 200}, families=WHOLE)
    assert "algorithm-switch" in kinds(found)


def test_a_study_of_measured_workloads_predicts_by_itself():
    whole = study(*(measured(n, "linear", "square") for n in SIZES))
    found = predict(whole, {"n": 2500, "steps": 100})
    truth = point(2500, factor=2.0).application_s
    assert found.time_s.p50 == pytest.approx(truth, rel=1e-6)


def test_what_was_measured_of_a_recorded_study_counts_for_its_phases():
    most = study(*(point(n) for n in SIZES[:3]), measured(3000, "square", factor=1.0))
    found = predict(most, {"n": 2900, "steps": 100})
    square, linear, rest = (one.fits.time for one in found.parts)
    assert [len(one.runs) for one in (square, linear, rest)] == [4, 3, 3]
    plan = replace(most, ranges=(Range("n", 1000, 3000),))
    assert next_workload(plan, method="disagreement").workload is not None


def test_a_wide_interval_is_told():
    rough = study(
        *(point(n, factor=f) for n, f in zip(SIZES, (1, 2, 1, 2), strict=True))
    )
    assert "interval-too-wide" in kinds(predict(rough, {"n": 2500, "steps": 100}))
    sure = predict(WHOLE, {"n": 2500, "steps": 200})
    assert "interval-too-wide" not in kinds(sure)


def test_four_phases_of_the_same_runs_are_as_little_known_as_one():
    def wide(phases):
        slow = (1.0, 1.1, 0.9, 1.1, 0.95, 1.05)
        points = []
        for n, factor in zip((1000, 1400, 1800, 2200, 2600, 3000), slow, strict=True):
            some = [phase(k, 10, factor * n / len(phases) / 1e4) for k in phases]
            total_s = math.fsum(one.total_s for one in some)
            points.append(Point((("n", n),), f"run{n}", 2, total_s, tuple(some)))
        found = predict(study(*points), {"n": 2500})
        return (found.time_s.p95 - found.time_s.p50) / found.time_s.p50

    assert wide("a") > 0.05
    assert wide("abcd") == pytest.approx(wide("a"), rel=1e-3)


def test_a_run_counts_once_in_a_study():
    told = "run-1000-100 is in the study already, as n=1000,steps=100"
    for at in (point(1000).at, point(1100).at):
        with pytest.raises(InputError, match=told):
            study(point(1000), replace(point(1000), at=at))


def test_a_second_run_of_a_workload_is_told_and_a_file_of_no_kind_is_named(
    tmp_path, capsys
):
    file = str(tmp_path / "study.yaml")
    for name, told in (("one", ""), ("two", "in the study already (one); the mean")):
        words = ["workload", "add", file, recorded(tmp_path / name, 300)]
        assert run([*words, "--at", "n=300"]) == 0
        assert told in capsys.readouterr().err
    for source, told in (("none", "does not exist"), ("study.yaml", "a phase sig")):
        words = ["workload", "add", file, str(tmp_path / source), "--at", "n=300"]
        assert run(words) == 3
        error = capsys.readouterr().err
        assert told in error
        assert error.count("\n") == 1


def test_runs_that_are_added_while_another_is_read_stay_in_the_study(
    tmp_path, monkeypatch
):
    file, find = tmp_path / "study.yaml", pipeline_workload._point

    def while_another_is_added(*words):
        monkeypatch.setattr(pipeline_workload, "_point", find)
        workload_add(file, Path(recorded(tmp_path / "b", 200)), {"n": 200.0})
        workload_plan(file, ranges=(Range("n", 100, 900),))
        return find(*words)

    monkeypatch.setattr(pipeline_workload, "_point", while_another_is_added)
    workload_add(file, Path(recorded(tmp_path / "a", 100)), {"n": 100.0})
    found = store.load(file)
    assert [one.run for one in found.points] == ["b", "a"]
    assert [one.name for one in found.ranges] == ["n"]
    assert not list(tmp_path.glob(".*"))


def test_a_folder_of_images_beside_a_study_is_not_waited_for(tmp_path):
    file = tmp_path / "study.yaml"
    with (tmp_path / ".lock").open("w") as measuring:
        fcntl.flock(measuring, fcntl.LOCK_EX)  # as `--images .` does
        workload_add(file, Path(recorded(tmp_path / "a", 100)), {"n": 100.0})
        workload_plan(file, ranges=(Range("n", 100, 900),))
    assert len(store.load(file).points) == 1


def test_a_run_that_is_added_while_the_next_is_chosen_stays_in_the_study(
    tmp_path, monkeypatch
):
    file, choose = tmp_path / "study.yaml", workload.next_workload

    def while_one_is_added(*words, **options):
        workload_add(file, Path(recorded(tmp_path / "a", 100)), {"n": 100.0})
        return choose(*words, **options)

    monkeypatch.setattr("skelgen.pipeline.workload.next_workload", while_one_is_added)
    workload_plan(file, ranges=(Range("n", 100, 900),))
    found = store.load(file)
    assert [one.run for one in found.points] == ["a"]
    assert [one.name for one in found.ranges] == ["n"]


def test_another_machine_with_other_ranks_is_named():
    there = study(point(3000, ranks=4))
    with pytest.raises(InputError, match=r"run-3000-100 .*4 ranks, run-1000-100 .* 2:"):
        predict(there, {"n": 2500, "steps": 200}, families=WHOLE)


def test_another_machine_with_other_dimensions_is_named():
    there = study(replace(point(1000), at=(("n", 1000.0),)))
    with pytest.raises(InputError, match=r"of the study has n, run-1000-100 .* n, st"):
        predict(there, {"n": 2500, "steps": 200}, families=WHOLE)


@pytest.mark.parametrize("at", [{"n": 2500}, {"n": 2500, "steps": 200, "typo": 1}])
def test_a_wanted_workload_of_other_dimensions_is_named(at):
    named = rf"has {', '.join(sorted(at))}, those of the study have n, steps;"
    with pytest.raises(UsageError, match=named):
        predict(WHOLE, at)


def test_another_machine_with_another_program_is_named():
    strange = (phase("a", 2, 0.5),)
    wrong = study(Point(point(5).at, "wrong", 2, 1.0, strange))
    with pytest.raises(InputError, match=r"run-1000-100, .*wrong have no phase in com"):
        predict(wrong, {"n": 2500, "steps": 200}, families=WHOLE)


def test_places_in_the_program_tell_phases_apart_unless_it_was_compiled_again():
    def two(n, places):
        loops = [
            replace(phase("same", n, 1.0), site_key=places[0]),
            replace(phase("same", 10, 5.0), site_key=places[1]),
        ]
        return Point((("n", float(n)),), f"run{n}", 2, 1.0 * n + 50.0, tuple(loops))

    parts, _ = matched([two(10, "ab"), two(20, "ab")])
    assert [part.weights for part in parts[:-1]] == [(10, 10), (10, 20)]
    parts, _ = matched([two(10, "ab"), two(20, "cd")])
    assert [part.weights for part in parts[:-1]] == [(20, 30)]


def on(ranks, n, steps=100):
    """A run in which ranks share the work, and have other partners."""
    one = point(n, steps, ranks=ranks)
    phases = tuple(
        replace(
            each,
            key=f"{each.key} of {ranks}",
            site_key=f"{each.key} of {ranks}",
            time_s=each.time_s / ranks + 1e-4,
        )
        for each in one.phases
    )
    total_s = math.fsum(each.total_s for each in phases) + 0.01
    name = f"{one.run}-on-{ranks}"
    return replace(one, phases=phases, application_s=total_s, run=name)


RANKED = study(*(on(ranks, n) for ranks in (1, 2, 4, 8) for n in (1000, 2000, 3000)))


def test_runs_with_other_ranks_make_ranks_a_dimension():
    found = predict(RANKED, {"n": 2500, "steps": 100, "ranks": 16})
    truth = on(16, 2500).application_s
    assert found.time_s.p50 == pytest.approx(truth, rel=0.02)
    assert found.measured_s.p5 <= truth <= found.measured_s.p95
    square = found.parts[0]
    assert square.part.calls == ("MPI_Sendrecv", "MPI_square")
    assert square.weight.interval.p50 == 99
    assert kinds(found) == {"extrapolation"}
    assert "ranks=16 is 2 times the largest" in " ".join(map(str, found.doubts))


@pytest.mark.parametrize(
    ("whole", "at", "told"),
    [
        (RANKED, {"n": 2500, "steps": 100}, "those of the study have n, ranks, steps;"),
        (WHOLE, {"n": 2500, "steps": 100, "ranks": 8}, "all runs of the study have 2;"),
    ],
)
def test_ranks_that_are_missing_or_not_known_are_named(whole, at, told):
    with pytest.raises(UsageError, match=told):
        predict(whole, at)


def test_the_ranks_that_all_runs_have_may_be_said():
    at = {"n": 2500, "steps": 200}
    said, usual = predict(WHOLE, at | {"ranks": 2}), predict(WHOLE, at)
    assert said.time_s == usual.time_s


def test_ranks_can_be_planned():
    ranges = (Range("n", 1000, 3000), Range("ranks", 1, 16))
    asked = next_workload(Study(ranges=ranges), method="disagreement").workload
    assert asked == {"n": 1000, "ranks": 1}
    some = replace(RANKED, ranges=ranges, points=RANKED.points[:1])
    step = next_workload(some, method="disagreement")
    assert step.workload == {"n": 3000, "steps": 100, "ranks": 1}
    full = replace(RANKED, ranges=ranges)
    step = next_workload(full, method="disagreement")
    assert step.workload["steps"] == 100
    assert step.workload["ranks"] >= 1


def test_ranks_that_the_run_does_not_have_are_named():
    wrong = point(1000, ranks=4)
    with pytest.raises(InputError, match="has 4 ranks, --at says 8"):
        study(replace(wrong, at=(*wrong.at, ("ranks", 8.0))))


@pytest.mark.parametrize("size", [1e154, 1e300, 1e-320])
def test_a_size_that_models_cannot_compute_with_is_named(size):
    with pytest.raises(InputError, match=r"run-1000-100: n is .*from 1e-30 to 1e"):
        study(replace(point(1000), at=(("n", size),)))


def test_phases_are_fitted_as_the_default_does():
    few = study(*(point(n) for n in (1000, 1400, 1800, 2200, 2600, 3000)))
    found = predict(few, {"n": 4000, "steps": 100}, method="default")
    assert found.parts[0].fits.time.model.family == "default"
    assert found.time_s.p50 == pytest.approx(point(4000).application_s, rel=0.05)


def test_other_dimensions_and_programs_are_named():
    other = Point((("n", 5.0),), "other", 2, 1.0, ())
    with pytest.raises(InputError, match="the workload has n, that of run-1000-100"):
        study(point(1000), other)
    strange = Point(point(5).at, "strange", 2, 1.0, (phase("a", 2, 0.5),))
    with pytest.raises(InputError, match="no phase in common"):
        study(point(1000), strange)


def test_phases_of_one_structure_are_one_with_all_their_time():
    alike = [
        Phase(i, "key", "place", ("MPI_Barrier",), 1, weight, time_s, 0.0, 0.0, 0.1)
        for i, weight, time_s in ((1, 30, 1.0), (2, 10, 5.0))
    ]
    (joined,) = point_phases(alike)
    assert (joined.weight, joined.time_s) == (40, 2.0)


def test_runs_are_cut_alike_though_a_later_one_cannot_be_cut_as_the_first():
    """The first has its steps divided as a rule, a long one has them whole."""

    def run_of(n, *cuts):
        at = (("n", float(n)),)
        return Point(at, f"run{n}", 2, n / 100, cuts[0], others=cuts[1:])

    def steps(n):
        return (phase("step", n, 0.01, events=6),)

    def divided(n):
        return (phase("inside", 3 * n, 0.003), phase("step", n, 0.001, events=3))

    early = run_of(100, divided(100), steps(100)), run_of(200, divided(200), steps(200))
    assert aligned(early) == early
    found = aligned((*early, run_of(300, steps(300))))
    assert [one.phases for one in found] == [steps(100), steps(200), steps(300)]
    assert [one.others for one in found] == [(divided(100),), (divided(200),), ()]
    parts, flags = matched(found)
    assert (parts[0].weights, flags) == ((100, 200, 300), ())


def test_the_share_of_known_time_counts_phases_of_other_events_unless_told():
    one = point(1000)
    known = [replace(phase, events=5) for phase in one.phases[:1]]
    share = one.share(one.phases[0])
    assert share_known(known, one) == pytest.approx(share)
    assert share_known(known, one, other_events=0.9) == pytest.approx(0.9 * share)
    assert share_known(one.phases[:1], one, other_events=0.9) == pytest.approx(share)


def test_the_parts_of_every_workload_sum_to_its_time():
    parts, _ = matched(WHOLE.points)
    for i, one in enumerate(WHOLE.points):
        total_s = sum(part.totals_s[i] for part in parts)
        assert total_s == pytest.approx(one.application_s)


def test_plan_asks_for_the_ends_and_then_where_functions_disagree():
    ranges = (Range("n", 1000, 3000), Range("steps", 100, 300))
    empty = Study(ranges=ranges)
    assert next_workload(empty, method="disagreement").workload == {
        "n": 1000,
        "steps": 100,
    }
    full = Study(ranges=ranges, points=WHOLE.points)
    step = next_workload(full, method="disagreement")
    assert step.uncertainty is not None
    assert next_workload(full, method="bisection").workload is not None
    with pytest.raises(UsageError, match="--range"):
        next_workload(WHOLE, method="disagreement")


def test_a_study_on_disk_comes_back_and_says_what_is_wrong_with_it(tmp_path):
    file = tmp_path / "study.yaml"
    more = replace(point(9), others=(point(9).phases[:1],))
    points = (*WHOLE.points, replace(measured(1000, "square"), half_width=0.1), more)
    whole = Study(("mpirun", "{n}"), (Range("n", 0.5, 3.0, False),), points)
    store.save(whole, file)
    assert store.load(file) == whole
    text = unsealed(file.read_text())
    for before, after, told in (
        ("weight: 99", "weight: -99", r"points\[0\].phases\[1\].weight"),
        ("high: 3.0", "high: 0.1", r"study.yaml: ranges.n: .*0.5 to 0.1"),
        ("measured: true", "measured: 1", r"points\[6\].measured: read '1', expected"),
    ):
        file.write_text(text.replace(before, after, 1))
        with pytest.raises(InputError, match=told):
            store.load(file)


def test_the_picture_shows_every_point_of_every_phase():
    picture = render_workload(predict(WHOLE, {"n": 2500, "steps": 200}))
    panels = 2 * 2 * 3  # time and weight, over n and steps, of two phases and the rest
    assert picture.count("<polyline") == panels
    assert picture.count("<circle") == panels * len(WHOLE.points)


def test_the_picture_shows_functions_of_another_machine_with_one_workload_here():
    there = study(point(1000, 100, factor=2.0))
    found = predict(there, {"n": 2500, "steps": 200}, families=WHOLE)
    picture = render_workload(found)
    assert picture.count("<polyline") == picture.count("<circle") == 2 * 2 * 3
    found = predict(study(measured(1000, "square")), found.at, families=WHOLE)
    weights = 2 * 2 * len(WHOLE.points)  # of the two that were recorded only
    assert render_workload(found).count("<circle") == 2 * 2 + weights


def recorded(folder, n, steps=50):
    """Write a run whose main loop takes longer the larger n is."""
    for rank in range(2):
        writer = RankWriter(rank, 2)
        writer.event("MPI_Init", 0, 100)
        for _ in range(steps):
            other = {"peer": 1 - rank, "tag": 1, "peer2": 1 - rank, "tag2": 1}
            counts = {"count_a": n, "type_a": 8, "count_b": n, "type_b": 8}
            writer.event("MPI_Sendrecv", 100 * n, 100, **other, **counts)
        writer.event("MPI_Barrier", 100, 100)
        writer.finish()
        writer.save(folder)
    return str(folder)


def test_commands_plan_add_and_predict_without_a_look_at_the_file(tmp_path, capsys):
    file = str(tmp_path / "study.yaml")
    command = ["--", "mpirun", "-n", "2", "./app", "{n}"]
    assert run(["workload", "plan", file, "--range", "n=100:900", *command]) == 0
    assert "mpirun -n 2 ./app 100" in capsys.readouterr().out
    for n in (100, 300, 600, 900):
        folder = recorded(tmp_path / f"run{n}", n)
        assert run(["workload", "add", file, folder, "--at", f"n={n}", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["known_share"] > 0.95
    picture = str(tmp_path / "study.svg")
    words = ["workload", "predict", file, "--at", "n=500", "-o", picture, "--json"]
    assert run(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["phases"][0]["weight"] == 50
    assert found["phases"][0]["time_s"] == pytest.approx(25.05e-6, rel=1e-3)
    words = ["workload", "predict", file, "--at", "n=500", "--method", "default"]
    assert run(words) == 0
    assert "nan" not in capsys.readouterr().out
    assert run(["workload", "predict", file, "--at", "n=5000", "--strict"]) == 6
    assert "extrapolation" in capsys.readouterr().err


def result_of_measuring(point, *doubts):
    """Return what ``skelgen measure --json`` prints of these phases."""
    known = tuple(
        (
            Phase(
                i, p.key, p.site_key, p.calls, p.events, p.weight, p.time_s, 0, 0, 0.1
            ),
            2 * p.time_s,
        )
        for i, p in enumerate(point.phases, start=1)
    )
    paet_s = point.application_s
    time_s = Interval(0.8 * paet_s, paet_s, 1.1 * paet_s)
    measured_s = Interval(0.84 * paet_s, paet_s, 1.06 * paet_s)
    found = Estimate((), time_s, measured_s, doubts, known)
    about = Subject("phases", "app", "", 1.0, point.ranks, "", Path("sig"))
    done = Measurement(found, 0.1, None, "live", about)
    return to_json(MeasureResult.of(done))


def test_results_of_measuring_go_into_a_study(tmp_path, capsys):
    there, result = tmp_path / "there.yaml", tmp_path / "measured.json"
    store.save(WHOLE, tmp_path / "study.yaml")
    add = ["workload", "add", str(there), str(result), "--at"]
    for n, doubts in ((1000, ()), (2200, (Doubt("busy", "busy"),))):
        few = measured(n, "square", factor=1.0)
        result.write_text(json.dumps(result_of_measuring(few, *doubts)))
        assert run([*add, f"n={n},steps=100"]) == 0
    assert "its verdict was: do not trust" in capsys.readouterr().err
    (square,) = store.load(there).points[0].phases
    assert (square.weight, square.time_s) == (99, pytest.approx(0.6))
    assert square.recorded_s == pytest.approx(0.3)
    words = ["--families", str(tmp_path / "study.yaml"), "--at", "n=2500,steps=200"]
    assert run(["workload", "predict", str(there), *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["paet_s"] == pytest.approx(2 * point(2500, 200).application_s, 1e-6)
    # As little known as was measured, without the error of the method.
    assert 1.11 * found["paet_s"] < found["measured_p95_s"] < found["p95_s"]
    assert store.load(there).points[0].half_width == pytest.approx(0.11)


def test_a_measured_time_outside_of_its_interval_is_named(tmp_path, capsys):
    file, result = tmp_path / "study.yaml", tmp_path / "measured.json"
    facts = result_of_measuring(measured(1000, "square"))
    result.write_text(json.dumps(facts | {"paet_s": 0.0}))
    assert run(["workload", "add", str(file), str(result), "--at", "n=1"]) == 3
    error = capsys.readouterr().err
    assert "measured.json: paet_s: read 0.0, expected a time from p5_s" in error
    assert not file.exists()


def test_a_workload_with_much_time_in_other_phases_is_told(tmp_path, capsys):
    file, result = str(tmp_path / "study.yaml"), tmp_path / "measured.json"
    usual = measured(1000, "square")
    strange = replace(usual, phases=(*usual.phases, phase("other", 50, 3.0)))
    for at, one in (("1000", usual), ("2000", replace(strange, application_s=180.0))):
        result.write_text(json.dumps(result_of_measuring(one)))
        assert run(["workload", "add", file, str(result), "--at", f"n={at}"]) == 0
    assert "only 66 % of its time is in phases that" in capsys.readouterr().err


def test_other_json_than_that_of_measuring_is_named(tmp_path, capsys):
    other = tmp_path / "other.json"
    other.write_text('{"paet_s": 3}')
    words = ["workload", "add", str(tmp_path / "s.yaml"), str(other), "--at", "n=1"]
    assert run(words) == 3
    error = capsys.readouterr().err
    assert "the field 'verdict' is missing" in error
    assert "skelgen measure --json" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("ends", "whole"),
    [("1:100", True), ("1:1e2", True), ("0.5:2.0", False), ("1e-3:1", False)],
)
def test_a_range_is_of_whole_numbers_unless_it_is_written_otherwise(
    ends, whole, tmp_path
):
    file = tmp_path / "study.yaml"
    assert run(["workload", "plan", str(file), "--range", f"n={ends}"]) == 0
    assert [one.whole for one in store.load(file).ranges] == [whole]


def test_a_run_in_the_folder_one_is_in_has_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(recorded(tmp_path / "here", 100))
    assert run(["workload", "add", "../study.yaml", ".", "--at", "n=100"]) == 0
    assert store.load(tmp_path / "study.yaml").points[0].run == "here"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["predict", "none.yaml", "--at", "n=1"], 3, "there is no such file"),
        (["predict", "none.yaml", "--at", "n"], 2, "not a dimension and its value"),
        (["predict", "none.yaml", "--at", "n=1,n=2"], 2, "given twice"),
        (["plan", "none.yaml", "--range", "n=5"], 2, "expected a range"),
        (["plan", "none.yaml", "--range", "n=9:5"], 2, "the first must be"),
        (["plan", "none.yaml", "--range", "n=1:5", "--", "app"], 2, "{n}"),
        (["plan", "none.yaml"], 2, "the study has no ranges"),
        (["plan", "/dev/null/a.yaml", "--range", "n=1:9"], 2, "cannot be written"),
    ],
)
def test_words_that_do_not_fit_are_named(
    words, code, told, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    assert run(["workload", *words]) == code
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())
