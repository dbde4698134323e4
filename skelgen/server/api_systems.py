"""The API of systems: the same answers as the commands print with ``--json``."""

from __future__ import annotations

from skelgen.pipeline.known_systems import known_systems
from skelgen.pipeline.system_facts import system_doubts
from skelgen.results.measured_systems import (
    SystemCompareResult,
    SystemHistoryResult,
    SystemListResult,
    SystemShowResult,
)
from skelgen.server.pages_systems import compared, measured_again, measured_system
from skelgen.server.settings import Answer, Question


def systems(question: Question) -> Answer:
    """List the hosts that were measured, as system list, or compare two of them."""
    rows = known_systems(store=question.settings.store)
    if chosen := question.several["with"]:
        return SystemCompareResult.of(chosen, compared(rows, chosen))
    return SystemListResult.of(rows)


def system(question: Question) -> Answer:
    """Show what was measured of a host or system, as system show does."""
    found = measured_system(question)
    return SystemShowResult.of(found, question.path["name"], system_doubts(found))


def history(question: Question) -> Answer:
    """Show one value of a host or system over time, as system history does."""
    return SystemHistoryResult.of(*measured_again(question))
