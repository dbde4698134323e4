"""The models of 2006: rational polynomials and what they were compared with."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.models.families import FAMILIES, FamilySettings
from skelgen.models.families.least_squares import solve
from skelgen.models.formulas import evaluate, parse, to_text
from skelgen.models.runs import Meaning, ModelInput, RunTable, When, when_of
from tests.exact import least_squares

N, P = ModelInput("n"), ModelInput("ranks", Meaning.RANKS)
AVERAGES = (
    ModelInput("cpu", Meaning.CPU),
    ModelInput("bandwidth", Meaning.BANDWIDTH),
)
STARTS = tuple(
    ModelInput(f"{one.name}_start", one.meaning, when=when_of(f"{one.name}_start"))
    for one in AVERAGES
)
LATENCY = ModelInput("latency_s", Meaning.LATENCY, "s")
GIVEN = FamilySettings(computation=parse("n^3"), communication=parse("n^2"))


def runs_of(truth, *, sizes=range(2, 14), ranks=(1,), noise=0.0, inputs=(N, *AVERAGES)):
    """Return runs of sizes (in thousands) on numbers of ranks under random loads."""
    random = np.random.default_rng(5)
    rows = []
    for n in sizes:
        for p in ranks:
            cpu, bandwidth, before, left = (random.integers(1, 65, 4) / 64).tolist()
            rows.append({"n": 1000.0 * n, "ranks": p, "cpu": cpu})
            rows[-1] |= {"bandwidth": bandwidth, "cpu_start": before}
            rows[-1] |= {"bandwidth_start": left, "latency_s": 2.0 ** -(n % 7 + 10)}
    times = [truth(row) * random.normal(1.0, noise) for row in rows]
    return RunTable.gather(inputs, rows, times)


def eigenvalues(row, end=""):
    n, cpu, bandwidth = row["n"], row["cpu" + end], row["bandwidth" + end]
    return 1.0 + 2e-9 * n**3 / cpu + 3e-6 * n**2 / bandwidth


@pytest.mark.parametrize(
    ("name", "inputs", "settings"),
    [("rational-small", STARTS, FamilySettings()), ("rational", AVERAGES, GIVEN)],
)
def test_a_rational_polynomial_is_the_exact_least_squares_solution(
    name, inputs, settings
):
    runs = runs_of(
        lambda row: eigenvalues(row, "_start" if inputs is STARTS else ""),
        sizes=range(2, 20),
        noise=0.05,
        inputs=(N, *inputs),
    )

    def terms(n, cpu, bandwidth):  # eq. 1, 2 and 3
        n, cpu, bandwidth = map(Fraction, (n, cpu, bandwidth))
        return [
            *(n**i for i in (3, 2, 1, 0)),
            *(n**i / cpu for i in (3, 2, 1, 0)),
            *(n**i / bandwidth for i in (2, 1, 0)),
        ]

    found = FAMILIES[name].fit(runs, settings)
    exact = least_squares([terms(*row) for row in runs.at.tolist()], runs.values)
    assert [key for key, _ in found.coefficients] == (
        "a1 b1 c1 d1 a2 b2 c2 d2 a3 b3 c3".split()
    )
    for (_, value), truth in zip(found.coefficients, exact, strict=True):
        assert value == pytest.approx(float(truth), rel=1e-6)
    at = (25000.0, 0.25, 0.5)
    names = [one.name for one in runs.inputs]
    truth = sum(c * x for c, x in zip(exact, terms(*at), strict=True))
    assert found.at(dict(zip(names, at, strict=True))) == pytest.approx(
        float(truth), rel=1e-6
    )
    assert found.inputs == (N, *inputs)


def test_start_and_average_are_two_inputs_and_each_model_takes_its_own():
    runs = runs_of(eigenvalues, inputs=(N, *STARTS, *AVERAGES))
    small = FAMILIES["rational-small"].fit(runs, FamilySettings())
    large = FAMILIES["rational"].fit(runs, GIVEN)
    assert small.dropped == ("cpu", "bandwidth")
    assert large.dropped == ("cpu_start", "bandwidth_start")
    assert runs.load(Meaning.CPU, When.START) == STARTS[0]
    assert np.abs(large.at(runs.columns) / runs.values - 1).max() < 1e-6


def test_non_negative_coefficients_are_the_best_of_all_faces():
    random = np.random.default_rng(2)
    columns, values = random.uniform(0.0, 1.0, (20, 5)), random.uniform(0.5, 2.0, 20)
    columns[:, 3] = columns[:, 0] + 0.1 * columns[:, 2]
    found = solve(columns, values, relative_to=values, non_negative=True)

    def error(coefficients):
        return np.sum((columns @ coefficients / values - 1.0) ** 2)

    least = np.inf
    for face in range(1, 2**5):
        used = [i for i in range(5) if face >> i & 1]
        own = np.linalg.lstsq(columns[:, used] / values[:, None], np.ones(20))[0]
        if (own >= 0.0).all():
            whole = np.zeros(5)
            whole[used] = own
            least = min(least, error(whole))
    assert (found.coefficients >= 0.0).all()
    assert error(found.coefficients) == pytest.approx(least, rel=1e-9)


def test_non_negative_is_a_setting_and_ignores_what_only_noise_asks_for():
    runs = runs_of(eigenvalues, noise=0.05)
    settings = FamilySettings(
        computation=parse("n^3"), communication=parse("n^2"), non_negative=True
    )
    found = FAMILIES["rational"].fit(runs, settings)
    assert all(value > 0.0 for _, value in found.coefficients)
    asked = {"n": 30000.0, "cpu": 0.5, "bandwidth": 0.5}
    assert found.at(asked) == pytest.approx(eigenvalues(asked), rel=0.1)


@pytest.mark.parametrize(
    ("computation", "communication"),
    [("n^3", "n^2"), ("n^1.5", "n"), ("n*log(n)", "n"), ("n^2", "1")],
)
@pytest.mark.parametrize("ranks", [(1, 4, 16), (4, 9, 25)])
def test_complexities_are_found_again(computation, communication, ranks):
    work, sent = parse(computation), parse(communication)
    one = runs_of(lambda row: 1.0, inputs=(N, P, *AVERAGES), ranks=ranks)
    n, p = one.columns["n"], one.columns["ranks"]
    work, sent = evaluate(work, {"n": n}), evaluate(sent, {"n": n}) * np.log2(p)
    values = 0.02 + 8 * work / work.max() / p / one.columns["cpu"]
    values += sent / np.max(sent) / one.columns["bandwidth"]
    runs = RunTable(one.inputs, one.at, values)
    found = FAMILIES["rational"].fit(runs, FamilySettings())
    least = "log2(ranks)" if communication == "1" else f"{communication}*log2(ranks)"
    first = to_text(parse(f"{computation}/ranks"))
    said = f"complexity of computation {first}, of communication {least}"
    assert found.notes == (said,)
    assert found.at(runs.columns) == pytest.approx(values, rel=1e-2)


def test_a_search_takes_all_runs_where_few_are_on_several_processes():
    runs = runs_of(lambda row: 1e-9 * row["n"] ** 2 / row["ranks"], inputs=(N, P))
    runs.at[-2:, 1] = 4.0
    runs.values[-2:] /= 4.0
    found = FAMILIES["rational"].fit(runs, FamilySettings())
    assert found.notes[0].startswith("complexity of computation n^2/ranks")


def test_latency_has_its_place():
    def truth(row):
        return eigenvalues(row) + 4.0 * row["n"] * row["latency_s"]

    runs = runs_of(truth, sizes=range(2, 26), inputs=(N, *AVERAGES, LATENCY))
    found = FAMILIES["rational"].fit(runs, GIVEN)
    assert dict(found.coefficients)["a4"] == pytest.approx(4.0, rel=1e-5)
    assert LATENCY in found.inputs


def test_a_load_that_never_varies_has_no_terms():
    runs = runs_of(lambda row: 1.0 + 2e-9 * row["n"] ** 3)
    runs.at[:, 1:] = 1.0
    found = FAMILIES["rational"].fit(runs, GIVEN)
    assert found.dropped == ("cpu", "bandwidth")
    assert [name for name, _ in found.coefficients] == ["a1", "b1", "c1", "d1"]


@pytest.mark.parametrize("name", ["multivariate-1", "multivariate-2"])
def test_a_multivariate_model_is_found_again(name):
    def truth(row):
        x, y = row["cpu"], row["bandwidth"]
        g = 1 + 3 * x + 0.5 * y if name == "multivariate-1" else 1 + 3 * x * y
        n = row["n"]
        return (2e-9 * n**3 + 3e-6 * n**2 + 1e-3 * n + 2.0) / g

    found = FAMILIES[name].fit(runs_of(truth), FamilySettings())
    wanted = {"a": 2e-9, "b": 3e-6, "c": 1e-3, "d": 2.0, "e": 3.0}
    wanted |= {"f": 0.5} if name == "multivariate-1" else {}
    assert dict(found.coefficients) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("name", ["multivariate-1", "multivariate-2"])
def test_no_other_multivariate_model_has_smaller_squares(name):
    runs = runs_of(eigenvalues, noise=0.05)
    found = FAMILIES[name].fit(runs, FamilySettings())
    n, cpu, bandwidth = runs.at.T / np.array([[1e4], [1], [1]])
    least = np.sum((found.at(runs.columns) - runs.values) ** 2)
    numerator = np.stack([n**3, n**2, n, np.ones(len(n))], axis=1)
    values = dict(found.coefficients)
    factors = [values[key] for key in "ef" if key in values]
    loads = [cpu, bandwidth] if len(factors) == 2 else [cpu * bandwidth]

    def squares(factors):
        g = 1 + sum(f * load for f, load in zip(factors, loads, strict=True))
        a = numerator / g[:, None]
        rest = runs.values - a @ np.linalg.lstsq(a, runs.values)[0]
        return rest @ rest

    assert squares(factors) == pytest.approx(least, rel=1e-6)
    for change in (-1e-3, -1e-5, 1e-5, 1e-3):
        for i in range(len(factors)):
            other = list(factors)
            other[i] *= 1 + change
            assert squares(other) >= least * (1 - 1e-9)
    grid = np.concatenate([-np.geomspace(0.1, 1e3, 25), np.geomspace(0.1, 1e3, 25)])
    for values in np.stack(np.meshgrid(*[grid] * len(factors)), -1).reshape(
        -1, len(factors)
    ):
        g = 1 + sum(f * load for f, load in zip(values, loads, strict=True))
        if g.min() * g.max() > 0:
            assert squares(values) >= least * (1 - 1e-9)


def test_the_analytical_formula_is_that_of_scalapack():
    facts = {"flops_per_s": 1e9, "bytes_per_s": 1e8, "latency_s": 1e-4, "block": 32.0}
    runs = runs_of(eigenvalues, ranks=(4, 16), inputs=(N, P, *STARTS))
    found = FAMILIES["analytical"].fit(runs, FamilySettings(facts=facts))
    n, p, cpu, bandwidth = 8000.0, 16.0, 0.5, 0.25
    truth = 22 / 3 * n**3 / p / (1e9 * cpu)
    truth += 5 * np.log2(p) * n**2 / np.sqrt(p) * 8 / (1e8 * bandwidth)
    truth += (17 / 2 * 32 + 2) * n / 32 * 1e-4
    at = {"n": n, "ranks": p, "cpu_start": cpu, "bandwidth_start": bandwidth}
    assert found.at(at) == pytest.approx(truth, rel=1e-12)


def test_times_that_no_fact_gives_are_fitted():
    def truth(row):
        n, p = row["n"], row["ranks"]
        t = 22 / 3 * n**3 / p * 1e-9 / row["cpu"]
        t += 5 * np.log2(p) * n**2 / np.sqrt(p) * 8e-8 / row["bandwidth"]
        return t + (8.5 * 64 + 2) * n / 64 * 1e-4

    runs = runs_of(truth, ranks=(4, 16), inputs=(N, P, *AVERAGES))
    found = FAMILIES["analytical"].fit(runs, FamilySettings())
    assert dict(found.coefficients) == pytest.approx(
        {"t_f": 1e-9, "t_v": 8e-8, "t_m": 1e-4}, rel=1e-6
    )


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("rational-small", FamilySettings(), "ranks varies; choose rational"),
        ("rational", FamilySettings(computation=parse("m^3")), "complexity names m"),
        ("rational", FamilySettings(computation=parse("f(n)")), "complexity names f"),
        ("multivariate-1", FamilySettings(), "neither varies"),
        ("analytical", FamilySettings(facts={"flops_per_s": 0.0}), "flops_per_s is 0"),
    ],
)
def test_what_is_missing_is_said(name, settings, said):
    runs = runs_of(eigenvalues, ranks=(1, 2), inputs=(N, P))
    with pytest.raises(InputError, match=said):
        FAMILIES[name].fit(runs, settings)
