"""Options that say which runs a model learns from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.documents.text_of_bytes import listed
from skelgen.errors import UsageError

if TYPE_CHECKING:
    from skelgen.pipeline.model import RunSource

Source = Annotated[
    str,
    typer.Argument(
        metavar="[RUNS]",
        help="A CSV file of runs, or what else store add reads.",
        show_default="the runs of --app in the store",
    ),
]
Columns = Annotated[
    str,
    typer.Option(
        help="Which column of a file is what: time=t_sec,ranks=np,n=size.",
        show_default="by their names; others are inputs",
    ),
]
InputNames = Annotated[
    str,
    typer.Option(
        "--inputs",
        metavar="NAMES",
        help="Inputs of the model: n,ranks.",
        show_default="all that are numbers and vary",
    ),
]
FamilyName = Annotated[
    str,
    typer.Option(
        "--family",
        help="Form of the model; compare lists all.",
        show_default="default, or template with --template",
    ),
]


def run_source(
    runs: str,
    place: str | None,
    app: str | None,
    where: list[str] | None,
    columns: str,
    inputs: str,
    model: str = "",
    *,
    system: str = "",
) -> RunSource:
    """Return which runs a command asks for."""
    from skelgen.pipeline.model import RunSource
    from skelgen.pipeline.store_typed_runs import columns_mapping

    if runs and model:
        raise UsageError("give runs or --model, not both")
    if not runs and not app and not model:
        raise UsageError(
            "say of which runs: name a CSV file, or an application of the store (--app)"
        )
    names = tuple(listed(inputs))
    return RunSource(
        file=runs,
        store=place,
        application=app or "",
        where=tuple(where or ()),
        columns=columns_mapping(columns),
        inputs=names,
        system=system,
    )
