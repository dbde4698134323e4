"""The command that sends runs to a server."""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer

from skelgen.cli.options import Json, Verbose
from skelgen.cli.output import print_facts, print_result
from skelgen.cli.progress_bar import progress_bar
from skelgen.cli.remote_options import (
    Authority,
    Insecure,
    ServerUrl,
    TokenFile,
    client_of,
)
from skelgen.cli.store import (
    Allocation,
    App,
    Hosts,
    Inputs,
    Nodes,
    Ranks,
    RanksPerNode,
    Started,
    System,
)
from skelgen.errors import InputError


def push(
    url: ServerUrl,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="What skelgen store add takes: recorded runs, tables, lines of an "
            "export, archives.",
            show_default=False,
        ),
    ],
    app: App = None,
    inputs: Inputs = None,
    columns: Annotated[
        str,
        typer.Option(
            help="Which column is what: time=t_sec,ranks=np,n=size.",
            show_default="by their names; others are inputs",
        ),
    ] = "",
    ranks: Ranks = None,
    nodes: Nodes = None,
    ranks_per_node: RanksPerNode = None,
    hosts: Hosts = "",
    system: System = "",
    allocation: Allocation = "",
    started: Started = "",
    token_file: TokenFile = None,
    authority: Authority = None,
    insecure: Insecure = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Send runs to a server that skelgen serve started, from any node.

    They are read and checked here. What the server has is not sent again, so a command
    that was cut off goes on when it is given again.
    """
    from skelgen.pipeline.push import push as send
    from skelgen.pipeline.store_typed_runs import columns_mapping, known_of
    from skelgen.results.stores import PushResult

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
    client = client_of(url, token_file, authority, insecure=insecure)
    with contextlib.closing(client), progress_bar() as progress:
        found = send(client, sources, known, mapping, progress=progress)
    if json:
        print_result(PushResult.of(found))
    else:
        rows = [("added", str(len(found.added.added)))]
        if found.added.already:
            rows.append(("there already", str(len(found.added.already))))
        if found.added.pages:
            rows.append(("their pages", str(found.added.pages)))
        if found.added.refused:
            rows.append(("refused", str(len(found.added.refused))))
        print_facts([*rows, ("address", found.address)])
    if found.added.refused:
        first, *others = found.added.refused
        more = f" (and {len(others)} more were refused: --json)" if others else ""
        raise InputError(f"{first.reason}{more}")
