"""The command about runs that monitors watched: monitor runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from skelgen.cli.monitor_options import host_names
from skelgen.cli.options import Json, StorePlace, Verbose
from skelgen.cli.output import print_json, say
from skelgen.cli.store_output import print_runs, run_facts
from skelgen.launch.launch_method import Way

if TYPE_CHECKING:
    from skelgen.pipeline.monitor_run_joins import WatchedRun
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
        print_json(handed_facts(done))
    else:
        tell_handed(done)


def handed_facts(done: HandedOver) -> dict[str, Any]:
    """Return what machines are told of runs that were handed over."""
    return {
        "runs": [run_facts(run) for run in done.added],
        "already": done.already,
        "waiting": [_waiting_facts(one) for one in done.waiting],
    }


def tell_handed(done: HandedOver, *, brief: bool = False) -> None:
    """Tell people which runs the store has now, and which miss some nodes."""
    if done.added:
        print_runs(done.added)
    if not brief or done.added:
        more = f", {done.already} there already" if done.already else ""
        say(f"runs added: {len(done.added)}{more}")
    for one in done.waiting:
        facts = _waiting_facts(one)
        say(
            f"{facts['app']} waits for other nodes: {len(one.ranks)} of "
            f"{facts['ranks']} ranks seen, on {','.join(one.hosts)}; name all with "
            "skelgen monitor runs --hosts"
        )


def _waiting_facts(one: WatchedRun) -> dict[str, Any]:
    first = one.sightings[0]
    return {
        "app": first.application,
        "ranks": first.size,
        "seen": sorted(one.ranks),
        "hosts": list(one.hosts),
        "started": one.began,
    }
