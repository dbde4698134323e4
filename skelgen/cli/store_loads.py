"""The command that shows loads which a store keeps: store loads."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.options import Json, StorePlace, Verbose
from skelgen.cli.output import print_doubts, print_facts, print_result, print_table, say

if TYPE_CHECKING:
    from skelgen.pipeline.stored_loads import StoredLoads


def loads(
    nodes: Annotated[
        str,
        typer.Option(
            help="These and the links between them: n1,n2.", show_default="all"
        ),
    ] = "",
    quantity: Annotated[
        str, typer.Option(help="Such as cpu or bandwidth.", show_default="cpu")
    ] = "",
    span: Annotated[
        str, typer.Option(help="How long a time: hour, day or week.")
    ] = "hour",
    until: Annotated[
        str,
        typer.Option(
            help="End of the time: 2026-01-31T12:00:00Z.",
            show_default="the newest sample",
        ),
    ] = "",
    horizon: Annotated[
        str, typer.Option(help="Forecast over such a time as well: 2h. Not kept.")
    ] = "",
    part: Annotated[
        int, typer.Option(help="Part of the list, twelve series each.", min=1)
    ] = 1,
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Show loads of nodes and links that the store keeps, in short."""
    from skelgen.pipeline.stored_loads import LoadQuery, stored_loads, with_forecast
    from skelgen.results.load_forecasts import StoreLoadsResult

    query = LoadQuery(nodes, quantity, span, until, horizon, str(part))
    found = with_forecast(place, query, stored_loads(place, query))
    if json:
        print_result(StoreLoadsResult.of(found))
    else:
        _show(found)


def _show(found: StoredLoads) -> None:
    from skelgen.pipeline.store_facts import date_text

    if not found.series:
        say("the store has no such series; skelgen monitor show --json has those of "
            "monitors")  # fmt: skip
        return
    shown = found.newest[found.first : found.first + len(found.series)]
    print_table(
        ["host", "newest", "measured", "mean", "least", "most", "known"],
        [
            [
                *(one.host, _number(one.value), date_text(one.time)),
                *map(_number, (short.mean, *short.ends)),
                f"{short.known(found.begin, found.end):.0%}",
            ]
            for one, short in zip(shown, found.series, strict=True)
        ],
        title=f"{found.quantity}, {date_text(found.begin)} to {date_text(found.end)}",
    )
    if left := len(found.newest) - len(found.series):
        say(f"{left} more series: --part, --nodes")
    if found.forecast is not None:
        rows = [
            (name, f"{one.interval.p50:.3g} (90 %: {one.interval.p5:.3g} to "
                   f"{one.interval.p95:.3g})")
            for name, one in found.forecast.known.items()
        ]  # fmt: skip
        print_facts(rows)
        print_doubts(found.forecast.doubts)
    if found.missing:
        say(found.missing)


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4g}"
