"""Complete the receives of a dealer one by one, each where the dealer turns to it.

A Waitsome finds as many complete as there are by chance. Where a rank deals out work,
each request stands alone before the next message with its partner. A completion only
moves to later calls. That takes conditions away and adds none.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skelgen.events.dealers import chosen_receives, dealers_of
from skelgen.events.moved_completions import MovedCompletion, with_completions
from skelgen.events.parts import rank_slices
from skelgen.events.types import Calls, Events


def one_by_one(events: Events) -> Events:
    """Let a dealer find one request complete at a time.

    Parameters
    ----------
    events : Events
        Of all ranks, or of some. Ranks with several threads stay as they are.

    Returns
    -------
    Events
        The same ones where no dealer finds several at once. Else calls that found these
        complete nothing, and keep their times; new ones take no time.
    """
    if events.threads is not None:
        return events
    found = [
        one
        for dealer in dealers_of(events.calls)
        for one in _apart(events.calls, dealer.rank)
    ]
    return with_completions(events, found) if found else events


def _apart(calls: Calls, rank: int) -> Iterator[MovedCompletion]:
    """Give the requests that a rank finds complete with others."""
    own = rank_slices(calls.first)[rank]
    chosen = chosen_receives(calls, own)
    chosen = chosen.only(~chosen.alone & (chosen.turn < own.stop - own.start))
    columns = (own.start + one for one in (chosen.post, chosen.done, chosen.turn))
    for post, done, turn in zip(*(one.tolist() for one in columns), strict=True):
        yield MovedCompletion(turn, np.array([post]), source=done)
