"""The command about runs that monitors watched: monitor runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.monitor_options import host_names
from skelgen.cli.options import Json, StorePlace, Verbose
from skelgen.cli.output import print_result, say
from skelgen.cli.store_output import print_runs
from skelgen.launch.way import Way

if TYPE_CHECKING:
    from skelgen.pipeline.monitor_runs import HandedOver


def runs(
    hosts: Annotated[
        str,
        typer.Option(
            help="Hosts, such as n1,n2 or n[1-8].",
            show_default="all whose files are seen here",
        ),
    ] = "",
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Also runs that the store was given before, and lost."
        ),
    ] = False,
    through: Annotated[
        Way, typer.Option("--through", help="How hosts are reached; see start.")
    ] = Way.AUTO,
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Join what nodes saw of watched applications, and add the runs to the store.

    A monitor does that itself when it sees the files of all nodes of a run. Each run is
    added once.
    """
    from skelgen.pipeline.monitor_runs import hand_over

    names = host_names(hosts)
    done = hand_over(names, place, way=through, again=again)
    if json:
        from skelgen.results.monitors import MonitorRunsResult

        print_result(MonitorRunsResult.of(done))
    else:
        tell_handed(done)


def tell_handed(done: HandedOver, *, brief: bool = False) -> None:
    """Tell people which runs the store has now, and which miss some nodes."""
    if done.added:
        print_runs(done.added)
    if not brief or done.added:
        more = f", {done.already} there already" if done.already else ""
        say(f"runs added: {len(done.added)}{more}")
    for one in done.waiting:
        first = one.sightings[0]
        say(
            f"{first.application} waits for other nodes: {len(one.ranks)} of "
            f"{first.size} ranks seen, on {','.join(one.hosts)}; name all with "
            "skelgen monitor runs --hosts"
        )
