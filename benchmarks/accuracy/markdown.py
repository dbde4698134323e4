"""Tables of a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; empty without rows."""
    lines = [head, ["---"] * len(head), *rows]
    if len(lines) == 2:
        return "None.\n"
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"
