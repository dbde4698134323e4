"""Pages of predictions, and of one answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.trust import Doubt, Interval, verdict_of
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
    cells,
)
from skelgen.web.site_models import quantity_text


@dataclass(frozen=True, slots=True)
class AnswerShown:
    """An answer to "how long?".

    Attributes
    ----------
    interval : Interval or None
        None where nothing is known.
    unit, found_by, command : str
    doubts : tuple of Doubt
    nearest : tuple of (str, str, str, str)
        Where nothing is known: inputs, ranks, runs and time of what ran.
    """

    interval: Interval | None
    unit: str
    found_by: str
    command: str
    doubts: tuple[Doubt, ...] = ()
    nearest: tuple[tuple[str, str, str, str], ...] = ()


def ask_page(
    asked: dict[str, str],
    applications: Sequence[str],
    models: Sequence[str],
    answer: AnswerShown | None = None,
    problem: str = "",
) -> SitePage:
    """Return the page that answers "how long on that machine?".

    Parameters
    ----------
    asked : dict of str to str
        What was typed: ``app``, ``model``, ``at``, ``hosts``, ``system``, ``load``.
    applications, models : sequence of str
        Names to choose from.
    answer : AnswerShown, optional
    problem : str
        Why there is none.
    """
    fields = (
        FormField("app", "Application", asked["app"], "", ("", *applications)),
        FormField("model", "Model", asked["model"], "", ("", *models)),
        FormField("at", "At", asked["at"], "n=2000,ranks=8"),
        FormField("hosts", "Hosts", asked["hosts"], "n1,n2"),
        FormField("system", "System", asked["system"],
                  "cluster-a: only runs and models of it count"),
        FormField("load", "Load that others leave", asked["load"],
                  "cpu=0.5,bandwidth=0.8 or forecast; needs a model"),
    )  # fmt: skip
    blocks: list[Block] = [Form("/ask", fields, "Ask")]
    lead = "Runs of that configuration answer; else a model of the application does."
    if problem:
        blocks.append(Prose(problem, "doubt"))
    if answer is not None:
        lead = _lead(answer)
        blocks += _answer(answer)
    return SitePage("How long on that machine?", tuple(blocks), "/ask", lead)


def _lead(answer: AnswerShown) -> str:
    if (said := answer.interval) is None:
        return "Nobody knows yet."
    middle, low, high = (
        quantity_text(one, answer.unit) for one in (said.p50, said.p5, said.p95)
    )
    return f"{middle} (90 %: {low} to {high}); {verdict_of(answer.doubts)}."


def _answer(answer: AnswerShown) -> list[Block]:
    blocks: list[Block] = []
    if answer.interval is not None and not answer.doubts:
        blocks.append(Prose("There is no reason for doubt.", "good"))
    blocks += [Prose(f"Do not trust: {one}", "doubt") for one in answer.doubts]
    blocks.append(FactList((("how it was found", TableCell(answer.found_by)),)))
    if answer.nearest:
        head = (
            ColumnHead("inputs"),
            *(ColumnHead(t, True) for t in ("ranks", "runs", "time")),
        )
        rows = tuple(cells(*one) for one in answer.nearest)
        blocks.append(SiteTable("The nearest configurations that ran", head, rows))
    blocks += [Heading("The same in a terminal"), CommandLine(answer.command)]
    return blocks
