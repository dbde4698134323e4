"""Answers of forecast, and of store loads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Self

from skelgen.pipeline.store_facts import date_text
from skelgen.results.base import Result
from skelgen.trust import verdict_of
from skelgen.trust.facts import NamedDoubt, named

if TYPE_CHECKING:
    from skelgen.forecasts import LoadForecast
    from skelgen.pipeline.forecast import LoadForecasts
    from skelgen.pipeline.forecast_record import ForecastOutcome, Score
    from skelgen.pipeline.stored_loads import StoredLoads
    from skelgen.store.sampling import ShortSeries


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeseenShare:
    """The forecast of a quantity.

    Attributes
    ----------
    p5, p50, p95 : float
        90 % interval and median of the average over the horizon.
    covariate : str
        How several nodes become one number: ``avg-min`` or ``min-avg``.
    expert : str
        Who made it.
    postcast_error : float or None
        How far that expert was from the truth in the past.
    postcasts : int
        How often that was tested.
    begin : float
        Of the horizon, seconds since 1970 in UTC [s].
    """

    p5: float
    p50: float
    p95: float
    covariate: str
    expert: str
    postcast_error: float | None
    postcasts: int
    begin: float

    @classmethod
    def of(cls, one: LoadForecast | None) -> Self | None:
        """Return what is said of a forecast; None where there is none."""
        if one is None:
            return None
        return cls(
            p5=one.interval.p5,
            p50=one.interval.p50,
            p95=one.interval.p95,
            covariate=one.covariate,
            expert=one.expert,
            postcast_error=one.postcast_error,
            postcasts=one.postcasts,
            begin=one.begin_s,
        )


@dataclass(frozen=True, kw_only=True)  # with slots no class could have two bases
class ForecastFields:
    """How busy nodes will be.

    Attributes
    ----------
    horizon_s : float
        Time that it is for [s].
    method : str
        How experts are judged: ``default`` or ``nws``.
    cpu, bandwidth : ForeseenShare or None
        Free shares; None where there is no series.
    nodes : sequence of str
        That were asked for.
    missing : str
        Why there is no bandwidth of some links or all; else empty.
    verdict : str
        ``trust`` or ``do not trust``.
    doubts : sequence of NamedDoubt
        Why not.
    """

    horizon_s: float
    method: str
    cpu: ForeseenShare | None
    bandwidth: ForeseenShare | None
    nodes: Sequence[str]
    missing: str
    verdict: str
    doubts: Sequence[NamedDoubt]

    @classmethod
    def of(cls, found: LoadForecasts) -> Self:
        """Return what is said of forecasts."""
        return cls(
            horizon_s=found.horizon_s,
            method=found.method,
            cpu=ForeseenShare.of(found.cpu),
            bandwidth=ForeseenShare.of(found.bandwidth),
            nodes=found.nodes,
            missing=found.missing,
            verdict=verdict_of(found.doubts),
            doubts=named(found.doubts),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastResult(ForecastFields, Result):
    """How busy nodes will be."""

    result: ClassVar[str] = "forecast"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastScore:
    """How good forecasts of one sort were.

    Attributes
    ----------
    method, quantity, covariate : str
        The sort.
    horizon_s : float
        Time that they were for [s].
    predictions, happened : int
        That were made, and of which it is known what happened.
    median_error, p90_error : float or None
        Of the absolute errors; None where nothing happened yet.
    inside : float or None
        Part of the truths inside the 90 % interval [0 to 1].
    """

    method: str
    quantity: str
    covariate: str
    horizon_s: float
    predictions: int
    happened: int
    median_error: float | None
    p90_error: float | None
    inside: float | None

    @classmethod
    def of(cls, one: Score) -> Self:
        """Return what is said of forecasts of one sort."""
        return cls(
            method=one.method,
            quantity=one.quantity,
            covariate=one.covariate,
            horizon_s=one.horizon_s,
            predictions=one.forecasts,
            happened=one.happened,
            median_error=one.median_error,
            p90_error=one.p90_error,
            inside=one.inside,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastRecordResult(Result):
    """How good earlier forecasts were: ``skelgen forecast --record``.

    Attributes
    ----------
    methods : sequence of ForecastScore
        One for each sort.
    """

    result: ClassVar[str] = "forecast-record"

    methods: Sequence[ForecastScore]

    @classmethod
    def of(cls, scores: Sequence[Score]) -> Self:
        """Return the answer to the forecasts that were made."""
        return cls(methods=tuple(map(ForecastScore.of, scores)))


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadBin:
    """Samples that follow each other, in short.

    Attributes
    ----------
    begin, end : float
        First and last sample, seconds since 1970 in UTC [s].
    samples : int
        How many.
    mean, least, most : float
        Of them.
    """

    begin: float
    end: float
    samples: int
    mean: float
    least: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLoads:
    """A quantity of a node or link over time.

    Attributes
    ----------
    host : str
        A link is ``n1-n2``.
    mean, least, most : float or None
        Of all samples.
    known : float
        Part of the time that samples speak for [0 to 1].
    interval_s : float or None
        Usual between samples [s].
    bins : sequence of LoadBin
        In the order of time.
    gaps : sequence of (float, float)
        Times without samples, seconds since 1970 in UTC [s].
    """

    host: str
    mean: float | None
    least: float | None
    most: float | None
    known: float
    interval_s: float | None
    bins: Sequence[LoadBin]
    gaps: Sequence[tuple[float, float]]

    @classmethod
    def of(cls, one: ShortSeries, found: StoredLoads) -> Self:
        """Return what is said of a series in the time that is shown."""
        least, most = one.ends
        bins = (
            LoadBin(
                begin=each.first,
                end=each.last,
                samples=each.count,
                mean=each.mean,
                least=each.low,
                most=each.high,
            )
            for each in one.bins
        )
        return cls(
            host=one.host,
            mean=one.mean,
            least=least,
            most=most,
            known=one.known(found.begin, found.end),
            interval_s=one.interval_s,
            bins=tuple(bins),
            gaps=tuple(
                (left[-1].last, right[0].first)
                for left, right in pairwise(one.pieces())
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PastForecast:
    """A forecast that was made, with what happened.

    Attributes
    ----------
    nodes : sequence of str
        That it was for.
    quantity, covariate, method : str
        Of what, and how it was made.
    begin, horizon_s : float
        Time that it was for: seconds since 1970 in UTC, and length [s].
    p5, p50, p95 : float
        90 % interval and median.
    happened : float or None
        None while it is not known.
    """

    nodes: Sequence[str]
    quantity: str
    covariate: str
    method: str
    begin: float
    horizon_s: float
    p5: float
    p50: float
    p95: float
    happened: float | None

    @classmethod
    def of(cls, one: ForecastOutcome) -> Self:
        """Return what is said of a forecast."""
        kept = one.kept
        return cls(
            nodes=kept.nodes,
            quantity=kept.quantity,
            covariate=kept.covariate,
            method=kept.method,
            begin=kept.begin,
            horizon_s=kept.horizon_s,
            p5=kept.p5,
            p50=kept.p50,
            p95=kept.p95,
            happened=one.happened,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLoadsResult(Result):
    """Loads of a store.

    Attributes
    ----------
    quantity : str
        The one that is shown; empty: there is none.
    quantities : sequence of str
        All that there are.
    begin, end : str or None
        Of the time that is shown (ISO, UTC).
    series : sequence of HostLoads
        Of this part of the list.
    total, first : int
        Series in all, and before this part.
    forecast : ForecastFields or None
        Where one was asked for.
    missing : str
        Why there is none.
    earlier : sequence of PastForecast
        The newest first.
    methods : sequence of ForecastScore
        How good they were.
    """

    result: ClassVar[str] = "store-loads"

    quantity: str
    quantities: Sequence[str]
    begin: str | None
    end: str | None
    series: Sequence[HostLoads]
    total: int
    first: int
    forecast: ForecastFields | None
    missing: str
    earlier: Sequence[PastForecast]
    methods: Sequence[ForecastScore]

    @classmethod
    def of(cls, found: StoredLoads) -> Self:
        """Return the answer to the loads that were found."""
        foreseen = found.forecast
        return cls(
            quantity=found.quantity,
            quantities=found.quantities,
            begin=date_text(found.begin) or None,
            end=date_text(found.end) or None,
            series=tuple(HostLoads.of(one, found) for one in found.series),
            total=len(found.newest),
            first=found.first,
            forecast=None if foreseen is None else ForecastFields.of(foreseen),
            missing=found.missing,
            earlier=tuple(map(PastForecast.of, found.earlier.outcomes)),
            methods=tuple(map(ForecastScore.of, found.earlier.scores)),
        )
