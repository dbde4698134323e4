"""Forecast the loads of nodes, keep the forecasts, and compare them with the truth."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from skelgen.errors import InputError, SkelgenError
from skelgen.forecasts import (
    Covariate,
    LoadForecast,
    Method,
    Samples,
    forecast,
    happened,
)
from skelgen.pipeline import forecast_record
from skelgen.pipeline.forecast_record import ForecastOutcome, Kept, Score
from skelgen.pipeline.load_series import LoadSource, links_between, load_series
from skelgen.trust import Doubt
from skelgen.units import format_seconds

#: Quantities, and their smallest and largest value.
LIMITS = {"cpu": (0.0, 1.0), "bandwidth": (0.0, 1e15)}
#: History that is read: this long, and so many horizons [s].
_HISTORY_S, _HORIZONS = 15 * 86_400.0, 100.0
#: A history that ended so long ago, and longer than the horizon, says little of now; so
#: far ahead it is of another clock [s].
_OLD_S, _AHEAD_S = 600.0, 60.0


@dataclass(frozen=True, slots=True)
class LoadHistories:
    """What was measured of nodes and of the links between them.

    Attributes
    ----------
    nodes : tuple of str
    cpu, bandwidth : tuple of Samples
        Of each node; of each link that was probed.
    source : LoadSource
    """

    nodes: tuple[str, ...]
    cpu: tuple[Samples, ...]
    bandwidth: tuple[Samples, ...]
    source: LoadSource


@dataclass(frozen=True, slots=True)
class LoadForecasts:
    """What was forecast for nodes.

    Attributes
    ----------
    nodes : tuple of str
    horizon_s : float
        [s]
    method : str
    cpu, bandwidth : LoadForecast or None
        None where there is no series of it.
    of_clocks : tuple of Doubt
        Whether the histories end now.
    missing : str
        Why there is no bandwidth of some links or all; else empty.
    """

    nodes: tuple[str, ...]
    horizon_s: float
    method: str
    cpu: LoadForecast | None
    bandwidth: LoadForecast | None
    of_clocks: tuple[Doubt, ...] = ()
    missing: str = ""

    @property
    def known(self) -> dict[str, LoadForecast]:
        """Return the forecasts by quantity."""
        both = {"cpu": self.cpu, "bandwidth": self.bandwidth}
        return {name: one for name, one in both.items() if one is not None}

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """Return why they should not be trusted, each once."""
        found = itertools.chain(*(one.doubts for one in self.known.values()))
        return tuple(dict.fromkeys((*found, *self.of_clocks)))


def forecast_loads(
    nodes: Sequence[str],
    horizon_s: float,
    *,
    source: LoadSource,
    method: Method = "default",
    covariate: Covariate = "avg-min",
) -> LoadForecasts:
    """Forecast CPU and bandwidth of nodes, and keep the forecasts.

    Parameters
    ----------
    nodes : sequence of str
        With a file none means all that it has.
    horizon_s : float
        [s]
    source : LoadSource
    method : {"default", "nws"}
    covariate : {"avg-min", "min-avg"}

    Raises
    ------
    InputError
        When there are no series of the nodes, or too few samples.
    """
    histories = load_histories(nodes, horizon_s, source)
    loads = forecast_of(histories, horizon_s, method=method, covariate=covariate)
    keep_forecast(loads, source)
    return loads


def load_histories(
    nodes: Sequence[str], horizon_s: float, source: LoadSource
) -> LoadHistories:
    """Read what is needed to forecast the loads of nodes up to a horizon.

    Parameters and errors as those of `forecast_loads`.
    """
    begin = time.time() - max(_HISTORY_S, _HORIZONS * horizon_s)
    names, cpu, bandwidth = load_series(source, nodes, begin, math.inf)
    return LoadHistories(names, tuple(cpu), tuple(bandwidth), source)


def forecast_of(
    histories: LoadHistories,
    horizon_s: float,
    *,
    method: Method = "default",
    covariate: Covariate = "avg-min",
) -> LoadForecasts:
    """Forecast loads from histories that were read; see `forecast_loads`."""

    def of(quantity: str, series: Sequence[Samples]) -> LoadForecast:
        return forecast(
            series,
            horizon_s,
            generator=np.random.default_rng(0),
            method=method,
            covariate=covariate,
            limits=LIMITS[quantity],
        )

    names, source, bandwidth = histories.nodes, histories.source, histories.bandwidth
    found, missing, wide = of("cpu", histories.cpu), _missing(names, bandwidth), None
    if bandwidth:
        try:
            wide = of("bandwidth", bandwidth)
        except InputError as error:  # links are probed less often than nodes
            missing = f"bandwidth of links: {error}"
    doubts = _of_clocks(found.begin_s, horizon_s, source)
    if wide:
        doubts += _of_clocks(wide.begin_s, max(horizon_s, _rarest_s(bandwidth)), source)
    return LoadForecasts(names, horizon_s, method, found, wide, doubts, missing)


def keep_forecast(loads: LoadForecasts, source: LoadSource) -> None:
    """Keep forecasts, so that they are compared with what happens."""
    forecast_record.keep(_kept(loads, source))


def _of_clocks(end: float, horizon_s: float, source: LoadSource) -> tuple[Doubt, ...]:
    """Say whether a history ends before now, or after it: no clock here is its own.

    Parameters
    ----------
    end : float
        Seconds since 1970 in UTC [s].
    horizon_s : float
        [s]
    source : LoadSource
        A file may end when it likes.
    """
    now = time.time()
    if source.file is not None:
        return ()
    if now - end > max(_OLD_S, horizon_s):
        text = f"the history ended {format_seconds(now - end)} ago, expected now"
        remedy = "see that the monitors run: skelgen monitor status"
        return (Doubt("old-series", text, remedy),)
    if end - now > _AHEAD_S:
        text = f"the history ends {format_seconds(end - now)} after this moment"
        remedy = "set the clocks of the nodes and of this machine right (NTP)"
        return (Doubt("other-clock", text, remedy),)
    return ()


def _rarest_s(series: Sequence[Samples]) -> float:
    """Return three times what is usual between samples: links are probed rarely [s]."""
    spans = [
        float(np.median(np.diff(one.times))) for one in series if len(one.times) > 1
    ]
    return 3 * max(spans, default=0.0)


def _missing(nodes: Sequence[str], found: Sequence[Samples]) -> str:
    """Say of which links between nodes nothing is known; empty for none."""
    known = {one.host for one in found}
    links = [name for name in links_between(nodes) if name not in known]
    if not links:
        return ""
    more = f" and {len(links) - 3} more" if len(links) > 3 else ""
    return (
        f"no bandwidth of {', '.join(links[:3])}{more}; have the monitors probe links: "
        "skelgen monitor start --links"
    )


def load_record(nodes: Sequence[str] = ()) -> list[Score]:
    """Compare the forecasts that were kept with what happened.

    Parameters
    ----------
    nodes : sequence of str
        Only forecasts of exactly these; all when empty.
    """
    wanted = tuple(sorted(nodes))
    found = [
        one
        for one in forecast_record.outcomes()
        if not wanted or tuple(sorted(one.kept.nodes)) == wanted
    ]
    new = {
        one.kept.identity: value
        for one in found
        if one.happened is None and math.isfinite(value := happened_since(one.kept))
    }
    forecast_record.keep_happened(new)
    told = [
        ForecastOutcome(one.kept, new.get(one.kept.identity, one.happened))
        for one in found
    ]
    return forecast_record.scores(told)


def _kept(loads: LoadForecasts, source: LoadSource) -> Iterable[Kept]:
    for quantity, one in loads.known.items():
        yield Kept(
            one.begin_s,
            one.horizon_s,
            loads.nodes,
            quantity,
            one.covariate,
            loads.method,
            one.expert,
            one.interval.p5,
            one.interval.p50,
            one.interval.p95,
            source.text,
        )


def happened_since(kept: Kept, source: LoadSource | None = None) -> float:
    """Return what a forecast was of; not a number while that is not known.

    Parameters
    ----------
    kept : Kept
    source : LoadSource, optional
        Where the truth is; that of the forecast when None.
    """
    end = kept.begin + kept.horizon_s
    if kept.quantity not in LIMITS or kept.covariate not in ("avg-min", "min-avg"):
        return math.nan
    if not kept.source and end > time.time():
        return math.nan
    covariate: Covariate = "min-avg" if kept.covariate == "min-avg" else "avg-min"
    around = (kept.begin - kept.horizon_s, end + kept.horizon_s)
    source = LoadSource.of(kept.source) if source is None else source
    try:
        _, cpu, bandwidth = load_series(source, kept.nodes, *around)
        series = cpu if kept.quantity == "cpu" else bandwidth
        if not series:
            return math.nan
        return happened(series, kept.begin, end, covariate, LIMITS[kept.quantity])
    except SkelgenError:  # the file was removed, a node is away: it may come back
        return math.nan
