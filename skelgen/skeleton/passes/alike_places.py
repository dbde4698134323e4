"""One operation for calls that are alike, where a program would be too long."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skelgen.signature.leaves import leaf_symbols
from skelgen.skeleton.keep.merged_leaves import merged_leaves
from skelgen.skeleton.passes.call_quantities import CallQuantities
from skelgen.skeleton.passes.draft import Draft
from skelgen.skeleton.quantities.strings import INSERTED
from skelgen.skeleton.thresholds import (
    MOST_OPERATIONS,
    MOST_PROGRAM_ITEMS,
)


@dataclass(frozen=True, slots=True)
class AlikePlaces:
    """Let calls with the same symbol have the same quantities wherever they stand.

    Calls that follow no pattern stand at thousands of places, each with statistics of
    its own. Their order, sizes and number stay; computation before them and inside is
    what it is at all these places, in the order of time.
    """

    quantities: CallQuantities

    def applies(self, draft: Draft) -> bool:
        """Say whether programs are long, and have many operations."""
        return _longest(draft) > MOST_PROGRAM_ITEMS and _many(draft) > MOST_OPERATIONS

    def rewrite(self, draft: Draft) -> Draft:
        """Return the draft with programs of fewer operations."""
        signature, place = merged_leaves(draft.signature, draft.expansion)
        first = np.cumsum([0, *(len(group.count) for group in signature.groups)])
        expansion, strings = draft.expansion, draft.strings
        positions = np.repeat(first[:-1], np.diff(expansion.first))
        ranks = np.repeat(expansion.group, np.diff(strings.first))
        own = strings.leaf != INSERTED
        leaf = np.where(
            own, place[first[ranks] + np.maximum(strings.leaf, 0)], INSERTED
        )
        return self.quantities.rewrite(
            replace(
                draft,
                signature=signature,
                expansion=replace(expansion, leaf=place[positions + expansion.leaf]),
                strings=replace(strings, leaf=leaf.astype(np.int64)),
            )
        )

    def doubts(self, draft: Draft) -> list[str]:
        """Say how much computation stands elsewhere than in the application."""
        if draft.leaves is draft.signature:
            return []
        moved = total = 0.0
        for one, other in zip(draft.leaves.groups, draft.signature.groups, strict=True):
            symbol = leaf_symbols(one.nest)
            mean = np.zeros(int(symbol.max(initial=-1)) + 1)
            used = other.count > 0
            sums = other.compute_ns.total.sum(axis=1)
            mean[symbol[used]] = sums[used] / other.count[used]
            own = one.compute_ns.total.sum(axis=1)
            moved += float(np.abs(own - one.count * mean[symbol]).sum()) / 2
            total += float(own.sum())
        share = moved / max(total, 1)
        places = sum(len(group.count) for group in draft.leaves.groups)
        kinds = sum(int((group.count > 0).sum()) for group in draft.signature.groups)
        return [
            f"the calls follow no pattern: what stands at {places} places has the "
            f"computation of {kinds} kinds of calls, so {share:.0%} of the "
            "computation stands before other calls than in the application"
        ]


def _many(draft: Draft) -> int:
    return sum(len(one.operations) for one in draft.programs)


def _longest(draft: Draft) -> int:
    return max((len(one.nest) for one in draft.programs), default=0)
