"""A model for a system with few runs: the option, and what is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from skelgen.models.systems import CarriedModel

OnSystem = Annotated[
    str,
    typer.Option(
        "--on",
        metavar="SYSTEM",
        help="For this system, which has few runs: runs on others give the form.",
        show_default="for all runs alike",
    ),
]


def system_facts(carried: CarriedModel | None, system: str) -> dict[str, Any] | None:
    """Return what machines are told of a model that other systems gave the form of."""
    if carried is None:
        return None
    factor = carried.factor
    return {
        "name": system,
        "factor": {"p5": factor.p5, "p50": factor.p50, "p95": factor.p95},
        "runs": carried.runs,
        "others": dict(carried.others),
    }
