"""The default model: its formula, changes of regime, intervals and doubts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.models import regimes, runs_ahead
from skelgen.models.families import FAMILIES, FamilySettings
from skelgen.models.families.default_terms import least_left
from skelgen.models.families.normal_form import normal_forms
from skelgen.models.families.terms import terms_for
from skelgen.models.families.weighing import falling_power, weights
from skelgen.models.formulas import evaluate, parse
from skelgen.models.model import fit_model, predict_with
from skelgen.models.runs import Meaning, ModelInput, RunTable

N, P = ModelInput("n"), ModelInput("ranks", Meaning.RANKS)
NODES = ModelInput("nodes", Meaning.NODES)
PER_NODE = ModelInput("ranks_per_node", Meaning.RANKS_PER_NODE)
CPU = ModelInput("cpu", Meaning.CPU)
LINKS = ModelInput("bandwidth", Meaning.BANDWIDTH)


def table(inputs, rows, function, noise=0.0, seed=1):
    random = np.random.default_rng(seed)
    names = [one.name for one in inputs]
    runs = [dict(zip(names, row, strict=True)) for row in rows]
    times = [function(**run) * random.normal(1.0, noise) for run in runs]
    return RunTable.gather(inputs, runs, times)


RANKS = (2, 4, 8, 16, 32)


def test_falling_times_go_on_falling():
    # T = 100/p + 0.4 + 0.02 log p
    def law(ranks):
        return 100 / ranks + 0.4 + 0.02 * math.log(ranks)

    model = fit_model(table((P,), [(p,) for p in RANKS] * 3, law, noise=0.005))
    for ranks, error in ((64, 0.1), (128, 0.25), (256, 0.5)):
        found = predict_with(model, {"ranks": ranks}).interval
        assert found.p50 == pytest.approx(law(ranks), rel=error)
    assert model.family == "default"
    assert model.inputs[0].high == 32


def test_runs_before_a_cache_holds_the_data_do_not_count():
    def law(ranks):
        return 100 / ranks * (1.5 if ranks < 8 else 1.0) + 0.1

    runs = table((P,), [(p,) for p in (2, 4, 8, 16, 32, 64)] * 3, law, noise=0.005)
    forms = normal_forms(runs, terms=terms_for(runs), steps=regimes.steps_for(runs))
    change, share = forms.change
    assert change is not None
    assert share > 0.9
    assert (change.axis, change.before, change.after) == ("ranks", 4, 8)
    model = fit_model(runs)
    assert model.inputs[0].low == 8
    assert any("changes between ranks=4 and 8" in note for note in model.notes)
    found = predict_with(model, {"ranks": 128})
    assert found.interval.p50 == pytest.approx(law(128), rel=0.1)


def test_few_runs_after_a_change_are_doubted():
    def law(ranks):
        return 100 / ranks * (2.0 if ranks < 8 else 1.0)

    runs = table((P,), [(p,) for p in (2, 4, 8, 16, 32)] * 3, law, noise=0.002)
    model = fit_model(runs)
    assert [one.code for one in model.doubts] == ["knee"]
    far = predict_with(model, {"ranks": 120})
    assert [one.code for one in far.doubts] == ["knee"]
    assert far.verdict == "do not trust"
    assert predict_with(model, {"ranks": 36}).verdict == "trust"


def test_after_a_change_of_which_little_is_known_the_power_law_has_a_say():
    def law(ranks):
        return 100 / ranks * (1.5 if ranks < 8 else 1.0)

    def share(ranks):
        model = fit_model(table((P,), [(p,) for p in ranks] * 3, law, noise=0.002))
        assert any("changes between ranks=4 and 8" in note for note in told(model))
        return dict(model.coefficients)["share of the power law"]

    few, many = share((2, 4, 8, 16, 32)), share((2, 4, 8, 11, 16, 23, 32))
    assert 0.1 < many < few < 0.5


def told(model):
    return [*model.notes, *map(str, model.doubts)]


def test_a_power_law_is_a_term_of_the_formula_where_loads_act_by_powers():
    random = np.random.default_rng(6)

    def law(n, ranks, cpu):
        return 1e-6 * n**2.3 / ranks**0.8 / cpu**0.45

    rows = [
        (random.uniform(500, 3000), random.integers(2, 33), random.uniform(0.05, 1.0))
        for _ in range(60)
    ]
    model = fit_model(table((N, P, CPU), rows, law, noise=0.1))
    assert dict(model.coefficients)["share of the power law"] > 0.5
    assert "cpu^" in model.text
    at = {"n": 6000.0, "ranks": 64.0, "cpu": 0.1}
    found = predict_with(model, at).interval
    assert found.p50 == pytest.approx(law(**at), rel=0.15)
    assert evaluate(parse(model.text), at) == pytest.approx(found.p50, rel=0.01)


def test_a_smooth_program_has_no_change():
    def law(n):
        return 1e-9 * n**3 + 1e-5 * n

    sizes = np.geomspace(100, 3000, 10)
    runs = table((N,), [(n,) for n in sizes] * 2, law, noise=0.01)
    forms = normal_forms(runs, terms=terms_for(runs), steps=regimes.steps_for(runs))
    assert forms.change[1] < 0.5
    assert fit_model(runs).inputs[0].low == 100


def test_computation_waits_for_processors_and_messages_for_links():
    def law(n, cpu, bandwidth):
        return 2e-9 * n**3 / cpu + 1e-6 * n**2 / (bandwidth * math.sqrt(cpu))

    random = np.random.default_rng(3)
    rows = [
        (n, random.uniform(0.1, 1.0), random.uniform(0.1, 1.0))
        for n in np.geomspace(500, 2000, 40)
    ]
    model = fit_model(table((N, CPU, LINKS), rows, law, noise=0.01))
    at = {"n": 4000.0, "cpu": 0.5, "bandwidth": 0.3}
    found = predict_with(model, at)
    assert found.interval.p50 == pytest.approx(law(**at), rel=0.1)
    quiet = predict_with(model, at | {"cpu": 1.0, "bandwidth": 1.0})
    assert quiet.interval.p50 < found.interval.p50


def test_sensors_that_see_too_little_are_not_believed_to_the_last_percent():
    def law(n, cpu):
        return 2e-9 * n**3 / cpu

    random = np.random.default_rng(4)
    rows = [(n, random.uniform(0.05, 1.0)) for n in np.geomspace(500, 2000, 30)]
    exact = table((N, CPU), rows, law, noise=0.01)
    assert least_left(exact) == 0.0
    seen = np.clip(exact.at[:, 1] - random.uniform(0.0, 0.15, 30), 0.01, 1.0)
    noisy = replace(exact, at=np.stack([exact.at[:, 0], seen], axis=1))
    assert least_left(noisy) == 0.1
    assert "(0.1 + 0.9*cpu)" in fit_model(noisy).text
    assert least_left(noisy.without("cpu")) == 0.0


def test_runs_before_a_change_still_say_how_the_time_grows():
    def law(ranks):
        return (50 / ranks + 0.5 / ranks**0.5) * (1.4 if ranks < 8 else 1.0)

    rows = [(p,) for p in (2, 3, 4, 8, 12, 16)] * 3
    runs = table((P,), rows, law, noise=0.005)
    model = fit_model(runs)
    found = predict_with(model, {"ranks": 64})
    assert found.interval.p50 == pytest.approx(law(64), rel=0.12)
    assert model.inputs[0].low == 8


def test_unsteady_and_unusual_runs_count_less():
    random = np.random.default_rng(5)
    fitted = np.linspace(0.0, 4.0, 60)
    even = random.normal(0.0, 0.1, 60)
    assert np.ptp(weights(even, fitted)) < 0.9
    uneven = even * np.exp(-0.8 * fitted)
    found = weights(uneven, fitted)
    assert found[-10:].mean() > 3 * found[:10].mean()
    even[30] = 3.0
    assert weights(even, fitted)[30] < 0.2 * np.median(weights(even, fitted))


@pytest.mark.parametrize("power", [0.0, 0.3, 0.7])
def test_how_misses_fall_with_the_time_is_found(power):
    random = np.random.default_rng(8)
    fitted = random.uniform(0.0, 5.0, 400)
    misses = random.normal(0.0, 0.3, 400) * np.exp(-power * fitted)
    assert falling_power(misses, fitted) == pytest.approx(power, abs=0.1)
    assert falling_power(np.zeros(400), fitted) == 0.0
    assert falling_power(misses[:4], fitted[:4]) == 0.0


def test_intervals_of_long_runs_are_narrow_where_long_runs_are_steady():
    random = np.random.default_rng(9)
    sizes = np.repeat(np.geomspace(100, 1600, 12), 6)
    for falls, low, high in ((0.0, 0.7, 1.5), (0.4, 0.15, 0.6)):
        noise = 0.3 * (sizes / 100) ** (-2.0 * falls)
        times = 1e-4 * sizes**2 * np.exp(noise * random.normal(0.0, 1.0, len(sizes)))
        runs = RunTable.gather((N,), [{"n": n} for n in sizes], times.tolist())
        model = fit_model(runs)
        short, long = model.half_width({"n": np.array([150.0, 1600.0])})
        middle = model.half_width({"n": np.array([400.0])})[0]
        assert low < long / middle < high
        assert short >= 0.9 * middle


def test_nodes_and_ranks_per_node_make_ranks():
    def law(nodes, ranks_per_node):
        return 50 / (nodes * ranks_per_node) + 3 / nodes + 0.2

    rows = [(n, k) for n in (2, 4, 8, 16) for k in (1, 2, 4)] * 2
    runs = table((NODES, PER_NODE), rows, law, noise=0.005)
    assert set(runs_ahead.axes(runs)) == {"nodes", "ranks_per_node", "all ranks"}
    model = fit_model(runs)
    found = predict_with(model, {"nodes": 32, "ranks_per_node": 4})
    assert found.interval.p50 == pytest.approx(law(32, 4), rel=0.15)


def test_intervals_grow_with_the_distance_and_far_answers_are_doubted():
    sizes = np.geomspace(100, 1600, 9)
    runs = table((N,), [(n,) for n in sizes], lambda n: 1e-8 * n**2.3, noise=0.02)
    model = fit_model(runs)
    widths = [
        predict_with(model, {"n": n}).interval.half_width for n in (800, 6400, 102400)
    ]
    assert widths == sorted(widths)
    assert predict_with(model, {"n": 2000}).verdict == "trust"
    far = predict_with(model, {"n": 102400})
    assert far.doubts[0].code == "extrapolation"
    assert "n=102400 is far from the runs, which have 100 to 1600" in str(far.doubts[0])


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.floats(0.01, 100.0), min_size=2, max_size=12),
    st.floats(1.0, 1e6),
    st.floats(1.0, 1e4),
)
def test_a_prediction_is_always_a_positive_number(times, n, ranks):
    rows = [(100.0 * (1 + i), 2.0 ** (i % 3)) for i in range(len(times))]
    inputs = (N, P)
    runs = [{"n": size, "ranks": p} for size, p in rows]
    try:
        model = fit_model(RunTable.gather(inputs, runs, times))
    except InputError:
        return
    found = predict_with(model, {"n": n, "ranks": ranks}).interval
    assert 0.0 < found.p5 <= found.p50 <= found.p95 < math.inf


#: What families need to be told, and those that need runs under load.
SETTINGS = {"template": FamilySettings(template=parse("a*n^2/ranks + b"))}
LOADED = ("rational-small", "multivariate-1", "multivariate-2")


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_answers_with_an_interval(family):
    sizes, ranks = range(100, 801, 100), (1, 2, 4, 8, 16, 32, 64)
    rows = [(n, p) for n in sizes for p in ranks]
    runs = table((N, P), rows, lambda n, ranks: 1e-4 * n**2 / ranks, noise=0.02)
    at = {"n": 600, "ranks": 8}
    if family in LOADED:
        rows = [(n, 1 / p, p / 64) for n in sizes for p in ranks[:6]]
        runs = table((N, CPU, LINKS), rows, lambda n, cpu, bandwidth: n**2 / cpu)
        at = {"n": 600, "cpu": 0.5, "bandwidth": 0.25}
    model = fit_model(runs, family, SETTINGS.get(family))
    found = predict_with(model, at).interval
    assert found.p5 < found.p50 < found.p95
    assert math.isfinite(evaluate(parse(model.text), at))


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ({}, "the model needs n; give it"),
        ({"n": 0.0}, "n is 0; a model takes numbers"),
        ({"n": float("nan")}, "n is nan"),
    ],
)
def test_what_cannot_be_asked_is_said(at, said):
    model = fit_model(table((N,), [(1,), (2,), (4,), (8,)], lambda n: n))
    with pytest.raises(InputError, match=said):
        predict_with(model, at)


def test_an_unknown_family_and_a_formula_that_is_no_time_are_said():
    runs = table((N,), [(1,), (2,), (4,)], lambda n: n)
    with pytest.raises(InputError, match="no family 'psychic'; there are default"):
        fit_model(runs, "psychic")


def test_folds_learn_behind_and_ask_ahead():
    runs = table((N,), [(n,) for n in (1, 2, 3, 4, 5, 6, 7, 8)], lambda n: n)
    found = list(runs_ahead.folds(runs))
    assert [len(behind) for behind, _ in found] == [4, 5, 6]
    for behind, rest in found:
        assert runs.at[behind].max() < runs.at[rest].min()
        assert len(behind) + len(rest) == len(runs)
    assert runs_ahead.beyond(runs, {"n": np.array([4.0, 16.0])}) == pytest.approx(
        [0.0, math.log(2)]
    )


def test_mixed_folds_leave_out_neighbours_by_turns():
    runs = table((N,), [(n,) for n in (1, 2, 3, 4, 5, 6, 7)] * 2, lambda n: n)
    found = list(runs_ahead.mixed_folds(runs))
    asked = [sorted(set(runs.at[rest, 0])) for _, rest in found]
    assert asked == [[1, 4, 7], [2, 5], [3, 6]]
    for learnt, rest in found:
        assert not set(runs.at[learnt, 0]) & set(runs.at[rest, 0])
        assert len(learnt) + len(rest) == len(runs)
    few = runs.only(np.flatnonzero(runs.at[:, 0] < 6))
    assert list(runs_ahead.mixed_folds(few)) == []


def test_more_ranks_than_any_run_had_are_ahead_of_all_runs():
    rows = [(8, 1), (16, 1), (32, 1), (8, 2), (8, 4)]
    runs = table((NODES, PER_NODE), rows, lambda nodes, ranks_per_node: nodes)
    asked = {
        "nodes": np.array([32, 32, 64, 8]),
        "ranks_per_node": np.array([1, 4, 1, 4]),
    }
    cases = {name: np.array(values, float) for name, values in asked.items()}
    far = [0.0, math.log(4), math.log(2), 0.0]
    assert runs_ahead.beyond(runs, cases) == pytest.approx(far)
