"""Pages that are no results: the overview, the way in, and what went wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skelgen.store.store import StoredApplication
from skelgen.web.site import (
    Block,
    ColumnHead,
    FactList,
    Form,
    FormField,
    Heading,
    Prose,
    SitePage,
    SiteTable,
    TableCell,
    address,
    date,
)
from skelgen.web.site_runs import nothing_yet

#: Applications on the overview.
_FEW = 10
#: Kinds of rows that have a page.
_KINDS = (
    ("run", "runs", "/runs"),
    ("model", "models", "/models"),
    ("prediction", "predictions", "/predictions"),
    ("fact", "measured facts of systems", "/systems"),
)


def overview_page(
    applications: Sequence[StoredApplication], counts: Mapping[str, int], jobs: int = 0
) -> SitePage:
    """Return the first page: what there is, or what to do first.

    Parameters
    ----------
    applications : sequence of StoredApplication
    counts : mapping of str to int
        Rows by the word of their kind.
    jobs : int
        That are kept.
    """
    if not any(counts.values()):
        return SitePage("Overview", nothing_yet(), "/", "This store is empty.")
    rows = tuple(
        (what, TableCell(f"{counts.get(word, 0)}", link)) for word, what, link in _KINDS
    )
    rows += (("jobs", TableCell(str(jobs), "/jobs")),) if jobs else ()
    blocks: list[Block] = [FactList((("applications", _all(applications)), *rows))]
    if applications:
        last = sorted(applications, key=_newest)[:_FEW]
        head = (
            ColumnHead("application"),
            ColumnHead("runs", True),
            ColumnHead("last started"),
        )
        those = tuple(
            (
                TableCell(one.name, address("runs", app=one.name)),
                TableCell(str(one.runs)),
                TableCell(date(one.last)),
            )
            for one in last
        )
        blocks += [Heading("Last started"), SiteTable("Applications", head, those)]
        blocks.append(_question([one.name for one in last]))
    return SitePage("Overview", tuple(blocks), "/")


def _all(applications: Sequence[StoredApplication]) -> TableCell:
    return TableCell(str(len(applications)), "/applications")


def _newest(one: StoredApplication) -> tuple[bool, float, str]:
    known = one.last == one.last
    return not known, -one.last if known else 0.0, one.name


def _question(names: Sequence[str]) -> Form:
    fields = (
        FormField("app", "How long does", names[0], "", tuple(names)),
        FormField("at", "take at", "", "n=2000,ranks=8"),
    )
    return Form("/ask", fields, "Ask")


def enter_page(said: str = "", *, form: str = "/enter") -> SitePage:
    """Return the page on which people show their token."""
    blocks: list[Block] = [Prose(said, "doubt")] if said else []
    blocks.append(
        Form(form, (FormField("token", "Token", secret=True),), "Enter", True)
    )
    return SitePage(
        "Enter",
        tuple(blocks),
        lead="Type your token, or open the address that skelgen serve printed.",
    )


def going_on_page() -> SitePage:
    """Return the page that leads from another site's link into this one."""
    return SitePage("Going on", (Prose("If nothing happens, open the overview."),),
                    goes_on="/")  # fmt: skip


def problem_page(title: str, detail: str) -> SitePage:
    """Return the page of an error: what happened, and what to do."""
    return SitePage(title, (Prose(detail, "doubt"),))
