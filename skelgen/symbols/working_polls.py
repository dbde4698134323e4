"""Tell ranks that poll while they work from ranks that poll while they wait.

A rank that asked in vain, and then went on with something that waits for nobody (it
sends, or creates a request), was not waiting. It worked, and looked now and then
whether a message had come. So did one that worked between its polls. Such polls are
computation, for they take their time whatever others do. Where a message came that it
had asked for in vain, or the rank waited for one next, and did nothing but ask, it was
waiting. What is found at the first time of asking was not waited for: a program that
asks after each step whether a message has come, and at last whether its own is gone.
Where most of a place's polls are between work all of them are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Calls, Events, shape_kinds
from skelgen.events.narrow import Amounts
from skelgen.events.poll_pools import longest_gaps
from skelgen.events.types import AMID_WORK, FAILED_POLL, MOVED
from skelgen.symbols.types import Fate

#: Kinds that wait for what was asked before.
_WAITING_KINDS = (CallKind.COMPLETE, CallKind.RECEIVE, CallKind.AWAIT)
#: Probes that wait.
_BLOCKING = ("MPI_Probe", "MPI_Mprobe")


def fates_at_work(
    events: Events, fate: NDArray[np.uint8], size_bytes: Amounts, own: slice
) -> NDArray[np.uint8]:
    """Return the fates of a rank's calls, polls of a rank at work as computation.

    Parameters
    ----------
    events : Events
    fate : (n,) uint8 array
        A `Fate` for each call.
    size_bytes : (n,) int64 column
        Of polls that found nothing how many they are.
    own : slice
        The calls of one rank.
    """
    calls, fates = events.calls, fate[own]
    polls = np.flatnonzero(fates == Fate.WAITING)
    if not len(polls):
        return fates
    fates = fates.copy()
    inside = np.flatnonzero(fates == Fate.INSIDE)
    following = np.searchsorted(inside, polls)
    asked = _Asked.of(calls, own, polls, following)
    waits = _waits(calls, own, inside, asked)
    amid_work = _work_amid(events, polls, size_bytes[own], own)
    number = np.where(amid_work, 0, np.maximum(size_bytes[own][polls], 1))
    alone = ~waits[following] & ~asked.came
    at_work = amid_work | asked.mostly(alone, number)
    fates[polls[at_work]] = Fate.COMPUTATION
    return fates


@dataclass(frozen=True, slots=True)
class _Asked:
    """Polls and probes of a rank, by place in the program.

    Attributes
    ----------
    run : (p,) int64 array
        Which call follows: polls of one run are in front of the same one.
    site : (p,) int64 array
        Call site.
    came : (p,) bool array
        Something was found.
    blocks : (p,) bool array
        It would have waited for it.
    """

    run: NDArray[np.int64]
    site: NDArray[np.int64]
    came: NDArray[np.bool_]
    blocks: NDArray[np.bool_]

    @classmethod
    def of(
        cls, calls: Calls, own: slice, polls: NDArray[np.int64], run: NDArray[np.int64]
    ) -> _Asked:
        """Look at some calls of a rank."""
        shape = calls.shape[own][polls]
        flags = calls.shapes["flags"]
        came = (shape_kinds(calls) == CallKind.PROBE) & ((flags & FAILED_POLL) == 0)
        came |= (flags & MOVED) != 0
        blocks = np.array([name in _BLOCKING for name in calls.functions], bool)
        of_shape = blocks[calls.shapes["function"]]
        site = calls.shapes["site"].astype(np.int64)
        return cls(run, site[shape], came[shape], of_shape[shape])

    def in_vain(
        self, run: NDArray[np.int64], site: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Say whether polls found nothing in some runs at some sites."""
        sites = int(max(self.site.max(initial=0), site.max(initial=0))) + 1
        known = self.run[~self.came] * sites + self.site[~self.came]
        found: NDArray[np.bool_] = np.isin(run * sites + site, known)
        return found

    def mostly(
        self, at_work: NDArray[np.bool_], number: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Add the polls in vain of sites most of whose polls are between work.

        Parameters
        ----------
        at_work : (p,) bool array
        number : (p,) int64 array
            How many polls each one is.
        """
        number = np.where(self.came, 0, number)
        _, place = np.unique(self.site, return_inverse=True)
        every = np.bincount(place, number)
        working = np.bincount(place, np.where(at_work, number, 0))
        return at_work | ~self.came & (2 * working > every)[place]


def _waits(
    calls: Calls, own: slice, inside: NDArray[np.int64], asked: _Asked
) -> NDArray[np.bool_]:
    """Say which calls wait for what was asked before, and what is behind the last."""
    shape = calls.shape[own][inside]
    waits = np.isin(shape_kinds(calls)[shape], _WAITING_KINDS)
    tests = np.array([name.startswith("MPI_Test") for name in calls.functions], bool)
    found = np.flatnonzero(waits & tests[calls.shapes["function"][shape]])
    site = calls.shapes["site"][shape[found]].astype(np.int64)
    waits[found] = asked.in_vain(found, site)
    # Behind the last one nothing is known of what they were for.
    waits = np.append(waits, True)
    waited = asked.came & (asked.blocks | asked.in_vain(asked.run, asked.site))
    waits[asked.run[waited]] = True
    return waits


def _work_amid(
    events: Events, polls: NDArray[np.int64], count: NDArray[np.int64], own: slice
) -> NDArray[np.bool_]:
    """Say which polls the rank worked between, or behind where there is only one."""
    calls = events.calls
    flags = calls.shapes["flags"][calls.shape[own][polls]]
    gap_ns = np.append(events.compute_ns[own], 0)[polls + 1]
    worked: NDArray[np.bool_] = gap_ns >= longest_gaps(events, own, count)[polls]
    worked &= (count[polls] == 1) & ((flags & FAILED_POLL) != 0)
    worked |= (flags & AMID_WORK) != 0
    return worked
