"""The commands about systems: system measure, list, show, compare."""

from __future__ import annotations

import platform
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from skelgen.cli.options import (
    BatchOptions,
    Force,
    Json,
    QueueLimit,
    Strict,
    ThroughWay,
    Verbose,
    duration_s,
    node_sets_of,
    through_of,
)
from skelgen.cli.output import (
    check_trust,
    print_doubts,
    print_result,
    print_table,
    say,
)
from skelgen.cli.progress_bar import progress_bar
from skelgen.cli.system_output import quantity, show_system
from skelgen.errors import UsageError
from skelgen.launch.mpi import MpiKind
from skelgen.launch.way import Way

system = typer.Typer(
    help="What hosts and links can do: measure it, show it, compare hosts.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


class MpiChoice(Enum):
    """The MPIs that a measurement can be made with."""

    MPICH = "mpich"
    OPENMPI = "openmpi"


StorePlace = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="Store: a file, or the URL of a PostgreSQL database.",
        show_default="SKELGEN_STORE, else that in your data folder",
    ),
]
Files = Annotated[
    list[Path] | None,
    typer.Option(
        "--file",
        help="Read this file of system measure -o in place of the store. Several times "
        "for several files.",
    ),
]
HostName = Annotated[
    str, typer.Argument(metavar="HOST", help="A host, or a system.", show_default=False)
]


@system.command(
    epilog="Example: [b]skelgen system measure --hosts n1,n2[/b]",
    context_settings={"allow_interspersed_args": False},
)
def measure(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- CMD]",
            help="A serial program for --benchmark, with its arguments.",
            show_default=False,
        ),
    ] = None,
    hosts: Annotated[
        str | None,
        typer.Option(
            help="Hosts: n1,n2 or n[1-4]; n1:4 uses four cores of n1 at most.",
            show_default="this machine",
        ),
    ] = None,
    hostfile: Annotated[
        Path | None, typer.Option(help="Hosts in a file, of Open MPI or of MPICH.")
    ] = None,
    of_system: Annotated[
        str,
        typer.Option("--system", help="Name of the system that the hosts are part of."),
    ] = "",
    budget: Annotated[
        str,
        typer.Option(
            help="Time for a host or a pair of hosts; an eighth more for each further "
            "host."
        ),
    ] = "30s",
    benchmark: Annotated[
        bool,
        typer.Option(
            "--benchmark",
            help="Also measure the rate of the program after --, five times on each "
            "host.",
        ),
    ] = False,
    mpi: Annotated[
        MpiChoice | None,
        typer.Option(help="MPI to measure with.", show_default="the first on PATH"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write the results to this file.",
            show_default="the store keeps them",
        ),
    ] = None,
    store: StorePlace = None,
    through: ThroughWay = Way.AUTO,
    batch_options: BatchOptions = "",
    queue_limit: QueueLimit = "10min",
    force: Force = False,
    strict: Strict = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Measure hosts and the links between them.

    Rates of arithmetic, bandwidth and latency of memory, cache sizes, the platform
    contribution, and times of MPI operations. The hosts should be quiet meanwhile.
    """
    from skelgen.pipeline.system import measure_system
    from skelgen.pipeline.system_facts import system_doubts
    from skelgen.results.measured_systems import SystemMeasureResult

    if benchmark != bool(command):
        raise UsageError(
            "--benchmark takes a program after --, as in: skelgen system measure "
            "--benchmark -- ./bt.A.x"
        )
    if output is not None and store is not None:
        raise UsageError("give -o or --store, not both: results are kept in one place")
    sets = node_sets_of([hosts] if hosts else None, [hostfile] if hostfile else None)
    with progress_bar() as progress:
        found = measure_system(
            [host for one in sets for host in one],
            budget_s=duration_s(budget, "--budget"),
            system=of_system,
            benchmark=command or (),
            mpi=None if mpi is None else MpiKind(mpi.value),
            through=through_of(through, batch_options, queue_limit),
            store=store,
            output=output,
            force=force,
            progress=progress,
        )
    doubts = system_doubts(found.rows)
    if json:
        print_result(SystemMeasureResult.of(found.rows, found.kept, doubts))
    else:
        for host in found.rows.hosts:
            show_system(found.rows.of(host), host)
        say(f"kept in {found.kept}")
        print_doubts(doubts)
    check_trust(doubts, strict=strict)


@system.command("list", epilog="Example: [b]skelgen system list[/b]")
def list_systems(
    store: StorePlace = None,
    file: Files = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """List the hosts that were measured."""
    from skelgen.pipeline.known_systems import known_systems
    from skelgen.results.measured_systems import SystemListResult

    rows = known_systems(file or (), store=store)
    found = SystemListResult.of(rows)
    if json:
        print_result(found)
        return
    head = ["host", "system", "measured", "cores", "values", "operations", "doubted"]
    print_table(
        head,
        [
            [
                one.host,
                one.system,
                one.measured or "unknown",
                str(one.cores or "unknown"),
                str(one.facts),
                str(one.messages),
                str(one.doubted),
            ]
            for one in found.hosts
        ],
    )


@system.command(epilog="Example: [b]skelgen system show n1[/b]")
def show(
    host: Annotated[
        str | None,
        typer.Argument(
            metavar="HOST",
            help="A host, or a system.",
            show_default="this machine, or the only host that is known",
        ),
    ] = None,
    store: StorePlace = None,
    file: Files = None,
    strict: Strict = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Show what was measured of a host: its newest values, and of its links."""
    from skelgen.pipeline.known_systems import chosen as chosen_system
    from skelgen.pipeline.known_systems import known_systems
    from skelgen.pipeline.system_facts import system_doubts
    from skelgen.results.measured_systems import SystemShowResult

    rows = known_systems(file or (), store=store)
    if host is None:
        host = rows.hosts[0] if len(rows.hosts) == 1 else platform.node()
    found = chosen_system(rows, host)
    doubts = system_doubts(found)
    if json:
        print_result(SystemShowResult.of(rows, host, doubts))
    else:
        show_system(found, host)
        print_doubts(doubts)
    check_trust(doubts, strict=strict)


