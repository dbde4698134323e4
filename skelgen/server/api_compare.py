"""The API of runs side by side: as store compare prints it."""

from __future__ import annotations

from skelgen.results.stored_runs import StoreCompareResult
from skelgen.server.pages_compare import compared
from skelgen.server.settings import Answer, Question


def compare(question: Question) -> Answer:
    """Put runs side by side, as store compare does."""
    return StoreCompareResult.of(compared(question))
