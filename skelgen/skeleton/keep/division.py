"""Divide computation where whole calls are too coarse for K.

A loop of six iterations has no tenth. Where the part of the calls that can be kept
misses 1/K, whole iterations stay, rather one too many. Then the computation between
their calls becomes a K-th of the application's, and bytes shrink in proportion.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Calls
from skelgen.events.parts import looked_up
from skelgen.signature import RankGroup, Signature
from skelgen.skeleton.keep.dominant_sequence import largest_good_scaling_factor
from skelgen.skeleton.keep.expansion import Expansion, expand
from skelgen.skeleton.keep.selection import select
from skelgen.skeleton.keep.units import Units
from skelgen.skeleton.thresholds import (
    LARGEST_UNDIVIDED_DEVIATION,
    LEAST_DIVIDED_BYTES,
    LEAST_DIVIDED_CALL_SHARE,
)

_TINY = 1e-6


@dataclass(frozen=True, slots=True)
class KeptParts:
    """What is kept of a run: units, computation and bytes.

    Attributes
    ----------
    chosen : (units,) bool array
    computed : float
        Part of all computation [1].
    sent : float
        Part of the bytes of each kept call that are many [1].
    divided : bool
        Computation has another part than calls.
    """

    chosen: NDArray[np.bool_]
    computed: float
    sent: float = 1.0
    divided: bool = False


def kept_parts(
    signature: Signature,
    expansion: Expansion,
    calls: Calls,
    units: Units,
    fraction: float,
) -> KeptParts:
    """Choose units, and what is kept of computation and bytes.

    Parameters
    ----------
    signature, expansion, calls, units
        What was joined from one signature.
    fraction : float
        Part of the application that is to be kept [1].
    """
    chosen = select(signature, expansion, calls, units, fraction)
    share = _share(units, chosen)
    if abs(share / fraction - 1) <= LARGEST_UNDIVIDED_DEVIATION:
        return KeptParts(chosen, share)
    enough = fraction * (1 - LARGEST_UNDIVIDED_DEVIATION)
    for raised in _whole_iterations(signature, fraction):
        wider = expand(signature, raised)
        chosen = select(signature, wider, calls, units, raised)
        share = _share(units, chosen)
        if share >= enough:
            break
    sent = 1.0
    if share > fraction and _call_share(signature) >= LEAST_DIVIDED_CALL_SHARE:
        sent = fraction / share
    return KeptParts(chosen, fraction, sent, divided=True)


def with_part_of_bytes(signature: Signature, part: float) -> Signature:
    """Return a signature whose calls send a part of their bytes, unless they are few.

    Parameters
    ----------
    signature : Signature
    part : float
        0 to 1 [1].
    """
    if part == 1:
        return signature
    groups = tuple(_with_part(group, part) for group in signature.groups)
    return replace(signature, groups=groups)


def _with_part(group: RankGroup, part: float) -> RankGroup:
    size = group.size_bytes
    many = (size.most >= LEAST_DIVIDED_BYTES).any(axis=1)
    parts = np.where(many, part, 1.0)
    of_leaf = parts[:, np.newaxis]
    smaller = replace(
        size,
        total=size.total * of_leaf,
        squares=size.squares * of_leaf**2,
        least=size.least * of_leaf,
        most=size.most * of_leaf,
        samples=size.samples * of_leaf[:, :, np.newaxis],
    )
    vectors = tuple(
        vector * own for vector, own in zip(group.vectors, parts, strict=True)
    )
    return replace(group, size_bytes=smaller, vectors=vectors)


def _share(units: Units, chosen: NDArray[np.bool_]) -> float:
    """Return the chosen part of the calls that can be kept."""
    return _calls_of(units, chosen) / max(_calls_of(units, ~units.broken), 1)


def _calls_of(units: Units, wanted: NDArray[np.bool_]) -> int:
    """Return how many calls belong to some units."""
    return int(np.count_nonzero(looked_up(np.append(wanted, False), units.unit)))


def _whole_iterations(signature: Signature, fraction: float) -> Iterator[float]:
    """Yield parts not below a fraction that are whole iterations, finest first.

    They are those of calls made so often as some are, of which each is made at most
    half as often as the one before, and of the dominant sequence; then the whole run.
    """
    counts = np.unique(np.concatenate([group.count for group in signature.groups]))
    wanted = {1, int(largest_good_scaling_factor(signature))}
    least = math.inf
    for often in counts[::-1].tolist():
        if often <= least:
            wanted.add(often)
            least = often / 2
    for trips in sorted(wanted, reverse=True):
        yield min(max(math.ceil(trips * fraction - _TINY), 1) / trips, 1.0)


def _call_share(signature: Signature) -> float:
    """Return the part of the time of all ranks that is spent inside calls."""
    inside_s = sum(float(group.mpi_ns.sum()) for group in signature.groups) / 1e9
    return inside_s / max(signature.computed_s + signature.idle_s + inside_s, 1e-9)
