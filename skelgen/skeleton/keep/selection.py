"""Choose the units that a skeleton keeps.

Paper: Sodhi and Subhlok 2005, section III-C, steps 1 and 2; here whole units are
kept, so that matching survives, and never fewer bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls, function_info
from skelgen.events.parts import looked_up
from skelgen.keys import label, mixed
from skelgen.signature import Signature
from skelgen.skeleton.keep.expansion import Expansion
from skelgen.skeleton.keep.rounding import Demand, kept_numbers
from skelgen.skeleton.keep.units import Units
from skelgen.skeleton.thresholds import FEW_CORRECTIONS_SHARE, LEAST_CLASS_SHARE


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Weights of all units, from iteration selection at their anchors."""

    weight: NDArray[np.float32]
    whole: NDArray[np.int64]  # units with weight 1, by type and logical order
    whole_first: NDArray[np.int64]
    part: NDArray[np.int64]  # units with weights between 0 and 1, likewise
    part_first: NDArray[np.int64]


def spread(count: int, wanted: int) -> NDArray[np.int64]:
    """Return `wanted` of `count` positions, evenly unless nearly all are wanted.

    Then only the last ones miss, so that what is left stays one loop.

    Examples
    --------
    >>> spread(10, 9).tolist(), spread(10, 2).tolist()
    ([0, 1, 2, 3, 4, 5, 6, 7, 8], [2, 7])
    """
    few = count - wanted <= FEW_CORRECTIONS_SHARE * count
    return np.arange(wanted) if few else strata(count, wanted)


def strata(count: int, wanted: int) -> NDArray[np.int64]:
    """Return `wanted` of `count` positions, each in the middle of its stratum.

    Examples
    --------
    >>> strata(10, 2).tolist()
    [2, 7]
    """
    return (2 * np.arange(wanted) + 1) * count // max(2 * wanted, 1)


def select(
    signature: Signature,
    expansion: Expansion,
    calls: Calls,
    units: Units,
    fraction: float,
) -> NDArray[np.bool_]:
    """Choose units.

    Parameters
    ----------
    signature, expansion, calls, units
        What was joined from one signature.
    fraction : float
        Part of the application that is to be kept [1].

    Returns
    -------
    (units,) bool array
    """
    candidates = _candidates(expansion, calls, units)
    demand = _demand(signature, expansion, calls, units, candidates)
    kept = kept_numbers(demand, fraction)
    chosen = np.zeros(len(units), bool)
    short = _from_iterations(candidates, kept, chosen)
    if short:
        _fill(units, candidates, short, chosen)
    return chosen


def _candidates(expansion: Expansion, calls: Calls, units: Units) -> _Candidates:
    rank = np.searchsorted(calls.first, units.anchor, side="right") - 1
    position = units.anchor + expansion.offsets(calls.first)[rank]
    weight = expansion.weight[position]
    weight[units.broken] = 0
    types = len(units.example)
    whole, whole_first = by_type(units, weight == 1, types)
    part, part_first = by_type(units, (weight > 0) & (weight < 1), types)
    return _Candidates(weight, whole, whole_first, part, part_first)


