"""Say which ranks that deal out work serve in the order of the recording."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skelgen.events.dealers import Dealer
from skelgen.skeleton.types import Program, Turn


def not_shared(
    dealers: Sequence[Dealer], written: Sequence[Program]
) -> tuple[Dealer, ...]:
    """Return those whose partners come as often in a skeleton as in the recording.

    Parameters
    ----------
    dealers : sequence of Dealer
    written : sequence of Program
        What is written where ranks serve whoever comes first.
    """
    sharing = {
        rank
        for program in written
        if any(operation.turn is Turn.ANSWERS for operation in program.operations)
        for rank in program.ranks
    }
    return tuple(one for one in dealers if one.rank not in sharing)


def warnings_of(dealers: Sequence[Dealer]) -> Iterator[str]:
    """Say in what skeletons with such ranks are unlike their applications."""
    if not dealers:
        return
    first, others = dealers[0], len(dealers) - 1
    more = f" and {others} more" if others else ""
    yield (
        f"rank {first.rank}{more} answers whoever comes first ({first.messages} "
        f"messages from {first.partners} partners), in the skeleton each partner comes "
        "as often as in the recording: it takes too long where nodes are not equally "
        "busy"
    )
