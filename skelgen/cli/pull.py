"""The command that gets runs and models of a server."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from skelgen.cli.options import Force, Json, Verbose
from skelgen.cli.output import print_facts, print_result, say
from skelgen.cli.remote_options import (
    Authority,
    Insecure,
    ServerUrl,
    TokenFile,
    client_of,
)
from skelgen.errors import UsageError


def pull(
    url: ServerUrl,
    identities: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...",
            help="Of runs or other rows, or their beginnings; or a model by its name.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="File to write.",
            show_default="standard output",
        ),
    ] = None,
    force: Force = False,
    token_file: TokenFile = None,
    authority: Authority = None,
    insecure: Insecure = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Get runs or a model of a server as a file that other commands take.

    skelgen store add takes runs, skelgen model predict a model.
    """
    from skelgen.pipeline.pull import pull as get
    from skelgen.pipeline.pull import write_pulled
    from skelgen.results.serving import PullResult

    if json and output is None:
        raise UsageError("--json says what was written; give -o FILE as well")
    client = client_of(url, token_file, authority, insecure=insecure)
    with contextlib.closing(client):
        found = get(client, identities)
    if output is None:
        say(found.text.rstrip("\n"))
        return
    write_pulled(found, output, force=force)
    what = "model" if found.is_model else "rows"
    if json:
        ids = tuple(found.identities)
        print_result(PullResult(output=output, kind=what, ids=ids))
    else:
        print_facts([("written", str(output)), (what, str(len(found.identities)))])
