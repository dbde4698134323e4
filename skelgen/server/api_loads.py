"""The API of loads: as store loads prints them."""

from __future__ import annotations

from skelgen.pipeline.stored_loads import loads_facts
from skelgen.server.pages_loads import found_loads
from skelgen.server.settings import Answer, Question


def loads(question: Question) -> Answer:
    """Show loads over time in short, as store loads does."""
    return loads_facts(found_loads(question))
