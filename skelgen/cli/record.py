"""The command that records a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skelgen.cli.options import Force, Json, Verbose
from skelgen.cli.output import complain, print_result, say
from skelgen.errors import ExitCode
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
    from skelgen.pipeline.record import record as run_record
    from skelgen.results.running import RecordResult

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
