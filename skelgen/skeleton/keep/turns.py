"""Keep a short call where ranks take turns, though it is too rare for one to stay.

What was computed before calls of which none stays goes to the next call. Where one rank
computes while another waits for it, and then the other one does, both would compute at
the same time. So one call of each kind stays that stands between such computations, if
it sends so little that keeping it takes no time to speak of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls
from skelgen.events.parts import looked_up
from skelgen.signature import Signature
from skelgen.skeleton.keep.division import KeptParts
from skelgen.skeleton.keep.expansion import Expansion
from skelgen.skeleton.keep.selection import by_type, call_places, places
from skelgen.skeleton.keep.units import Units
from skelgen.skeleton.thresholds import (
    LEAST_DIVIDED_BYTES,
    LEAST_TURN_SHARE,
    LONGEST_LATENCY_NS,
)

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Before:
    """What calls tell of the computation that they end.

    Attributes
    ----------
    leaf_ns : (n,) float64 array
        What passed before all calls of the leaf of each [ns].
    rank_ns : (n,) float64 array
        Time of its rank [ns].
    short : (n,) bool array
        No call of the leaf sends as much as takes longer than few bytes.
    """

    leaf_ns: _Floats
    rank_ns: _Floats
    short: NDArray[np.bool_]

    @classmethod
    def of(
        cls, signature: Signature, group_of: _Integers, rank: _Integers, leaf: _Integers
    ) -> _Before:
        """Look up calls by their ranks with their groups, and leaves."""
        count = len(rank)
        found = cls(np.zeros(count), np.zeros(count), np.zeros(count, bool))
        for number in np.unique(group_of).tolist():
            rows = np.flatnonzero(group_of == number)
            group = signature.groups[number]
            column = np.searchsorted(np.array(group.ranks), rank[rows])
            most_bytes = group.size_bytes.most[leaf[rows], column]
            found.leaf_ns[rows] = group.before_ns[leaf[rows], column]
            found.rank_ns[rows] = group.rank_ns[column]
            found.short[rows] = most_bytes < LEAST_DIVIDED_BYTES
        return found


def turns(
    signature: Signature,
    expansion: Expansion,
    calls: Calls,
    units: Units,
    parts: KeptParts,
) -> NDArray[np.bool_]:
    """Choose units that let ranks take turns, of types of which none was chosen.

    Parameters
    ----------
    signature, expansion, calls, units
        What was joined from one signature.
    parts : KeptParts
        What stays anyway.

    Returns
    -------
    (units,) bool array
        One of each such type, in the middle of its like.
    """
    wanted = np.zeros(len(units), bool)
    missing = np.ones(len(units.example), bool)
    missing[units.type[parts.chosen | units.broken]] = False
    if not missing.any():
        return wanted
    of_unit = np.full(len(units) + 1, -1, np.int64)
    of_unit[units.example[missing]] = np.flatnonzero(missing)
    members = np.flatnonzero(looked_up(of_unit >= 0, units.unit))
    type_of = of_unit[units.unit[members]]
    rank, symbol, leaf = places(signature, expansion, calls, members)
    before = _Before.of(signature, expansion.group[rank], rank, leaf)
    short = np.ones(len(missing), bool)
    np.logical_and.at(short, type_of, before.short)
    apart = short & _apart(before, type_of, len(missing), parts.computed)
    place = call_places(signature)[symbol]
    apart = missing & short & _of_like(type_of, place, apart)
    among = apart[units.type] & ~units.broken
    like, first = by_type(units, among, len(missing))
    wanted[like[(first[:-1] + first[1:])[apart] // 2]] = True
    return wanted


def _apart(
    before: _Before, type_of: _Integers, types: int, fraction: float
) -> NDArray[np.bool_]:
    """Say of each type whether its calls end computations that differ."""
    shares = before.leaf_ns / np.maximum(before.rank_ns, 1)
    differ = _range(shares, type_of, types) >= LEAST_TURN_SHARE
    differ &= _range(before.leaf_ns, type_of, types) * fraction >= LONGEST_LATENCY_NS
    return np.asarray(differ)


def _range(values: _Floats, type_of: _Integers, types: int) -> _Floats:
    """Return the largest value of each type less its smallest; 0 of none."""
    most, least = np.full(types, -np.inf), np.full(types, np.inf)
    np.maximum.at(most, type_of, values)
    np.minimum.at(least, type_of, values)
    found: _Floats = np.maximum(most - least, 0)
    return found


def _of_like(
    type_of: _Integers, place: _Integers, apart: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Add the types that hold calls from the same places as some of these types.

    So ranks that were alike stay alike.
    """
    known = np.isin(place, place[apart[type_of]])
    found = np.zeros(len(apart), bool)
    found[type_of[known]] = True
    return found
