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
from skelgen.signature import RankGroup, Signature
from skelgen.skeleton.keep.expansion import Expansion
from skelgen.skeleton.keep.selection import by_type, places
from skelgen.skeleton.keep.units import Units
from skelgen.skeleton.thresholds import (
    LEAST_DIVIDED_BYTES,
    LEAST_TURN_SHARE,
    LONGEST_LATENCY_NS,
)

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _LeafTimes:
    """What leaves tell: (leaves, ranks) arrays of a group, or a row for each call.

    Attributes
    ----------
    before_ns : float64 array
        What passed before all calls of the leaf, not divided [ns].
    share : float64 array
        The same as a part of its rank's time [1].
    short : bool array
        No call sends as much as takes longer than few bytes.
    """

    before_ns: _Floats
    share: _Floats
    short: NDArray[np.bool_]


def turns(
    signature: Signature,
    expansion: Expansion,
    calls: Calls,
    units: Units,
    chosen: NDArray[np.bool_],
    fraction: float,
) -> NDArray[np.bool_]:
    """Choose units that let ranks take turns, of types of which none was chosen.

    Parameters
    ----------
    signature, expansion, calls, units
        What was joined from one signature.
    chosen : (units,) bool array
        Those that stay anyway.
    fraction : float
        Part of the computation that is kept [1].

    Returns
    -------
    (units,) bool array
        One of each such type, in the middle of its like.
    """
    wanted = np.zeros(len(units), bool)
    missing = np.ones(len(units.example), bool)
    missing[units.type[chosen | units.broken]] = False
    if not missing.any():
        return wanted
    of_unit = np.full(len(units) + 1, -1, np.int64)
    of_unit[units.example[missing]] = np.flatnonzero(missing)
    members = np.flatnonzero(looked_up(of_unit >= 0, units.unit))
    type_of = of_unit[units.unit[members]]
    rank, symbol, leaf = places(signature, expansion, calls, members)
    times = _looked_up(signature, expansion.group[rank], rank, leaf)
    short = np.ones(len(missing), bool)
    np.logical_and.at(short, type_of, times.short)
    apart = _apart(times, type_of, len(missing), fraction)
    apart = missing & short & _of_like(signature, type_of, symbol, apart & short)
    among = apart[units.type] & ~units.broken
    like, first = by_type(units, among, len(missing))
    wanted[like[(first[:-1] + first[1:])[apart] // 2]] = True
    return wanted


def _apart(
    times: _LeafTimes, type_of: NDArray[np.int64], types: int, fraction: float
) -> NDArray[np.bool_]:
    """Say of each type whether its calls end computations that differ."""
    differ = _range(times.share, type_of, types) >= LEAST_TURN_SHARE
    differ &= _range(times.before_ns, type_of, types) * fraction >= LONGEST_LATENCY_NS
    return np.asarray(differ)


def _range(values: _Floats, type_of: NDArray[np.int64], types: int) -> _Floats:
    """Return the largest value of each type less its smallest; 0 of none."""
    most, least = np.full(types, -np.inf), np.full(types, np.inf)
    np.maximum.at(most, type_of, values)
    np.minimum.at(least, type_of, values)
    found: _Floats = np.maximum(most - least, 0)
    return found


def _of_like(
    signature: Signature,
    type_of: NDArray[np.int64],
    symbol: NDArray[np.int64],
    apart: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Add the types that hold calls from the same places as some of these types.

    So ranks that were alike stay alike.
    """
    columns = np.stack(
        [signature.symbols[name][symbol] for name in ("function", "family", "site")]
    )
    _, site = np.unique(columns.astype(np.int64), axis=1, return_inverse=True)
    site = site.ravel()
    known = np.zeros(int(site.max(initial=-1)) + 1, bool)
    known[site[apart[type_of]]] = True
    found = np.zeros(len(apart), bool)
    np.logical_or.at(found, type_of, known[site])
    return found


def _looked_up(
    signature: Signature,
    group_of: NDArray[np.int64],
    rank: NDArray[np.int64],
    leaf: NDArray[np.int64],
) -> _LeafTimes:
    """Return what the leaf of each call tells, one row a call."""
    count = len(rank)
    found = _LeafTimes(np.zeros(count), np.zeros(count), np.zeros(count, bool))
    for number in np.unique(group_of).tolist():
        rows = np.flatnonzero(group_of == number)
        group = signature.groups[number]
        column = np.searchsorted(np.array(group.ranks), rank[rows])
        times = _leaf_times(group)
        found.before_ns[rows] = times.before_ns[leaf[rows], column]
        found.share[rows] = times.share[leaf[rows], column]
        found.short[rows] = times.short[leaf[rows], column]
    return found


def _leaf_times(group: RankGroup) -> _LeafTimes:
    before_ns = group.before_ns
    rank_ns = (before_ns + group.mpi_ns).sum(axis=0) + group.after_ns
    return _LeafTimes(
        before_ns,
        np.asarray(before_ns / np.maximum(rank_ns, 1)),
        np.asarray(group.size_bytes.most < LEAST_DIVIDED_BYTES),
    )
