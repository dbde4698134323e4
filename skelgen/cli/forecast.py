"""The command that forecasts loads."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.options import Json, Strict, Verbose, duration_s
from skelgen.cli.output import (
    check_trust,
    print_doubts,
    print_facts,
    print_result,
    print_table,
    say,
)
from skelgen.errors import UsageError
from skelgen.launch.hosts import parse_hosts
from skelgen.units import format_seconds

if TYPE_CHECKING:
    from skelgen.pipeline.forecast import LoadForecasts
    from skelgen.pipeline.forecast_record import Score


class Judging(StrEnum):
    """How experts are judged."""

    DEFAULT = "default"
    NWS = "nws"


class Joining(StrEnum):
    """How several nodes become one number."""

    AVG_MIN = "avg-min"
    MIN_AVG = "min-avg"


def forecast(
    nodes: Annotated[
        str,
        typer.Option(
            help="The nodes: n1,n2 or n[1-4].",
            show_default="with --series all of the file",
        ),
    ] = "",
    horizon: Annotated[
        str, typer.Option(help="How long the run will take, such as 10min or 2h.")
    ] = "1h",
    method: Annotated[
        Judging,
        typer.Option(
            help="Judge experts by the mean over the horizon (default), or by the next "
            "sample as NWS does (nws)."
        ),
    ] = Judging.DEFAULT,
    covariate: Annotated[
        Joining,
        typer.Option(
            help="Average over time of the smallest node (avg-min), which counts for "
            "synchronous programs, or the smallest of the nodes' averages (min-avg)."
        ),
    ] = Joining.AVG_MIN,
    series: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV file with a header time,n1,n2 and shares of CPU from 0 to 1; a "
            "column n1-n2 is the bandwidth of a link.",
            show_default="what the monitor keeps",
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            help="Take series from this store.",
            show_default="what the monitor keeps",
        ),
    ] = None,
    record: Annotated[
        bool,
        typer.Option("--record", help="Compare earlier forecasts with what happened."),
    ] = False,
    strict: Strict = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Forecast how busy nodes will be over the time of a run.

    Each forecast is kept, and --record compares all of them with what happened.
    """
    from skelgen.pipeline.forecast import forecast_loads, load_record
    from skelgen.pipeline.load_series import LoadSource
    from skelgen.results.load_forecasts import ForecastResult

    names = [host.name for host in parse_hosts(nodes)] if nodes else []
    if record:
        _print_record(load_record(names), json=json)
        return
    if series is not None and store:
        raise UsageError("give --series or --store, not both: one has the series")
    found = forecast_loads(
        names,
        duration_s(horizon, "--horizon"),
        source=LoadSource(series, store),
        method="nws" if method is Judging.NWS else "default",
        covariate="min-avg" if covariate is Joining.MIN_AVG else "avg-min",
    )
    if json:
        print_result(ForecastResult.of(found))
    else:
        _show(found)
    check_trust(found.doubts, strict=strict)


def _duration(time_s: float) -> str:
    """Write a horizon as it is given."""
    for unit, factor in (("h", 3600.0), ("min", 60.0)):
        if time_s >= factor:
            return f"{time_s / factor:.3g} {unit}"
    return format_seconds(time_s)


def _show(found: LoadForecasts) -> None:
    rows = [
        [
            quantity,
            f"{one.interval.p50:.4g}",
            f"{one.interval.p5:.4g}",
            f"{one.interval.p95:.4g}",
            f"{one.postcast_error:.3g}",
            str(one.postcasts),
            one.expert,
        ]
        for quantity, one in found.known.items()
    ]
    head = ["quantity", "p50", "p5", "p95", "postcast error", "postcasts", "expert"]
    print_table(head, rows)
    first = next(iter(found.known.values()))
    print_facts(
        [
            ("nodes", f"{', '.join(found.nodes)} ({first.covariate})"),
            ("horizon", _duration(found.horizon_s)),
            *([("bandwidth", found.missing)] if found.missing else []),
        ]
    )
    print_doubts(found.doubts)


def _print_record(scores: list[Score], *, json: bool) -> None:
    from skelgen.results.load_forecasts import ForecastRecordResult

    if json:
        print_result(ForecastRecordResult.of(scores))
        return
    if not scores:
        say("no forecast was made yet: skelgen forecast --nodes n1,n2 --horizon 2h")
        return
    head = ["method", "quantity", "of", "horizon", "forecasts", "happened"]
    rows = [[*_named(one), *_scored(one)] for one in scores]
    print_table([*head, "median error", "p90 error", "inside"], rows)


def _named(one: Score) -> list[str]:
    horizon = _duration(one.horizon_s)
    counts = [str(one.forecasts), str(one.happened)]
    return [one.method, one.quantity, one.covariate, horizon, *counts]


def _scored(one: Score) -> list[str]:
    if not one.happened:
        return ["-", "-", "-"]
    return [f"{one.median_error:.3g}", f"{one.p90_error:.3g}", f"{one.inside:.0%}"]
