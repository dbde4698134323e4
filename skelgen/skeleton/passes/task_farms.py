"""Ranks that deal out work: whom they serve next is decided while they run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from skelgen.events.dealers import asks_anybody, dealers_of
from skelgen.skeleton.passes.draft import Draft
from skelgen.skeleton.task_farm.dealers import not_shared, warnings_of
from skelgen.skeleton.task_farm.first_come import served


@dataclass(frozen=True, slots=True)
class TaskFarms:
    """Let masters serve whoever comes first.

    Attributes
    ----------
    in_recorded_order : bool
        Whether they serve in the order of the recording all the same.
    """

    in_recorded_order: bool = False

    def applies(self, draft: Draft) -> bool:
        """Say whether calls of the application receive from any source."""
        return asks_anybody(draft.calls)

    def rewrite(self, draft: Draft) -> Draft:
        """Return the draft with programs in which masters take who comes."""
        dealers = dealers_of(draft.calls)
        ranks = [] if self.in_recorded_order else [one.rank for one in dealers]
        found = served(draft.programs, draft.symbols, draft.signature.families, ranks)
        return replace(
            draft,
            served=found.programs,
            symbols=found.symbols,
            dealers=not_shared(dealers, found.programs),
        )

    def doubts(self, draft: Draft) -> list[str]:
        """Name masters that serve in the order of the recording."""
        return list(warnings_of(draft.dealers))
