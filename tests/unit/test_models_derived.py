"""Speedup, efficiency and rate: made of the times that a model says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies

from skelgen.errors import InputError
from skelgen.models.derived import derive, predict_quantity, rate_of
from skelgen.models.formulas import evaluate, parse
from skelgen.models.model import fit_model, predict_with
from skelgen.models.quantities import Quantity, QuantityKind
from skelgen.models.run_quantities import of_runs
from skelgen.models.runs import table_of

SPEEDUP = Quantity(QuantityKind.SPEEDUP)
EFFICIENCY = Quantity(QuantityKind.EFFICIENCY)
RATE = Quantity(QuantityKind.RATE, parse("2*n^3 + n"))

ROWS = [
    {"n": n, "ranks": p}
    for n in (1000.0, 1500.0, 2000.0, 3000.0, 4000.0)
    for p in (2.0, 4.0, 8.0, 16.0)
]


def law(n, ranks):
    return 1e-9 * n**3 / ranks + 2e-7 * n**2


def runs(times=law, noise=0.01, seed=3, rows=ROWS):
    lots = np.random.default_rng(seed).normal(1.0, noise, len(rows))
    return table_of(
        rows, [times(**row) * lot for row, lot in zip(rows, lots, strict=True)]
    )


MODELS = {family: fit_model(runs(), family) for family in ("normal-form", "power")}

families = strategies.sampled_from(sorted(MODELS))
sizes = strategies.floats(100.0, 1e5)
ranks = strategies.integers(1, 1024).map(float)


@given(families, sizes, ranks)
def test_the_speedup_at_the_reference_is_exactly_one(family, n, reference):
    at = {"n": n, "ranks": reference}
    for kind in (QuantityKind.SPEEDUP, QuantityKind.EFFICIENCY):
        asked = Quantity(kind, reference=(("ranks", reference),))
        said = predict_quantity(MODELS[family], asked, at).interval
        assert (said.p5, said.p50, said.p95) == (1.0, 1.0, 1.0)


@given(families, sizes, ranks)
def test_a_rate_times_its_time_is_the_amount_and_its_ends_are_turned_round(
    family, n, count
):
    at = {"n": n, "ranks": count}
    time = predict_with(MODELS[family], at).interval
    rate = predict_quantity(MODELS[family], RATE, at).interval
    amount = 2 * n**3 + n
    assert rate.p50 * time.p50 == pytest.approx(amount)
    assert rate.p5 * time.p95 == pytest.approx(amount)
    assert rate.p95 * time.p5 == pytest.approx(amount)
    assert rate_of(predict_with(MODELS[family], at), amount).interval.p5 == (
        pytest.approx(rate.p5)
    )


@given(families, sizes, ranks)
def test_an_efficiency_is_a_speedup_over_so_many_times_the_ranks(family, n, count):
    at = {"n": n, "ranks": count}
    speedup = predict_quantity(MODELS[family], SPEEDUP, at).interval
    efficiency = predict_quantity(MODELS[family], EFFICIENCY, at).interval
    assert efficiency.p50 == pytest.approx(speedup.p50 * 2.0 / count)
    assert efficiency.p95 / efficiency.p5 == pytest.approx(speedup.p95 / speedup.p5)


@given(families, sizes, ranks)
def test_the_interval_of_a_speedup_has_the_noise_of_two_runs(family, n, count):
    model, at = MODELS[family], {"n": n, "ranks": count}
    if count == 2.0:
        return
    said = predict_quantity(model, SPEEDUP, at).interval
    noise = model.scale.factor * model.scale.noise
    assert math.log(said.p95 / said.p50) > 0.99 * noise * math.sqrt(2.0)


def test_a_reference_that_the_model_misses_makes_the_interval_wide():
    table = runs(lambda n, ranks: law(n, ranks) * (1.5 if ranks == 2.0 else 1.0))
    model = fit_model(table, "power")
    at = {"n": 3000.0, "ranks": 8.0}
    said = predict_quantity(model, SPEEDUP, at).interval
    assert model.scale.smallest > 0.1
    assert math.log(said.p95 / said.p50) > 1.6 * model.scale.smallest
    assert fit_model(table.without("ranks"), "power").scale.smallest == 0.0


@given(ranks)
def test_perfect_scaling_has_an_efficiency_of_one(count):
    model = fit_model(runs(lambda n, ranks: 1e-9 * n**3 / ranks, 0.0), "normal-form")
    found = predict_quantity(model, EFFICIENCY, {"n": 3000.0, "ranks": count})
    assert found.interval.p50 == pytest.approx(1.0)


def test_a_reference_outside_of_the_runs_is_doubted_and_one_inside_is_not():
    model, at = MODELS["normal-form"], {"n": 2000.0, "ranks": 8.0}
    for count, doubted in ((1.0, True), (3.0, False), (16.0, False), (32.0, True)):
        asked = Quantity(QuantityKind.SPEEDUP, reference=(("ranks", count),))
        codes = [one.code for one in predict_quantity(model, asked, at).doubts]
        assert ("extrapolation" in codes) == doubted
        value = predict_quantity(model, asked, at).interval.p50
        assert value == pytest.approx(law(2000, count) / law(2000, 8), rel=0.05)


def test_nodes_and_ranks_on_each_are_the_reference_where_ranks_are_no_input():
    rows = [
        {"nodes": float(nodes), "ranks_per_node": float(each)}
        for nodes in (1, 2, 4, 8)
        for each in (1, 2, 4)
    ]
    model = fit_model(
        runs(lambda nodes, ranks_per_node: 9 / nodes / ranks_per_node, 0.0, rows=rows),
        "power",
    )
    at = {"nodes": 8.0, "ranks_per_node": 4.0}
    assert predict_quantity(model, SPEEDUP, at).interval.p50 == pytest.approx(
        32.0, rel=0.01
    )
    assert predict_quantity(model, EFFICIENCY, at).interval.p50 == pytest.approx(
        1.0, rel=0.01
    )
    one_rank = Quantity(QuantityKind.SPEEDUP, reference=(("ranks", 1.0),))
    assert derive(model, one_rank).reference == derive(model, SPEEDUP).reference
    with pytest.raises(InputError, match="no input ranks"):
        derive(model, Quantity(QuantityKind.SPEEDUP, reference=(("ranks", 2.0),)))


def test_a_formula_of_a_quantity_is_read_by_our_grammar():
    model = derive(MODELS["normal-form"], EFFICIENCY)
    at = {"n": 2000.0, "ranks": 8.0}
    again = float(evaluate(parse(model.text), at))
    assert again == pytest.approx(float(model.at(at)), rel=1e-3)
    assert model.unit == ""
    assert derive(MODELS["power"], RATE).unit == "(2*n^3 + n)/s"


def test_two_times_below_zero_make_no_speedup():
    rows = [{"ranks": float(p)} for p in (2, 4, 6, 8)]
    model = fit_model(runs(lambda ranks: 10.0 - ranks, 0.0, rows=rows), "linear")
    asked = Quantity(QuantityKind.SPEEDUP, reference=(("ranks", 12.0),))
    with pytest.raises(InputError, match="that is no time"):
        predict_quantity(model, asked, {"ranks": 20.0})


@pytest.mark.parametrize("kind", [QuantityKind.SPEEDUP, QuantityKind.EFFICIENCY])
def test_a_model_that_knows_no_ranks_has_no_speedup(kind):
    rows = [{"n": float(n)} for n in (1, 2, 3, 4)]
    model = fit_model(runs(lambda n: n, 0.0, rows=rows), "power")
    with pytest.raises(InputError, match="has no input ranks"):
        predict_quantity(model, Quantity(kind), {"n": 8.0})


def test_speedups_of_runs_are_of_the_same_other_inputs():
    table = runs(noise=0.0)
    measured = of_runs(table, SPEEDUP)
    found = measured.of(table.values)
    expected = [law(row["n"], 2.0) / law(**row) for row in ROWS]
    assert found == pytest.approx(expected)
    assert measured.judged.tolist() == [row["ranks"] != 2.0 for row in ROWS]
    alone = of_runs(table.only(np.arange(3, 20)), SPEEDUP)
    assert np.isnan(alone.of(table.values[3:])[0])
    assert not alone.judged[0]


def test_runs_without_a_partner_at_the_reference_have_no_speedup():
    rows = [{"n": float(n), "ranks": float(n)} for n in (2, 4, 8)]
    with pytest.raises(InputError, match="no two runs are one at ranks=2 and one on"):
        of_runs(runs(lambda n, ranks: n, rows=rows), SPEEDUP)


def test_runs_under_loads_have_no_speedup():
    rows = [{"ranks": p, "cpu": c} for p in (2.0, 4.0) for c in (0.5, 1.0)]
    with pytest.raises(InputError, match="different loads"):
        of_runs(runs(lambda ranks, cpu: 1 / ranks / cpu, rows=rows), SPEEDUP)
