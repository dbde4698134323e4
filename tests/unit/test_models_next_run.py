"""Which run to make next."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.models.formulas import parse
from skelgen.models.intervals import Scale
from skelgen.models.model import InputRange, Model, fit_model, predict_with
from skelgen.models.next_run import next_runs
from skelgen.models.runs import ModelInput, RunTable, meaning_of


def model(*formulas, noise=0.01, **ranges):
    """Return a model whose formulas are equally likely: the first one is its own."""
    inputs = tuple(
        InputRange(ModelInput(name, meaning_of(name)), low, high)
        for name, (low, high) in ranges.items()
    )
    found = [parse(text) for text in formulas]
    return Model(
        family="default",
        formula=found[0],
        inputs=inputs,
        quantity="time",
        unit="s",
        scale=Scale(noise=noise, terms=2, runs=10),
        alternatives=tuple((1 / len(found), one) for one in found),
    )


TWO = model("1e-9*n^3", "1e-6*n^2", n=(500.0, 2000.0))


def test_a_run_where_formulas_differ_narrows_more_than_one_where_they_agree():
    best, *rest = next_runs(TWO, {"n": (1000.0, 4000.0)}, {"n": 8000.0})
    assert best.run == {"n": 4000.0}
    assert all(best.gain > one.gain for one in rest)
    assert "differ by" in best.reason
    assert "more n" in best.reason


def test_what_a_run_costs_is_its_time_on_all_its_ranks():
    one = model("n/ranks", n=(10.0, 20.0), ranks=(2.0, 4.0))
    found = next_runs(one, {"n": (80.0,), "ranks": (8.0,)})[0]
    assert found.time_s == pytest.approx(10.0)
    assert found.cost_s == pytest.approx(80.0)
    several = model(
        "n/(nodes*ranks_per_node)",
        n=(10.0, 20.0),
        nodes=(1.0, 2.0),
        ranks_per_node=(1.0, 2.0),
    )
    values = {"n": (80.0,), "nodes": (4.0,), "ranks_per_node": (2.0,)}
    assert next_runs(several, values)[0].cost_s == pytest.approx(80.0)


def test_of_runs_that_tell_about_as_much_the_cheap_one_comes_first():
    same = model("1e-3*n", "2e-3*n", n=(500.0, 2000.0))
    found = next_runs(same, {"n": (600.0, 1900.0)}, {"n": 1000.0})
    assert [one.run["n"] for one in found] == [600.0, 1900.0]
    assert found[0].gain == pytest.approx(found[1].gain)


def test_no_run_is_named_that_takes_longer_than_allowed():
    found = next_runs(TWO, {"n": (1000.0, 2000.0, 4000.0)}, longest_s=9.0)
    assert {one.run["n"] for one in found} <= {1000.0, 2000.0}
    with pytest.raises(InputError, match="allow longer ones"):
        next_runs(TWO, {"n": (1000.0,)}, longest_s=1e-3)


def test_unless_somebody_says_more_what_was_run_and_twice_as_much_can_be_run():
    one = model("n/ranks", "n^2/ranks", n=(1000.0, 4000.0), ranks=(4.0, 16.0))
    found = next_runs(one)
    assert {one.run["ranks"] for one in found} <= {4.0, 8.0, 16.0, 32.0}
    sizes = {one.run["n"] for one in found}
    assert max(sizes) == 8000.0
    assert all(size == round(size) for size in sizes)


def test_an_exact_model_needs_no_run():
    exact = model("n", noise=0.0, n=(1.0, 100.0))
    assert next_runs(exact, {"n": (50.0,)}, {"n": 60.0}) == []


def test_inputs_that_the_model_lacks_and_questions_without_them_are_refused():
    with pytest.raises(InputError, match="no input m"):
        next_runs(TWO, {"m": (1.0,)})
    with pytest.raises(InputError, match="needs n"):
        next_runs(TWO, at={})


@given(st.floats(1.0, 3.0), st.floats(0.1, 2.9), st.floats(1.0, 1e4))
def test_a_run_never_widens_and_its_gain_is_at_most_all_of_the_interval(a, b, at):
    one = model(f"n^{a:.3f}", f"n^{b:.3f}", n=(10.0, 100.0))
    for found in next_runs(one, {"n": (5.0, 50.0, 500.0)}, {"n": at}):
        assert 0.0 < found.gain <= found.before
        assert math.isfinite(found.cost_s)


def test_the_run_that_is_named_brings_a_fit_nearer_to_the_truth():
    def law(n):
        return 1e-9 * n**3 + 2e-6 * n**2 + 1e-3 * n

    random = np.random.default_rng(5)

    def table(sizes):
        noise = random.normal(1.0, 0.01, len(sizes))
        rows = [{"n": float(n)} for n in sizes]
        return RunTable.gather(
            (ModelInput("n"),),
            rows,
            [law(n) * e for n, e in zip(sizes, noise, strict=True)],
        )

    sizes = [200, 300, 400, 500]
    first = fit_model(table(sizes))
    named = next_runs(first, at={"n": 4000.0})[0].run["n"]
    assert named > 500
    second = fit_model(table([*sizes, named, named]))
    errors = [
        abs(math.log(predict_with(one, {"n": 4000.0}).interval.p50 / law(4000.0)))
        for one in (first, second)
    ]
    assert errors[1] < errors[0]


def test_where_only_loads_vary_nothing_can_be_run_next():
    rows = [{"cpu": cpu} for cpu in (0.25, 0.5, 1.0)]
    table = RunTable.gather(
        (ModelInput("cpu", meaning_of("cpu")),),
        rows,
        [1.0 / row["cpu"] for row in rows],
    )
    with pytest.raises(InputError, match="the model has cpu; add runs of other sizes"):
        next_runs(fit_model(table))
