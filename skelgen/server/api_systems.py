"""The API of systems: the same answers as the commands print with ``--json``."""

from __future__ import annotations

from skelgen.pipeline.known_systems import known_systems
from skelgen.pipeline.system_facts import (
    compared_facts,
    history_facts,
    known_of,
    summary_of,
    system_doubts,
)
from skelgen.server.pages_systems import compared, measured_again, measured_system
from skelgen.server.settings import Answer, Question
from skelgen.trust.facts import trust_facts


def systems(question: Question) -> Answer:
    """List the hosts that were measured, as system list, or compare two of them."""
    rows = known_systems(store=question.settings.store)
    if chosen := question.several["with"]:
        return compared_facts(chosen, compared(rows, chosen))
    return {"hosts": [summary_of(rows.of(host), host) for host in rows.hosts]}


def system(question: Question) -> Answer:
    """Show what was measured of a host or system, as system show does."""
    found = measured_system(question)
    told = known_of(found, question.path["name"])
    return {**told, **trust_facts(system_doubts(found))}


def history(question: Question) -> Answer:
    """Show one value of a host or system over time, as system history does."""
    return history_facts(*measured_again(question))
