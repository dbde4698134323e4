"""Divide the loops and calls of each rank by K, as the 2005 paper does.

Paper: Sodhi and Subhlok 2005, section III-C, steps 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, Calls, function_info
from skelgen.events.functions import PERSISTENT
from skelgen.matching import Matching, match
from skelgen.signature import RankGroup, Signature
from skelgen.signature.leaves import leaf_symbols
from skelgen.skeleton.keep.closure import KeptCalls, complete
from skelgen.skeleton.paper2005.quantities import DivisionRole, averages
from skelgen.skeleton.passes.draft import Draft
from skelgen.skeleton.quantities.strings import strings_of

#: They follow the requests that they name, or name later.
_FOLLOWING = (CallKind.COMPLETE, CallKind.RELEASE, *PERSISTENT)


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


@dataclass(frozen=True, slots=True)
class DividedCalls:
    """Let n // K iterations of each loop stay, and one of every K equal calls.

    Every leaf becomes three, one for each `DivisionRole`: leaf + role x leaves. The
    draft's expansion has the weights 1 for iterations that stay, 1/K for what is not
    reduced, and 0.
    """

    def applies(self, draft: Draft) -> bool:
        """Say that there are always calls to divide."""
        return True

    def rewrite(self, draft: Draft) -> Draft:
        """Return the draft with what stays, matched in its own order."""
        signature, expansion = draft.signature, draft.expansion
        factor = round(draft.scaling_factor)
        first, weight = expansion.first, expansion.weight
        kept = np.zeros(len(weight), bool)
        leaf, stands = expansion.leaf.copy(), np.zeros(len(weight), np.int64)
        for number, group in enumerate(signature.groups):
            own = slice(first[number], first[number + 1])
            role, kept[own], stands[own] = _group_roles(
                signature, group, leaf[own], weight[own], factor
            )
            leaf[own] += role * len(group.count)
        calls = _kept_calls(draft, kept)
        strings = strings_of(signature, expansion, draft.calls, calls)
        rank = np.repeat(np.arange(signature.ranks), np.diff(calls.first))
        position = calls.call + expansion.offsets(draft.calls.first)[rank]
        divided = replace(expansion, leaf=leaf)
        return replace(
            draft,
            matching=_matched(draft.calls, calls),
            expansion=divided,
            leaves=averages(signature, divided, factor),
            strings=replace(strings, leaf=leaf[position].astype(np.int64)),
            stands=stands,
        )

    def doubts(self, draft: Draft) -> list[str]:
        """Doubt nothing: the report compares what was kept with what was asked for."""
        return []


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


def _kept_calls(draft: Draft, kept: NDArray[np.bool_]) -> KeptCalls:
    """Return the calls of all ranks that stay, with what follows their requests."""
    first, units = draft.expansion.first, draft.units
    groups = draft.expansion.group.tolist()
    taking_part = np.concatenate([kept[first[g] : first[g + 1]] for g in groups])
    taking_part &= ~np.append(units.broken, False)[units.unit]
    return complete(draft.calls, draft.matching, taking_part)


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
