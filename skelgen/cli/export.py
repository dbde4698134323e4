"""The command that writes a recorded run in the formats of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skelgen.cli.options import Force, Json, RunFolder, Verbose
from skelgen.cli.output import print_facts, print_result
from skelgen.cli.progress_bar import progress_bar
from skelgen.errors import UsageError
from skelgen.export.formats import FORMATS
from skelgen.units import format_bytes


def export(
    run: RunFolder,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="|".join(FORMATS),
            help="For ui.perfetto.dev, for Paraver, for SimGrid's replay, or OTF2.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="File for perfetto (compressed when it ends in .gz), folder for "
            "the others.",
            show_default="next to RUN, named like it",
        ),
    ] = None,
    max_events: Annotated[
        int | None,
        typer.Option(
            help="Leave out the end of a run with more events; 0: leave out nothing.",
            min=0,
            show_default="1000000 for perfetto, 0 for the others",
        ),
    ] = None,
    force: Force = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Write a recorded run in the format of another tool, to look at it there."""
    from skelgen.pipeline.export import export as run_export
    from skelgen.results.running import ExportResult

    if format_name is None:
        formats = ", ".join(FORMATS)
        raise UsageError(f"--format is missing; give one of {formats}")
    with progress_bar() as progress:
        result = run_export(
            run,
            format_name,
            output,
            force=force,
            most_events=max_events,
            progress=progress,
        )
    if json:
        print_result(ExportResult.of(result))
        return
    held = ", ".join(f"{count} {what}" for what, count in result.records.items())
    rows = [
        ("open", str(result.opens)),
        ("holds", f"{result.events} events as {held}"),
        ("size", format_bytes(result.size_bytes)),
    ]
    print_facts([*rows, *(("note", line) for line in result.notes)])
