"""Put the calls of all ranks into an order in which one thread can execute each rank's.

Each process of a team has its own ranks; the first one finds the order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls, Events
from skelgen.events.reorder import move, reorder_calls
from skelgen.matching import Matching, match
from skelgen.matching.threads import order_of_threads, overlapping
from skelgen.pipeline.build_team import ALONE, Team
from skelgen.ticks.early_returns import (
    meet_in_several,
    meetings,
    order_without_circles,
)
from skelgen.ticks.kernel import stuck_in_meetings

#: Columns of calls that matching looks at, and what else the order depends on.
STRUCTURE = ("shape", "size_bytes", "ages")
_TIMES = ("enter_ns", "leave_ns")


def executable(events: Events, team: Team) -> tuple[Events, int]:
    """Return the own events in an order that one thread for each rank can execute.

    The second value is the number of ranks whose threads were in calls at one time.

    Parameters
    ----------
    events : Events
        Of the own ranks, with the tables of all.
    team : Team
    """
    concurrent = team.share(sum(team.gather(overlapping(events))))
    if concurrent:
        events = _in_one_thread(events, team)
    return _without_circles(events, team), concurrent


def matched(events: Events) -> tuple[Events, Matching]:
    """Match the calls of a run, in an order that one thread for each rank can execute.

    Parameters
    ----------
    events : Events
        Of all ranks.
    """
    events, _ = executable(events, ALONE)
    return events, match(events.calls)


def _in_one_thread(events: Events, team: Team) -> Events:
    if events.threads is None:
        events = replace(events, threads=np.zeros(len(events.calls), np.uint16))
    return _reordered(events, team, ("threads", *_TIMES), order_of_threads)


def _without_circles(events: Events, team: Team) -> Events:
    """Put collectives in one order that ranks left before all had come.

    Times stay at the places: the calls before one that moves happened when they did.
    """
    if not meet_in_several(events.calls) or _collectives_agree(events.calls, team):
        return events
    moved = _reordered(events, team, _TIMES, order_without_circles)
    return replace(events, calls=moved.calls)


def _collectives_agree(calls: Calls, team: Team) -> bool:
    call, own = meetings(calls)
    firsts = team.gather(np.searchsorted(call, calls.first))
    meeting = team.join(own)

    def agree() -> bool:
        return not len(stuck_in_meetings(np.sum(firsts, axis=0), meeting))

    return bool(team.share(team.first(agree)))


def _joined(calls: Calls, team: Team) -> Callable[[], Calls]:
    """Return what makes the calls of all ranks, in the first process."""
    firsts = team.gather(calls.first)
    columns: dict[str, Any] = {
        name: team.join(getattr(calls, name)) for name in STRUCTURE
    }
    columns |= {name: getattr(calls, name)[:0] for name in ("vector_call", "vectors")}
    return lambda: replace(calls, first=np.sum(firsts, axis=0), **columns)


def _reordered(
    events: Events,
    team: Team,
    needed: tuple[str, ...],
    order_of: Callable[[Events], NDArray[np.int64]],
) -> Events:
    """Put the own events in the order that the first process finds for all.

    Parameters
    ----------
    events : Events
    team : Team
    needed : tuple of str
        Columns of events that it needs.
    order_of : callable
        Finds the order of all events.
    """
    calls, own = events.calls, len(events.calls)
    columns: dict[str, Any] = {
        name: team.join(getattr(events, name)) for name in needed
    }
    whole = _joined(calls, team)

    def find() -> tuple[NDArray[np.int64], Calls]:
        everything = whole()
        order = order_of(replace(events, calls=everything, **columns))
        return order, reorder_calls(everything, order)

    order, moved = team.first(find) or (np.zeros(0, np.int64), calls)
    order, ages = team.divide(order, own), team.divide(moved.ages, own)
    age_first, age_values = team.share((moved.age_first, moved.age_values))
    # Each process has ranks that stand together: its calls are numbered from its first.
    events = move(events, order - order.min(initial=order.max(initial=0)))
    calls = replace(events.calls, ages=ages, age_first=age_first, age_values=age_values)
    return replace(events, calls=calls)
