"""Make one call at several places of a text several calls.

A call that stands in a loop and again behind it counts its occurrences at both places
together. Divided between the places, each has its own sizes and durations, and the
places can be alike to others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.keys import occurrence_of
from skelgen.loops import Nest, positions, trip_rows
from skelgen.skeleton.quantities.series import MOST_COLUMNS, summed, taken
from skelgen.skeleton.share.call_steps import CallStep
from skelgen.skeleton.share.repeats import RepeatedItems
from skelgen.skeleton.types import TOLD


def apart(
    nests: Sequence[Nest], steps: Sequence[CallStep], equal: Sequence[RepeatedItems]
) -> tuple[list[Nest], list[CallStep]]:
    """Give each place of a call a step of its own.

    Those in places of equal stretches remain the same call.

    Parameters
    ----------
    nests : sequence of Nest
        Over indices into `steps`; they differ only in constant trip counts.
    steps : sequence of CallStep
    equal : sequence of RepeatedItems
    """
    symbol = nests[0].symbol
    stands_for = first_places(nests[0], equal)
    places: dict[int, list[int]] = {}
    for item, number in enumerate(symbol.tolist()):
        if number >= 0 and item not in stands_for:
            places.setdefault(number, []).append(item)
    turns = _turns(nests, stands_for)
    found = list(steps)
    renumbered = symbol.copy()
    for number, items in places.items():
        parts = _parts(steps[number], items, turns)
        if parts is None:
            continue
        renumbered[items[1:]] = np.arange(len(found), len(found) + len(items) - 1)
        found[number] = parts[0]
        found += parts[1:]
    for item, first in stands_for.items():
        renumbered[item] = renumbered[first]
    return [
        Nest(nest.body_items, renumbered, nest.trips_first, nest.trips)
        for nest in nests
    ], found


def first_places(nest: Nest, equal: Sequence[RepeatedItems]) -> dict[int, int]:
    """Return for each call in further places of a stretch the one in the first."""
    first: dict[int, int] = {}
    for repeat in equal:
        others = [leaves(nest, place) for place in repeat.places]
        for other in others[1:]:
            first.update(zip(other, others[0], strict=True))
    # A first place may be in a further place of another stretch.
    for item in sorted(first):
        first[item] = first.get(first[item], first[item])
    return first


def leaves(nest: Nest, place: Sequence[int]) -> list[int]:
    """Return the calls of a place, those in its loops too."""
    return [item for item in _items(nest, place) if nest.symbol[item] >= 0]


def loops(nest: Nest, place: Sequence[int]) -> list[int]:
    """Return the loops of a place, those in its loops too."""
    return [item for item in _items(nest, place) if nest.symbol[item] < 0]


def executions(nest: Nest) -> list[int]:
    """Return how often each item is executed.

    Examples
    --------
    >>> from skelgen.loops import fold
    >>> executions(fold(np.array([4, 4, 4, 7], np.int32)))
    [1, 3, 1]
    """
    often = [1] * len(nest)
    for item, items in enumerate(nest.body_items.tolist()):  # outer loops stand first
        if items:
            trips = trip_rows(nest, item)
            inside = [int((trips[:, 0] * trips[:, 1]).sum())] * items
            often[item + 1 : item + 1 + items] = inside
    return often


def _items(nest: Nest, place: Sequence[int]) -> list[int]:
    return [
        item
        for root in place
        for item in range(root, root + 1 + int(nest.body_items[root]))
    ]


def _turns(
    nests: Sequence[Nest], stands_for: dict[int, int]
) -> dict[int, NDArray[np.int64]] | None:
    """Return which occurrences of its call each item has; None when ranks differ."""
    nest = nests[0]
    if any(not np.array_equal(nest.trips, other.trips) for other in nests[1:]):
        return None
    items = np.flatnonzero(nest.body_items == 0)
    if not len(items):
        return {}  # ranks that call nothing
    place = np.array([stands_for.get(item, item) for item in items.tolist()])
    item = place[positions(nest)]
    turn = occurrence_of(nest.symbol[item])
    order = np.argsort(item, kind="stable")
    numbers, begins = np.unique(item[order], return_index=True)
    return dict(zip(numbers.tolist(), np.split(turn[order], begins[1:]), strict=True))


def _parts(
    step: CallStep, items: Sequence[int], turns: dict[int, NDArray[np.int64]] | None
) -> list[CallStep] | None:
    """Divide a step between its places; None when it stays one."""
    if len(items) == 1:
        return None
    if not step.counts:
        often = max(1, step.occurrences // len(items))
        return [replace(step, occurrences=often) for _ in items]
    if turns is None or sum(len(turns[item]) for item in items) != step.occurrences:
        return None
    return [_part(step, turns[item]) for item in items]


def _part(step: CallStep, turns: NDArray[np.int64]) -> CallStep:
    often = step.occurrences
    peer = step.peer
    if peer.shape[1] > 1:
        peer = peer[:, turns % peer.shape[1]]
    size_bytes = taken(step.size_bytes.astype(np.float64), turns, often)
    compute_us = step.compute_us  # of the whole run where others may do its work
    if step.turn not in TOLD:
        compute_us = summed(taken(compute_us, turns, often), MOST_COLUMNS)
    return replace(
        step,
        occurrences=len(turns),
        peer=peer,
        compute_us=compute_us,
        size_bytes=size_bytes.astype(np.int64),
    )
