"""One operation for calls that are alike, where a program would be too long."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skelgen.skeleton.keep.alike_occurrences import (
    AlikeOccurrences,
    alike_occurrences,
)
from skelgen.skeleton.keep.merged_leaves import merged_leaves
from skelgen.skeleton.passes.call_quantities import CallQuantities
from skelgen.skeleton.passes.draft import Draft
from skelgen.skeleton.quantities.strings import INSERTED
from skelgen.skeleton.thresholds import (
    MOST_KINDS,
    MOST_LISTED_ITEMS,
    MOST_OPERATIONS,
    MOST_PROGRAM_ITEMS,
)


@dataclass(frozen=True, slots=True)
class AlikePlaces:
    """Let calls that are alike have the same quantities wherever they stand.

    Calls that follow no pattern stand at thousands of places, each with statistics of
    its own. Alike are the same calls after about as much computation. Their order,
    sizes and number stay; computation before them and inside is what it is at all
    these places, in the order of time.
    """

    quantities: CallQuantities

    def applies(self, draft: Draft) -> bool:
        """Say whether programs are long, and have many operations."""
        return _longest(draft) > MOST_PROGRAM_ITEMS and _many(draft) > MOST_OPERATIONS

    def rewrite(self, draft: Draft) -> Draft:
        """Return the draft with programs of fewer operations, still fewer if long."""
        alike = alike_occurrences(draft.signature, MOST_KINDS)
        found = self._rewritten(draft, alike)
        listed = sum(len(one.nest) for one in found.programs)
        # Where more kinds are left, each symbol has one: nothing more can be joined.
        if listed <= MOST_LISTED_ITEMS or alike.kinds > MOST_KINDS:
            return found
        return self._rewritten(draft, alike_occurrences(draft.signature, 0))

    def _rewritten(self, draft: Draft, alike: AlikeOccurrences) -> Draft:
        expansion, strings = draft.expansion, draft.strings
        signature, leaf = merged_leaves(draft.signature, expansion, alike)
        offset = np.repeat(expansion.offsets(draft.calls.first), np.diff(strings.first))
        called = strings.call != INSERTED
        position = np.where(called, strings.call + offset, 0)
        return self.quantities.rewrite(
            replace(
                draft,
                signature=signature,
                alike=alike,
                expansion=replace(expansion, leaf=leaf),
                strings=replace(
                    strings,
                    leaf=np.where(called, leaf[position], INSERTED).astype(np.int64),
                ),
            )
        )

    def doubts(self, draft: Draft) -> list[str]:
        """Say how much computation stands elsewhere than in the application."""
        alike = draft.alike
        if alike is None or round(alike.moved, 2) == 0:
            return []
        places = sum(len(group.count) for group in draft.leaves.groups)
        return [
            f"the calls follow no pattern: what stands at {places} places has the "
            f"computation of {alike.kinds} kinds of calls, so {alike.moved:.0%} of the "
            "computation stands before other calls than in the application"
        ]


def _many(draft: Draft) -> int:
    return sum(len(one.operations) for one in draft.programs)


def _longest(draft: Draft) -> int:
    return max((len(one.nest) for one in draft.programs), default=0)
