"""The command that writes a signature to give away."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skelgen.cli.options import Force, Json, Verbose
from skelgen.cli.output import print_facts, print_result
from skelgen.cli.progress_bar import progress_bar


def share(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|SKELETON|SIGNATURE",
            help="Folder of a recorded run or of a skeleton, or a stored signature or "
            "phase signature.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="File to write.", show_default=False),
    ],
    name: Annotated[
        str, typer.Option(help="What the application is called in it.")
    ] = "application",
    force: Force = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Write one file to give away: all that skeletons are built from, and no more.

    Without command, paths, names of hosts, users, modules and the application, values
    of the environment, hashes of files, and day and time. What remains says how the
    program communicates, how much and how long.
    """
    from skelgen.pipeline.share import share as run_share
    from skelgen.results.running import ShareResult

    with progress_bar() as progress:
        shared = run_share(source, output, name=name, force=force, progress=progress)
    left_out, kept = shared.given.left_out, shared.given.kept
    if json:
        print_result(ShareResult.of(shared))
        return
    print_facts(
        [
            *(("left out", what) for what in left_out),
            *(("kept", what) for what in kept),
            ("output", str(shared.output)),
        ]
    )
