"""Loads that a store keeps: in short, with a forecast and what came of earlier ones."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from skelgen.documents.dates import moment_s
from skelgen.documents.numbers import NumberError, integer
from skelgen.errors import InputError, UsageError
from skelgen.pipeline import forecast_record
from skelgen.pipeline.ask import plain_hosts
from skelgen.pipeline.forecast import (
    LoadForecasts,
    forecast_of,
    happened_since,
    load_histories,
)
from skelgen.pipeline.forecast_record import ForecastOutcome, Score
from skelgen.pipeline.load_series import LoadSource, links_between
from skelgen.store import Run, open_store, place_of
from skelgen.store.sampling import (
    NewestSample,
    ShortSeries,
    newest_samples,
    short_series,
)
from skelgen.units import parse_seconds

#: How long a time is shown [s].
SPANS = {"hour": 3600.0, "day": 86_400.0, "week": 7 * 86_400.0}
#: Series of a part, averages of each, and the last part.
PART, BINS, _LAST = 12, 120, 10_000
#: The quantity that is shown when nobody asks for one.
_USUAL = "cpu"
#: Nodes that are forecast at once, and the longest horizon [s].
_MOST_NODES, _MOST_HORIZON_S = 16, 14 * 86_400.0
#: Before and after a run: this part of its time, and at least so long [1, s].
_AROUND, _LEAST_AROUND_S = 0.25, 120.0
#: Earlier forecasts that are shown, and lines of their file that are read.
_EARLIER, _LINES = 20, 400


@dataclass(frozen=True, slots=True)
class LoadQuery:
    """Which loads are meant, as people type it.

    Attributes
    ----------
    hosts : str
        Nodes with commas between them: these and their links; empty: all.
    quantity : str
        Empty: the share of the CPU, or what there is.
    span : str
        A key of `SPANS`.
    until : str
        A date; empty: up to the newest sample.
    horizon : str
        Of a forecast, such as ``2h``; empty: none.
    part : str
        Number of the part, from 1 on.
    """

    hosts: str = ""
    quantity: str = ""
    span: str = "hour"
    until: str = ""
    horizon: str = ""
    part: str = "1"


@dataclass(frozen=True, slots=True)
class EarlierForecasts:
    """Forecasts that were made, the last ones first, and how good these were."""

    outcomes: tuple[ForecastOutcome, ...] = ()
    scores: tuple[Score, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredLoads:
    """Loads of a store.

    Attributes
    ----------
    quantities : tuple of str
        All that there are.
    quantity : str
        The one that is shown; empty: there is none.
    newest : tuple of NewestSample
        Of the series that are meant.
    series : tuple of ShortSeries
        Of those of this part.
    first : int
        So many series are before this part.
    begin, end : float
        Of the time that is shown, seconds since 1970 in UTC [s].
    forecast : LoadForecasts or None
    missing : str
        Why there is no forecast, where one was asked for.
    earlier : EarlierForecasts
    """

    quantities: tuple[str, ...]
    quantity: str
    newest: tuple[NewestSample, ...] = ()
    series: tuple[ShortSeries, ...] = ()
    first: int = 0
    begin: float = math.nan
    end: float = math.nan
    forecast: LoadForecasts | None = None
    missing: str = ""
    earlier: EarlierForecasts = EarlierForecasts()


def stored_loads(place: str | None, query: LoadQuery) -> StoredLoads:
    """Return loads of a store in short.

    Parameters
    ----------
    place : str, optional
        Of the store.
    query : LoadQuery

    Raises
    ------
    UsageError
        When something that was typed is not what it should be.
    """
    first = _first(query.part)
    span_s = _span(query.span)
    with open_store(place, make=False) as store:
        known = newest_samples(store)
        quantities = tuple(dict.fromkeys(one.quantity for one in known))
        quantity = _quantity(query.quantity, quantities)
        newest = _meant(known, quantity, plain_hosts(query.hosts))
        shown = newest[first : first + PART]
        end = _end(query.until, shown)
        series = tuple(
            short_series(store, one.host, quantity, end - span_s, end, BINS)
            for one in shown
        )
    found = StoredLoads(
        quantities, quantity, tuple(newest), series, first, end - span_s, end
    )
    return replace(found, earlier=_earlier(place)) if newest else found


def loads_around(
    place: str | None, run: Run
) -> tuple[tuple[ShortSeries, ...], tuple[float, float]]:
    """Return the loads of a run's nodes and links, and the time around it.

    Parameters
    ----------
    place : str, optional
        Of the store.
    run : Run
    """
    nowhere = (math.nan, math.nan)
    if not run.hosts or not math.isfinite(run.started + run.time_s):
        return (), nowhere
    margin_s = max(_LEAST_AROUND_S, _AROUND * run.time_s)
    begin, end = run.started - margin_s, run.started + run.time_s + margin_s
    nodes = sorted(set(run.hosts))[:_MOST_NODES]
    wanted = {(name, what) for name in nodes for what in ("cpu", "cpu_left")}
    wanted |= {(name, "bandwidth") for name in links_between(nodes)}
    with open_store(place, make=False) as store:
        known = [
            (one.host, one.quantity)
            for one in newest_samples(store)
            if (one.host, one.quantity) in wanted and one.time >= begin
        ]
        found = [short_series(store, *one, begin, end, BINS) for one in known]
    return tuple(one for one in found if one.bins)[:PART], (begin, end)


def with_forecast(
    place: str | None, query: LoadQuery, found: StoredLoads
) -> StoredLoads:
    """Add the forecast that was asked for, or why there is none; nothing is kept."""
    if not query.horizon:
        return found
    horizon_s = _horizon(query.horizon)
    if query.until:
        return replace(found, missing="forecasts begin now: leave out the date")
    nodes = plain_hosts(query.hosts) or [one.host for one in found.series]
    if found.quantity != _USUAL and not query.hosts:
        return replace(found, missing="a forecast is of nodes: name them")
    if len(nodes) > _MOST_NODES:
        missing = f"read {len(nodes)} nodes to forecast, expected at most {_MOST_NODES}"
        return replace(found, missing=missing)
    source = LoadSource(store=place_of(place).where)
    try:
        loads = forecast_of(load_histories(nodes, horizon_s, source), horizon_s)
    except InputError as error:
        return replace(found, missing=str(error))
    return replace(found, forecast=loads)


def _first(part: str) -> int:
    try:
        return (integer(part or "1", 1, _LAST) - 1) * PART
    except NumberError as error:
        raise UsageError(f"the part of a list: {error}") from error


def _span(text: str) -> float:
    try:
        return SPANS[text or "hour"]
    except KeyError:
        raise UsageError(
            f"read the span {text[:40]!r}, expected one of {', '.join(SPANS)}"
        ) from None


def _horizon(text: str) -> float:
    try:
        found = parse_seconds(text)
    except ValueError as error:
        raise UsageError(f"the horizon: {error}") from error
    if found > _MOST_HORIZON_S:
        raise UsageError(f"read the horizon {text[:40]!r}, expected at most 14d")
    return found


def _quantity(asked: str, known: Sequence[str]) -> str:
    if asked and asked not in known:
        raise UsageError(
            f"read the quantity {asked[:60]!r}, the store has {', '.join(known)[:200]}"
        )
    if asked or not known:
        return asked
    return _USUAL if _USUAL in known else known[0]


def _meant(
    known: Sequence[NewestSample], quantity: str, hosts: Sequence[str]
) -> list[NewestSample]:
    """Return the series of a quantity that hosts have, or their links."""
    wanted = {*hosts, *links_between(hosts)}
    return [
        one
        for one in known
        if one.quantity == quantity and (not hosts or one.host in wanted)
    ]


def _end(until: str, shown: Sequence[NewestSample]) -> float:
    """Return the end of the time that is shown [s]."""
    if until:
        try:
            return moment_s(until)
        except NumberError as error:
            raise UsageError(str(error)) from error
    now = time.time()
    return min(max((one.time for one in shown), default=now), now)


def _earlier(place: str | None) -> EarlierForecasts:
    """Return the last forecasts, with what this store says happened."""
    where = place_of(place).where
    source = LoadSource(store=where)
    ours = [
        one
        for one in forecast_record.outcomes(_LINES)
        if one.kept.source in ("", source.text)
    ]
    told = [
        replace(one, happened=value)
        if one.happened is None
        and math.isfinite(value := happened_since(one.kept, source))
        else one
        for one in ours[: -_EARLIER - 1 : -1]
    ]
    scores = forecast_record.scores([*ours[:-_EARLIER], *told])
    return EarlierForecasts(tuple(told), tuple(scores))
