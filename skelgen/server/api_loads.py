"""The API of loads: as store loads prints them."""

from __future__ import annotations

from skelgen.results.load_forecasts import StoreLoadsResult
from skelgen.server.pages_loads import found_loads
from skelgen.server.settings import Answer, Question


def loads(question: Question) -> Answer:
    """Show loads over time in short, as store loads does."""
    return StoreLoadsResult.of(found_loads(question))