def by_type(
    units: Units, wanted: NDArray[np.bool_], types: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the wanted units by type and logical order, and where types begin."""
    found = np.flatnonzero(wanted)
    of = units.type[found]
    first = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=types))])
    return found[np.argsort(of, kind="stable")], first.astype(np.int64)


def _demand(
    signature: Signature,
    expansion: Expansion,
    calls: Calls,
    units: Units,
    candidates: _Candidates,
) -> Demand:
    types, symbols = len(units.example), max(len(signature.symbols), 1)
    number = np.bincount(units.type[~units.broken], minlength=types)
    of_unit = np.full(len(units) + 1, -1, np.int64)
    of_unit[units.example] = np.arange(types)
    members = np.flatnonzero(looked_up(of_unit >= 0, units.unit))
    rank, symbol, _ = places(signature, expansion, calls, members)
    pairs, counts = np.unique(
        np.stack([of_unit[units.unit[members]], rank * symbols + symbol]),
        axis=1,
        return_counts=True,
    )
    role = _roles(signature)[expansion.group[pairs[1] // symbols], pairs[1] % symbols]
    kind, coarse = _kinds(signature, expansion, calls, units, pairs[0], role, counts)
    names, member_class = np.unique(pairs[1], return_inverse=True)
    calls_of_class = np.bincount(
        member_class, weights=counts * number[pairs[0]], minlength=len(names)
    ).astype(np.int64)
    of_rank = np.diff(calls.first)[names // symbols]
    return Demand(
        number=number,
        whole=np.diff(candidates.whole_first),
        kind=kind,
        coarse=tuple(coarse),
        member_type=pairs[0],
        member_class=member_class,
        member_calls=counts,
        class_calls=calls_of_class,
        relevant=calls_of_class > LEAST_CLASS_SHARE * of_rank,
    )


def call_places(signature: Signature) -> NDArray[np.int64]:
    """Return a number of each symbol for its function, family and call site."""
    table = signature.symbols
    columns = np.stack([table[name] for name in ("function", "family", "site")])
    _, place = np.unique(columns.astype(np.int64), axis=1, return_inverse=True)
    return place.ravel()


def _roles(signature: Signature) -> NDArray[np.int64]:
    """Give what symbols do in the program of each group a number.

    A role is a call site and which of its symbols comes first, second and so on in
    the group. So ranks that do the same with other partners have the same roles.
    """
    place = call_places(signature)
    roles = np.full((len(signature.groups), max(len(place), 1)), -1)
    for number, group in enumerate(signature.groups):
        nest = group.nest
        known, first = np.unique(nest.symbol[nest.body_items == 0], return_index=True)
        met: Counter[int] = Counter()
        for symbol in known[np.argsort(first)].tolist():
            own = int(place[symbol])
            roles[number, symbol] = (own << 32) + met[own]
            met[own] += 1
    return roles


def _kinds(
    signature: Signature,
    expansion: Expansion,
    calls: Calls,
    units: Units,
    member_type: NDArray[np.int64],
    role: NDArray[np.int64],
    count: NDArray[np.int64],
) -> tuple[NDArray[np.int64], list[Hashable]]:
    """Find the kinds of types and the coarse class of each kind."""
    keys = np.zeros(len(units.example), np.uint64)
    with np.errstate(over="ignore"):
        np.add.at(keys, member_type, mixed(role) * count.astype(np.uint64))
    found, first = label(keys)
    anchor = units.anchor[units.example[first]]
    coarse: list[Hashable] = [
        _coarse(signature, expansion, *place)
        for place in zip(
            *(
                column.tolist()
                for column in places(signature, expansion, calls, anchor)
            ),
            strict=True,
        )
    ]
    return found.astype(np.int64), coarse


def places(
    signature: Signature, expansion: Expansion, calls: Calls, call: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return rank, symbol and leaf of some calls."""
    rank = np.searchsorted(calls.first, call, side="right") - 1
    leaf = expansion.leaf[call + expansion.offsets(calls.first)[rank]].astype(np.int64)
    tables = [g.nest.symbol[g.nest.body_items == 0] for g in signature.groups]
    first = np.concatenate([[0], np.cumsum([len(table) for table in tables])])
    table = np.concatenate(tables).astype(np.int64)
    return rank, table[first[expansion.group[rank]] + leaf], leaf


def _coarse(
    signature: Signature, expansion: Expansion, rank: int, symbol: int, leaf: int
) -> tuple[int, int, int]:
    row = signature.symbols[symbol]
    kind = function_info(signature.functions[row["function"]]).kind
    group = signature.groups[expansion.group[rank]]
    column = group.ranks.index(rank)
    mean = group.size_bytes.total[leaf, column] / max(int(group.count[leaf]), 1)
    return int(kind), int(row["family"]), int(mean).bit_length()


def _from_iterations(
    candidates: _Candidates, kept: NDArray[np.int64], chosen: NDArray[np.bool_]
) -> dict[int, int]:
    """Choose among the units of kept iterations; return what types still miss."""
    short = {}
    for t in np.flatnonzero(kept).tolist():
        first, last = candidates.whole_first[t : t + 2]
        whole = candidates.whole[first:last]
        missing = int(kept[t]) - len(whole)
        if missing < 0:
            whole = whole[spread(len(whole), int(kept[t]))]
        chosen[whole] = True
        if missing > 0:
            first, last = candidates.part_first[t : t + 2]
            part = candidates.part[first:last]
            taken = _by_weight(candidates.weight[part], missing)
            chosen[part[taken]] = True
            if missing > len(taken):
                short[t] = missing - len(taken)
    return short


def _by_weight(weight: NDArray[np.float32], wanted: int) -> NDArray[np.int64]:
    """Choose positions in proportion to their weights, evenly in their order."""
    if wanted >= len(weight):
        return np.arange(len(weight))
    steps = np.cumsum(weight, dtype=np.float64)
    steps *= wanted / steps[-1]
    marks = np.arange(wanted) + 0.5
    taken = np.searchsorted(steps, marks)
    if len(np.unique(taken)) < wanted:
        taken = strata(len(weight), wanted)
    return taken


def _fill(
    units: Units,
    candidates: _Candidates,
    short: dict[int, int],
    chosen: NDArray[np.bool_],
) -> None:
    """Choose what is missing among the units outside kept iterations."""
    wanted = np.zeros(len(units.example), bool)
    wanted[list(short)] = True
    free = wanted[units.type] & (candidates.weight == 0) & ~units.broken
    rest, first = by_type(units, free, len(units.example))
    chosen_of_type = np.bincount(units.type[chosen], minlength=len(units.example))
    for t, missing in short.items():
        left = rest[first[t] : first[t + 1]]
        wanted_here = min(missing, len(left))
        have = int(chosen_of_type[t])
        few = wanted_here <= FEW_CORRECTIONS_SHARE * have
        taken = (
            left[len(left) - wanted_here :]
            if few
            else left[_in_bursts(units.anchor[left], wanted_here)]
        )
        chosen[taken] = True


def _in_bursts(anchor: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
    """Choose positions evenly, but those of calls in a row together.

    Each burst of calls brings a completion with it.
    """
    begin = np.flatnonzero(np.diff(anchor, prepend=-2) != 1)
    if len(begin) == len(anchor):
        return strata(len(anchor), wanted)
    size = np.diff(np.append(begin, len(anchor)))
    bursts = -(-wanted * len(begin) // len(anchor))
    taken = strata(len(begin), bursts)
    while size[taken].sum() < wanted:
        bursts += 1 + bursts // 100
        taken = strata(len(begin), bursts)
    of_burst = np.isin(np.arange(len(begin)), taken)
    return np.flatnonzero(np.repeat(of_burst, size))[:wanted]
