"""The page of runs side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from skelgen.store.comparing import ComparedQuantity, RunComparison
from skelgen.store.rows import Run
from skelgen.units import format_bytes, format_seconds
from skelgen.web.site import (
    Block,
    ColumnHead,
    CommandLine,
    Heading,
    Prose,
    SitePage,
    SiteTable,
    TableCell,
    address,
    cells,
    date,
    share,
    value,
)
from skelgen.web.site_runs import PARTS

#: Kinds of quantities that have a table of their own, and its title; else they are
#: parts of the run.
_TITLES = {
    "time": "Times",
    "load": "Load that others left, 1 is all",
    "cost": "What they used",
}
#: Characters of an identity above a column.
_SHORT = 8


def compare_page(found: RunComparison, said: str, command: str) -> SitePage:
    """Return the page of runs side by side.

    Parameters
    ----------
    found : RunComparison
    said : str
        How much the times differ, and whether that means much.
    command : str
        Gives the same in a terminal.
    """
    blocks: list[Block] = [_configurations(found.runs)]
    kinds = dict.fromkeys(one.kind for one in found.quantities)
    for kind in kinds:
        title = _TITLES.get(kind) or PARTS.get(kind, f"Parts: {kind}")
        those = [one for one in found.quantities if one.kind == kind]
        blocks += [Heading(title), _table(title, those, found.runs)]
    if not any(one.kind not in _TITLES for one in found.quantities):
        blocks.append(Prose("The store has no phases or functions of these runs."))
    blocks += [Prose(_spread_text(found)), Heading("In a terminal")]
    blocks.append(CommandLine(command))
    return SitePage("Runs side by side", tuple(blocks), "/runs", said)


def chosen_page(problem: str) -> SitePage:
    """Return the page that says how to choose runs."""
    blocks = (
        Prose(problem, "doubt"),
        Prose("Choose two to eight runs in the list of runs, and press Compare."),
        CommandLine("skelgen store compare RUN RUN"),
    )
    return SitePage("Runs side by side", blocks, "/runs")


def _head(runs: Sequence[Run], *, number: bool = False) -> tuple[ColumnHead, ...]:
    return tuple(
        ColumnHead(one.identity[:_SHORT], number, address("runs", one.identity))
        for one in runs
    )


def _configurations(runs: Sequence[Run]) -> SiteTable:
    """Return what each run was, a row for each fact, and which rows differ."""
    rows = tuple(
        (*cells(name, *texts), TableCell("" if len(set(texts)) == 1 else "differs"))
        for name, texts in _facts(runs).items()
        if any(texts)
    )
    head = (ColumnHead("what ran"), *_head(runs), ColumnHead(""))
    return SiteTable("What ran, and where", head, rows)


def _facts(runs: Sequence[Run]) -> Mapping[str, list[str]]:
    names = dict.fromkeys(name for run in runs for name, _ in run.inputs)
    return {
        "application": [one.application for one in runs],
        "executable": [one.executable[:12] for one in runs],
        **{name: [value(dict(one.inputs).get(name)) for one in runs] for name in names},
        "ranks": [str(one.ranks or "") for one in runs],
        "nodes": [str(one.nodes or "") for one in runs],
        "hosts": [", ".join(one.hosts) for one in runs],
        "system": [one.system for one in runs],
        "MPI": [one.mpi for one in runs],
        "job": [one.allocation for one in runs],
        "started": [date(one.started) for one in runs],
        "ended": [one.status for one in runs],
    }


def _table(
    caption: str, found: Sequence[ComparedQuantity], runs: Sequence[Run]
) -> SiteTable:
    head = (
        ColumnHead("what"),
        *_head(runs, number=True),
        ColumnHead("difference", True),
        ColumnHead("spread", True),
        ColumnHead(""),
    )
    rows = tuple(
        cells(
            one.name,
            *map(_value, one.values, one.shares, [one.unit] * len(runs)),
            share(one.difference),
            share(one.spread),
            _said(one),
        )
        for one in found
    )
    return SiteTable(caption, head, rows)


def _value(number: float, part: float, unit: str) -> str:
    if math.isnan(number):
        return ""
    write = {"s": format_seconds, "bytes": format_bytes}.get(unit, value)
    return write(number) if math.isnan(part) else f"{write(number)} ({share(part)})"


def _said(one: ComparedQuantity) -> str:
    if one.differs is not None:
        return "differs" if one.differs else "within the spread"
    if math.isnan(one.difference):
        return ""
    return "spread not known" if one.difference else "the same"


def _spread_text(found: RunComparison) -> str:
    """Say where the spread is from."""
    if not found.knows_spread:
        return (
            "The difference is largest / smallest - 1. No configuration of these has "
            "two runs that would tell how much is usual."
        )
    counts = [len(one.runs) if one.known else 0 for one in found.repeated]
    many = ", ".join(map(str, counts))
    return (
        "The difference is largest / smallest - 1. The spread is the same between "
        f"runs of one configuration in the store, the largest of these: {many} runs "
        "of the configuration of each column."
    )
