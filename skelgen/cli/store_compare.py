"""The command that puts runs side by side: store compare."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.options import Json, StorePlace, Verbose
from skelgen.cli.output import print_result, print_table, say
from skelgen.cli.store_output import print_runs, short_identity
from skelgen.cli.system_output import quantity

if TYPE_CHECKING:
    from skelgen.store.comparing import ComparedQuantity, RunComparison


def compare(
    identities: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN RUN...",
            help="Ids of two to eight runs, or their beginnings.",
            show_default=False,
        ),
    ],
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Compare runs: times, parts, loads and costs, and what differs more than usual.

    What is usual is the spread of runs of the same configuration in the store.
    """
    from skelgen.pipeline.run_compare import compare_runs
    from skelgen.results.stored_runs import StoreCompareResult

    found = compare_runs(place, identities)
    if json:
        print_result(StoreCompareResult.of(found))
    else:
        _show(found)


def _show(found: RunComparison) -> None:
    from skelgen.pipeline.run_compare import said_of_time

    print_runs(found.runs)
    head = ["", *(short_identity(run.identity, found.runs) for run in found.runs)]
    rows = [
        [
            one.name if one.kind == one.name else f"{one.kind} {one.name}",
            *(quantity(value, one.unit) for value in one.values),
            _share(one.difference),
            _share(one.spread),
            _said(one),
        ]
        for one in found.quantities
    ]
    print_table([*head, "difference", "spread", ""], rows)
    say(said_of_time(found))


def _share(number: float) -> str:
    return "" if math.isnan(number) else f"{number:.1%}"


def _said(one: ComparedQuantity) -> str:
    if one.differs is None:
        return "not known" if one.difference > 0 else ""
    return "differs" if one.differs else "within the spread"
