"""The options of commands that predict: where predictions are kept, and as what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from skelgen.pipeline.keep_predictions import Keeping

StorePlace = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="FILE|URL",
        help="Store that keeps the prediction, to be compared with what happens.",
        show_default="SKELGEN_STORE, else the user's store if there is one",
    ),
]
KeptApplication = Annotated[
    str,
    typer.Option(
        "--app",
        metavar="NAME",
        help="What its runs are called in the store.",
        show_default="as recorded",
    ),
]
KeptInputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=VALUE",
        help="Inputs of the predicted run: n=2000,steps=100.",
        show_default="those of the recorded run in the store",
    ),
]
Within = Annotated[
    str | None,
    typer.Option(
        "--within",
        metavar="TIME",
        help="A prediction is compared with the first run that began so long after it "
        "at most.",
        show_default="24h",
    ),
]


def keeping_of(
    store: str | None, application: str, inputs: list[str] | None
) -> Keeping:
    """Read the options that say where predictions are kept, and as what."""
    from skelgen.pipeline.keep_predictions import Keeping
    from skelgen.pipeline.store_typed_runs import inputs_of

    return Keeping(store, application, None if inputs is None else inputs_of(inputs))
