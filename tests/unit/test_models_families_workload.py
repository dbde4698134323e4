"""The family `workload`: chosen by errors at runs left out, falling as times do."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.models.families import FAMILIES, FamilySettings
from skelgen.models.families.candidates import averaged, candidates
from skelgen.models.families.formula_parts import columns_of
from skelgen.models.families.workload_terms import that_count, workload_terms
from skelgen.models.formulas import to_text
from skelgen.models.model import fit_model, predict_with
from skelgen.models.runs import ModelInput, RunTable, meaning_of
from skelgen.models.subsets import Prices, best_sets

SIZES = (100, 200, 400, 800, 1600, 3200)


def table(values, **columns):
    """Return runs with a column of each input."""
    inputs = [ModelInput(name, meaning_of(name)) for name in columns]
    rows = [
        dict(zip(columns, map(float, row), strict=True))
        for row in zip(*columns.values(), strict=True)
    ]
    return RunTable.gather(inputs, rows, list(map(float, values)))


def noisy(values, seed, noise=0.02):
    draws = np.random.default_rng(seed).standard_normal(len(values))
    return np.asarray(values) * np.exp(noise * draws)


def fitted(runs, **said):
    return FAMILIES["workload"].fit(runs, FamilySettings(**said))


@given(
    power=st.sampled_from([0.5, 1, 1.5, 2, 2.5, 3, 4]),
    log=st.sampled_from([0, 1, 2]),
    scale=st.floats(1e-9, 1e3),
)
@settings(deadline=None, max_examples=20)
def test_a_function_without_noise_is_recovered(power, log, scale):
    def truth(n):
        return scale * n**power * np.log(n) ** log

    found = fitted(table(truth(np.array(SIZES)), n=SIZES))
    assert found.at({"n": 5000.0}) == pytest.approx(truth(5000.0), rel=1e-3)
    assert not found.doubts


@given(st.lists(st.floats(0.5, 2.0), min_size=2, max_size=7))
@settings(deadline=None, max_examples=20)
def test_the_error_of_runs_left_out_is_that_of_fitting_without_them(factors):
    """The formula with the leverage, against really fitting without each run."""
    n = np.array([50.0 * 2**i for i in range(len(factors))])
    runs = table(n * factors, n=n)
    best = candidates(runs)[0]
    a = columns_of(best.terms, runs) / runs.values[:, None]
    errors = []
    for i in range(len(n)):
        rest = np.arange(len(n)) != i
        norms = np.linalg.norm(a[rest], axis=0)
        found = np.linalg.lstsq(a[rest] / norms, np.ones(len(n) - 1), rcond=None)[0]
        errors.append(a[i] @ (found / norms) - 1.0)
    assert best.error == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=1e-4)


def test_the_search_finds_what_trying_all_sets_finds():
    random = np.random.default_rng(1)
    columns = random.uniform(0.1, 2.0, (9, 12))
    prices = Prices(np.zeros(9), 0.25, 1e-4, np.zeros(9, dtype=bool))
    target = columns[3] + 0.5 * columns[7] + 0.05 * random.standard_normal(12)
    best = best_sets(columns, target, prices, 3)[0]

    def price(chosen):
        a = columns[list(chosen)].T
        q, r = np.linalg.qr(a)
        if (np.linalg.solve(r, q.T @ target) <= 0.0).any():
            return math.inf
        rest = (q @ (q.T @ target) - target) / (1.0 - np.sum(q**2, axis=1))
        error = np.sqrt(np.mean(rest**2))
        count = len(chosen)
        return (error + 1e-4) * (1.0 + 0.25 * (count - 1) * 12 / (12 - count))

    every = [c for k in (1, 2, 3) for c in itertools.combinations(range(9), k)]
    assert best.terms == min(every, key=price)
    assert best.price == pytest.approx(min(map(price, every)))


def test_a_time_that_falls_with_processes_is_followed_beyond_the_runs():
    p = np.array([2.0, 4.0, 8.0, 16.0, 32.0])
    found = fitted(table(100 / p + 0.4 + 0.02 * np.log(p), p=p))
    far = np.array([64.0, 128.0, 256.0])
    truth = 100 / far + 0.4 + 0.02 * np.log(far)
    assert found.at({"p": far}) == pytest.approx(truth, rel=1e-6)
    assert to_text(found.formula, digits=3) == "0.02*log(p) + 0.4 + 100/p"


def test_a_time_that_falls_with_any_input_is_followed():
    threads = np.array([1.0, 2.0, 3.0, 4.0, 6.0, 8.0])
    found = fitted(table(12 / threads + 0.5, threads=threads))
    assert found.at({"threads": 16.0}) == pytest.approx(1.25, rel=0.01)
    assert not found.doubts


@pytest.mark.parametrize("power", [1.8, 2.3])
def test_a_power_off_the_grid_is_met_at_sixteen_times_the_largest_size(power):
    n = np.geomspace(1000, 16000, 6)
    errors = []
    for seed in range(30):
        runs = table(noisy(1e-6 * n**power, seed), n=n)
        found = float(fitted(runs).at({"n": 256000.0}))
        errors.append(abs(found / (1e-6 * 256000.0**power) - 1.0))
    assert np.quantile(errors, 0.9) < 0.15


def test_five_inputs_have_no_more_terms_than_can_be_tried():
    random = np.random.default_rng(4)
    columns = {name: random.uniform(10, 1000, 60) for name in ("n", "m", "k", "l", "p")}
    truth = columns["n"] ** 2 * columns["m"] / columns["p"] * 1e-3
    runs = table(noisy(truth, 3), **columns)
    terms, _ = workload_terms(runs, that_count(runs))
    assert 100 < len(terms) <= 1501
    assert candidates(runs)[0].error < 0.05


def test_of_very_many_inputs_those_that_change_the_times_most_count():
    random = np.random.default_rng(5)
    columns = {f"a{i}": random.uniform(1, 100, 40) for i in range(14)}
    runs = table(noisy(columns["a3"] ** 2, 3), **columns)
    counted = [one.name for one in that_count(runs)]
    assert len(counted) == 10
    assert "a3" in counted


@pytest.mark.parametrize("size", [1e154, 1e300])
def test_sizes_that_nobody_can_mean_are_refused(size):
    with pytest.raises(InputError, match=r"n is 1e\+"):
        table([1.0, 2.0, 3.0], n=[1.0, 2.0, size])


@pytest.mark.parametrize("time_s", [1e-320, 1e300])
def test_times_that_nobody_can_mean_are_refused(time_s):
    with pytest.raises(InputError, match="time is"):
        table([1.0, 2.0, time_s], n=[1.0, 2.0, 3.0])


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("separately", [False, True])
@pytest.mark.parametrize("thesis", [False, True])
@given(
    st.lists(
        st.tuples(st.floats(1e-30, 1e30), st.floats(1e-30, 1e30)),
        min_size=2,
        max_size=7,
    )
)
@settings(deadline=None, max_examples=10)
def test_numbers_as_far_apart_as_can_be_give_numbers_or_one_line(
    whole, separately, thesis, rows
):
    runs = table([time for _, time in rows], n=[n for n, _ in rows])
    try:
        found = fitted(runs, whole=whole, separately=separately, thesis=thesis)
    except InputError as error:
        assert "\n" not in str(error)
        return
    assert np.isfinite(found.at(runs.columns)).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("times", "columns"),
    [
        ([0.6, 48.6], {"k": [2.0e4, 7.8e4], "c": [1.7e-21, 1.7e-22], "b": [0.8, 0.01]}),
        ([304.7, 304.7], {"k": [2.5e-29, 6.3e-24], "c": [93.4, 10.4]}),
    ],
)
def test_functions_that_are_no_numbers_at_any_run_are_no_warnings(times, columns):
    runs = table(times, **columns)
    assert np.isfinite(fitted(runs).at(runs.columns)).all()


def test_a_case_that_was_run_twice_counts_once_with_its_mean():
    runs = averaged(table([90, 110, 200, 400], n=[100, 100, 200, 400]))
    assert runs.values.tolist() == [100, 200, 400]


def test_intervals_hold_as_often_as_they_say_and_say_something():
    """Sums of powers off any grid, noise of 2 %, twice to sixteen times the sizes."""
    n, inside, widths = np.geomspace(1000, 8000, 8), [], []
    for seed in range(40):
        random = np.random.default_rng([seed, 17])
        powers = random.uniform(0, 3, random.integers(1, 4))
        shares = random.dirichlet(np.ones(len(powers)))

        def truth(x, powers=powers, shares=shares):
            return float(shares @ (x / 1000) ** powers)

        model = fit_model(table(noisy([truth(x) for x in n], seed), n=n), "workload")
        for times in (2, 4, 16):
            asked = 8000.0 * times
            found = predict_with(model, {"n": asked}).interval
            inside.append(found.p5 <= truth(asked) <= found.p95)
            widths.append(found.half_width)
    assert np.mean(inside) >= 0.85
    assert np.median(widths[::3]) < 0.2
    assert np.median(widths[1::3]) < 0.5


def test_a_knee_is_found_between_the_runs_where_it_is():
    n = (10, 14, 20, 40, 60, 80, 100)
    times = noisy([x if x < 30 else 3 * x for x in n], 1, 0.003)
    (told,) = [one for one in fitted(table(times, n=n)).doubts if one.code == "knee"]
    assert "between n=20 and 40" in told.text


@pytest.mark.parametrize(
    ("truth", "n", "text"),
    [
        (lambda n: 5 * 1.2**n, (2, 40, 21, 30), "5*1.2^n"),
        (lambda n: 5 * math.factorial(n) + 2, (2, 12, 7, 9), "5*gamma(n + 1) + 2"),
        (lambda n: n**2 + 4, (2, 12, 7, 9), "n^2 + 4"),
    ],
)
def test_the_procedure_of_the_thesis_names_its_functions(truth, n, text):
    found = fitted(table([truth(x) for x in n], n=n), thesis=True)
    assert to_text(found.formula, digits=3).removeprefix("1*") == text
    assert "not-validated" not in {one.code for one in found.doubts}
