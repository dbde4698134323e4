"""What is asked of a model: options, and what people and machines are told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.errors import UsageError
from skelgen.units import format_seconds

if TYPE_CHECKING:
    from skelgen.models.model import Model
    from skelgen.models.quantities import Quantity
    from skelgen.trust import Interval

QuantityName = Annotated[
    str,
    typer.Option(
        "--quantity",
        metavar="WHAT",
        help="What to say: time, speedup, efficiency, or rate:COLUMN, such as "
        "rate:n^3.",
    ),
]
ReferenceRanks = Annotated[
    str,
    typer.Option(
        "--reference",
        metavar="RANKS",
        help="The run that a speedup compares with: ranks=1.",
        show_default="the smallest ranks of the runs",
    ),
]


def quantity_rows(model: Model) -> list[tuple[str, str]]:
    """Return what people are told of what a speedup compares with."""
    from skelgen.pipeline.model_facts import made_of_times

    made = made_of_times(model)
    if made is None or not made.reference:
        return []
    told = ", ".join(f"{name}={value:g}" for name, value in made.reference)
    return [("compared with", told)]


def formula_row(model: Model) -> tuple[str, str]:
    """Return what people are told of the formula that an answer is made of."""
    from skelgen.pipeline.model_facts import made_of_times

    made = made_of_times(model)
    if made is None:
        return ("model", f"{model.text}  ({model.family})")
    return ("time", f"{made.base.text}  ({model.family})")


def made_rows(model: Model) -> list[tuple[str, str]]:
    """Return what people are told of what a fitted model says besides times."""
    from skelgen.pipeline.model_facts import made_of_times

    if made_of_times(model) is None:
        return []
    unit = f"  [{model.unit}]" if model.unit else ""
    return [(model.quantity, f"{model.text}{unit}"), *quantity_rows(model)]


def python_text(model: Model) -> str:
    """Return the formula of a model as a Python function."""
    from skelgen.models.formulas import to_python
    from skelgen.pipeline.model_facts import made_of_times

    if made_of_times(model) is None:
        return to_python(model.formula)
    return to_python(model.formula, name=model.quantity)


def interval_text(model: Model, said: Interval) -> str:
    """Return what people are told of a value and its interval."""
    shown, unit = format_seconds, ""
    if model.unit != "s":
        shown, unit = "{:.4g}".format, f" {model.unit}" if model.unit else ""
    low, middle, high = map(shown, (said.p5, said.p50, said.p95))
    return f"{middle}{unit}  (90 %: {low} to {high})"


def check_format(format_: str, quantity: Quantity) -> None:
    """Refuse to ask a batch system for what is no time.

    Raises
    ------
    UsageError
    """
    if format_ == "slurm" and not quantity.is_time:
        raise UsageError("--format slurm writes a time; leave --quantity out")
