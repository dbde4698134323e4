"""Pages for files that people send, and of what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skelgen.units import format_bytes
from skelgen.web.site import (
    Block,
    ColumnHead,
    CommandLine,
    FactList,
    Form,
    FormField,
    Heading,
    Prose,
    SitePage,
    SiteTable,
    TableCell,
    address,
    cells,
)

if TYPE_CHECKING:
    from skelgen.store.store import AddedRow
    from skelgen.web.upload_outcome import Uploaded

#: Rows of each table.
_SHOWN = 200
_MIB = 1 << 20


def upload_page(*, may_add: bool, most_bytes: int, left_bytes: int) -> SitePage:
    """Return the page with the form for files.

    Parameters
    ----------
    may_add : bool
        Whether who looks at it may add runs.
    most_bytes : int
        Of all files together [bytes].
    left_bytes : int
        That may still be sent today [bytes].
    """
    if not may_add:
        text = (
            "Your token allows to read; ask who runs the server for one that may add."
        )
        return SitePage("Add runs", (Prose(text, "doubt"),), "/runs")
    kinds = (
        "Choose files, or drop them anywhere on this page: CSV, lines of skelgen store "
        "export, Extra-P, answers of skelgen with --json, or the folder of a recorded "
        "run packed as tar.gz or zip. What is there already is not added twice."
    )
    if left_bytes > _MIB:  # whole ones, so that no digit is left out
        left_bytes -= left_bytes % _MIB
    bounds = (
        f"At most {format_bytes(most_bytes)} at once; you may send "
        f"{format_bytes(left_bytes)} more today."
    )
    blocks = (Prose(kinds), Prose(bounds), upload_form(), *_terminal())
    return SitePage("Add runs", blocks, "/runs", script=True)


def upload_form() -> Form:
    """Return the form for files."""
    fields = (
        FormField("file", "Files", files=True),
        FormField("app", "Application", "", "where the files do not name it"),
        FormField("inputs", "Inputs of all runs", "", "n=2000,steps=100"),
        FormField("system", "System"),
        FormField("columns", "Columns of a table", "", "time=t_sec,ranks=np"),
    )
    return Form("/upload", fields, "Send", changes=True)


def _terminal() -> tuple[Block, ...]:
    return (
        Heading("From a terminal"),
        Prose("It reads the run where it is, and goes on when it was cut off:"),
        CommandLine("skelgen push ADDRESS run/ --input n=2000"),
    )


def uploaded_page(done: Sequence[Uploaded]) -> SitePage:
    """Return the page of what became of files."""
    added = [entry for one in done for entry in one.added.added]
    already = [entry for one in done for entry in one.added.already]
    refused = [entry for one in done for entry in one.added.refused]
    runs = frozenset().union(*(one.runs for one in done))
    lead = f"{len(added)} added, {len(already)} known already, {len(refused)} refused."
    blocks: list[Block] = [
        FactList(
            (
                ("files", TableCell(", ".join(one.name for one in done)[:1000])),
                ("all runs", TableCell("show", address("runs"))),
                ("more files", TableCell("send", address("upload"))),
            )
        )
    ]
    blocks += [Prose(note, "doubt") for one in done for note in one.notes]
    if refused:
        blocks.append(_refused(refused))
    for caption, entries in (("Added", added), ("Known already", already)):
        if entries:
            blocks.append(_rows(caption, entries, runs))
    return SitePage("Files that were sent", tuple(blocks), "/runs", lead)


def _refused(entries: Sequence[AddedRow]) -> SiteTable:
    head = (ColumnHead("where"), ColumnHead("why"))
    rows = tuple(cells(one.source, one.reason) for one in entries[:_SHOWN])
    return SiteTable(_caption("Refused", entries), head, rows)


def _rows(caption: str, entries: Sequence[AddedRow], runs: frozenset[str]) -> SiteTable:
    head = (ColumnHead("row"), ColumnHead("where"))
    rows = tuple(
        (
            TableCell(one.run, address("runs", one.run) if one.run in runs else ""),
            TableCell(one.source),
        )
        for one in entries[:_SHOWN]
    )
    return SiteTable(_caption(caption, entries), head, rows)


def _caption(word: str, entries: Sequence[AddedRow]) -> str:
    more = f", the first {_SHOWN} of them here" if len(entries) > _SHOWN else ""
    return f"{word}: {len(entries)}{more}"
