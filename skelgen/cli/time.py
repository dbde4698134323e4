"""The command that runs a launch and keeps how long it took."""

from __future__ import annotations

from typing import Annotated

import typer

from skelgen.cli.options import Json, StorePlace, Verbose
from skelgen.cli.output import print_result, say, shown
from skelgen.cli.store import App, Hosts, Inputs, Ranks, System
from skelgen.units import format_seconds


def time(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="COMMAND",
            help="After --: how the program is launched, with any launcher or none.",
            show_default=False,
        ),
    ],
    app: App = None,
    inputs: Inputs = None,
    ranks: Ranks = None,
    hosts: Hosts = "",
    system: System = "",
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Run a program and keep in the store how long it took and how it ended.

    The exit code is the program's. Ranks and hosts come from the words of the launcher
    and the batch job, unless they are given.
    """
    from skelgen.pipeline.store_typed_runs import known_of
    from skelgen.pipeline.time import timed
    from skelgen.results.stores import TimeResult

    known = known_of(
        application=app or "",
        inputs=inputs or (),
        ranks=ranks or 0,
        hosts=hosts,
        system=system,
    )
    done = timed(command, known, place, quiet_output=json)
    if json:
        print_result(TimeResult.of_timed(done))
    elif done.kept:
        say(
            f"skelgen: {shown(done.run.application)} took "
            f"{format_seconds(done.run.time_s)}; kept as {done.run.identity[:8]}",
            err=True,
        )
    raise typer.Exit(done.exit_code)
