"""Which events stay: whole messages and collectives, a K-th of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from skelgen.errors import UsageError
from skelgen.skeleton.keep.closure import close
from skelgen.skeleton.keep.division import kept_parts
from skelgen.skeleton.keep.turns import turns
from skelgen.skeleton.passes.draft import Draft
from skelgen.skeleton.quantities.strings import strings_of


@dataclass(frozen=True, slots=True)
class WholeEvents:
    """Keep a K-th of the matched events, in their order; at least whole iterations."""

    def applies(self, draft: Draft) -> bool:
        """Say that there are always events to choose from."""
        return True

    def rewrite(self, draft: Draft) -> Draft:
        """Choose events, and complete them to what each rank executes."""
        signature, calls, units = draft.signature, draft.calls, draft.units
        fraction = 1 / draft.scaling_factor
        parts = kept_parts(signature, draft.expansion, calls, units, fraction)
        # They are few and short: neither computation nor bytes change with them.
        more = turns(signature, draft.expansion, calls, units, parts)
        kept = close(calls, draft.matching, units, parts.chosen | more)
        if not len(kept.call):
            raise UsageError(_nothing_left(draft))
        return replace(
            draft,
            strings=strings_of(signature, draft.expansion, calls, kept),
            fraction=parts.computed,
            sent=parts.sent,
            divided=parts.divided,
        )

    def doubts(self, draft: Draft) -> list[str]:
        """Doubt nothing: the report compares what was kept with what was asked for."""
        return []


def _nothing_left(draft: Draft) -> str:
    """Say that nothing is kept, and why the run's calls may be of no use for it."""
    signature, calls = draft.signature, draft.calls
    gone = sum(number for _, number, _ in signature.dropped)
    alone = signature.events - len(calls) - gone
    text = f"K = {draft.scaling_factor:g} leaves no call of {len(calls)}"
    if alone > 0:
        text += (
            f" ({alone} more of the run's {signature.events} count as computation: "
            "polls, and what reaches no other rank, as on communicators of one rank)"
        )
    return f"{text}: ask for a smaller K"