@system.command(epilog="Example: [b]skelgen system compare n1 n2[/b]")
def compare(
    first: HostName,
    second: HostName,
    store: StorePlace = None,
    file: Files = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Compare two hosts or systems: ratio second / first of all values of both."""
    from skelgen.pipeline.known_systems import chosen as chosen_system
    from skelgen.pipeline.known_systems import compare_systems, known_systems
    from skelgen.results.measured_systems import SystemCompareResult

    rows = known_systems(file or (), store=store)
    values = compare_systems(chosen_system(rows, first), chosen_system(rows, second))
    if json:
        print_result(SystemCompareResult.of((first, second), values))
        return
    table = [
        [
            one.name,
            str(one.cores or ""),
            quantity(one.first, one.unit),
            quantity(one.second, one.unit),
            f"{one.ratio:.3f}",
            "" if one.differs else "within the spread",
        ]
        for one in values
    ]
    print_table(["value", "cores", first, second, "ratio", ""], table)


@system.command(epilog="Example: [b]skelgen system history n1 float_multiply_add[/b]")
def history(
    host: HostName,
    value: Annotated[
        str,
        typer.Argument(
            metavar="VALUE",
            help="Such as float_multiply_add; system show lists them.",
            show_default=False,
        ),
    ],
    store: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Show a value of a host or system each time that it was measured."""
    from skelgen.pipeline.system_facts import measured_date
    from skelgen.pipeline.system_history import fact_history
    from skelgen.results.measured_systems import SystemHistoryResult

    found = fact_history(store, host, value)
    if json:
        print_result(SystemHistoryResult.of(host, value, found))
        return
    table = [
        [
            measured_date(one.measured) or "unknown",
            one.host,
            str(one.cores or ""),
            *(quantity(number, one.unit) for number in (one.value, one.low, one.high)),
            one.doubt,
        ]
        for one in found
    ]
    head = ["measured", "host", "cores", "median", "low", "high", "doubt"]
    print_table(head, table)
