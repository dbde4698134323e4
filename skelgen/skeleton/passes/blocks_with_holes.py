"""Messages that MPI gathers from blocks of memory with holes between them.

The skeleton has holes as wide as its blocks. MPI counts memory in an int, so blocks of
more than 1 GiB leave no room for them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from skelgen.events.types import HOLES
from skelgen.skeleton.passes.draft import Draft
from skelgen.skeleton.types import Operation

#: Most bytes of all blocks of a call, the holes between them included [bytes].
_MOST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class BlocksWithHoles:
    """Send blocks that are too large for holes from one piece of memory."""

    def applies(self, draft: Draft) -> bool:
        """Say whether blocks of some call are too large."""
        return any(
            _too_large(draft, operation)
            for program in draft.programs
            for operation in program.operations
        )

    def rewrite(self, draft: Draft) -> Draft:
        """Return the draft in which these calls have no holes."""
        symbols, programs = draft.symbols, []
        for program in draft.programs:
            operations = []
            for operation in program.operations:
                symbol = operation.symbol
                if _too_large(draft, operation):
                    flags = int(symbols.table[symbol]["flags"]) & ~HOLES
                    symbols, symbol = symbols.like(symbol, flags=flags)
                operations.append(replace(operation, symbol=symbol))
            programs.append(replace(program, operations=tuple(operations)))
        return replace(draft, symbols=symbols, programs=tuple(programs))

    def doubts(self, draft: Draft) -> list[str]:
        """Say that this gathering is not in the skeleton."""
        return [
            "messages of more than 1 GiB to all ranks are not gathered from blocks of "
            "memory, as in the application: a skeleton cannot hold the holes"
        ]


def _too_large(draft: Draft, operation: Operation) -> bool:
    if not int(draft.symbols.table[operation.symbol]["flags"]) & HOLES:
        return False
    return bool(2 * operation.vectors.sum(axis=2).max(initial=0) > _MOST)
