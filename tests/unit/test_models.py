"""Functions of the workload: chosen, predicted, planned, carried to another machine."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.workload_models import FUNCTIONS, PURE, PURE_OF_TWO, STEPS, trial
from skelgen.errors import InputError, UsageError
from skelgen.models import Range, bisection, disagreement, fit, predict, refit
from skelgen.models.combinations import choose, relative_to
from skelgen.models.points import Points
from skelgen.models.predicting import summed
from skelgen.models.types import Factor, FlagKind, column

SIZES = (100, 200, 400, 800, 1600, 3200)


def sizes(*values):
    return [{"n": float(value)} for value in values]


def kinds(flags):
    return {flag.kind for flag in flags}


def flag(flags, kind):
    (found,) = [one for one in flags if one.kind is kind]
    return found


def noisy(values, seed=1, noise=0.02):
    draws = np.random.default_rng(seed).standard_normal(len(values))
    return list(np.asarray(values, dtype=float) * np.exp(noise * draws))


def of(function, points=SIZES):
    return [function(float(n)) for n in points]


# --- combinations ------------------------------------------------------------------


@given(
    power=st.sampled_from([0.5, 1, 1.5, 2, 2.5, 3, 4]),
    log=st.sampled_from([0, 1, 2]),
    scale=st.floats(1e-9, 1e3),
    at=st.floats(100, 3200),
)
@settings(deadline=None, max_examples=30)
def test_a_function_without_noise_is_recovered(power, log, scale, at):
    def truth(n):
        return scale * n**power * math.log(n) ** log

    model = fit(sizes(*SIZES), of(truth))
    assert predict(model, {"n": at}).value == pytest.approx(truth(at), rel=2e-3)
    assert model.error < 1e-3
    assert not model.flags


@given(
    values=st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=7),
    at=st.floats(0, 1e6),
)
@settings(deadline=None, max_examples=30)
def test_no_prediction_of_a_time_is_negative_whatever_was_measured(values, at):
    model = fit(sizes(*range(1, len(values) + 1)), values)
    found = predict(model, {"n": at})
    assert 0.0 <= found.p5 <= found.value <= found.p95
    assert all(c > 0 for one in model.candidates for c in one.function.coefficients)


@given(
    st.integers(2, 7).flatmap(
        lambda m: st.lists(st.floats(0.5, 2.0), min_size=m, max_size=m)
    )
)
@settings(deadline=None, max_examples=20)
def test_the_error_of_points_left_out_is_that_of_fitting_without_them(factors):
    """The formula with the leverage, against really fitting without each point."""
    n = np.array([50.0 * 2**i for i in range(len(factors))])
    points = Points(("n",), n[:, None], n * np.array(factors))
    best = choose(points)[0]
    scale, target = relative_to(points)
    terms = [column(t, points.columns, n.shape) for t in best.function.terms]
    a = np.array(terms).T / scale[:, None]
    errors = []
    for i in range(len(n)):
        rest = np.arange(len(n)) != i
        norms = np.linalg.norm(a[rest], axis=0)
        found = np.linalg.lstsq(a[rest] / norms, target[rest], rcond=None)[0] / norms
        errors.append(a[i] @ found - target[i])
    assert best.error == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=1e-4)


@given(st.floats(1e-3, 1e3), st.permutations(range(len(SIZES))))
@settings(deadline=None, max_examples=15)
def test_neither_the_unit_nor_the_order_of_the_points_changes_the_terms(unit, order):
    times = noisy(of(lambda n: n**2 + 300 * n))
    plain = fit(sizes(*SIZES), times)
    other = fit(
        [sizes(*SIZES)[i] for i in order], [float(times[i]) * unit for i in order]
    )
    assert other.function.terms == plain.function.terms


def test_the_formula_reads_like_one():
    model = fit(sizes(*SIZES), of(lambda n: 3e-4 * n * math.log(n) + 0.5))
    assert model.function.text == "0.0003 n log n + 0.5"


@pytest.mark.parametrize("name", PURE)
def test_six_noisy_points_are_enough_for_five_percent(name):
    """2 % noise: of 9 in 10 models the largest error in the range is at most 5 %."""
    generator = np.random.default_rng(11)
    outcomes = [
        trial(FUNCTIONS[name], [Range("n", 1000, 1000 * times)], "ours", generator)
        for times in (3, 16)
        for _ in range(20)
    ]
    assert max(one.points for one in outcomes) <= 6
    assert np.quantile([one.largest_error for one in outcomes], 0.9) <= 0.05
    assert np.mean([one.held for one in outcomes]) >= 0.85


def test_six_noisy_points_are_enough_for_five_percent_in_two_dimensions():
    generator = np.random.default_rng(11)
    spans = [Range("n", 1000, 16000), STEPS]
    outcomes = [
        trial(FUNCTIONS[name], spans, "ours", generator)
        for name in PURE_OF_TWO
        for _ in range(4)
    ]
    assert max(one.points for one in outcomes) <= 6
    assert np.quantile([one.largest_error for one in outcomes], 0.9) <= 0.05
    assert np.mean([one.held for one in outcomes]) >= 0.85


def test_five_points_of_two_dimensions_are_told_to_be_too_few():
    few = [w for w in GRID if w["n"] != 200 or w["steps"] == 20][:5]
    assert FlagKind.FEW_POINTS in kinds(fit(few, [w["n"] for w in few]).flags)


def test_four_dimensions_are_fitted_on_their_own_only():
    base = dict.fromkeys("abcd", 1.0)
    found = [base, *(base | {k: v} for k in "abcd" for v in (2.0, 4.0))]
    values = [math.prod(w.values()) for w in found]
    with pytest.raises(UsageError, match=r"a, b, c, d vary, at most 3 .*--separately"):
        fit(found, values)
    model = fit(found, values, separately=True)
    assert model.function.at(dict.fromkeys("abcd", 2.0)) == pytest.approx(16)


def test_the_interval_is_wider_where_nothing_was_recorded():
    model = fit(sizes(*SIZES), noisy(of(lambda n: n**2 + 1e5)))
    inside, outside = (predict(model, {"n": n}) for n in (1000, 32000))
    assert (outside.p95 - outside.p5) / outside.value > (
        inside.p95 - inside.p5
    ) / inside.value


@pytest.mark.parametrize(
    ("misses", "width"),
    [
        ([[0.1, -0.2], [0.1, -0.2]], 2.0),  # of one run: always to the same side
        ([[0.1, 0.0], [0.0, 0.1]], 2**0.5),
        ([[0.1, -0.2], [-0.1, 0.2]], 2**0.5),  # never less than on their own
        ([[0.0, 0.0], [0.0, 0.0]], 2.0),  # nothing tells
        ([[0.1, math.nan], [0.1, 0.3]], 2.0),  # not recorded there
    ],
)
def test_a_sum_is_off_as_its_parts_miss_the_workloads_together(misses, width):
    known = np.array([[1.0, 2.0], [3.0, 4.0]])
    found = known + np.array(misses) * known.sum(axis=0)
    wide = summed(np.array([[1.0, 2.0], [1.0, 2.0]]), found, known)
    assert wide == pytest.approx([width, 2 * width])


def test_a_workload_recorded_twice_counts_once_with_its_mean():
    twice = fit(sizes(100, 100, 200, 400, 800), [90, 110, 200, 400, 800])
    assert twice.values == (100, 200, 400, 800)


# --- thesis ------------------------------------------------------------------------

THESIS_SIZES = sizes(1000, 2000, 3000)
PHASE_1_S = [0.0001125, 0.0002157, 0.0003280]
PHASE_2_S = [0.33682, 1.34379, 3.02133]


@pytest.mark.parametrize("values", [(1.0, 2.0, 300.0), (300.0, 2.0, 1.0)])
def test_steps_of_a_thousandth_are_no_exponent_too_large_for_the_thesis(values):
    model = fit([{"dt": n / 1000} for n in (1, 2, 3)], values, method="thesis")
    assert model.function.at({"dt": 0.002}) == pytest.approx(2.0)


@pytest.mark.parametrize("method", ["combinations", "thesis"])
def test_the_synthetic_application_of_the_thesis_is_predicted(method):
    """Tables 6.2 and 6.4: 0.0002871 s and 2.09837 s were measured at 2500."""
    first = fit(THESIS_SIZES, PHASE_1_S, method=method)
    second = fit(THESIS_SIZES, PHASE_2_S, method=method)
    assert predict(first, {"n": 2500}).value == pytest.approx(0.0002871, rel=0.06)
    assert predict(second, {"n": 2500}).value == pytest.approx(2.09837, rel=0.001)


def test_the_thesis_takes_a_line_for_one_phase_and_a_square_for_the_other():
    line = fit(THESIS_SIZES, PHASE_1_S, method="thesis")
    square = fit(THESIS_SIZES, PHASE_2_S, method="thesis")
    assert [t[0].power for t in line.function.terms if t] == [1.0]
    assert [t[0].power for t in square.function.terms if t] == [2.0]
    assert FlagKind.NOT_VALIDATED not in kinds(line.flags)
    assert FlagKind.NOT_VALIDATED in kinds(square.flags)


def test_weights_of_the_synthetic_application_are_exact():
    """Table 6.3: the second phase comes once less than the iterations."""
    iterations = [{"iterations": i} for i in (100, 200, 300)]
    for weights, at_250 in (([100, 200, 300], 250), ([99, 199, 299], 249)):
        model = fit(iterations, weights, whole=True)
        found = predict(model, {"iterations": 250})
        assert found.p5 == found.value == found.p95 == at_250


def power(order, logs=0):
    return Factor("n", power=float(order), logs=logs)


@pytest.mark.parametrize(
    ("truth", "largest", "family"),
    [
        (lambda n: 7.0, 20, ()),
        (lambda n: 3 * math.log(n) + 2, 1e5, (power(0, logs=1),)),
        (lambda n: 3 * n + 2, 1e5, (power(1),)),
        (lambda n: n * math.log(n), 1000, (power(1, logs=1),)),
        (lambda n: n**2 + 4, 100, (power(2),)),
        (lambda n: n**3 + 4, 100, (power(3),)),
        (lambda n: n**2 + 50 * n, 100, (power(2), power(1))),
        (lambda n: 5 * 1.2**n, 40, (Factor("n", base=1.2),)),
        (lambda n: 5 * math.factorial(int(n)), 12, (Factor("n", factorial=True),)),
    ],
)
def test_the_thesis_procedure_finds_each_family(truth, largest, family):
    """Each of table 2.1 from three points and one to validate it.

    The polynomial through all points needs one more for a cube, and misses others.
    """
    span = Range("n", 2, largest)
    points: list[dict[str, float]] = []
    while len(points) < 5:
        points.append(bisection(points, [span]).workload)
    *measured, between = points
    model = fit(measured, [truth(w["n"]) for w in measured], method="thesis")
    assert predict(model, between).value == pytest.approx(truth(between["n"]), rel=1e-6)
    assert not model.flags
    terms = zip(model.function.terms, model.function.coefficients, strict=True)
    found = [term[0] for term, coefficient in terms if term and coefficient > 1e-9]
    assert found == list(family)


def test_a_narrow_range_far_from_zero_overflows_nowhere():
    far = sizes(*(10**6 + 10 * i for i in range(5)))
    model = fit(far, [1.0, 50.0, 3.0, 400.0, 7.0], method="thesis")
    assert FlagKind.NOT_VALIDATED in kinds(model.flags)


def test_a_polynomial_below_zero_is_told():
    model = fit(sizes(10, 20, 30), [1.0, 90.0, 260.0], method="thesis")
    found = predict(model, {"n": 2})
    assert found.value == 0.0
    assert FlagKind.NEGATIVE in kinds(found.flags)


# --- several dimensions --------------------------------------------------------------

GRID = [
    {"n": float(n), "steps": float(s)} for n in (100, 200, 400) for s in (5, 20, 80)
]


def test_dimensions_are_fitted_jointly():
    def truth(w):
        return 1e-6 * w["n"] ** 2 * w["steps"] + 3e-4 * w["n"]

    model = fit(GRID, noisy([truth(w) for w in GRID], noise=0.01))
    at = {"n": 300.0, "steps": 50.0}
    assert predict(model, at).value == pytest.approx(truth(at), rel=0.03)
    assert not predict(model, at).flags


@pytest.mark.parametrize("method", ["combinations", "thesis"])
def test_dimensions_are_fitted_one_at_a_time(method):
    cross = sizes(100, 200, 300, 400)
    cross = [w | {"steps": 10.0} for w in cross]
    cross += [{"n": 100.0, "steps": float(s)} for s in (20, 30, 40)]
    times = [1e-6 * w["n"] ** 2 * w["steps"] for w in cross]
    model = fit(cross, times, method=method, separately=True)
    assert len(model.function.terms) == 1
    found = predict(model, {"n": 400, "steps": 40})
    assert found.value == pytest.approx(6.4, rel=0.02)
    assert FlagKind.EXTRAPOLATION in kinds(found.flags)  # never both large at once


def test_dimensions_that_do_not_act_separately_are_told():
    times = [w["n"] ** 2 + 5e3 * w["steps"] for w in GRID]
    model = fit(GRID, times, separately=True)
    assert "fit jointly" in " ".join(one.text for one in model.flags)
    assert FlagKind.MISFIT not in kinds(fit(GRID, times).flags)


def test_a_dimension_that_never_varies_alone_is_named():
    with pytest.raises(InputError, match="steps never varies alone"):
        fit(
            [
                {"n": 1.0, "steps": 5.0},
                {"n": 2.0, "steps": 5.0},
                {"n": 3.0, "steps": 6},
            ],
            [1, 2, 3],
            separately=True,
        )


# --- flags ---------------------------------------------------------------------------


def test_extrapolation_says_by_how_much():
    model = fit(sizes(*SIZES), of(lambda n: n))
    told = flag(predict(model, {"n": 6400}).flags, FlagKind.EXTRAPOLATION)
    assert told.dimension == "n"
    assert "2 times the largest" in told.text
    assert not predict(model, {"n": 3200}).flags
    assert FlagKind.EXTRAPOLATION in kinds(predict(model, {"n": 99}).flags)


def test_a_dimension_that_was_never_varied_is_told():
    model = fit([w | {"steps": 10} for w in sizes(*SIZES)], of(lambda n: n))
    told = flag(predict(model, {"n": 400, "steps": 20}).flags, FlagKind.EXTRAPOLATION)
    assert told.dimension == "steps"


def test_too_few_points_are_told():
    assert FlagKind.FEW_POINTS in kinds(fit(sizes(1, 2, 3), [1, 2, 3]).flags)
    assert FlagKind.FEW_POINTS not in kinds(fit(sizes(*SIZES), SIZES).flags)


@pytest.mark.parametrize("above", [lambda n: 3 * n, lambda n: n**2 / 20, lambda n: 5.0])
def test_a_knee_is_found_between_the_points_where_it_lies(above):
    points = (10, 14, 20, 40, 60, 80, 100)
    times = noisy([n if n < 30 else above(n) for n in points], noise=0.003)
    told = flag(fit(sizes(*points), times).flags, FlagKind.KNEE)
    assert told.between == (20.0, 40.0)
    assert "between n=20 and 40" in told.text


@pytest.mark.parametrize("name", PURE)
def test_noise_is_not_taken_for_a_knee(name):
    for seed in range(5):
        model = fit(sizes(*SIZES), noisy(of(FUNCTIONS[name]), seed, 0.01))
        assert FlagKind.KNEE not in kinds(model.flags)


def test_a_time_that_falls_is_a_misfit_and_not_a_model():
    model = fit(sizes(*SIZES), of(lambda n: 1e4 / n))
    assert FlagKind.MISFIT in kinds(predict(model, {"n": 150}).flags)


def test_weights_that_are_not_whole_are_told():
    levels = [float(round(3.4 * math.log(n))) for n in SIZES]
    model = fit(sizes(*SIZES), levels, whole=True)
    found = predict(model, {"n": 290})
    assert found.value == round(found.value)
    assert FlagKind.NOT_WHOLE in kinds(found.flags)
    halves = fit(sizes(*SIZES), [n / 2 + 0.25 for n in SIZES], whole=True)
    assert FlagKind.NOT_WHOLE in kinds(halves.flags)


@pytest.mark.parametrize(
    ("workloads", "values", "says"),
    [
        ([], [], "at least one"),
        (sizes(1, 2), [1.0], "2 workloads with 1 values"),
        (sizes(5, 5), [1.0, 2.0], "at least two different"),
        (sizes(1, 2), [1.0, 0.0], "above 0"),
        (sizes(1, 2), [1.0, math.nan], "above 0"),
        (sizes(-1, 2), [1.0, 2.0], "negative"),
        ([{"n": 1.0}, {"m": 1.0}], [1.0, 2.0], "dimensions n of the first"),
    ],
)
def test_bad_numbers_give_one_clear_line(workloads, values, says):
    with pytest.raises(InputError, match=says) as raised:
        fit(workloads, values)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("method", ["combinations", "thesis"])
@pytest.mark.parametrize("weights", [[0, 1, 2, 3, 4], [0, 0, 0, 0, 0]])
def test_a_phase_may_not_occur_at_all(method, weights):
    model = fit(sizes(1, 2, 3, 4, 5), weights, whole=True, method=method)
    assert predict(model, {"n": 4}).value == weights[3]


def test_functions_that_are_zero_where_they_meet_are_not_multiplied():
    with pytest.raises(InputError, match="fit jointly"):
        fit(GRID, [0.0] * len(GRID), whole=True, separately=True)


def test_a_workload_without_a_dimension_is_refused():
    with pytest.raises(InputError, match="no value for n"):
        predict(fit(sizes(*SIZES), SIZES), {"m": 3})


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("n", [1e100, 1e180, 1e300])
def test_a_workload_too_far_for_numbers_is_refused(n, whole):
    model = fit(sizes(*SIZES), [3 * n * n + n % 7 for n in SIZES], whole=whole)
    with pytest.raises(InputError, match="too far from the recorded"):
        predict(model, {"n": n})


# --- planning ------------------------------------------------------------------------


def test_the_bisection_takes_the_ends_then_the_middle_then_halves():
    found: list[dict[str, float]] = []
    for _ in range(5):
        found.append(bisection(found, [Range("n", 1000, 3000)]).workload)
    assert [w["n"] for w in found] == [1000, 3000, 2000, 2500, 1500]


def test_the_bisection_varies_one_dimension_at_a_time():
    found: list[dict[str, float]] = []
    for _ in range(7):
        step = bisection(found, [Range("n", 1, 9), Range("steps", 10, 90)])
        found.append(step.workload)
    assert all(w["n"] == 1 or w["steps"] == 10 for w in found)
    assert {w["n"] for w in found} >= {1, 5, 9}
    assert {w["steps"] for w in found} >= {10, 50, 90}


def test_a_small_range_of_whole_numbers_is_used_up():
    every = sizes(1, 2, 3)
    assert bisection(every, [Range("n", 1, 3)]).workload is None
    assert disagreement(every, [[1], [2], [3]], [Range("n", 1, 3)]).workload is None


def test_the_plan_stays_in_the_range_and_repeats_nothing():
    span = [Range("n", 100, 1000), Range("steps", 5, 50)]
    found: list[dict[str, float]] = []
    for _ in range(8):
        times = [[w["n"] ** 2 * w["steps"] + 1.0, 7.0 * w["n"]] for w in found]
        step = disagreement(found, times, span)
        assert step.workload not in found
        assert all(one.low <= step.workload[one.name] <= one.high for one in span)
        found.append(step.workload)
    assert step.uncertainty is not None


def test_parts_of_the_same_slow_runs_are_as_uncertain_as_their_sum():
    found, span = sizes(100, 200, 500, 1000), [Range("n", 100, 1000)]
    total_s = noisy([w["n"] for w in found], noise=0.1)
    whole = disagreement(found, [[one] for one in total_s], span)
    parts = disagreement(found, [[one / 4] * 4 for one in total_s], span)
    assert parts.uncertainty == pytest.approx(whole.uncertainty)


def test_points_where_functions_agree_are_not_recorded_again():
    """Known points tell about their neighbourhood; the next one lies between them."""
    found = sizes(100, 1000, 10_000)
    step = disagreement(found, [[1.0], [40.0], [900.0]], [Range("n", 100, 10_000)])
    assert all(abs(math.log(step.workload["n"] / w["n"])) > 0.25 for w in found)


def test_a_dimension_without_a_range_stays_as_it_was():
    found = [w | {"steps": 10.0} for w in sizes(100, 316, 1000)]
    for step in (
        disagreement(found, [[1.0], [4.0], [11.0]], [Range("n", 100, 1000)]),
        bisection(found, [Range("n", 100, 1000)]),
    ):
        assert step.workload["steps"] == 10.0
        assert step.workload["n"] not in {w["n"] for w in found}


def test_a_range_of_an_unknown_dimension_is_refused():
    with pytest.raises(UsageError, match="ranges are given for size"):
        bisection(sizes(1, 2), [Range("size", 1, 2)])


def test_a_range_upside_down_is_refused():
    with pytest.raises(UsageError, match="range of n"):
        Range("n", 10, 5)


# --- another machine ---------------------------------------------------------


def test_one_point_scales_the_function_to_another_machine():
    model = fit(sizes(*SIZES), of(lambda n: 2e-6 * n**2 + 0.1))
    there = refit(model, sizes(400), [3 * (2e-6 * 400**2 + 0.1)])
    assert there.function.terms == model.function.terms
    assert predict(there, {"n": 3200}).value == pytest.approx(3 * 20.58, rel=1e-3)
    assert kinds(predict(there, {"n": 3200}).flags) == {FlagKind.FEW_POINTS}
    outside = predict(there, {"n": 6400}).flags  # of the workloads of both machines
    assert kinds(outside) == {FlagKind.FEW_POINTS, FlagKind.EXTRAPOLATION}


def test_more_points_give_new_coefficients_to_the_same_terms():
    """Another machine may be 3 times slower in one part and equal in the other."""
    model = fit(sizes(*SIZES), of(lambda n: 2e-6 * n**2 + 0.1))
    few = (100, 800, 1600)
    there = refit(model, sizes(*few), of(lambda n: 6e-6 * n**2 + 0.1, few))
    assert there.function.terms == model.function.terms
    assert predict(there, {"n": 3200}).value == pytest.approx(61.54, rel=1e-3)


def test_a_function_that_does_not_hold_on_the_other_machine_is_told():
    model = fit(sizes(*SIZES), of(lambda n: n))
    there = refit(model, sizes(100, 800, 3200), [1.0, 30.0, 2000.0])
    assert FlagKind.MISFIT in kinds(there.flags)
