"""What a model says under a load: what is known of the load widens the interval.

A load that is known exactly only moves the answer. One that is known by an interval is
drawn, with the error of the model, and carried through the formula: a time is not
proportional to what is left of a node, and a long interval of loads is skewed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from skelgen.models.formulas import evaluate
from skelgen.models.model import Model, ModelPrediction, predict_with, wide_doubts
from skelgen.models.runs import LARGEST, SMALLEST, Floats, Meaning, When
from skelgen.models.thresholds import (
    LARGEST_BUSIER_FACTOR,
    LARGEST_UNDOUBTED_COST,
    LEAST_LEFT,
    LEAST_LOAD_SPREAD,
)
from skelgen.trust import Doubt, Interval

#: From the deviation of a normal distribution to half of its 90 % interval.
_NORMAL = 1.645

#: Draws for an interval: its ends move by 1 to 2 % of its width.
_DRAWS = 20_000

#: What to do where a load makes an interval too wide.
_KNOW_IT = "measure the slowdown when it starts: --skeleton"

_QUIET = Interval(1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class NodeLoads:
    """What others leave of nodes and links, with 90 % intervals.

    Attributes
    ----------
    cpu, bandwidth : Interval
        Average over the run of the smallest node or link [0 to 1].
    cpu_start, bandwidth_start : float or None
        The same at its start; None: as on average.
    """

    cpu: Interval = _QUIET
    bandwidth: Interval = _QUIET
    cpu_start: float | None = None
    bandwidth_start: float | None = None

    @classmethod
    def known(
        cls, averages: Mapping[str, Interval], starts: Mapping[str, float] | None = None
    ) -> NodeLoads:
        """Return what is known of ``cpu`` and ``bandwidth``; the rest is free."""
        starts = starts or {}
        return cls(
            averages.get("cpu", _QUIET),
            averages.get("bandwidth", _QUIET),
            starts.get("cpu"),
            starts.get("bandwidth"),
        )

    def of(self, meaning: Meaning, when: When) -> Interval:
        """Return what is left of a resource."""
        cpu = meaning is Meaning.CPU
        start = self.cpu_start if cpu else self.bandwidth_start
        if when is When.START and start is not None:
            return exactly(start)
        return self.cpu if cpu else self.bandwidth


def exactly(value: float) -> Interval:
    """Return a part that is left and known, no less than `LEAST_LEFT`."""
    kept = min(max(value, LEAST_LEFT), 1.0)
    return Interval(kept, kept, kept)


def with_usual(model: Model, loads: NodeLoads) -> NodeLoads:
    """Join the forecast of a short history with the loads that the runs had.

    A history that is no longer than the run says little of its average. What the runs
    had says it, too, where the forecast does not exclude it: both count by what they
    are sure of.

    Parameters
    ----------
    model : Model
    loads : NodeLoads
        Forecasts with their intervals.
    """
    found = {"cpu": loads.cpu, "bandwidth": loads.bandwidth}
    for one in model.inputs:
        span = loads.of(one.input.meaning, When.AVERAGE)
        if not one.input.meaning.available or one.input.when is When.START:
            continue
        if one.spread > 0.0 and span.p5 <= one.usual <= span.p95:
            name = "cpu" if one.input.meaning is Meaning.CPU else "bandwidth"
            found[name] = _joined(span, one.usual, max(one.spread, LEAST_LOAD_SPREAD))
    return replace(loads, cpu=found["cpu"], bandwidth=found["bandwidth"])


def _joined(span: Interval, usual: float, spread: float) -> Interval:
    own = max(math.log(span.p95 / span.p5) / (2 * _NORMAL), LEAST_LOAD_SPREAD)
    weight = spread**2 / (own**2 + spread**2)
    middle = weight * math.log(span.p50) + (1 - weight) * math.log(usual)
    half = _NORMAL * own * spread / math.hypot(own, spread)
    ends = (math.exp(middle + side * half) for side in (-1.0, 0.0, 1.0))
    return Interval(*(min(max(one, LEAST_LEFT), 1.0) for one in ends))


def predict_under(
    model: Model,
    at: Mapping[str, float],
    loads: NodeLoads,
    generator: np.random.Generator,
) -> ModelPrediction:
    """Ask a model for a configuration under a load.

    Parameters
    ----------
    model : Model
    at : mapping of str to float
        A load that it names goes before `loads`.
    loads : NodeLoads
    generator : numpy.random.Generator
        For loads that are known by intervals.

    Returns
    -------
    ModelPrediction
        In the middle is the formula's value at the middles of the loads. What the
        model does not know is taken to slow down computation, and the interval goes
        from no effect at all to the largest one.

    Raises
    ------
    InputError
        See `predict_with`.
    """
    spans = {
        one.input.name: loads.of(one.input.meaning, one.input.when)
        for one in model.inputs
        if one.input.meaning.available and one.input.name not in at
    }
    middles = {name: span.p50 for name, span in spans.items()}
    said = predict_with(model, {**middles, **at})
    unsure = {name: span for name, span in spans.items() if span.p5 < span.p95}
    interval = said.interval
    if unsure:
        interval = _drawn(model, said, unsure, generator)
    doubts = [*said.doubts, *_busier(model, dict(said.at))]
    interval, unknown = _not_in_model(model, interval, loads)
    if not unknown:
        doubts += _wider(said, interval)
    return replace(said, interval=interval, doubts=(*doubts, *unknown))


def _drawn(
    model: Model,
    said: ModelPrediction,
    spans: Mapping[str, Interval],
    generator: np.random.Generator,
) -> Interval:
    """Carry intervals of loads through the formula, with the error of the model."""
    values: dict[str, Floats | float] = dict(said.at)
    for name, span in spans.items():
        lots = generator.standard_normal(_DRAWS)
        side = np.where(lots < 0.0, span.p50 - span.p5, span.p95 - span.p50)
        values[name] = np.clip(span.p50 + lots / _NORMAL * side, LEAST_LEFT, 1.0)
    with np.errstate(all="ignore"):
        times = np.nan_to_num(evaluate(model.formula, values), nan=LARGEST)
    error = math.log(said.interval.p95 / said.interval.p50) / _NORMAL
    logs = np.log(np.clip(times, SMALLEST, LARGEST))
    logs = logs + error * generator.standard_normal(_DRAWS)
    low, high = np.exp(np.quantile(logs, [0.05, 0.95]))
    middle = said.interval.p50
    return Interval(min(float(low), middle), middle, max(float(high), middle))


def _not_in_model(
    model: Model, interval: Interval, loads: NodeLoads
) -> tuple[Interval, tuple[Doubt, ...]]:
    """Slow down a model whose runs had no such load: by a guess, from none to all."""
    inside = {one.input.meaning for one in model.inputs}
    cpu = _QUIET if Meaning.CPU in inside else loads.cpu
    bandwidth = _QUIET if Meaning.BANDWIDTH in inside else loads.bandwidth
    most = max(1 / cpu.p5, 1 / (bandwidth.p5 * math.sqrt(cpu.p5)))
    slower = Interval(interval.p5, interval.p50 / cpu.p50, interval.p95 * most)
    if most <= LARGEST_UNDOUBTED_COST:
        return slower, ()
    both = {"cpu": cpu, "bandwidth": bandwidth}
    named = {name: span for name, span in both.items() if span != _QUIET}
    told = " and ".join(f"{name}={span.p50:.3g}" for name, span in named.items())
    doubt = Doubt(
        "load-not-in-model",
        f"the model does not know what {told} does: its runs had no load of "
        f"{' and '.join(named)}; computation is taken to wait",
        "add runs under loads, or measure the slowdown now: --skeleton",
    )
    return slower, (doubt,)


def _busier(model: Model, at: Mapping[str, float]) -> tuple[Doubt, ...]:
    """Doubt loads far above those of the runs."""
    doubts = []
    for one in model.inputs:
        value = at[one.input.name]
        if one.input.meaning.available and value * LARGEST_BUSIER_FACTOR < one.low:
            told = f"{one.input.name}={value:.3g} is far from the runs, which have "
            told += f"{one.low:.3g} to {one.high:.3g}"
            doubts.append(Doubt("extrapolation", told, "add runs under such a load"))
    return tuple(doubts)


def predict_slowed(
    model: Model, at: Mapping[str, float], slowdown: Interval
) -> ModelPrediction:
    """Ask a model for quiet nodes, and slow its answer down as was measured.

    Errors of both are independent: squares of logarithms are added.

    Parameters
    ----------
    model : Model
    at : mapping of str to float
    slowdown : Interval
        Of the program on the nodes as they are now, against quiet ones [1].
    """
    quiet = {one.input.name: 1.0 for one in model.inputs if one.input.meaning.available}
    said = predict_with(model, {**at, **quiet})
    own, middle = said.interval, said.interval.p50 * slowdown.p50
    shorter = math.hypot(
        math.log(own.p50 / own.p5), math.log(slowdown.p50 / slowdown.p5)
    )
    longer = math.hypot(
        math.log(own.p95 / own.p50), math.log(slowdown.p95 / slowdown.p50)
    )
    interval = Interval(middle * math.exp(-shorter), middle, middle * math.exp(longer))
    doubts = (*said.doubts, *_wider(said, interval))
    return replace(said, interval=interval, doubts=doubts)


def _wider(said: ModelPrediction, interval: Interval) -> tuple[Doubt, ...]:
    """Doubt an interval that says little, where the model alone said enough."""
    if wide_doubts(said.interval):
        return ()
    return tuple(replace(one, remedy=_KNOW_IT) for one in wide_doubts(interval))
