"""The API of runs side by side: as store compare prints it."""

from __future__ import annotations

from skelgen.pipeline.run_compare import comparison_facts
from skelgen.server.pages_compare import compared
from skelgen.server.settings import Answer, Question


def compare(question: Question) -> Answer:
    """Put runs side by side, as store compare does."""
    return comparison_facts(compared(question))
