"""Programs that ask for their CPU time while they compute.

The kernel then has to bring its accounts up to date, and may give the core to another
process. So the computation of a skeleton asks as often, and as far apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from skelgen.reference.calibration import QueryGap
from skelgen.signature import Signature
from skelgen.skeleton.passes.draft import Draft
from skelgen.skeleton.thresholds import (
    FEWEST_CPU_TIME_QUERIES_PER_S,
    SHORTEST_QUERY_GAP_US,
)


@dataclass(frozen=True, slots=True)
class CpuTimeQueries:
    """Ask for the CPU time as often as the application did."""

    def applies(self, draft: Draft) -> bool:
        """Say whether the application asked while it computed."""
        return bool(draft.signature.usage_queries and draft.signature.computed_s)

    def rewrite(self, draft: Draft) -> Draft:
        """Return the draft with the gaps between queries."""
        return replace(draft, query_gaps=query_gaps(draft.signature))

    def doubts(self, draft: Draft) -> list[str]:
        """Doubt nothing: the skeleton does what the application did."""
        return []


def query_gaps(signature: Signature) -> tuple[QueryGap, ...]:
    """Return how far apart an application asked, none where it asked too seldom.

    Queries right behind another one change nothing, and are left out: the gaps that are
    kept are longer by the time before these. Where the signature does not know the gaps
    all are equal.

    Parameters
    ----------
    signature : Signature
        Of an application that asked.
    """
    gaps = list(_gaps(signature.usage_gaps or (signature.usage_queries,)))
    kept = [gap for gap in gaps if gap[0] >= SHORTEST_QUERY_GAP_US] or gaps[-1:]
    every = sum(count for _, count, _ in kept)
    queries = sum(count for _, count, asks in kept if asks)
    computed_us = 1e6 * signature.computed_s
    if queries < FEWEST_CPU_TIME_QUERIES_PER_S * signature.computed_s:
        return ()
    # In gaps are also short calls, and what others took of a core: computation has not.
    longer = computed_us / sum(length_us * count for length_us, count, _ in kept)
    return tuple(
        QueryGap(max(length_us * longer, SHORTEST_QUERY_GAP_US), count / every, asks)
        for length_us, count, asks in kept
    )


def _gaps(counts: Sequence[int]) -> Iterator[tuple[float, int, bool]]:
    """Yield lengths [us] that occur, how often, and whether queries end them."""
    last = len(counts) - 1
    for power, count in enumerate(counts):
        if count and power == last > 0:
            yield 2.0 ** (power - 1), count, False
        elif count:
            yield 0.75 * 2.0**power, count, True
