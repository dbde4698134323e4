"""The command that shows the phases of a recorded run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from skelgen import pipeline
from skelgen.cli.bar import progress_bar
from skelgen.cli.options import Force, Json, Verbose, share
from skelgen.cli.output import print_facts, print_json, print_table
from skelgen.units import format_seconds

#: Names of MPI functions that one line of the table shows.
_MOST_CALLS = 6


def phases(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="Folder of a recorded run.", show_default=False
        ),
    ],
    relevance: Annotated[
        str, typer.Option(help="Smallest share of the time of a phase that counts.")
    ] = "1%",
    longest: Annotated[
        str,
        typer.Option(
            help="Divide an iteration that takes more of the time into phases inside."
        ),
    ] = "1%",
    time_similarity: Annotated[
        str,
        typer.Option(
            help="Occurrences of one phase: shorter over longer, between neighbours."
        ),
    ] = "50%",
    picture: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--picture",
            help="SVG file to draw the phases into, over time and ranks.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Show the phases of a run: what comes again and again, how often, how long."""
    from skelgen.phases import Parameters

    parameters = Parameters(
        share(relevance, "--relevance"),
        share(longest, "--longest"),
        share(time_similarity, "--time-similarity"),
    )
    with progress_bar() as progress:
        found = pipeline.phases(
            run, parameters, picture=picture, force=force, progress=progress
        )
    relevant = sorted(found.relevant, key=lambda phase: -phase.share)
    facts: dict[str, Any] = {
        "phases": [
            {
                "id": phase.number,
                "weight": phase.weight,
                "time_s": phase.time_s,
                "spread": phase.spread,
                "share": phase.share,
                "events": phase.events,
                "calls": phase.calls,
            }
            for phase in relevant
        ],
        "occurrences": len(found.phase),
        "application_s": found.application_s,
        "paet_s": found.predicted_s,
        "covered_share": sum(phase.share for phase in relevant),
    }
    if json:
        print_json(facts)
        return
    print_table(
        ["phase", "weight", "time", "+-", "share", "events", "calls"],
        [
            [
                str(phase.number),
                str(phase.weight),
                format_seconds(phase.time_s),
                f"{phase.spread:.1%}",
                f"{phase.share:.1%}",
                str(phase.events),
                _shortened(phase.calls),
            ]
            for phase in relevant
        ],
    )
    missing = found.predicted_s / found.application_s - 1 if found.application_s else 0
    print_facts(
        [
            ("application", format_seconds(found.application_s)),
            ("time x weight", f"{format_seconds(found.predicted_s)} ({missing:+.2%})"),
            *([("picture", str(picture))] if picture is not None else []),
        ]
    )


def _shortened(calls: tuple[str, ...]) -> str:
    names = [name.removeprefix("MPI_") for name in calls[:_MOST_CALLS]]
    more = len(calls) - len(names)
    return " ".join(names) + (f" and {more} more" if more else "")
