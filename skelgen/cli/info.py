"""The command that looks at a recorded run."""

from __future__ import annotations

from typing import Annotated

import typer

from skelgen.cli.options import Json, RunFolder, Verbose
from skelgen.cli.output import print_result, say
from skelgen.cli.progress_bar import progress_bar


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
    from skelgen.pipeline.info import info as run_info

    with progress_bar() as progress:
        found = run_info(run, page=not no_page, progress=progress)
    if json:
        from skelgen.results.recorded import InfoResult

        print_result(InfoResult.of(found))
        return
    say(found.text)
    if found.page is not None:
        say(f"\npage: {found.page}")
