"""The option that writes a page of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

PageFile = Annotated[
    Path | None,
    typer.Option(
        "--page",
        metavar="FILE",
        help="Write one HTML file of the model: formula, curves with intervals and "
        "runs, errors of the runs, and the answer.",
        show_default=False,
    ),
]


def page_row(page: Path | None) -> list[tuple[str, str]]:
    """Say where a page was written."""
    return [] if page is None else [("page", str(page))]
