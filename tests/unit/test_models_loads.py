"""Models under loads that are known by intervals, or felt by a skeleton."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from skelgen.models.formulas import parse
from skelgen.models.intervals import Scale
from skelgen.models.load_feedback import settle
from skelgen.models.loads import (
    NodeLoads,
    exactly,
    predict_slowed,
    predict_under,
    with_usual,
)
from skelgen.models.model import InputRange, Model, ModelPrediction, fit_model
from skelgen.models.model_file import read_model, write_model
from skelgen.models.runs import Meaning, ModelInput, RunTable, When
from skelgen.trust import Interval

N = InputRange(ModelInput("n"), 1.0, 100.0)
CPU = InputRange(ModelInput("cpu", Meaning.CPU), 0.2, 1.0, 0.5, 0.2)
BANDWIDTH = InputRange(ModelInput("bandwidth", Meaning.BANDWIDTH), 0.1, 1.0)
NOISE = 0.05


def model(formula="n/cpu + n/bandwidth", inputs=(N, CPU, BANDWIDTH)):
    scale = Scale(NOISE, 1, 1000)
    return Model("default", parse(formula), inputs, "time", "s", scale)


def draws():
    return np.random.default_rng(0)


def codes(said):
    return [one.code for one in said.doubts]


def test_a_load_that_is_known_only_moves_the_answer():
    quiet = predict_under(model(), {"n": 8.0}, NodeLoads(), draws())
    busy = NodeLoads(exactly(0.5), exactly(0.25))
    said = predict_under(model(), {"n": 8.0}, busy, draws())
    assert quiet.interval.p50 == pytest.approx(16.0)
    assert said.interval.p50 == pytest.approx(48.0)
    assert said.interval.half_width == pytest.approx(quiet.interval.half_width)
    assert said.doubts == ()


def test_intervals_hold_nine_of_ten_truths_when_loads_are_unsure():
    """Truths are drawn as the interval of the load and the error of the model say."""
    random = np.random.default_rng(7)
    cpu, bandwidth = Interval(0.3, 0.6, 0.8), Interval(0.4, 0.5, 0.9)
    said = predict_under(
        model(), {"n": 8.0}, NodeLoads(cpu, bandwidth), np.random.default_rng(1)
    )

    def left(span):
        lot = random.standard_normal(4000)
        side = np.where(lot < 0, span.p50 - span.p5, span.p95 - span.p50)
        return np.clip(span.p50 + lot / 1.645 * side, 0.01, 1.0)

    nothing = np.zeros(1)
    own = model().scale.factor * float(
        model().scale.at(np.ones(1), nothing, nothing)[0]
    )
    error = np.exp(own / 1.645 * random.standard_normal(4000))
    truths = (8.0 / left(cpu) + 8.0 / left(bandwidth)) * error
    inside = (said.interval.p5 <= truths) & (truths <= said.interval.p95)
    assert 0.88 < inside.mean() < 0.92
    one = predict_under(model(), {"n": 8.0}, NodeLoads(cpu), draws()).interval
    assert one.p95 - one.p5 < said.interval.p95 - said.interval.p5


def test_a_slowdown_multiplies_and_squares_of_logarithms_are_added():
    slowdown = Interval(2.0 / 1.2, 2.0, 2.0 * 1.3)
    quiet = predict_under(model(), {"n": 8.0}, NodeLoads(), draws()).interval
    said = predict_slowed(model(), {"n": 8.0, "cpu": 0.3}, slowdown).interval
    assert said.p50 == pytest.approx(2 * quiet.p50)
    own = math.log(quiet.p95 / quiet.p50)
    assert math.log(said.p95 / said.p50) == pytest.approx(
        math.hypot(own, math.log(1.3))
    )
    assert math.log(said.p50 / said.p5) == pytest.approx(math.hypot(own, math.log(1.2)))


def test_a_model_of_quiet_runs_does_not_answer_a_load_with_the_quiet_time():
    quiet = model("n", (N,))
    said = predict_under(quiet, {"n": 8.0}, NodeLoads(exactly(0.5)), draws())
    none = predict_under(quiet, {"n": 8.0}, NodeLoads(), draws())
    assert said.interval.p50 == pytest.approx(2 * none.interval.p50)
    assert said.interval.p5 == pytest.approx(none.interval.p5)
    assert said.interval.p95 == pytest.approx(2 * none.interval.p95)
    assert codes(said) == ["load-not-in-model"]
    assert none.doubts == ()
    links = NodeLoads(bandwidth=exactly(0.25))
    said = predict_under(quiet, {"n": 8.0}, links, draws())
    assert said.interval.p50 == pytest.approx(none.interval.p50)
    assert said.interval.p95 == pytest.approx(4 * none.interval.p95)
    assert "does not know what bandwidth=0.25 does" in said.doubts[0].text


def test_a_load_far_above_those_of_the_runs_is_doubted():
    said = predict_under(model(), {"n": 8.0}, NodeLoads(exactly(0.09)), draws())
    assert codes(said) == ["extrapolation"]


def test_start_and_average_are_asked_apart():
    start = InputRange(ModelInput("cpu_start", Meaning.CPU, when=When.START), 0.1, 1.0)
    loads = NodeLoads(exactly(0.5), cpu_start=0.25)
    said = predict_under(model("n/cpu_start", (N, start)), {"n": 8.0}, loads, draws())
    assert said.interval.p50 == pytest.approx(32.0)


def test_a_short_history_counts_with_the_loads_of_the_runs():
    wide = NodeLoads(Interval(0.1, 0.3, 0.9))
    found = with_usual(model(), wide).cpu
    assert 0.45 < found.p50 < 0.5
    assert found.p95 - found.p5 < 0.5
    assert with_usual(model(), NodeLoads(Interval(0.1, 0.2, 0.3))).cpu.p50 == 0.2
    unknown = model(inputs=(N, replace(CPU, usual=math.nan), BANDWIDTH))
    assert with_usual(unknown, wide) == wide


def predictor(time_of):
    def ask(horizon_s):
        value = time_of(horizon_s)
        return ModelPrediction((), Interval(value / 1.1, value, value * 1.1), ())

    return ask


def test_time_and_horizon_are_changed_until_they_agree():
    settled = settle(predictor(lambda horizon_s: 100 + 4000 / horizon_s**0.5), 50.0)
    assert settled.horizon_s == pytest.approx(settled.prediction.interval.p50, rel=0.01)
    assert settled.rounds < 25
    assert settled.prediction.doubts == ()


def test_a_time_that_swings_with_its_horizon_is_doubted_and_wide():
    settled = settle(predictor(lambda horizon_s: 50 if horizon_s > 100 else 400), 60.0)
    said = settled.prediction
    assert codes(said) == ["load-not-settled"]
    assert said.interval.p5 == pytest.approx(50 / 1.1)
    assert said.interval.p95 == pytest.approx(400 * 1.1)


def runs(*names):
    random = np.random.default_rng(3)
    inputs = [ModelInput("n")]
    inputs += [ModelInput(n, Meaning.CPU, when=w) for n, w in names]
    rows = [
        {"n": n, "cpu": random.uniform(0.2, 1), "cpu_start": random.uniform(0.2, 1)}
        for n in np.repeat(np.linspace(1000, 5000, 8), 4)
    ]
    times = [1e-9 * row["n"] ** 3 / row["cpu"] + 1.0 for row in rows]
    return RunTable.gather(inputs, rows, times)


def test_each_family_takes_its_own_of_start_and_average(tmp_path):
    both = runs(("cpu", When.AVERAGE), ("cpu_start", When.START))
    average = fit_model(both, "default")
    assert [one.input.name for one in average.inputs] == ["n", "cpu"]
    assert "cpu_start" in average.dropped
    small = fit_model(both, "rational-small")
    assert [one.input.name for one in small.inputs] == ["n", "cpu_start"]
    assert "cpu" in small.dropped
    usual = average.inputs[1]
    assert usual.low < usual.usual < usual.high
    write_model(average, tmp_path / "m.json")
    assert read_model(tmp_path / "m.json").inputs == average.inputs
