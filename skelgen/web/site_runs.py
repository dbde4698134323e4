"""Pages of applications and runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skelgen.store.rows import Run, RunPart
from skelgen.store.store import StoredApplication
from skelgen.units import format_bytes, format_seconds
from skelgen.web.run_columns import column_checks, identity_cell, run_columns
from skelgen.web.site import (
    Block,
    ChoiceTable,
    ColumnHead,
    CommandLine,
    FactList,
    Form,
    FormField,
    Heading,
    Paging,
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
from skelgen.web.site_steps import LinkLine

#: Parts of runs by their kind.
PARTS = {"phase": "Phases", "function": "Functions", "kernel": "Kernels"}
#: Fields of the filter: name, label, hint.
_FILTER = (
    ("app", "Application", ""),
    ("where", "Conditions", "n=1000:2000, ranks>=8, solver=cg, status!=ok"),
    ("system", "System", ""),
    ("host", "Host", ""),
    ("since", "Started from", "2026-01-31"),
    ("until", "Started up to", "2026-02-28"),
)


def applications_page(found: Sequence[StoredApplication]) -> SitePage:
    """Return the page of all applications."""
    if not found:
        return SitePage(
            "Applications", nothing_yet(), "/applications", "There are no runs yet."
        )
    head = (
        ColumnHead("application"),
        ColumnHead("runs", number=True),
        ColumnHead("last started"),
    )
    rows = tuple(
        (
            TableCell(one.name, address("runs", app=one.name)),
            TableCell(str(one.runs)),
            TableCell(date(one.last)),
        )
        for one in found
    )
    table = SiteTable(f"{len(found)} applications", head, rows)
    return SitePage("Applications", (table,), "/applications")


def nothing_yet() -> tuple[Block, ...]:
    """Return what to do first."""
    return (
        Prose("Time a program and keep what it took:"),
        CommandLine("skelgen time --input n=1024 -- mpirun -n 2 ./app 1024"),
        Prose("Or add runs that are in a table:"),
        CommandLine("skelgen store add runs.csv --app heat --columns time=t_sec"),
    )


def runs_page(
    runs: Sequence[Run],
    total: int,
    query: Mapping[str, str],
    columns: Sequence[str] = (),
    *,
    begin: int,
    before: str,
    after: str,
    damaged: int = 0,
    may_add: bool = False,
) -> SitePage:
    """Return the page of runs that were asked for.

    Parameters
    ----------
    runs : sequence of Run
        Of this part.
    total, begin : int
        All runs, and those before this part.
    query : mapping of str to str
        What was asked for, as people typed it.
    columns : sequence of str
        Names of columns that were chosen.
    before, after : str
        Numbers of the parts before and after it; empty where there is none.
    damaged : int
        Rows that are left out.
    may_add : bool
        Whether who looks at it may type a run.
    """
    asked = {name: query.get(name, "") for name, _, _ in _FILTER}
    kept: dict[str, str | Sequence[str]] = {**asked, "column": columns}
    order = query.get("order", "") or "-started"
    fields = [
        FormField(name, label, asked[name], hint) for name, label, hint in _FILTER
    ]
    boxes = column_checks(columns, runs)
    blocks: list[Block] = [Form("/runs", (*fields, boxes), "Show")]
    if damaged:
        blocks.append(
            Prose(
                f"{damaged} damaged rows of this part are left out; skelgen store "
                "check names them.",
                "doubt",
            )
        )
    if runs:
        blocks.append(_chosen(_table(runs, kept, order), runs))
        kept["order"] = order
        blocks.append(
            Paging(
                f"{begin + 1} to {begin + len(runs)} of {total}",
                address("runs", **kept, part=before) if before else "",
                address("runs", **kept, part=after) if after else "",
            )
        )
        blocks.append(_files(kept))
    elif any(asked.values()):
        blocks.append(Prose("No run is like this; ask for less."))
    else:
        blocks += nothing_yet()
    if may_add:
        sending = FactList((("files with runs", TableCell("send", address("upload"))),))
        blocks += [Heading("Add runs"), sending]
        blocks += [Heading("Type a run"), _typed(asked["app"])]
    return SitePage("Runs", tuple(blocks), "/runs")


def _files(asked: Mapping[str, str | Sequence[str]]) -> FactList:
    """Return links to all runs that are asked for, as files of all their fields."""
    which = {name: one for name, one in asked.items() if name != "column"}
    return FactList(
        tuple(
            (f"all of these as {what}", TableCell(name, address(name, **which)))
            for what, name in (("lines", "runs.jsonl"), ("a table", "runs.csv"))
        )
    )


def _chosen(table: SiteTable, runs: Sequence[Run]) -> Block:
    """Return a list of runs with boxes, where there are several to compare."""
    if len(runs) < 2:
        return table
    values = tuple(one.identity for one in runs)
    return ChoiceTable("/compare", "run", "Compare those chosen", values, table)


def _table(
    runs: Sequence[Run], kept: Mapping[str, str | Sequence[str]], order: str
) -> SiteTable:
    columns = run_columns(kept["column"])
    head = [ColumnHead("run")]
    for one in columns:
        name = one.order
        turned = f"-{name}" if order == name else name
        link = address("runs", **kept, order=turned) if name else ""
        way = {name: "ascending", f"-{name}": "descending"}.get(order, "")
        head.append(ColumnHead(one.text, one.number, link, way if name else ""))
    rows = tuple(
        (identity_cell(run), *(one.write(run) for one in columns)) for run in runs
    )
    return SiteTable("Runs", tuple(head), rows)


def _typed(application: str) -> Form:
    fields = (
        FormField("app", "Application", application),
        FormField("time", "Wall time", "", "12.3 (seconds) or 2min"),
        FormField("inputs", "Inputs", "", "n=2000,steps=100"),
        FormField("ranks", "Ranks"),
        FormField("hosts", "Hosts", "", "n1,n2"),
        FormField("system", "System"),
        FormField("started", "Started", "", "2026-01-31T12:00:00Z"),
        FormField("status", "Ended", "ok", "ok, exit 3, signal 9"),
    )
    return Form("/runs", fields, "Add", changes=True)


def run_page(
    run: Run, loads: Sequence[Block] = (), *, may_remove: bool = False
) -> SitePage:
    """Return the page of a run.

    Parameters
    ----------
    run : Run
    loads : sequence of Block
        What is known of its nodes while it ran.
    may_remove : bool
        Whether who looks at it may remove it.
    """
    blocks: list[Block] = [FactList(_facts(run))]
    numbers = (
        ("Load that others left, 1 is all", run.loads, value),
        ("What it used", run.costs, None),
    )
    for title, pairs, write in numbers:
        if pairs:
            rows = tuple(
                (name, TableCell(write(one) if write else _cost(name, one)))
                for name, one in pairs
            )
            blocks += [Heading(title), FactList(rows)]
    blocks += loads
    for kind in dict.fromkeys(part.kind for part in run.parts):
        those = [part for part in run.parts if part.kind == kind]
        title = PARTS.get(kind, f"Parts: {kind}")
        blocks += [Heading(title), _parts(title, those)]
    blocks += [
        Heading("In a terminal"),
        CommandLine(f"skelgen store show {run.identity}"),
        Heading("Files"),
        FactList(
            tuple(
                (f"as {what}", TableCell(name, address("runs", run.identity, name)))
                for what, name in (("a line", "run.jsonl"), ("a table", "run.csv"))
            )
        ),
    ]
    if may_remove:
        asks = (address("runs", run.identity, "remove"), "Remove this run")
        blocks.append(LinkLine("What can be done with it", (asks,)))
    lead = f"{run.application} took {format_seconds(run.time_s)}."
    return SitePage(f"Run {run.identity[:8]}", tuple(blocks), "/runs", lead)


def removal_page(run: Run, *, may_remove: bool) -> SitePage:
    """Return the page that asks whether a run is to be removed."""
    here = address("runs", run.identity)
    removal: Block = Prose("Your token may not remove runs; ask who administers this.")
    if may_remove:
        removal = Form(f"{here}/remove", (), "Remove", changes=True, tone="danger")
    kept = LinkLine("Else", ((here, "Keep it"),))
    blocks = (FactList(_facts(run)), removal, kept)
    lead = f"{run.application} took {format_seconds(run.time_s)}. What is removed is "
    lead += "gone: download it before, if you may want it again."
    return SitePage(f"Remove run {run.identity[:8]}?", blocks, "/runs", lead)


def _facts(run: Run) -> tuple[tuple[str, TableCell], ...]:
    rows = (
        ("application", run.application, address("runs", app=run.application)),
        *((name, value(one), "") for name, one in run.inputs),
        ("time", format_seconds(run.time_s), ""),
        ("ended", run.status, ""),
        ("started", date(run.started), ""),
        ("ranks", str(run.ranks or ""), ""),
        ("nodes", str(run.nodes or ""), ""),
        ("hosts", ", ".join(run.hosts), ""),
        ("system", run.system, ""),
        ("job", run.allocation, ""),
        ("MPI", run.mpi, ""),
        ("executable", run.executable, ""),
        ("source", run.source, ""),
        ("added by", run.author, ""),
        ("id", run.identity, ""),
    )
    return tuple((name, TableCell(text, link)) for name, text, link in rows if text)


def _cost(name: str, number: float) -> str:
    if name.endswith("_bytes"):
        return format_bytes(number)
    return format_seconds(number) if name.endswith("_s") else value(number)


def _parts(title: str, parts: Sequence[RunPart]) -> SiteTable:
    head = (
        ColumnHead("part"),
        ColumnHead("mean time", number=True),
        ColumnHead("occurrences", number=True),
        ColumnHead("all of them", number=True),
        ColumnHead("of the run", number=True),
    )
    rows = tuple(
        cells(
            one.name,
            format_seconds(one.time_s),
            value(one.weight),
            format_seconds(one.time_s * one.weight),
            share(one.share),
        )
        for one in parts
    )
    return SiteTable(f"{title} of the run", head, rows)
