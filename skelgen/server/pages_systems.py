"""Pages of systems: what was measured, again and again, and two of them compared."""

from __future__ import annotations

from dataclasses import asdict

from skelgen.errors import UsageError
from skelgen.pipeline import browsing
from skelgen.pipeline.known_systems import (
    ComparedValue,
    SystemRows,
    compare_systems,
    known_systems,
)
from skelgen.pipeline.known_systems import chosen as chosen_system
from skelgen.pipeline.system_history import fact_history
from skelgen.server.settings import Answer, Question, RefusedError, Sent
from skelgen.store import Fact
from skelgen.web import site_system_details, site_systems
from skelgen.web.chart_render import render_chart
from skelgen.web.site_system_details import SystemDifference, messages_picture
from skelgen.web.system_charts import history_chart, messages_chart


def systems(question: Question) -> Answer:
    """Show all hosts that were measured, or two of them side by side."""
    rows = known_systems(store=question.settings.store)
    names = sorted({*rows.hosts, *(one.system for one in rows.facts if one.system)})
    chosen = question.several["with"]
    if chosen:
        found = [_difference(one) for one in compared(rows, chosen)]
        return site_system_details.compared_page(chosen, names, found)
    form = [site_system_details.compare_form(names)] if len(names) > 1 else []
    return site_systems.systems_page(browsing.measured_hosts(rows), form)


def compared(rows: SystemRows, chosen: tuple[str, ...]) -> list[ComparedValue]:
    """Return the values of two systems.

    Raises
    ------
    UsageError
        When these are not two, or nothing was measured of one.
    """
    if len(chosen) != 2:
        raise UsageError(
            f"read {len(chosen)} systems to compare, expected two different ones"
        )
    first, second = (chosen_system(rows, name) for name in chosen)
    return compare_systems(first, second)


def _difference(one: ComparedValue) -> SystemDifference:
    return SystemDifference(**asdict(one), ratio=one.ratio)


def measured_system(question: Question) -> SystemRows:
    """Return what was measured of the host or system that an address names.

    Raises
    ------
    RefusedError
        When nothing was.
    """
    rows = known_systems(store=question.settings.store)
    try:
        return chosen_system(rows, question.path["name"])
    except UsageError as error:
        raise RefusedError(404, str(error)) from error


def system(question: Question) -> Answer:
    """Show what was measured of a host or system."""
    found, name = measured_system(question), question.path["name"]
    picture = messages_picture(name, found.messages)
    return site_systems.system_page(name, found.facts, found.messages, picture)


def messages(question: Question) -> Answer:
    """Draw times of messages over sizes."""
    found = messages_chart(measured_system(question).messages)
    return Sent(render_chart(found), "image/svg+xml")


def measured_again(question: Question) -> tuple[str, str, tuple[Fact, ...]]:
    """Return a host or system, a value, and its measurements.

    Raises
    ------
    RefusedError
        When there are none.
    """
    name, fact = question.path["name"], question.query.get("fact", "")
    try:
        return name, fact, fact_history(question.settings.store, name, fact)
    except UsageError as error:
        raise RefusedError(404, str(error)) from error


def history(question: Question) -> Answer:
    """Show one value of a host or system over time."""
    return site_system_details.history_page(*measured_again(question))


def history_picture(question: Question) -> Answer:
    """Draw one value of a host or system over time."""
    _, fact, found = measured_again(question)
    return Sent(render_chart(history_chart(fact, found)), "image/svg+xml")
