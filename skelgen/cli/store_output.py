"""What people and machines are told of the rows of a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skelgen.cli.output import print_table
from skelgen.documents.json_answers import plain
from skelgen.units import format_seconds

if TYPE_CHECKING:
    from skelgen.results import Result
    from skelgen.store import Run

#: Characters of an identity that people are shown.
_SHORT = 8


def row_lines(found: Result) -> list[tuple[str, str]]:
    """Return all that is known of a row, for people."""
    from skelgen.results.base import plain_fields

    facts = plain_fields(found)
    lines = []
    for name, value in {"row": facts["row"], **facts}.items():
        if plain(value) in (None, "", 0, [], {}):
            continue
        if name == "parts":
            lines += [(f"{one['kind']} {one['name']}", _part(one)) for one in value]
        elif isinstance(value, dict):
            lines += [(f"{name} {key}", str(inner)) for key, inner in value.items()]
        elif name == "time_s" and isinstance(value, float):
            lines.append(("time", format_seconds(value)))
        else:
            listed = isinstance(value, list | tuple)
            lines.append((name, " ".join(map(str, value)) if listed else str(value)))
    return lines


def _part(part: dict[str, Any]) -> str:
    return (
        f"{format_seconds(part['time_s'])} x {part['weight']:g} = {part['share']:.1%}"
    )


def print_runs(runs: Sequence[Run]) -> None:
    """Print a table of runs; columns that say nothing are left out."""
    from skelgen.pipeline.store_facts import date_text

    inputs = list(dict.fromkeys(name for run in runs for name, _ in run.inputs))
    columns: dict[str, list[str]] = {
        "id": [short_identity(run.identity, runs) for run in runs],
        "application": [run.application for run in runs],
        **{
            name: [_value(dict(run.inputs).get(name)) for run in runs]
            for name in inputs
        },
        "ranks": [str(run.ranks or "") for run in runs],
        "hosts": [_hosts(run) for run in runs],
        "system": [run.system for run in runs],
        "started": [date_text(run.started) for run in runs],
        "time": [format_seconds(run.time_s) for run in runs],
        "status": [run.status if run.status != "ok" else "" for run in runs],
    }
    used = {name: cells for name, cells in columns.items() if any(cells)}
    print_table(list(used), list(zip(*used.values(), strict=True)))


def short_identity(identity: str, runs: Sequence[Run]) -> str:
    """Return the beginning of an identity, as much as tells it from the others."""
    begins = sum(run.identity.startswith(identity[:_SHORT]) for run in runs)
    return identity[:_SHORT] if begins == 1 else identity


def _hosts(run: Run) -> str:
    if len(run.hosts) > 3:
        return f"{run.hosts[0]},...({len(run.hosts)})"
    return ",".join(run.hosts) or (f"({run.nodes})" if run.nodes else "")


def _value(value: float | str | None) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value or "")
