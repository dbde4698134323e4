"""Calls whose partner was not recorded: no skeleton can keep them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from skelgen.skeleton.keep.selection import places
from skelgen.skeleton.passes.draft import Draft
from skelgen.units import NS_PER_S


@dataclass(frozen=True, slots=True)
class PartnerlessCalls:
    """Leave out calls that have no partner."""

    def applies(self, draft: Draft) -> bool:
        """Say whether the calls of the run do not fit each other."""
        return bool(len(draft.matching.unmatched) or draft.matching.problems)

    def rewrite(self, draft: Draft) -> Draft:
        """Count what is left out."""
        lost = draft.matching.unmatched
        if not len(lost):
            return draft
        signature, expansion = draft.signature, draft.expansion
        rank, _, leaf = places(signature, expansion, draft.calls, lost)
        time_ns = 0.0
        for one, own in zip(rank.tolist(), leaf.tolist(), strict=True):
            group = signature.groups[expansion.group[one]]
            total = float(group.mpi_ns[own, group.ranks.index(one)])
            time_ns += total / int(group.count[own])
        dropped = ("without a partner", len(lost), time_ns / NS_PER_S)
        return replace(draft, dropped=(*draft.dropped, dropped))

    def doubts(self, draft: Draft) -> list[str]:
        """Name what does not fit."""
        return list(draft.matching.problems)
