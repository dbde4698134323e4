"""Find ranks that deal out work: whom they serve next is decided while they run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls, shape_kinds
from skelgen.events.functions import RECEIVING, SENDING, TWO_SIDED, CallKind
from skelgen.events.types import WILDCARD_SOURCE
from skelgen.skeleton.thresholds import LEAST_ANSWERED_SHARE
from skelgen.skeleton.types import Program, Turn


@dataclass(frozen=True, slots=True)
class Dealer:
    """A rank that answers whoever comes first.

    Attributes
    ----------
    rank : int
    messages : int
        What it received from any source.
    partners : int
        Ranks that it answered.
    """

    rank: int
    messages: int
    partners: int


def dealers_of(calls: Calls) -> tuple[Dealer, ...]:
    """Find the ranks that receive from any source and answer it with the next message.

    Where a competitor slows down one of the partners, the application goes on with
    another.

    Parameters
    ----------
    calls : Calls

    Returns
    -------
    tuple of Dealer
        Those with two partners and more that answered each more than once, in order.
    """
    kind = shape_kinds(calls)
    asking = _asking(calls)
    sending = np.isin(kind, [one for one in SENDING if one not in TWO_SIDED])
    rows = calls.shapes
    found = []
    for rank in range(calls.ranks):
        shape = calls.shape[calls.first[rank] : calls.first[rank + 1]]
        if asking[shape].any():
            ours = shape[asking[shape] | sending[shape]]
            partner = np.stack([rows["communicator"][ours], rows["peer"][ours]], axis=1)
            found.append(
                _dealer(rank, partner, asking[ours], kind[ours] == CallKind.PROBE)
            )
    return tuple(one for one in found if one)


def asks_anybody(calls: Calls) -> bool:
    """Say whether some calls receive from any source, or look for such a message."""
    return bool(_asking(calls).any())


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


def _asking(calls: Calls) -> NDArray[np.bool_]:
    """Say of each shape whether it asks for a message from any source."""
    asking = [one for one in (*RECEIVING, CallKind.PROBE) if one not in TWO_SIDED]
    anybody = (calls.shapes["flags"] & WILDCARD_SOURCE) != 0
    return np.asarray(np.isin(shape_kinds(calls), asking) & anybody)


def _dealer(
    rank: int,
    partner: NDArray[np.int32],
    asking: NDArray[np.bool_],
    probe: NDArray[np.bool_],
) -> Dealer | None:
    """Look at each message from any source, and at what is sent right behind it.

    Parameters
    ----------
    rank : int
    partner : (n, 2) int32 array
        Communicator and partner of what asks for messages, and of what is sent.
    asking, probe : (n,) bool arrays
        Which of these ask, and which of them only for what a receive takes next.
    """
    same = (partner[1:] == partner[:-1]).all(axis=1)
    once = np.append(~(probe[:-1] & asking[1:] & same), True)
    partner, asking = partner[once], asking[once]
    same = (partner[1:] == partner[:-1]).all(axis=1)
    answered = np.flatnonzero(asking[:-1] & ~asking[1:] & same)
    partners = len(np.unique(partner[answered], axis=0))
    messages = int(np.count_nonzero(asking))
    least = LEAST_ANSWERED_SHARE * min(messages, len(asking) - messages)
    if partners < 2 or len(answered) < max(least, 2 * partners):
        return None
    return Dealer(rank, messages, partners)
