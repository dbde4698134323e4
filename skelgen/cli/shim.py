"""The command that says where the recorder is."""

from __future__ import annotations

from typing import Annotated

import typer

from skelgen.cli.options import Verbose


def shim(
    program: Annotated[
        str,
        typer.Argument(
            metavar="[PROGRAM]",
            help="What will be recorded: the recorder is for the MPI it is linked to.",
            show_default=False,
        ),
    ] = "",
    mpi: Annotated[
        str,
        typer.Option(
            "--mpirun",
            help="The mpirun whose MPI the recorder is for; the first one on PATH "
            "when not given.",
        ),
    ] = "",
    verbose: Verbose = 0,
) -> None:
    """Print the path of the recorder, compiling it first where needed.

    Preload it by hand: SKELGEN_DIR names the folder for the trace.
    """
    from skelgen.pipeline.shim import shim_path

    typer.echo(str(shim_path(mpi, program)))
