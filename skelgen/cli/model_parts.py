"""What people and machines are told of models of parts of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from skelgen.units import format_seconds

if TYPE_CHECKING:
    from skelgen.models.model import Model

ByParts = Annotated[
    bool | None,
    typer.Option(
        "--parts/--no-parts",
        help="Fit each part of the runs, such as phases, and the rest, and sum them.",
        show_default="where all runs have the same parts",
    ),
]


def part_rows(model: Model, at: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return what people are told of the parts of a prediction."""
    from skelgen.results.model_answers import part_times

    return [
        (
            f"part {one.name}",
            f"{format_seconds(one.value)}  (90 %: {format_seconds(one.p5)} to "
            f"{format_seconds(one.p95)})",
        )
        for one in part_times(model, at)
    ]


def fitted_parts(model: Model) -> list[tuple[str, str]]:
    """Return what people are told of the parts of a model."""
    return [
        (f"part {one.name}", f"{one.model.text}  ({one.share:.1%} of the runs' time)")
        for one in model.parts
    ]
