"""The commands of models that a store keeps: list them, show one."""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.cli.model_template import form_rows
from skelgen.cli.options import Json, StorePlace, Verbose
from skelgen.cli.output import print_doubts, print_facts, print_result, print_table, say
from skelgen.cli.store import App

if TYPE_CHECKING:
    from skelgen.pipeline.kept_model import KeptModel

logger = logging.getLogger(__name__)

KeptName = Annotated[
    str,
    typer.Option(
        "--name",
        metavar="NAME",
        help="Keep the model in the store under this name.",
        show_default="the application's name, where a store is set",
    ),
]
KeptAuthor = Annotated[
    str,
    typer.Option(
        "--author",
        metavar="NAME",
        help="Who fitted it, for the store.",
        show_default="your user name",
    ),
]
AskedName = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="NAME|ID",
        help="Ask a model that the store keeps.",
        show_default=False,
    ),
]

#: Characters of an identity that people are shown.
_SHORT = 8


def kept_row(kept: KeptModel | None) -> list[tuple[str, str]]:
    """Return what people are told of where a model is kept."""
    if kept is None:
        return []
    return [("kept as", f"{kept.name}  (id {kept.identity[:_SHORT]})")]


def list_(
    app: App = None,
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """List the models of the store, of each name the last one."""
    from skelgen.pipeline import model_keep

    faults: list[str] = []
    found = model_keep.kept_models(place, app, faults)
    if json:
        from skelgen.results.models_listed import ModelListResult

        print_result(ModelListResult.of(found, faults))
        return
    for fault in faults:
        logger.warning("%s", fault)
    if not found:
        say("no models; skelgen model fit --name NAME keeps one")
    else:
        head = ["name", "application", "id", "family", "runs", "fitted", "formula"]
        print_table(head, [_row(one) for one in found])


def _row(one: KeptModel) -> list[str]:
    from skelgen.pipeline.model_facts import fitted_date

    return [
        one.name,
        one.origin.application,
        one.identity[:_SHORT],
        one.model.family,
        str(one.origin.runs),
        fitted_date(one.fitted),
        one.model.text,
    ]


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|ID", help="Name or id of a model.", show_default=False
        ),
    ],
    app: App = None,
    place: StorePlace = None,
    json: Json = False,
    verbose: Verbose = 0,
) -> None:
    """Show a model of the store, and whether runs were added since it was fitted."""
    from skelgen.pipeline import model_keep

    found = model_keep.kept_model(place, name, app)
    now = model_keep.runs_now(place, found.origin)
    stale = now is not None and not now[1]
    if json:
        from skelgen.results.models_listed import ModelShowResult

        print_result(ModelShowResult.of(found, now))
        return
    print_facts(_lines(found))
    for note in found.model.notes:
        say(note)
    print_doubts(found.model.doubts)
    if now is not None and stale:
        say(
            f"fit it again: the store has {now[0]} runs now, it was fitted to "
            f"{found.origin.runs}"
        )


def _lines(one: KeptModel) -> list[tuple[str, str]]:
    from skelgen.pipeline.model_facts import fitted_date

    model, origin = one.model, one.origin
    where = f", where {' and '.join(origin.where)}" if origin.where else ""
    read = f" of {origin.file}" if origin.file else ""
    fixed = ", ".join(f"{name}={value}" for name, value in origin.fixed)
    error = math.expm1(min(model.scale.noise, 700.0))  # else too large to write
    rows = [
        ("model", f"{one.name}  (id {one.identity[:_SHORT]})"),
        (model.quantity, f"{model.text}  [{model.unit}]"),
        ("family", model.family),
        *form_rows(model.template),
        ("fitted", f"{fitted_date(one.fitted)} by {one.author}"),
        ("runs", f"{origin.runs} of {origin.application}{read}{where}"),
        *(
            (one.input.name, f"{one.low:g} to {one.high:g}  ({one.input.meaning})")
            for one in model.inputs
        ),
        ("error", f"{error:.1%} of a run, half of the runs are closer"),
        *(
            (f"coefficient {name}", f"{value:.6g}")
            for name, value in model.coefficients
        ),
    ]
    return [*rows, ("the same", fixed)] if fixed else rows
