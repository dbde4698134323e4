"""What load a model is asked for: typed, forecast, measured, or felt by a skeleton."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from skelgen.errors import ApplicationError, InputError
from skelgen.models.load_feedback import settle
from skelgen.models.loads import NodeLoads, predict_slowed, predict_under, with_usual
from skelgen.models.runs import Meaning
from skelgen.models.thresholds import LEAST_LEFT
from skelgen.pipeline import forecast, run_loads
from skelgen.pipeline.fitted_models import check_asked
from skelgen.pipeline.load_requests import (
    FORECAST,
    MEASURED,
    RESOURCES,
    LoadRequest,
    check_request,
    typed_loads,
)
from skelgen.pipeline.run_loads import MeasuredLoads
from skelgen.pipeline.store import store_show
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.store import Run
from skelgen.trust import Doubt, Interval

if TYPE_CHECKING:
    from skelgen.models.model import Model, ModelPrediction
    from skelgen.pipeline.forecast import LoadForecasts, LoadHistories

#: Histories are read for horizons up to so many quiet times.
_LONGEST = 20.0

#: A bandwidth above it is none of a link that is shared: it is bytes a second [1].
_SHARE = 1.05

#: Seed of intervals: one load gives one answer.
_SEED = 20060925

#: The skeleton runs until its time is known to this share [1].
_SKELETON_BOUND = 0.05


@dataclass(frozen=True, slots=True)
class PredictedLoad:
    """What load a prediction is for.

    Attributes
    ----------
    source : str
        ``quiet``, ``typed``, ``forecast``, ``measured`` or ``skeleton``.
    cpu, bandwidth : Interval or None
        What is left for the run; None where only its effect is known [0 to 1].
    slowdown : Interval or None
        Of a skeleton, against its time on quiet nodes [1].
    horizon_s : float
        Of a forecast [s].
    missing : str
        What is not known and taken to be free; else empty.
    """

    source: str
    cpu: Interval | None
    bandwidth: Interval | None
    slowdown: Interval | None = None
    horizon_s: float = math.nan
    missing: str = ""


@dataclass(frozen=True, slots=True)
class LoadedPrediction:
    """A prediction and the load that it is for.

    Attributes
    ----------
    prediction : ModelPrediction
        With the doubts of the load.
    load : PredictedLoad
    """

    prediction: ModelPrediction
    load: PredictedLoad


def predict_under_load(
    model: Model,
    at: Mapping[str, float],
    request: LoadRequest,
    *,
    progress: Progress = NO_PROGRESS,
) -> LoadedPrediction:
    """Ask a model for a configuration under the load that the user says or asks for.

    Raises
    ------
    InputError
        When the model, or what is known of the load, does not fit.
    """
    check_request(request)
    check_asked(model, at)
    if request.skeleton is not None:
        return _by_skeleton(model, at, request, request.skeleton, progress)
    if request.load == FORECAST:
        return _by_forecast(model, at, request)
    if request.load == MEASURED:
        return _by_measured(model, at, request)
    typed = _exactly(typed_loads(request.load))
    said, loads = _ask(model, at, NodeLoads.known(typed))
    source = "typed" if request.load or loads != NodeLoads() else "quiet"
    return LoadedPrediction(said, PredictedLoad(source, loads.cpu, loads.bandwidth))


def _exactly(values: Mapping[str, float]) -> dict[str, Interval]:
    return {name: Interval(value, value, value) for name, value in values.items()}


def _ask(
    model: Model, at: Mapping[str, float], loads: NodeLoads
) -> tuple[ModelPrediction, NodeLoads]:
    """Ask a model; a load among the values goes first."""
    said = predict_under(model, at, loads, np.random.default_rng(_SEED))
    own = {
        "cpu" if one.input.meaning is Meaning.CPU else "bandwidth": at[one.input.name]
        for one in model.inputs
        if one.input.meaning.available and one.input.name in at
    }
    averages = {"cpu": loads.cpu, "bandwidth": loads.bandwidth, **_exactly(own)}
    return said, NodeLoads.known(averages)


def _by_forecast(
    model: Model, at: Mapping[str, float], request: LoadRequest
) -> LoadedPrediction:
    if model.unit != "s":
        raise InputError(
            f"--load forecast: the model is of {model.quantity} [{model.unit or '1'}], "
            "and only a time says how long the load counts; give it with --load"
        )
    quiet_s = _ask(model, at, NodeLoads())[0].interval.p50
    histories = forecast.load_histories(
        request.names, _LONGEST * quiet_s, request.source
    )
    said, found = predict_over_forecast(model, at, histories, quiet_s)
    forecast.keep_forecast(found, request.source)
    return said


def predict_over_forecast(
    model: Model, at: Mapping[str, float], histories: LoadHistories, first_s: float
) -> tuple[LoadedPrediction, LoadForecasts]:
    """Forecast the load over the time that it leads to.

    Parameters
    ----------
    model : Model
        Of a time [s].
    at : mapping of str to float
    histories : LoadHistories
    first_s : float
        Horizon to begin with [s].

    Returns
    -------
    LoadedPrediction
    LoadForecasts
        Over the predicted time.
    """

    def ask(horizon_s: float) -> ModelPrediction:
        found = forecast.forecast_of(histories, horizon_s)
        return _ask(model, at, _forecast_loads(model, found, histories))[0]

    settled = settle(ask, first_s)
    found = forecast.forecast_of(histories, settled.horizon_s)
    loads = _ask(model, at, _forecast_loads(model, found, histories))[1]
    doubts = [*found.doubts, *_elsewhere(model, at, len(found.nodes))]
    missing = found.missing if _is_needed(model, found) else ""
    doubts += [_unknown_links(missing)] if missing else []
    load = PredictedLoad(
        FORECAST,
        loads.cpu,
        loads.bandwidth,
        horizon_s=settled.horizon_s,
        missing=missing,
    )
    return LoadedPrediction(_doubted(settled.prediction, doubts), load), found


def _forecast_loads(
    model: Model, found: LoadForecasts, histories: LoadHistories
) -> NodeLoads:
    loads = {name: _share(one.interval, name) for name, one in found.known.items()}
    now = {"cpu": histories.cpu, "bandwidth": histories.bandwidth}
    starts = {
        name: min(float(one.values[-1]) for one in now[name] if len(one.values))
        for name in loads
    }
    known = NodeLoads.known(loads, starts)
    short = any(one.code == "short-history" for one in found.doubts)
    return with_usual(model, known) if short else known


def _share(span: Interval, name: str) -> Interval:
    """Return the part that is left of a resource, never none and never more than all.

    Raises
    ------
    InputError
        When it is no part.
    """
    if span.p50 > _SHARE:
        raise InputError(
            f"{name} is {span.p50:.4g}, expected a part that is left, 0 to 1; divide "
            "the series by the rate of a free link"
        )
    ends = (min(max(one, LEAST_LEFT), 1.0) for one in (span.p5, span.p50, span.p95))
    return Interval(*ends)


def _is_needed(model: Model, found: LoadForecasts) -> bool:
    """Say whether a model needs a bandwidth that nobody forecast."""
    return found.bandwidth is None and _takes(model, Meaning.BANDWIDTH)


def _takes(model: Model, meaning: Meaning) -> bool:
    return any(one.input.meaning is meaning for one in model.inputs)


def _unknown_links(missing: str) -> Doubt:
    return Doubt(
        "bandwidth-unknown",
        f"{missing or 'the bandwidth of links is not known'}: links are taken to be "
        "free",
        "give it: --load cpu=0.5,bandwidth=0.8",
    )


def _other_count(
    model: Model, at: Mapping[str, float], meaning: Meaning, count: int
) -> float | None:
    """Return how many nodes or ranks are asked for, where it is another number."""
    asked = [
        at.get(one.input.name, count)
        for one in model.inputs
        if one.input.meaning is meaning
    ]
    return asked[0] if asked and asked[0] != count else None


def _elsewhere(model: Model, at: Mapping[str, float], nodes: int) -> list[Doubt]:
    """Doubt the load of fewer or more nodes than are asked for."""
    asked = _other_count(model, at, Meaning.NODES, nodes)
    if asked is None:
        return []
    told = f"the load is that of {nodes} nodes, the prediction is for {asked:g}"
    return [Doubt("other-hosts", told, "name all nodes with --nodes")]


def _by_measured(
    model: Model, at: Mapping[str, float], request: LoadRequest
) -> LoadedPrediction:
    """Take the load that was, of a run or of a time."""
    found, doubts = _of_past(request)
    averages = {
        name: _share(_exactly({name: value})[name], name)
        for name in RESOURCES
        if (value := found.values.get(f"{name}_avg_min")) is not None
    }
    if not averages:
        raise InputError(
            "nothing was measured of the nodes in that time; name others, or see "
            "skelgen monitor show"
        )
    starts = {
        name: value
        for name in RESOURCES
        if (value := found.values.get(f"{name}_start")) is not None
    }
    said, loads = _ask(model, at, NodeLoads.known(averages, starts))
    missing = ""
    if "bandwidth" not in averages and _takes(model, Meaning.BANDWIDTH):
        missing = "the bandwidth of links was not measured"
        doubts.append(_unknown_links(missing))
    return LoadedPrediction(
        _doubted(said, doubts),
        PredictedLoad(MEASURED, loads.cpu, loads.bandwidth, missing=missing),
    )


def _of_past(request: LoadRequest) -> tuple[MeasuredLoads, list[Doubt]]:
    """Return what was measured, and why to doubt it."""
    nodes, begin, end = request.names, request.begin, request.end
    if request.run:
        _, run = store_show(request.store, request.run)
        if not isinstance(run, Run):
            raise InputError(f"--run {request.run[:40]}: is no run; see store list")
        if "cpu_avg_min" in dict(run.loads):
            return MeasuredLoads(dict(run.loads), 1.0, True), []
        if not run.hosts or not math.isfinite(run.started):
            raise InputError(
                f"--run {request.run[:40]}: has no loads, and not both hosts and start "
                "to look for them; give --nodes, --from and --to"
            )
        nodes, begin, end = run.hosts, run.started, run.started + run.time_s
    found = run_loads.measured_loads(request.source, nodes, begin, end)
    doubts = []
    if found.covered < run_loads.KNOWN:
        told = f"the load is known for {found.covered:.0%} of that time, expected "
        told += f"{run_loads.KNOWN:.0%}"
        doubts.append(Doubt("gaps", told, "keep the monitor running on all nodes"))
    if request.run and not found.apart:
        told = "nobody watched the run, so the load has the run itself in it"
        remedy = "have the monitor watch it: skelgen monitor start --watch"
        doubts.append(Doubt("own-load", told, remedy))
    return found, doubts


def _by_skeleton(
    model: Model,
    at: Mapping[str, float],
    request: LoadRequest,
    folder: Path,
    progress: Progress,
) -> LoadedPrediction:
    """Let a skeleton feel how slow nodes are now."""
    # Few questions run a skeleton, and servers never do.
    # A process that only fits functions stays small.
    from skelgen.pipeline.predict import predict
    from skelgen.prediction.skeleton_file import load

    facts = load(folder)
    found = predict(
        folder,
        [request.nodes],
        budget_s=request.budget_s,
        interval_bound=_SKELETON_BOUND,
        consent=request.consent,
        progress=progress,
    )
    if not found.predictions:
        raise ApplicationError(f"{folder}: {found.failures[0].reason}")
    (one,) = found.predictions
    quiet_s = (
        facts.application_s
        if one.calibration is None
        else one.calibration.application_s
    )
    span = one.time_s
    slowdown = Interval(*(end / quiet_s for end in (span.p5, span.p50, span.p95)))
    doubts = [*one.doubts, *_other_ranks(model, at, facts.ranks)]
    return LoadedPrediction(
        _doubted(predict_slowed(model, at, slowdown), doubts),
        PredictedLoad("skeleton", None, None, slowdown=slowdown),
    )


def _other_ranks(model: Model, at: Mapping[str, float], ranks: int) -> list[Doubt]:
    """Doubt a slowdown that was measured with other ranks than are asked for."""
    asked = _other_count(model, at, Meaning.RANKS, ranks)
    if asked is None:
        return []
    told = f"the skeleton has {ranks} ranks, the prediction is for {asked:g}"
    return [Doubt("other-ranks", told, "record the program with as many ranks")]


def _doubted(said: ModelPrediction, doubts: list[Doubt]) -> ModelPrediction:
    """Add doubts, each once."""
    return replace(said, doubts=tuple(dict.fromkeys((*said.doubts, *doubts))))
