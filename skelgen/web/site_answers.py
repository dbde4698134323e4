"""Pages of predictions, and of one answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.store.rows import Prediction
from skelgen.store.track_record import TrackRecord, error_of, happened
from skelgen.trust import Doubt, Interval, verdict_of
from skelgen.units import format_seconds
from skelgen.web.site import (
    Block,
    Cell,
    Column,
    CommandLine,
    FactList,
    Form,
    FormField,
    Heading,
    Paging,
    Prose,
    SitePage,
    SiteTable,
    address,
    cells,
    date,
    inputs_text,
    names_text,
    share,
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


def predictions_page(
    found: Sequence[Prediction],
    records: Sequence[TrackRecord],
    application: str,
    *,
    text: str,
    before: str,
    after: str,
) -> SitePage:
    """Return the page of past predictions, with what happened."""
    chosen = FormField("app", "Application", application)
    blocks: list[Block] = [Form("/predictions", (chosen,), "Show")]
    if not found:
        blocks.append(
            Prose(
                "No predictions. With a store set, predict, select, measure, workload "
                "predict and model predict keep theirs:"
            )
        )
        blocks.append(CommandLine("skelgen model predict --model heat --at n=8000"))
        return SitePage("Predictions", tuple(blocks), "/predictions")
    blocks += [Heading("How good they were"), _records(records)]
    blocks += [Heading("Each of them"), _predictions(found)]
    links = (
        address("predictions", app=application, part=part) if part else ""
        for part in (before, after)
    )
    blocks.append(Paging(text, *links))
    lines = address("predictions.jsonl", app=application)
    blocks.append(FactList((("all of these as lines", Cell("jsonl", lines)),)))
    return SitePage("Predictions", tuple(blocks), "/predictions")


def _records(records: Sequence[TrackRecord]) -> SiteTable:
    head = (
        Column("method"),
        *(
            Column(text, number=True)
            for text in (
                *("predictions", "doubted", "happened", "median error"),
                *("90 % are within", "inside the interval"),
            )
        ),
    )
    rows = tuple(
        cells(
            *(one.method, str(one.predictions), str(one.doubted), str(one.happened)),
            *map(share, (one.median_error, one.p90_error, one.inside)),
        )
        for one in records
    )
    return SiteTable("Errors are of the predictions whose run happened", head, rows)


def _predictions(found: Sequence[Prediction]) -> SiteTable:
    head = (
        *map(Column, ("made", "method", "application", "inputs")),
        Column("ranks", True),
        Column("hosts"),
        Column("predicted", True),
        Column("90 % interval", True),
        Column("happened", True),
        Column("error", True),
        Column("verdict"),
    )
    return SiteTable("The last ones first", head, tuple(map(_prediction, found)))


def _prediction(one: Prediction) -> tuple[Cell, ...]:
    known = happened(one)
    low, middle, high = map(
        format_seconds, (one.interval.p5, one.interval.p50, one.interval.p95)
    )
    truth = format_seconds(one.truth_s) if known else "not yet"
    link = address("runs", one.truth) if one.truth else ""
    doubts = f" ({', '.join(one.doubts)})" if one.doubts else ""
    return (
        *cells(date(one.made), one.method, one.application, inputs_text(one.inputs)),
        *cells(str(one.ranks or ""), names_text(one.hosts), middle, f"{low} to {high}"),
        Cell(truth, link),
        Cell(f"{error_of(one):+.1%}" if known else ""),
        Cell(f"{one.verdict}{doubts}"),
    )


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
        What was typed: ``app``, ``model``, ``at``, ``hosts``, ``load``.
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
    blocks.append(FactList((("how it was found", Cell(answer.found_by)),)))
    if answer.nearest:
        head = (Column("inputs"), *(Column(t, True) for t in ("ranks", "runs", "time")))
        rows = tuple(cells(*one) for one in answer.nearest)
        blocks.append(SiteTable("The nearest configurations that ran", head, rows))
    blocks += [Heading("The same in a terminal"), CommandLine(answer.command)]
    return blocks
