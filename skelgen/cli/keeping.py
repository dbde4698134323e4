"""The options of commands that predict: where predictions are kept, and as what."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.errors import UsageError
from skelgen.pipeline.keeping import Keeping

if TYPE_CHECKING:
    from skelgen.store import Inputs

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
    return Keeping(store, application, None if inputs is None else inputs_of(inputs))


def inputs_of(texts: list[str]) -> Inputs:
    """Read ``n=2000,mesh=fine``, given once or several times.

    Raises
    ------
    UsageError
        When a part is no name with a value, or a name comes twice.
    """
    found: dict[str, float | str] = {}
    for part in ",".join(texts).split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not (name and equals and value):
            raise UsageError(f"--input {part}: expected a name and its value: n=2000")
        if name in found:
            raise UsageError(f"--input {part}: {name} is given twice")
        found[name] = _value(value)
    return tuple(sorted(found.items()))


def _value(text: str) -> float | str:
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text
