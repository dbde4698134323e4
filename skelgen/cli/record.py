"""The commands that record a run and look at it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skelgen.cli.options import Force, Json, RunFolder, Verbose
from skelgen.cli.output import complain, print_result, say
from skelgen.cli.progress_bar import progress_bar
from skelgen.errors import ExitCode
from skelgen.pipeline.record import info as run_info
from skelgen.pipeline.record import record as run_record
from skelgen.pipeline.record import shim_path
from skelgen.results.running import RecordResult
from skelgen.units import format_bytes, format_seconds


def record(
    command: Annotated[
        list[str],
        typer.Argument(
            metavar="COMMAND",
            help="After --: how the program is launched, with mpirun, mpiexec, srun or "
            "any other.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="Folder for the trace, one file a rank."),
    ] = Path("run"),
    force: Force = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Run a program under the recorder.

    A program that fails keeps its trace up to there.
    """
    result = run_record(command, output, force=force, quiet_output=json)
    if json:
        print_result(RecordResult.of(result, output))
    else:
        say(
            f"skelgen: recorded {result.events} events, ranks: {result.ranks}, in "
            f"{format_seconds(result.facts.duration_s)}, "
            f"{format_bytes(result.trace_bytes)}, in {output}",
            err=True,
        )
    if result.facts.exit_code:
        complain(
            f"the application failed with exit code {result.facts.exit_code}; its "
            f"trace up to there is in {output}"
        )
        raise typer.Exit(ExitCode.APPLICATION)


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
    typer.echo(str(shim_path(mpi, program)))


def info(
    run: RunFolder,
    no_page: Annotated[
        bool,
        typer.Option("--no-page", help="Leave report.html in the folder as it is."),
    ] = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Show what was recorded: functions, call sites, communicators, time in MPI, loss.

    The same stands in report.html in the run's folder, with pictures, where it can be
    written.
    """
    with progress_bar() as progress:
        found = run_info(run, page=not no_page, progress=progress)
    if json:
        from skelgen.results.recorded import InfoResult

        print_result(InfoResult.of(found))
        return
    say(found.text)
    if found.page is not None:
        say(f"\npage: {found.page}")
