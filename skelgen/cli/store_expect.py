"""The command that says how long a configuration will take: store expect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.options import Json, StorePlace, Strict, Verbose
from skelgen.cli.output import (
    check_trust,
    print_doubts,
    print_facts,
    print_result,
    print_table,
    say,
)
from skelgen.errors import ExitCode
from skelgen.launch.hosts import parse_hosts
from skelgen.trust import verdict_of
from skelgen.units import format_seconds

if TYPE_CHECKING:
    from skelgen.pipeline.store_expect import Expected


def expect(
    app: Annotated[
        str,
        typer.Option(
            "--app",
            metavar="NAME",
            help="Name of the application.",
            show_default=False,
        ),
    ],
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="NAME=VALUE", help="Inputs: n=2000,steps=100."),
    ] = None,
    ranks: Annotated[
        int | None, typer.Option("--ranks", help="Number of ranks.", min=1)
    ] = None,
    hosts: Annotated[
        str, typer.Option("--hosts", help="Where it will run: n1,n2 or n[1-4].")
    ] = "",
    system: Annotated[
        str, typer.Option("--system", metavar="NAME", help="Only runs on this system.")
    ] = "",
    strict: Strict = False,
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> int:
    """Say how long a job will take, from runs of its configuration.

    The exit code is 6 when it never ran: then the nearest configurations are named.
    """
    from skelgen.pipeline.store_expect import expected
    from skelgen.pipeline.store_typed_runs import inputs_of
    from skelgen.results.stores import StoreExpectResult

    names = [host.name for host in parse_hosts(hosts)] if hosts else []
    values = inputs_of(inputs or ())
    found = expected(place, app, values, ranks or 0, names, system)
    if json:
        print_result(StoreExpectResult.of(found))
    else:
        _tell(found)
    if found.time_s is None:
        return int(ExitCode.UNTRUSTED)
    check_trust(found.doubts, strict=strict)
    return int(ExitCode.OK)


def _tell(found: Expected) -> None:
    if (time_s := found.time_s) is None:
        say(
            f"{found.application}: no run of this configuration. A model is needed "
            "for it; the nearest that ran:"
        )
        print_table(
            ["inputs", "ranks", "runs", "time"],
            [
                [
                    " ".join(f"{name}={value}" for name, value in one.inputs),
                    str(one.ranks or ""),
                    str(one.runs),
                    format_seconds(one.time_s),
                ]
                for one in found.nearest
            ],
        )
        return
    low, high = format_seconds(time_s.p5), format_seconds(time_s.p95)
    print_facts(
        [
            ("time", f"{format_seconds(time_s.p50)}  ({low} to {high})"),
            ("runs", str(len(found.runs))),
            ("verdict", verdict_of(found.doubts)),
        ]
    )
    print_doubts(found.doubts)
