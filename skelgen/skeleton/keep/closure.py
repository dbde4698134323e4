"""Complete the kept units to whole programs.

Completions keep those of their requests whose unit is kept and vanish with the last
of them. A persistent request is kept when one of its starts is, a ``Request_free``
with its request.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Calls
from skelgen.events.creations import Creations, rows_of
from skelgen.events.functions import PERSISTENT
from skelgen.events.parts import looked_up
from skelgen.matching import Matching
from skelgen.skeleton.keep.units import Units, kinds_of


@dataclass(frozen=True, slots=True)
class KeptCalls:
    """The calls of a skeleton, rank after rank in program order.

    Attributes
    ----------
    call : (k,) int64 array
        Kept calls, ascending.
    first : (ranks + 1,) int64 array
        Those of rank r are rows ``first[r]`` to ``first[r + 1]``.
    age_first : (k + 1,) int64 array
        Requests that a kept call completes, starts or frees: rows of `ages`.
    ages : (m,) int64 array
        Counted among the kept requests of the rank, as in `Calls`.
    """

    call: NDArray[np.int64]
    first: NDArray[np.int64]
    age_first: NDArray[np.int64]
    ages: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Entries:
    """Requests named by calls: call, and the call that created the request."""

    call: NDArray[np.int64]
    creator: NDArray[np.int64]


def close(
    calls: Calls, matching: Matching, units: Units, chosen: NDArray[np.bool_]
) -> KeptCalls:
    """Return all calls of a skeleton.

    Parameters
    ----------
    calls, matching, units
        Of all calls of the application.
    chosen : (units,) bool array
        Kept units.
    """
    kept = looked_up(np.append(chosen, False), units.unit)
    return complete(calls, matching, kept)


def complete(
    calls: Calls, matching: Matching, taking_part: NDArray[np.bool_]
) -> KeptCalls:
    """Add what kept calls need: completions, persistent requests, their release.

    Parameters
    ----------
    calls, matching
        Of all calls of the application.
    taking_part : (n,) bool array
        Kept calls of those that take part in an event.
    """
    kept = taking_part.copy()
    kinds = kinds_of(calls)
    creations = Creations.of(calls)
    starts = _entries(
        calls, np.flatnonzero((kinds == CallKind.START) & kept), creations
    )
    kept[starts.creator] = True
    done = _entries(calls, _completions(calls, matching, kinds, kept), creations)
    release = _entries(calls, np.flatnonzero(kinds == CallKind.RELEASE), creations)
    done = _of_kept_requests(calls, kinds, kept, done, creations)
    release = _only(release, kept[release.creator])
    kept[done.call] = True
    kept[release.call] = True
    entries = _sorted([starts, done, release])
    return _with_ages(calls, kept, creations, entries)


def _entries(calls: Calls, call: NDArray[np.int64], creations: Creations) -> _Entries:
    """List the requests that some calls name, in the order of calls and ages."""
    index, age = rows_of(calls.age_first, calls.age_values, calls.ages[call])
    owner = call[index]
    return _Entries(owner, creations.named(owner, age))


def _only(entries: _Entries, wanted: NDArray[np.bool_]) -> _Entries:
    return _Entries(entries.call[wanted], entries.creator[wanted])


def _sorted(parts: list[_Entries]) -> _Entries:
    call = np.concatenate([part.call for part in parts])
    order = np.argsort(call, kind="stable")
    return _Entries(
        call[order], np.concatenate([part.creator for part in parts])[order]
    )


def _completions(
    calls: Calls,
    matching: Matching,
    kinds: NDArray[np.uint8],
    kept: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Return completions that may complete a kept request."""
    known = np.zeros(len(calls) + 1, bool)
    for begin, done in (
        (matching.send_call, matching.send_done),
        (matching.receive_call, matching.receive_done),
    ):
        known[done[kept[begin]]] = True
    collective = np.flatnonzero(kept & (matching.collective_done >= 0))
    known[matching.collective_done[collective]] = True
    if (kinds[kept] == CallKind.COLLECTIVE_INIT).any():
        # A Startall may have started several, completed by several calls.
        known[:] = True
    return np.flatnonzero(known[:-1] & (kinds == CallKind.COMPLETE))


def _of_kept_requests(
    calls: Calls,
    kinds: NDArray[np.uint8],
    kept: NDArray[np.bool_],
    done: _Entries,
    creations: Creations,
) -> _Entries:
    """Restrict completions to what was kept: a request, or its latest start."""
    kind = kinds[done.creator]
    persistent = np.isin(kind, PERSISTENT)
    if not persistent.any():
        return _only(done, kept[done.creator])
    started = _entries(calls, np.flatnonzero(kinds == CallKind.START), creations)
    size = np.int64(len(calls) + 1)
    keys = started.creator * size + started.call
    order = np.argsort(keys, kind="stable")
    latest = np.searchsorted(keys[order], done.creator * size + done.call) - 1
    found = persistent & (latest >= 0)
    position = order[latest[found]]
    active = started.creator[position] == done.creator[found]
    wanted = kept[done.creator] & ~persistent
    wanted[found] = kept[started.call[position]] & active
    return _only(done, wanted)


def _with_ages(
    calls: Calls,
    kept: NDArray[np.bool_],
    creations: Creations,
    entries: _Entries,
) -> KeptCalls:
    call = np.flatnonzero(kept)
    ages = creations.only(kept).ages(entries.call, entries.creator)
    age_first = np.searchsorted(entries.call, np.append(call, len(calls)))
    first = np.searchsorted(call, calls.first)
    return KeptCalls(call, first, age_first.astype(np.int64), ages)
