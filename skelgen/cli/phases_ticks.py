"""The command that shows the logical trace of a run."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.options import Force, Json, RunFolder, Verbose
from skelgen.cli.output import print_facts, print_result, print_table
from skelgen.cli.progress_bar import progress_bar

if TYPE_CHECKING:
    from skelgen.ticks.table import PlacedCall, TickTable

#: Ranks with a column of their own.
_MOST_COLUMNS = 8


def ticks(
    run: RunFolder,
    first: Annotated[int, typer.Option(min=0, help="First tick.")] = 0,
    count: Annotated[int, typer.Option(min=1, help="Number of ticks.")] = 40,
    picture: Annotated[
        Path | None,
        typer.Option(help="SVG file to draw them into.", show_default=False),
    ] = None,
    force: Force = False,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Show the logical trace of a run: what each rank does at each tick.

    Ticks follow from what calls wait for; how fast the machine was plays no part.
    """
    from skelgen.pipeline.phases import ticks as placed
    from skelgen.results.phases import PhasesTicksResult

    with progress_bar() as progress:
        table = placed(
            run, first, count, picture=picture, force=force, progress=progress
        )
    if json:
        print_result(PhasesTicksResult.of(table))
    else:
        _print(table, picture)


def _print(table: TickTable, picture: Path | None) -> None:
    shown = range(min(table.ranks, _MOST_COLUMNS))
    cells: defaultdict[int, list[list[str]]] = defaultdict(lambda: [[] for _ in shown])
    for call in table.calls:
        if call.rank in shown:
            cells[call.tick][call.rank].append(_text(call))
    print_table(
        ["tick", *(f"rank {rank}" for rank in shown)],
        [
            [str(tick), *(" ".join(words) for words in row)]
            for tick, row in cells.items()
        ],
    )
    hidden = table.ranks - len(shown)
    print_facts(
        [
            ("last tick", str(table.last)),
            *([("not shown", f"ranks: {hidden}")] if hidden else []),
            *([("picture", str(picture))] if picture is not None else []),
        ]
    )


def _text(call: PlacedCall) -> str:
    """Write a call with its partners: ``Isend>3``, ``Sendrecv>1<0``."""
    to = f">{call.to}" if call.to >= 0 else ""
    source = f"<{call.source}" if call.source >= 0 else ""
    return call.function.removeprefix("MPI_") + to + source
