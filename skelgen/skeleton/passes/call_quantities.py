"""With which bytes and times: strings of calls become programs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from skelgen.skeleton.keep.division import with_part_of_bytes
from skelgen.skeleton.passes.draft import Draft
from skelgen.skeleton.quantities.durations import durations_of
from skelgen.skeleton.quantities.nodes import Nodes
from skelgen.skeleton.quantities.outstanding import with_all_outstanding
from skelgen.skeleton.quantities.programs import programs_of
from skelgen.skeleton.quantities.sizes import sizes_of
from skelgen.skeleton.quantities.strings import shared_strings


@dataclass(frozen=True, slots=True)
class CallQuantities:
    """Give what the ranks execute its sizes and computation, and fold it."""

    def applies(self, draft: Draft) -> bool:
        """Say whether the ranks execute something."""
        return bool(len(draft.strings.call))

    def rewrite(self, draft: Draft) -> Draft:
        """Return the draft with programs; of the computation `fraction` is kept."""
        signature, expansion = draft.signature, draft.expansion
        first = draft.calls.first
        strings = with_all_outstanding(draft.strings, draft.symbols, signature)
        shared = shared_strings(strings, expansion.group)
        sized = with_part_of_bytes(signature, draft.sent)
        nodes = Nodes(
            sized, shared, draft.symbols.functions, draft.symbols.table, draft.units
        )
        sizes = sizes_of(nodes, draft.matching)
        pooled = draft.alike is not None
        durations = durations_of(
            signature, expansion, shared, first, draft.fraction, pooled=pooled
        )
        programs = programs_of(nodes, sizes, durations, expansion, first)
        return replace(draft, programs=programs, nodes=nodes)

    def doubts(self, draft: Draft) -> list[str]:
        """Doubt nothing: the report lists what was averaged."""
        return []
