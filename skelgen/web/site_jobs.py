"""Pages of jobs: how far they are, and what came of them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skelgen.units import format_seconds
from skelgen.web.site import (
    Block,
    ColumnHead,
    CommandLine,
    FactList,
    Form,
    Heading,
    Prose,
    SitePage,
    SiteTable,
    TableCell,
    address,
    cells,
    date,
    share,
)

#: Time between two looks of the browser at a job that is not over [s].
_AGAIN_S = 2
#: Characters of an answer that nobody has a table for.
_MOST_SHOWN = 20_000


@dataclass(frozen=True, slots=True)
class JobShown:
    """A job as pages show it.

    Attributes
    ----------
    identity, about, who, back, progress, said, state, command : str
        `command` gives the same in a terminal.
    asked, begun, ended : float
        Seconds since 1970 in UTC; nan where that has not happened [s].
    share : float
        Of the work that is done [0 to 1].
    is_over : bool
    """

    identity: str
    about: str
    who: str
    asked: float
    begun: float
    ended: float
    back: str
    progress: str
    share: float
    said: str
    state: str
    is_over: bool
    command: str

    @property
    def took(self) -> str:
        """How long it took, for people; empty where it is not known."""
        took_s = self.ended - self.begun
        return "" if math.isnan(took_s) else format_seconds(max(took_s, 0.0))

    @property
    def how_far(self) -> str:
        """How far it is, for people."""
        done = f"{self.share:.0%}" if not math.isnan(self.share) else ""
        return ", ".join(one for one in (done, self.progress) if one)


def jobs_page(found: Sequence[JobShown]) -> SitePage:
    """Return the page of all jobs, the last first."""
    if not found:
        return SitePage(
            "Jobs",
            (Prose("Comparing families, and large fits, are jobs: see Models."),),
            "/models",
            "There are no jobs.",
        )
    head = (
        *(
            ColumnHead("job"),
            ColumnHead("state"),
            ColumnHead("by"),
            ColumnHead("asked for"),
        ),
        *(ColumnHead("took", True), ColumnHead("result")),
    )
    rows = tuple(
        (
            TableCell(one.about, address("jobs", one.identity)),
            *cells(one.state, one.who, date(one.asked), one.took),
            TableCell(one.said or ("" if one.is_over else one.how_far)),
        )
        for one in found
    )
    open_ = sum(not one.is_over for one in found)
    lead = f"{open_} of {len(found)} not over." if open_ else ""
    return SitePage(
        "Jobs",
        (SiteTable("Jobs, the last first", head, rows),),
        "/models",
        lead,
        again_s=_AGAIN_S if open_ else 0,
    )


def job_page(
    one: JobShown, answer: Mapping[str, Any] | None, *, may_cancel: bool
) -> SitePage:
    """Return the page of a job: how far it is, or what came of it.

    Parameters
    ----------
    one : JobShown
    answer : mapping, optional
        What the command printed with ``--json``.
    may_cancel : bool
        Whether who looks at it may end it.
    """
    blocks: list[Block] = []
    if may_cancel:
        action = address("jobs", one.identity, "cancel")
        blocks.append(Form(action, (), "Cancel", changes=True))
    if answer is not None:
        blocks += _answer(answer)
    elif one.said:
        blocks.append(Prose(one.said, "doubt"))
    rows = (
        ("how far", TableCell("" if one.is_over else one.how_far)),
        ("by", TableCell(one.who)),
        ("asked for", TableCell(date(one.asked))),
        ("begun", TableCell(date(one.begun))),
        ("took", TableCell(one.took)),
        ("from", TableCell("the page that started it" if one.back else "", one.back)),
        ("all jobs", TableCell("jobs", "/jobs")),
    )
    blocks.append(FactList(tuple(row for row in rows if row[1].text)))
    blocks += [Heading("The same in a terminal"), CommandLine(one.command)]
    return SitePage(
        one.about,
        tuple(blocks),
        "/models",
        _lead(one),
        again_s=0 if one.is_over else _AGAIN_S,
    )


def _lead(one: JobShown) -> str:
    if one.is_over:
        return f"The job is {one.state}." if one.state != "failed" else "It failed."
    if one.state == "running":
        return f"It runs: {one.how_far}." if one.how_far else "It runs."
    if one.state == "waiting":
        return "It waits for its turn."
    return "Its server has ended; it begins again when a server of this store starts."


def _answer(answer: Mapping[str, Any]) -> list[Block]:
    """Return what a command said, as a table where there is one for it."""
    if isinstance(families := answer.get("families"), list):
        return [families_table(families)]
    if isinstance(kept := answer.get("kept"), dict):
        return _kept(answer, kept)
    if "run" in answer and isinstance(answer.get("others"), list):
        return [next_runs_table(answer)]
    text = json.dumps(answer, indent=1, ensure_ascii=True)
    return [Heading("Answer"), CommandLine(text[:_MOST_SHOWN])]


def _kept(answer: Mapping[str, Any], kept: Mapping[str, Any]) -> list[Block]:
    name, identity = str(kept.get("name", "")), str(kept.get("id", ""))
    return [
        Prose("The model is kept.", "good"),
        FactList(
            (
                ("model", TableCell(name, address("models", identity))),
                ("formula", TableCell(str(answer.get("formula", "")))),
                ("family", TableCell(str(answer.get("family", "")))),
            )
        ),
    ]


def families_table(families: Sequence[Any]) -> SiteTable:
    """Return the table of families that were compared, the best first."""
    rows = [one for one in families if isinstance(one, dict)]
    rows.sort(key=lambda one: (_number(one, "median_error"), str(one.get("family"))))
    head = (
        ColumnHead("family"),
        *(
            ColumnHead(text, True)
            for text in ("median error", "worst", "inside", "half width")
        ),
        ColumnHead("formula"),
    )
    names = ("median_error", "worst_error", "coverage", "half_width")
    return SiteTable(
        "Errors of larger runs, predicted from smaller ones",
        head,
        tuple(
            (
                TableCell(str(one.get("family", ""))),
                *cells(*(_part(one, name) for name in names)),
                TableCell(str(one.get("failed") or one.get("formula") or "")),
            )
            for one in rows
        ),
    )


def next_runs_table(answer: Mapping[str, Any]) -> SiteTable | Prose:
    """Return the table of runs that would narrow intervals most for their cost."""
    others = answer.get("others") or []
    found = [one for one in (answer, *others) if isinstance(one.get("run"), dict)]
    if not found:
        return Prose("No run that is allowed would narrow an interval.")
    head = (
        ColumnHead("run"),
        *(ColumnHead(t, True) for t in ("interval now", "then", "takes")),
        ColumnHead("because"),
    )
    rows = []
    for one in found:
        values = ", ".join(f"{k}={v:g}" for k, v in one["run"].items())
        before, gain = _number(one, "half_width"), _number(one, "gain")
        texts = (f"±{share(before)}", f"±{share(before - gain)}")
        took = format_seconds(_number(one, "time_s"))
        rows.append(cells(values, *texts, took, str(one.get("reason", ""))))
    title = "The run that narrows the interval most for its cost comes first"
    return SiteTable(title, head, tuple(rows))


def _number(one: Mapping[str, Any], name: str) -> float:
    found = one.get(name)
    return float(found) if isinstance(found, int | float) else math.inf


def _part(one: Mapping[str, Any], name: str) -> str:
    number = _number(one, name)
    return share(number) if math.isfinite(number) else ""
