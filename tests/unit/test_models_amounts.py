"""Parts of a program: times that may be nothing, counts, other machines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.models.amounts import outside, predict_count, predict_time, summed
from skelgen.models.families import FamilySettings
from skelgen.models.formulas import to_text
from skelgen.models.model import fit_model, predict_with
from skelgen.models.runs import table_of
from skelgen.models.transfer import refit, terms_of

SIZES = (100, 200, 400, 800, 1600, 3200)
GRID = [
    {"n": float(n), "steps": float(s)} for n in (100, 200, 400) for s in (5, 20, 80)
]


def sizes(*values):
    return [{"n": float(value)} for value in values]


def fit(workloads, values, **said):
    return fit_model(table_of(workloads, values), "workload", FamilySettings(**said))


def counted(workloads, values, **said):
    return fit(workloads, values, whole=True, **said)


def of(function, points=SIZES):
    return [function(float(n)) for n in points]


def noisy(values, seed=1, noise=0.02):
    draws = np.random.default_rng(seed).standard_normal(len(values))
    return list(np.asarray(values, dtype=float) * np.exp(noise * draws))


def codes(doubts):
    return {one.code for one in doubts}


@given(
    values=st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=7),
    at=st.floats(1, 1e6),
)
@settings(deadline=None, max_examples=30)
def test_no_prediction_of_a_time_is_negative_whatever_was_measured(values, at):
    model = fit(sizes(*range(1, len(values) + 1)), values)
    found = predict_time(model, {"n": at}).interval
    assert 0.0 <= found.p5 <= found.p50 <= found.p95
    assert all(number > 0 for number, _ in terms_of(model.formula))


def test_a_size_of_nothing_is_almost_nothing():
    model = fit(sizes(*SIZES), of(lambda n: 1e-3 * n))
    assert predict_time(model, {"n": 0.0}).interval.p95 == 0.0


def test_the_interval_is_wider_where_nothing_was_recorded():
    model = fit(sizes(*SIZES), noisy(of(lambda n: n**2 + 1e5)))
    inside, beyond = (predict_with(model, {"n": n}).interval for n in (1000, 32000))
    assert beyond.half_width > inside.half_width


def test_weights_of_the_synthetic_application_are_exact():
    """Thesis, table 6.3: the second phase comes once less than the iterations."""
    iterations = [{"iterations": i} for i in (100, 200, 300)]
    for weights, at_250 in (([100, 200, 300], 250), ([99, 199, 299], 249)):
        found = predict_count(
            counted(iterations, weights), {"iterations": 250}
        ).interval
        assert found.p5 == found.p50 == found.p95 == at_250


def test_weights_that_are_not_whole_are_told():
    levels = [float(round(3.4 * math.log(n))) for n in SIZES]
    found = predict_count(counted(sizes(*SIZES), levels), {"n": 290})
    assert found.interval.p50 == round(found.interval.p50)
    assert "not-whole" in codes(found.doubts)
    halves = counted(sizes(*SIZES), [n / 2 + 0.25 for n in SIZES])
    assert "not-whole" in codes(halves.doubts)


@pytest.mark.parametrize("thesis", [False, True])
def test_a_count_below_nothing_is_none_and_told(thesis):
    counts = [16 - n // 100 for n in (200, 600, 1000, 1400)]
    model = counted(sizes(200, 600, 1000, 1400), counts, thesis=thesis)
    found = predict_count(model, {"n": 1900})
    assert found.interval.p50 >= 0.0
    if thesis:  # a line
        assert found.interval.p50 == 0.0
        assert "negative" in codes(found.doubts)


def test_a_polynomial_below_zero_is_told():
    model = fit(sizes(10, 20, 30), [1.0, 90.0, 260.0], thesis=True)
    found = predict_time(model, {"n": 2})
    assert found.interval.p50 == 0.0
    assert "negative" in codes(found.doubts)


@pytest.mark.parametrize("n", [1e100, 1e180, 1e300])
def test_a_workload_too_far_for_numbers_is_refused(n):
    values = [3 * n * n + n % 7 for n in SIZES]
    for model, ask in (
        (fit(sizes(*SIZES), values), predict_time),
        (counted(sizes(*SIZES), values), predict_count),
    ):
        with pytest.raises(InputError, match="a model takes numbers") as raised:
            ask(model, {"n": n})
        assert "\n" not in str(raised.value)
        with pytest.raises(InputError, match="too far from the recorded"):
            ask(model, {"n": 9e29})


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


# --- the method of the thesis, and inputs on their own ---------------------------

THESIS_SIZES = sizes(1000, 2000, 3000)
PHASE_1_S = [0.0001125, 0.0002157, 0.0003280]
PHASE_2_S = [0.33682, 1.34379, 3.02133]


@pytest.mark.parametrize("thesis", [False, True])
def test_the_synthetic_application_of_the_thesis_is_predicted(thesis):
    """Tables 6.2 and 6.4: 0.0002871 s and 2.09837 s were measured at 2500."""
    first = fit(THESIS_SIZES, PHASE_1_S, thesis=thesis)
    second = fit(THESIS_SIZES, PHASE_2_S, thesis=thesis)
    assert float(first.at({"n": 2500.0})) == pytest.approx(0.0002871, rel=0.06)
    assert float(second.at({"n": 2500.0})) == pytest.approx(2.09837, rel=0.001)


def test_the_thesis_takes_a_line_for_one_phase_and_a_square_for_the_other():
    line = fit(THESIS_SIZES, PHASE_1_S, thesis=True)
    square = fit(THESIS_SIZES, PHASE_2_S, thesis=True)
    assert [to_text(term) for _, term in terms_of(line.formula)] == ["n", "1"]
    assert [to_text(term) for _, term in terms_of(square.formula)] == ["n^2", "1"]
    assert "not-validated" not in codes(line.doubts)
    assert "not-validated" in codes(square.doubts)


@pytest.mark.parametrize("values", [(1.0, 2.0, 300.0), (300.0, 2.0, 1.0)])
def test_steps_of_a_thousandth_are_no_exponent_too_large_for_the_thesis(values):
    model = fit([{"dt": n / 1000} for n in (1, 2, 3)], values, thesis=True)
    assert float(model.at({"dt": 0.002})) == pytest.approx(2.0)


def test_a_narrow_range_far_from_zero_overflows_nowhere():
    far = sizes(*(10**6 + 10 * i for i in range(5)))
    model = fit(far, [1.0, 50.0, 3.0, 400.0, 7.0], thesis=True)
    assert "not-validated" in codes(model.doubts)


@pytest.mark.parametrize("thesis", [False, True])
def test_dimensions_are_fitted_one_at_a_time(thesis):
    cross = [w | {"steps": 10.0} for w in sizes(100, 200, 300, 400)]
    cross += [{"n": 100.0, "steps": float(s)} for s in (20, 30, 40)]
    times = [1e-6 * w["n"] ** 2 * w["steps"] for w in cross]
    model = fit(cross, times, thesis=thesis, separately=True)
    assert len(terms_of(model.formula)) == 1
    assert float(model.at({"n": 400.0, "steps": 40.0})) == pytest.approx(6.4, rel=0.02)


def test_dimensions_are_fitted_jointly():
    def truth(w):
        return 1e-6 * w["n"] ** 2 * w["steps"] + 3e-4 * w["n"]

    model = fit(GRID, noisy([truth(w) for w in GRID], noise=0.01))
    at = {"n": 300.0, "steps": 50.0}
    found = predict_time(model, at)
    assert found.interval.p50 == pytest.approx(truth(at), rel=0.03)
    assert not found.doubts


def test_four_dimensions_are_fitted_jointly_and_on_their_own():
    base = dict.fromkeys("abcd", 1.0)
    found = [base, *(base | {k: v} for k in "abcd" for v in (2.0, 4.0))]
    values = [math.prod(w.values()) for w in found]
    for separately in (False, True):
        model = fit(found, values, separately=separately)
        assert model.at(dict.fromkeys("abcd", 2.0)) == pytest.approx(16, rel=0.01)


def test_dimensions_that_do_not_act_separately_are_told():
    times = [w["n"] ** 2 + 5e3 * w["steps"] for w in GRID]
    model = fit(GRID, times, separately=True)
    assert "fit jointly" in " ".join(map(str, model.doubts))
    assert "misfit" not in codes(fit(GRID, times).doubts)


def test_a_dimension_that_never_varies_alone_is_named():
    few = [{"n": 1.0, "steps": 5.0}, {"n": 2.0, "steps": 5.0}, {"n": 3.0, "steps": 6}]
    with pytest.raises(InputError, match="steps never varies alone"):
        fit(few, [1, 2, 3], separately=True)


# --- doubts ----------------------------------------------------------------------


def test_extrapolation_says_by_how_much():
    known = np.array([[float(n)] for n in SIZES])
    (told,) = outside(["n"], known, {"n": 6400})
    assert told.about == "n"
    assert "2 times the largest" in told.text
    assert not outside(["n"], known, {"n": 3200})
    assert codes(outside(["n"], known, {"n": 99})) == {"extrapolation"}


def test_large_in_all_dimensions_at_once_is_extrapolation():
    known = np.array([[100.0, 40.0], [400.0, 10.0], [100.0, 10.0]])
    (told,) = outside(["n", "steps"], known, {"n": 400.0, "steps": 40.0})
    assert "as large as n=400, steps=40 in all dimensions at once" in told.text


def test_a_dimension_that_was_never_varied_is_told():
    known = np.array([[float(n), 10.0] for n in SIZES])
    (told,) = outside(["n", "steps"], known, {"n": 400, "steps": 20})
    assert told.about == "steps"


def test_too_few_points_are_told():
    assert "few-points" in codes(fit(sizes(1, 2, 3), [1, 2, 3]).doubts)
    assert "few-points" not in codes(fit(sizes(*SIZES), SIZES).doubts)
    few = [w for w in GRID if w["n"] != 200 or w["steps"] == 20][:5]
    assert "few-points" in codes(fit(few, [w["n"] for w in few]).doubts)


def test_noise_is_not_taken_for_a_knee():
    for seed in range(5):
        for power in (1, 2, 3):
            times = noisy(of(lambda n, power=power: n**power), seed, 0.01)
            assert "knee" not in codes(fit(sizes(*SIZES), times).doubts)


# --- another machine -------------------------------------------------------------


def test_one_point_scales_the_function_to_another_machine():
    model = fit(sizes(*SIZES), of(lambda n: 2e-6 * n**2 + 0.1))
    there = refit(model, table_of(sizes(400), [3 * (2e-6 * 400**2 + 0.1)]))
    assert [t for _, t in terms_of(there.formula)] == [
        t for _, t in terms_of(model.formula)
    ]
    found = predict_time(there, {"n": 3200})
    assert found.interval.p50 == pytest.approx(3 * 20.58, rel=1e-3)
    assert codes(found.doubts) == {"few-points"}


def test_more_points_give_new_coefficients_to_the_same_terms():
    """Another machine may be 3 times slower in one part and equal in the other."""
    model = fit(sizes(*SIZES), of(lambda n: 2e-6 * n**2 + 0.1))
    few = (100, 800, 1600)
    there = refit(model, table_of(sizes(*few), of(lambda n: 6e-6 * n**2 + 0.1, few)))
    assert float(there.at({"n": 3200.0})) == pytest.approx(61.54, rel=1e-3)


def test_a_function_that_does_not_hold_on_the_other_machine_is_told():
    model = fit(sizes(*SIZES), of(lambda n: n))
    there = refit(model, table_of(sizes(100, 800, 3200), [1.0, 30.0, 2000.0]))
    assert "misfit" in codes(there.doubts)


@pytest.mark.parametrize("family", ["default", "power", "linear", "rational"])
def test_models_of_other_families_are_scaled_too(family):
    model = fit_model(
        table_of(sizes(*SIZES), noisy(of(lambda n: 2e-6 * n**2 + 0.1))), family
    )
    here = float(model.at({"n": 700.0}))
    there = refit(model, table_of(sizes(700), [2 * here]))
    assert float(there.at({"n": 700.0})) == pytest.approx(2 * here)


def test_another_machine_needs_the_inputs_of_the_model():
    model = fit(sizes(*SIZES), of(lambda n: n))
    with pytest.raises(InputError, match="function of n, the runs have m"):
        refit(model, table_of([{"m": 3.0}], [1.0]))
