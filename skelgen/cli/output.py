"""Print results for people, or as JSON for machines."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table


def complain(message: str) -> None:
    """Print an error, always on one line, on stderr."""
    typer.echo(f"skelgen: error: {' '.join(message.split())}", err=True)


def print_json(value: Mapping[str, Any]) -> None:
    """Print a result as JSON; numbers that are none become null."""
    typer.echo(json.dumps(_plain(value), indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def print_facts(rows: Sequence[tuple[str, str]]) -> None:
    """Print names and values in two columns."""
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        typer.echo(f"{name:<{width}}  {value}")


def print_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = ""
) -> None:
    """Print a table; the columns after the first are numbers."""
    table = Table(title=escape(title) or None, title_justify="left", box=None)
    for number, name in enumerate(head):
        table.add_column(name, justify="right" if number else "left")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    # Without a terminal nobody should get lines cut at 80 columns.
    width = None if sys.stdout.isatty() else 200
    Console(file=sys.stdout, width=width, highlight=False).print(table)
