"""Programs that ask for their CPU time while they compute.

The kernel then has to bring its accounts up to date, and may give the core to another
process. So the computation of a skeleton asks as often.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from skelgen.skeleton.passes.draft import Draft


@dataclass(frozen=True, slots=True)
class CpuTimeQueries:
    """Ask for the CPU time as often as the application did."""

    def applies(self, draft: Draft) -> bool:
        """Say whether the application asked while it computed."""
        return bool(draft.signature.usage_queries and draft.signature.computed_s)

    def rewrite(self, draft: Draft) -> Draft:
        """Return the draft with the queries in a second of computation."""
        often = draft.signature.usage_queries / draft.signature.computed_s
        return replace(draft, queries_per_s=often)

    def doubts(self, draft: Draft) -> list[str]:
        """Doubt nothing: the skeleton does what the application did."""
        return []
