"""The commands of the store: what goes in, what comes out, and how it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.options import Force, Json, StorePlace, Verbose, duration_s
from skelgen.cli.output import print_facts, print_result, say
from skelgen.cli.progress_bar import progress_bar
from skelgen.cli.store_compare import compare
from skelgen.cli.store_expect import expect
from skelgen.cli.store_loads import loads
from skelgen.cli.store_output import print_runs, row_lines
from skelgen.cli.store_record import record
from skelgen.cli.store_repeats import tell_repeats
from skelgen.errors import InputError, UsageError
from skelgen.units import number_of

if TYPE_CHECKING:
    from skelgen.store import Added

store = typer.Typer(
    help="What ran, how long it took, and what was predicted: kept for later.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

App = Annotated[
    str | None,
    typer.Option("--app", metavar="NAME", help="Name of the application."),
]
Conditions = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        help="Only runs of which this holds: 'n>=1000', n=1000:2000, ranks=8, "
        "status!=ok, host=n1. Several must all hold.",
    ),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option("--input", metavar="NAME=VALUE", help="Inputs: n=2000,steps=100."),
]
Ranks = Annotated[int | None, typer.Option("--ranks", help="Number of ranks.", min=1)]
Nodes = Annotated[int | None, typer.Option("--nodes", help="Number of nodes.", min=1)]
RanksPerNode = Annotated[
    int | None, typer.Option("--ranks-per-node", help="Ranks on each node.", min=1)
]
Hosts = Annotated[str, typer.Option("--hosts", help="Where it ran: n1,n2 or n[1-4].")]
System = Annotated[
    str, typer.Option("--system", help="Name of the system that the hosts are of.")
]
Allocation = Annotated[
    str,
    typer.Option("--allocation", help="Job of the batch system that it ran in."),
]
Started = Annotated[
    str, typer.Option("--started", help="When it began: 2026-01-31T12:00:00Z.")
]

#: Runs that people are shown.
_SHOWN = 100


@store.command(
    epilog="Example: [b]skelgen store add runs.csv --app heat --columns "
    "time=t_sec,ranks=np[/b]"
)
def add(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE...]",
            help="Recorded runs, phase signatures, workload studies, what measure or "
            "predict --json printed, CSV, JSON lines, files of Extra-P, folders that "
            "store export wrote, tar.gz and zip archives of these; - reads lines of "
            "our own format from standard input. "
            "Without any, the run that --time describes.",
            show_default=False,
        ),
    ] = None,
    app: App = None,
    inputs: Inputs = None,
    columns: Annotated[
        str,
        typer.Option(
            help="Which column is what: time=t_sec,ranks=np,n=size. Time is in seconds "
            "unless its name ends in a unit (time_ms). Of Extra-P: metric and "
            "parameters.",
            show_default="by their names; others are inputs",
        ),
    ] = "",
    time: Annotated[
        str,
        typer.Option(
            help="Wall time of a run without a file: 12.3 or 500ms.",
            show_default=False,
        ),
    ] = "",
    status: Annotated[
        str,
        typer.Option(
            help="How that run ended: ok, exit 3, signal 9.", show_default="ok"
        ),
    ] = "",
    ranks: Ranks = None,
    nodes: Nodes = None,
    ranks_per_node: RanksPerNode = None,
    hosts: Hosts = "",
    system: System = "",
    allocation: Allocation = "",
    started: Started = "",
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Add runs and predictions to the store; what it has already stays once."""
    from skelgen.pipeline.store import store_add, store_add_typed
    from skelgen.pipeline.store_typed_runs import columns_mapping, known_of, typed_run

    known = known_of(
        application=app or "",
        inputs=inputs or (),
        ranks=ranks or 0,
        nodes=nodes or 0,
        ranks_per_node=ranks_per_node or 0,
        hosts=hosts,
        system=system,
        allocation=allocation,
        started=started,
    )
    mapping = columns_mapping(columns)
    if bool(sources) == bool(time):
        raise UsageError(
            "give files to add, or --time for a run without a file, not both"
            if sources
            else "nothing to add: name a recorded run or a file, or give --time"
        )
    if sources and status:
        raise UsageError("--status is for a run that --time describes; leave it out")
    if sources:
        with progress_bar() as progress:
            found = store_add(place, sources, known, mapping, progress=progress)
    else:
        time_s = duration_s(time, "--time")
        run = typed_run(known, time_s, status or "ok")
        found = store_add_typed(place, run)
    _tell_added(found, json=json)


def _tell_added(found: Added, *, json: bool) -> None:
    """Say what became of rows, and fail when some were refused."""
    from skelgen.results.stores import StoreAddResult

    if json:
        print_result(StoreAddResult.of(found))
    else:
        rows = [("added", str(len(found.added)))]
        if found.already:
            rows.append(("there already", str(len(found.already))))
        if found.pages:
            rows.append(("their pages", str(found.pages)))
        if found.refused:
            rows.append(("refused", str(len(found.refused))))
        if len(found.added) == 1:
            rows.append(("id", found.added[0].run))
        print_facts(rows)
    if found.refused:
        first, *others = found.refused
        more = f" (and {len(others)} more were refused: --json)" if others else ""
        raise InputError(f"{first.reason}{more}")


