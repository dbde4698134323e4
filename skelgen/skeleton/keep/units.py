"""Join calls into units: what a skeleton keeps or leaves out as a whole.

A unit is a whole matched event: a message with both its ends, a chain of messages
joined by calls that take part in several (Sendrecv, Startall), or a collective with
all its participants. So is a turn of a rank that serves whoever comes first: a question
with its answer, and what else it exchanges with that partner in between. The smallest
rank of a unit decides for it, with its first call (the anchor): in a code with a
master, the master's loops then choose whole exchanges with the workers. Units of one
type have equal calls on the same ranks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Calls, function_info, shape_kinds
from skelgen.events.dealers import dealers_of, turns_of
from skelgen.events.parts import looked_up
from skelgen.keys import label, mixed
from skelgen.matching import Matching
from skelgen.matching.components import components
from skelgen.signature import Signature
from skelgen.skeleton.keep.expansion import Expansion

#: Keys that are made together.
_KEYS_TOGETHER = 1 << 16


@dataclass(frozen=True, slots=True)
class Units:
    """The units of a run.

    Attributes
    ----------
    unit : (n,) int64 array
        Unit of each call, numbered by anchor; -1 for calls of none: completions,
        persistent requests themselves (their starts decide), calls without a partner.
    anchor : (units,) int64 array
        First call of each unit, which lies on its smallest rank.
    type : (units,) int32 array
        Units of one type have equal calls on the same ranks.
    example : (types,) int64 array
        A unit of each type.
    broken : (units,) bool array
        A call of the unit misses a partner: it cannot be kept.
    """

    unit: NDArray[np.int64]
    anchor: NDArray[np.int64]
    type: NDArray[np.int32]
    example: NDArray[np.int64]
    broken: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of units."""
        return len(self.anchor)


def kinds_of(calls: Calls) -> NDArray[np.uint8]:
    """Return the `CallKind` of each call."""
    of_shape = shape_kinds(calls).astype(np.uint8)
    found: NDArray[np.uint8] = looked_up(of_shape, calls.shape)
    return found


def units_of(
    signature: Signature, expansion: Expansion, calls: Calls, matching: Matching
) -> Units:
    """Join the calls of a signature into units.

    Parameters
    ----------
    signature : Signature
    expansion : Expansion
        Of the same signature.
    calls : Calls
        All calls of the signature, rank after rank.
    matching : Matching
        Of those calls.
    """
    unit = _join_turns(calls, _join_messages(matching))
    persistent = [function_info(name).kind for name in calls.functions]
    if CallKind.COLLECTIVE_INIT in persistent:
        unit = np.where(kinds_of(calls) == CallKind.COLLECTIVE_INIT, -1, unit)
    unit, anchor = _by_anchor(unit)
    broken = np.zeros(len(anchor), bool)
    poisoned = unit[matching.unmatched]
    broken[poisoned[poisoned >= 0]] = True
    type_, example = label(_type_keys(signature, expansion, calls, unit, len(anchor)))
    return Units(unit, anchor, type_, example, broken)


def _join_messages(matching: Matching) -> NDArray[np.int64]:
    """Return the matching's groups, joined where a call begins several messages.

    Where no call does, these are the matching's own: they share its memory.
    """
    unit = matching.whole_event
    send, receive = matching.send_call, matching.receive_call
    alone = unit < 0
    apart = np.flatnonzero(looked_up(alone, send) | looked_up(alone, receive))
    if not len(apart):
        return unit
    unit = unit.copy()
    named = np.maximum(unit[send[apart]], unit[receive[apart]])
    fresh = matching.whole_events + np.arange(len(apart))
    nodes, node = np.unique(np.where(named >= 0, named, fresh), return_inverse=True)
    ends = np.concatenate([send[apart], receive[apart]])
    calls, call = np.unique(ends, return_inverse=True)
    joined = components(np.concatenate([node, node]), call, len(nodes), len(calls))
    unit[calls] = nodes[joined[_any_edge(call, node, len(calls))]]
    rename = np.arange(matching.whole_events + len(apart))
    rename[nodes] = nodes[joined]
    inside = unit >= 0
    unit[inside] = rename[unit[inside]]
    return unit


def _join_turns(calls: Calls, unit: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the units, joined where messages belong to one turn of a dealer."""
    rename = np.arange(int(unit.max(initial=-1)) + 1)
    for dealer in dealers_of(calls):
        call, turn = turns_of(calls, dealer.rank)
        call, turn = call[unit[call] >= 0], turn[unit[call] >= 0]
        least = np.full(int(turn.max(initial=-1)) + 1, len(rename))
        np.minimum.at(least, turn, unit[call])
        rename[unit[call]] = np.minimum(rename[unit[call]], least[turn])
    changed = np.append(rename != np.arange(len(rename)), False)
    return np.append(rename, -1)[unit] if changed.any() else unit


def _any_edge(
    call: NDArray[np.int64], node: NDArray[np.int64], calls: int
) -> NDArray[np.int64]:
    """Return a node of each call, of edges given for both ends of each message."""
    found = np.zeros(calls, np.int64)
    found[call] = np.concatenate([node, node])
    return found


def _by_anchor(
    unit: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give units numbers in the order of their first calls."""
    size = int(unit.max(initial=-1)) + 1
    # Where they already have these, each unit begins where the largest number grows.
    highest = np.maximum.accumulate(unit)
    begins = highest >= 0
    begins[1:] &= highest[1:] > highest[:-1]
    if np.count_nonzero(begins) == size:
        return unit, np.flatnonzero(begins)
    del highest, begins
    first = np.full(size + 1, -1, np.int64)
    first[unit[::-1]] = np.arange(len(unit) - 1, -1, -1)
    first[size] = -1
    used = np.flatnonzero(first[:size] >= 0)
    order = used[np.argsort(first[used], kind="stable")]
    number = np.full(size + 1, -1, np.int64)
    number[order] = np.arange(len(order))
    return number[unit], first[order]


def _type_keys(
    signature: Signature,
    expansion: Expansion,
    calls: Calls,
    unit: NDArray[np.int64],
    units: int,
) -> NDArray[np.uint64]:
    """Return a key of each unit that depends on the symbols and ranks of its calls."""
    keys = np.zeros(units + 1, np.uint64)  # the last one takes calls of no unit
    for number, group in enumerate(signature.groups):
        nest = group.nest
        symbols = nest.symbol[nest.body_items == 0].astype(np.int64)
        leaf = expansion.leaf[expansion.first[number] : expansion.first[number + 1]]
        together = max(_KEYS_TOGETHER // max(len(symbols), 1), 1)
        for begin in range(0, len(group.ranks), together):
            ranks = group.ranks[begin : begin + together]
            offsets = np.array(ranks)[:, None] * len(signature.symbols)
            for rank, key in zip(ranks, mixed(symbols + offsets), strict=True):
                rows = slice(calls.first[rank], calls.first[rank + 1])
                np.add.at(keys, unit[rows], key[leaf])
    return keys[:-1]
