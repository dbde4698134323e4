"""Use one communicator or window for many of the same ranks, if all calls still meet.

Libraries duplicate a communicator for each of their objects, and have a window for each
of their arrays. While each has symbols of its own, calls that use them in no regular
order never fold; how long a call takes does not depend on which of them it uses.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls, Communicator
from skelgen.events.objects import is_object
from skelgen.events.types import WILDCARD_SOURCE, WILDCARD_TAG, WINDOW_KINDS
from skelgen.matching.thresholds import MOST_EQUAL_FAMILIES
from skelgen.matching.types import Matching
from skelgen.matching.whole_events import match

logger = logging.getLogger(__name__)

#: Columns of a matching that must stay as they are.
_MEETINGS = ("whole_event", "send_call", "receive_call", "unmatched")


def with_one_for_equal(calls: Calls, matching: Matching) -> Calls:
    """Use one family of communicators or windows for all families of the same ranks.

    Families are left alone where there are few, where a receive leaves its partner or
    tag open, and where any call of the run would then meet another one.

    Parameters
    ----------
    calls : Calls
        Of all ranks.
    matching : Matching
        Of these calls.

    Returns
    -------
    Calls
        With other communicators in its shapes, or as given.
    """
    stands_for = _stands_for(calls)
    changed = stands_for != np.arange(len(stands_for))
    if not changed.any():
        return calls
    shapes = calls.shapes.copy()
    own = shapes["communicator"] >= 0
    shapes["communicator"][own] = stands_for[shapes["communicator"][own]]
    joint = replace(calls, shapes=shapes)
    met = match(joint, completions=False, narrow=True)
    if not all(
        np.array_equal(getattr(met, name), getattr(matching, name))
        for name in _MEETINGS
    ):
        return calls
    logger.info(
        "%d communicators and windows have the same ranks as others, and their calls "
        "come in the same order on all of these: the signature uses the others",
        int(changed.sum()),
    )
    return joint


def _stands_for(calls: Calls) -> NDArray[np.int32]:
    """Return for each communicator the one that may stand for it, itself mostly."""
    communicators = calls.communicators
    found = np.arange(len(communicators), dtype=np.int32)
    used = calls.shapes["communicator"]
    used = used[used >= 0]
    if len(np.unique(used)) <= MOST_EQUAL_FAMILIES:
        return found
    instances: dict[int, list[int]] = {}
    for index, one in enumerate(communicators):
        instances.setdefault(one.family, []).append(index)
    equal: dict[Hashable, list[int]] = {}
    for family in sorted(_plain_families(calls)):
        alike = frozenset(_alike(communicators[i]) for i in instances[family])
        equal.setdefault(alike, []).append(family)
    for first, *others in equal.values():
        if len(others) < MOST_EQUAL_FAMILIES:
            continue
        place = {_alike(communicators[i]): i for i in instances[first]}
        for index in (i for family in others for i in instances[family]):
            found[index] = place[_alike(communicators[index])]
    return found


def _plain_families(calls: Calls) -> set[int]:
    """Return the families that calls use, without those that may not be joined.

    What a receive from any source gets may depend on what else its communicator has.
    """
    communicators, shapes = calls.communicators, calls.shapes
    rows = shapes["communicator"] >= 0
    families = np.array([one.family for one in communicators])
    family = families[shapes["communicator"][rows]]
    open_ended = shapes["flags"][rows] & (WILDCARD_SOURCE | WILDCARD_TAG) != 0
    special = {one.family for one in communicators if not _is_plain(one)}
    apart = special.union(family[open_ended].tolist())
    return set(family.tolist()) - apart


def _is_plain(one: Communicator) -> bool:
    """Say whether calls of others that are like it may use it.

    A communicator for messages and collectives, or a window whose epoch is always open.
    """
    if is_object(one):
        return one.kind == WINDOW_KINDS[-1]
    return not (one.remote or one.kind == "self")


def _alike(one: Communicator) -> Hashable:
    """Return what a call of a communicator depends on."""
    kind = one.kind if is_object(one) else ""
    return (kind, one.members, one.dims, one.periods, one.sources, one.destinations)