@store.command(
    name="list",
    epilog="Example: [b]skelgen store list --app heat --where 'n>=1000'[/b]",
)
def list_(
    app: App = None,
    where: Conditions = None,
    repeats: Annotated[
        bool,
        typer.Option(
            "--repeats",
            help="Configurations that ran more than once: median, spread, and whether "
            "on the same nodes and in one job.",
        ),
    ] = False,
    mean: Annotated[
        bool,
        typer.Option(
            "--mean",
            help="With --repeats: the mean without outliers in place of the median.",
        ),
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            help="The last ones only.",
            min=1,
            max=10**9,
            show_default=f"{_SHOWN}; with --json all",
        ),
    ] = None,
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """List runs in the order of their start."""
    from skelgen.pipeline.store import store_list, store_repeats
    from skelgen.results.stores import StoreListResult

    if mean and not repeats:
        raise UsageError("--mean is of repeats; give --repeats as well")
    if repeats:
        found = store_repeats(place, app, where or ())
        tell_repeats(found, mean=mean, json=json)
        return
    most = limit or (None if json else _SHOWN)
    listed = store_list(place, app, where or (), limit=most)
    if json:
        print_result(StoreListResult.of(listed.runs, listed.total))
        return
    if listed.runs:
        print_runs(listed.runs)
    left = listed.total - len(listed.runs)
    more = f", the last {len(listed.runs)} of them here (--limit)" if left else ""
    say(f"{listed.total} runs{more}")


@store.command(epilog="Example: [b]skelgen store show 3f2a[/b]")
def show(
    identity: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="Of a run or another row, or the beginning of it.",
            show_default=False,
        ),
    ],
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Show a run, or another row, with all its values."""
    from skelgen.pipeline.store import store_show
    from skelgen.results.stored_rows import shown_row

    whole, row = store_show(place, identity)
    found = shown_row(whole, row)
    if json:
        print_result(found)
    else:
        print_facts(row_lines(found))


@store.command(epilog="Example: [b]skelgen store export -o runs/ --format jsonl[/b]")
def export(
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="Folder for the files.", show_default=False
        ),
    ],
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            help="jsonl (all rows, for git), csv, extrap-text or extrap-json (runs).",
        ),
    ] = "jsonl",
    app: App = None,
    where: Conditions = None,
    force: Force = False,
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Write all rows of the store into a folder; store add reads them again."""
    from skelgen.pipeline.store import store_export
    from skelgen.results.stores import StoreExportResult

    done = store_export(
        place, output, format_, application=app, where=where or (), force=force
    )
    if json:
        print_result(StoreExportResult.of(output, done))
        return
    print_facts([(str(output / name), f"{rows} rows") for name, rows in done.files])


@store.command(epilog="Example: [b]skelgen store remove 3f2a[/b]")
def remove(
    identities: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...",
            help="Of the rows, or their beginnings.",
            show_default=False,
        ),
    ],
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Remove runs or other rows: all that are named, or none."""
    from skelgen.pipeline.store import store_remove
    from skelgen.results.stores import StoreRemoveResult

    removed = store_remove(place, identities)
    if json:
        print_result(StoreRemoveResult(removed=removed))
    else:
        print_facts([("removed", str(removed))])


@store.command(epilog="Example: [b]skelgen store path[/b]")
def path(place: StorePlace = None, json: Json = False, verbose: Verbose = 0) -> None:
    """Print which store is used, and why."""
    from skelgen.pipeline.store import store_place
    from skelgen.results.stores import StorePathResult

    found = store_place(place)
    exists = None if found.is_url else Path(found.where).expanduser().exists()
    if json:
        said = StorePathResult(store=found.shown, why=found.why, exists=exists)
        print_result(said)
        return
    there = "; there is none yet" if exists is False else ""
    print_facts([("store", found.shown), ("because of", f"{found.why}{there}")])


@store.command(epilog="Example: [b]skelgen store check[/b]")
def check(place: StorePlace = None, json: Json = False, verbose: Verbose = 0) -> None:
    """Find and name what is damaged in the store; nothing is changed."""
    from skelgen.pipeline.store import store_health, store_place
    from skelgen.results.stores import StoreCheckResult

    health = store_health(place)
    if json:
        print_result(StoreCheckResult.of(health))
    else:
        print_facts(
            [
                ("version", str(health.version) if health.version else "not readable"),
                ("sound", "yes" if health.sound else "no"),
                *(("problem", line) for line in health.problems),
            ]
        )
    if not health.sound:
        where = number_of(len(health.problems), "place")
        remedy = (
            "export what can be read (skelgen store export) and add it to a new store"
            if health.version
            else "nothing of it can be read; restore a copy"
        )
        raise InputError(f"{store_place(place).shown} is damaged in {where}; {remedy}")


store.command(epilog="Example: [b]skelgen store record --within 2h[/b]")(record)
store.command(epilog="Example: [b]skelgen store expect --app heat --ranks 8[/b]")(
    expect
)
store.command(epilog="Example: [b]skelgen store compare 3f2a 91c0[/b]")(compare)
store.command(epilog="Example: [b]skelgen store loads --nodes n1,n2[/b]")(loads)
