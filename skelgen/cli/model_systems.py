"""A model for a system with few runs: the option."""

from __future__ import annotations

from typing import Annotated

import typer

OnSystem = Annotated[
    str,
    typer.Option(
        "--on",
        metavar="SYSTEM",
        help="For this system, which has few runs: runs on others give the form.",
        show_default="for all runs alike",
    ),
]
