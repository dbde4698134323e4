"""Forecast the loads of nodes, keep the forecasts, and compare them with the truth."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skelgen.errors import InputError, SkelgenError, UsageError
from skelgen.pipeline import forecast_record
from skelgen.pipeline.forecast_record import Kept, Outcome, Score
from skelgen.trust import Doubt
from skelgen.units import format_span

if TYPE_CHECKING:
    from skelgen.forecasts import Covariate, LoadForecast, Method, Samples
    from skelgen.store import Series, Store

#: Quantities, and their smallest and largest value.
LIMITS = {"cpu": (0.0, 1.0), "bandwidth": (0.0, 1e15)}
#: History that is read: this long, and so many horizons [s].
_HISTORY_S, _HORIZONS = 15 * 86_400.0, 100.0
#: A history that ended so long ago, and longer than the horizon, says little of now; so
#: far ahead it is of another clock [s].
_OLD_S, _AHEAD_S = 600.0, 60.0


@dataclass(frozen=True, slots=True)
class LoadSource:
    """Where series come from.

    Attributes
    ----------
    file : Path or None
        A CSV file.
    store : str or None
        File or URL of a store. Without either the monitor is asked.
    """

    file: Path | None = None
    store: str | None = None

    @property
    def text(self) -> str:
        """Return the words that name it in the record of forecasts."""
        if self.file is not None:
            return f"series {self.file.absolute()}"
        return f"store {self.store}" if self.store else ""

    @classmethod
    def of(cls, text: str) -> LoadSource:
        """Return the source that `text` named."""
        kind, _, name = text.partition(" ")
        if kind == "series":
            return cls(file=Path(name))
        return cls(store=name or None)


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
    names, cpu, bandwidth = _series(source, nodes, begin, math.inf)
    return LoadHistories(names, tuple(cpu), tuple(bandwidth), source)


def forecast_of(
    histories: LoadHistories,
    horizon_s: float,
    *,
    method: Method = "default",
    covariate: Covariate = "avg-min",
) -> LoadForecasts:
    """Forecast loads from histories that were read; see `forecast_loads`."""
    import numpy as np

    from skelgen.forecasts import forecast

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
        text = f"the history ended {format_span(now - end)} ago, expected now"
        remedy = "see that the monitors run: skelgen monitor status"
        return (Doubt("old-series", text, remedy),)
    if end - now > _AHEAD_S:
        text = f"the history ends {format_span(end - now)} after this moment"
        remedy = "set the clocks of the nodes and of this machine right (NTP)"
        return (Doubt("other-clock", text, remedy),)
    return ()


def _rarest_s(series: Sequence[Samples]) -> float:
    """Return three times what is usual between samples: links are probed rarely [s]."""
    import numpy as np

    spans = [
        float(np.median(np.diff(one.times))) for one in series if len(one.times) > 1
    ]
    return 3 * max(spans, default=0.0)


def _missing(nodes: Sequence[str], found: Sequence[Samples]) -> str:
    """Say of which links between nodes nothing is known; empty for none."""
    known = {one.host for one in found}
    links = [name for name in _links(nodes) if name not in known]
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
        if one.happened is None and math.isfinite(value := _happened(one.kept))
    }
    forecast_record.keep_happened(new)
    told = [
        Outcome(one.kept, new.get(one.kept.identity, one.happened)) for one in found
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


def _happened(kept: Kept) -> float:
    """Return what a forecast was of; not a number while that is not known."""
    from skelgen.forecasts import happened

    end = kept.begin + kept.horizon_s
    if kept.quantity not in LIMITS or kept.covariate not in ("avg-min", "min-avg"):
        return math.nan
    if not kept.source and end > time.time():
        return math.nan
    covariate: Covariate = "min-avg" if kept.covariate == "min-avg" else "avg-min"
    around = (kept.begin - kept.horizon_s, end + kept.horizon_s)
    source = LoadSource.of(kept.source)
    try:
        _, cpu, bandwidth = _series(source, kept.nodes, *around)
        series = cpu if kept.quantity == "cpu" else bandwidth
        if not series:
            return math.nan
        return happened(series, kept.begin, end, covariate, LIMITS[kept.quantity])
    except SkelgenError:  # the file was removed, a node is away: it may come back
        return math.nan


def _series(
    source: LoadSource, nodes: Sequence[str], begin: float, end: float
) -> tuple[tuple[str, ...], list[Samples], list[Samples]]:
    """Return the nodes, their CPU, and the bandwidth of links between them."""
    if source.file is not None:
        return _of_file(source.file, nodes)
    if not nodes:
        raise UsageError("no nodes to forecast: give --nodes n1,n2, or --series FILE")
    if source.store:
        return _of_store(source.store, nodes, begin, end)
    from skelgen.pipeline.link_monitoring import link_series
    from skelgen.pipeline.monitor_series import series

    links = link_series(nodes, "bandwidth", begin, end) if len(nodes) > 1 else []
    cpu = series(nodes, "cpu", begin, end)
    return tuple(nodes), _samples(cpu), _samples(links)


def _of_file(
    file: Path, nodes: Sequence[str]
) -> tuple[tuple[str, ...], list[Samples], list[Samples]]:
    from skelgen.pipeline.load_files import read_loads

    columns = {one.host: one for one in read_loads(file)}
    between = set(_links(tuple(columns)))
    names = tuple(nodes) or tuple(name for name in columns if name not in between)
    if missing := [name for name in names if name not in columns]:
        raise InputError(
            f"{file}: has no column {missing[0]}, only {', '.join(columns)[:200]}; "
            "give others with --nodes"
        )
    links = [columns[name] for name in _links(names) if name in columns]
    return names, [columns[name] for name in names], links


def _of_store(
    place: str, nodes: Sequence[str], begin: float, end: float
) -> tuple[tuple[str, ...], list[Samples], list[Samples]]:
    from skelgen.store import open_store

    last = end if math.isfinite(end) else None
    with open_store(place, make=False) as store:
        cpu = [one for node in nodes for one in _cpu(store, node, begin, last)]
        links = set(_links(nodes))
        wide = store.series(None, "bandwidth", begin, last) if links else []
    if missing := [name for name in nodes if name not in {one.host for one in cpu}]:
        raise InputError(
            f"{place}: has no CPU series of {missing[0]}; give other nodes, or another "
            "store"
        )
    return (
        tuple(nodes),
        _samples(cpu),
        _samples([one for one in wide if one.host in links]),
    )


def _cpu(store: Store, node: str, begin: float, end: float | None) -> list[Series]:
    """Return what a monitor said of a node, else the newest that was estimated."""
    if measured := store.series(node, "cpu", begin, end):
        return measured
    found = [
        one
        for one in store.series(node, None, begin, end)
        if one.quantity.startswith("cpu:")
    ]
    return [max(found, key=lambda one: one.times[-1])] if found else []


def _links(nodes: Sequence[str]) -> list[str]:
    """Return the names of links between nodes."""
    return [f"{one}-{other}" for one, other in itertools.combinations(sorted(nodes), 2)]


def _samples(found: Sequence[Series]) -> list[Samples]:
    import numpy as np

    from skelgen.forecasts import Samples

    return [
        Samples(
            one.host,
            np.array(one.times, np.float64),
            np.array(one.values, np.float64),
            one.quantity.removeprefix("cpu:")
            if one.quantity.startswith("cpu:")
            else "",
        )
        for one in found
    ]
