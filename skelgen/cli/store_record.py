"""The command that compares past predictions with what happened."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.keep_options import Within
from skelgen.cli.options import Json, StorePlace, Verbose, duration_s
from skelgen.cli.output import print_result, print_table, say

if TYPE_CHECKING:
    from skelgen.store.track_record import TrackRecord


def record(
    place: StorePlace = None,
    app: Annotated[
        str | None,
        typer.Option(
            "--app",
            metavar="NAME",
            help="Only predictions of this application.",
            show_default="all",
        ),
    ] = None,
    within: Within = None,
    trusted: Annotated[
        bool,
        typer.Option("--trusted", help="Only predictions with the verdict trust."),
    ] = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Compare past predictions with what happened, for each method.

    What happened is the first run that began after the prediction was made, of the same
    application with the same inputs, ranks and hosts.
    """
    from skelgen.pipeline.store_record import track_record
    from skelgen.results.stores import StoreRecordResult

    found = track_record(
        place,
        application=app,
        within_s=None if within is None else duration_s(within, "--within"),
        trusted=trusted,
    )
    if json:
        print_result(StoreRecordResult.of(found))
    elif found:
        _show(found)
    else:
        say(
            "no predictions; with a store set (--store or SKELGEN_STORE) predict, "
            "select, measure and workload predict keep theirs"
        )


def _show(found: list[TrackRecord]) -> None:
    print_table(
        ["method", "predictions", "doubted", "happened", "median", "p90", "inside"],
        [
            [
                one.method,
                str(one.predictions),
                str(one.doubted),
                str(one.happened),
                *map(_share, (one.median_error, one.p90_error, one.inside)),
            ]
            for one in found
        ],
    )


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.1%}"
