"""Divide the loops and calls of each rank by K, as the 2005 paper does.

Paper: Sodhi and Subhlok 2005, section III-C, steps 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Calls, function_info
from skelgen.events.functions import PERSISTENT
from skelgen.matching import Matching, match
from skelgen.signature import RankGroup, Signature
from skelgen.signature.leaves import leaf_symbols
from skelgen.skeleton.keep.closure import KeptCalls, complete
from skelgen.skeleton.keep.expansion import Expansion, expand
from skelgen.skeleton.plan import Source, source_of
from skelgen.skeleton.quantities.strings import RankStrings, strings_of

#: They follow the requests that they name, or name later.
_FOLLOWING = (CallKind.COMPLETE, CallKind.RELEASE, *PERSISTENT)


class DivisionRole(IntEnum):
    """What a call stands for."""

    WHOLE = 0  # an iteration of a divided loop
    ONE_FOR_K = 1  # K equal calls
    REDUCED = 2  # a K-th of itself


@dataclass(frozen=True, slots=True)
class Division:
    """A signature divided by K.

    Every leaf has become three, one for each `DivisionRole`: leaf + role x leaves.

    Attributes
    ----------
    factor : int
        K.
    source : Source
        The application; its expansion has the weights 1 for iterations that stay, 1/K
        for what is not reduced, and 0.
    expansion : Expansion
        The same with the leaves of roles.
    stands : (p,) int64 array
        Position, counted within the group, of the call that stands for each position.
    strings : RankStrings
        What every rank executes, with the leaves of roles.
    matching : Matching
        Of the calls that the ranks execute, numbered as those of the application.
    """

    factor: int
    source: Source
    expansion: Expansion
    stands: NDArray[np.int64]
    strings: RankStrings
    matching: Matching


def loop_shares(trips: int, fraction: float) -> dict[int, float]:
    """Say which iterations of a loop stay, and which are unrolled (step 1).

    Parameters
    ----------
    trips : int
    fraction : float
        1/K in what is not reduced yet, 1 or 0 in iterations that stay or do not [1].

    Examples
    --------
    >>> loop_shares(7, 1 / 3)
    {0: 1.0, 1: 1.0, 6: 0.3333333333333333}
    >>> loop_shares(2, 1 / 3)
    {0: 0.3333333333333333, 1: 0.3333333333333333}
    """
    if not fraction:
        return {}
    factor = round(1 / fraction)
    stay = trips // factor
    shares = dict.fromkeys(range(stay), 1.0)
    for unrolled in range(trips - trips % factor, trips):
        shares[unrolled] = fraction
    return shares


def divide(signature: Signature, factor: int) -> Division:
    """Divide a signature.

    Parameters
    ----------
    signature : Signature
    factor : int
        K, at least 2.
    """
    source = source_of(signature, expand(signature, 1 / factor, loop_shares))
    first, weight = source.expansion.first, source.expansion.weight
    kept = np.zeros(len(weight), bool)
    leaf, stands = source.expansion.leaf.copy(), np.zeros(len(weight), np.int64)
    for number, group in enumerate(signature.groups):
        own = slice(first[number], first[number + 1])
        role, kept[own], stands[own] = _group_roles(
            signature, group, leaf[own], weight[own], factor
        )
        leaf[own] += role * len(group.count)
    expansion = replace(source.expansion, leaf=leaf)
    calls = _kept_calls(source, kept)
    strings = strings_of(signature, source.expansion, source.calls, calls)
    rank = np.repeat(np.arange(signature.ranks), np.diff(calls.first))
    position = calls.call + expansion.offsets(source.calls.first)[rank]
    strings = replace(strings, leaf=leaf[position].astype(np.int64))
    matching = _matched(source.calls, calls)
    return Division(factor, source, expansion, stands, strings, matching)


def _group_roles(
    signature: Signature,
    group: RankGroup,
    leaf: NDArray[np.int32],
    weight: NDArray[np.float32],
    factor: int,
) -> tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.int64]]:
    """Return role, whether it is kept, and what stands for it, of each position."""
    functions = signature.symbols["function"][leaf_symbols(group.nest)]
    kinds = np.array([function_info(name).kind for name in signature.functions])
    follows = np.isin(kinds[functions], _FOLLOWING)[leaf]
    unreduced = (weight > 0) & (weight < 1)
    kept = (weight == 1) & ~follows
    role = np.where(unreduced, DivisionRole.REDUCED, DivisionRole.WHOLE).astype(
        np.int32
    )
    stands = np.arange(len(leaf))
    place = np.flatnonzero(unreduced & ~follows)
    equal = _equal(signature, group)[leaf]
    place = place[np.argsort(equal[place], kind="stable")]
    _, begin, which, count = np.unique(
        equal[place], return_index=True, return_inverse=True, return_counts=True
    )
    turn = np.arange(len(place)) - begin[which]
    joins = turn < (count - count % factor)[which]
    heads = np.arange(len(place)) - turn % factor
    stands[place[joins]] = place[heads[joins]]
    role[place[joins]] = DivisionRole.ONE_FOR_K
    kept[place] = stands[place] == place
    return role, kept, stands


def _equal(signature: Signature, group: RankGroup) -> NDArray[np.int64]:
    """Give leaves with equal calls one number, wherever those stand in the program."""
    symbols = leaf_symbols(group.nest)
    sums = np.bincount(symbols, group.size_bytes.total.mean(axis=1))
    size_bytes = sums / np.maximum(np.bincount(symbols, group.count), 1)
    table = signature.symbols[symbols]
    names = (n for n in table.dtype.names or () if n not in ("site", "size_class"))
    columns = [table[name].astype(np.int64) for name in names]
    columns.append(np.rint(size_bytes[symbols]).astype(np.int64))
    _, number = np.unique(np.stack(columns), axis=1, return_inverse=True)
    return np.asarray(number.ravel(), np.int64)


def _kept_calls(source: Source, kept: NDArray[np.bool_]) -> KeptCalls:
    """Return the calls of all ranks that stay, with what follows their requests."""
    first, units = source.expansion.first, source.units
    groups = source.expansion.group.tolist()
    taking_part = np.concatenate([kept[first[g] : first[g + 1]] for g in groups])
    taking_part &= ~np.append(units.broken, False)[units.unit]
    return complete(source.calls, source.matching, taking_part)


def _matched(calls: Calls, kept: KeptCalls) -> Matching:
    """Match the calls that stay, in the order in which the ranks execute them."""
    row = np.full(len(calls) + 1, -1)
    row[kept.call] = np.arange(len(kept.call))
    vectors = np.flatnonzero(row[calls.vector_call] >= 0)
    some = replace(
        calls,
        first=kept.first,
        shape=calls.shape[kept.call],
        size_bytes=calls.size_bytes[kept.call],
        ages=np.arange(1, len(kept.call) + 1, dtype=np.uint32),
        age_first=np.concatenate([[0], kept.age_first]),
        age_values=kept.ages,
        vector_call=row[calls.vector_call[vectors]],
        vectors=calls.vectors[vectors],
    )
    found = match(some, completions=False)
    event = np.full(len(calls), -1)
    event[kept.call] = found.whole_event
    return replace(
        found,
        whole_event=event,
        send_call=kept.call[found.send_call],
        receive_call=kept.call[found.receive_call],
    )
