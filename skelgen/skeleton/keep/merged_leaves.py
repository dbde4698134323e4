"""Merge the leaves of a signature that have the same symbol."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.loops.parts import run_lengths
from skelgen.signature import RankGroup, Signature, Spread
from skelgen.signature.leaves import leaf_symbols
from skelgen.skeleton.keep.expansion import Expansion


def merged_leaves(
    signature: Signature, expansion: Expansion
) -> tuple[Signature, NDArray[np.int32]]:
    """Let the first leaf of each symbol and group stand for the others of both.

    Parameters
    ----------
    signature : Signature
    expansion : Expansion
        Of that signature.

    Returns
    -------
    Signature
        The first leaves have the statistics of all, the others have no occurrences.
        Its nests are those of the given one: they expand to other leaves.
    place : (leaves,) int32 array
        For each leaf, group after group, the one that stands for it.
    """
    groups, places = [], []
    for number, group in enumerate(signature.groups):
        own = expansion.leaf[expansion.first[number] : expansion.first[number + 1]]
        _, first, kind = np.unique(
            leaf_symbols(group.nest), return_index=True, return_inverse=True
        )
        place = first[kind].astype(np.int32)
        groups.append(_merged(group, place, own))
        places.append(place)
    return replace(signature, groups=tuple(groups)), np.concatenate(places)


def _merged(
    group: RankGroup, place: NDArray[np.int32], leaf: NDArray[np.int32]
) -> RankGroup:
    def added(values: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.zeros_like(values)
        np.add.at(found, place, values)
        return found

    return replace(
        group,
        count=np.bincount(place, group.count, len(place)).astype(np.int64),
        compute_ns=_spread(group.compute_ns, group.count, place),
        mpi_ns=added(group.mpi_ns),
        idle_ns=added(group.idle_ns),
        polls=added(group.polls),
        nap_ns=added(group.nap_ns),
        size_bytes=_spread(group.size_bytes, group.count, place),
        size_steps=added(group.size_steps),
        peers=_peers(group, place, leaf),
        vectors=_vectors(group, place),
    )


def _spread(one: Spread, count: NDArray[np.int64], place: NDArray[np.int32]) -> Spread:
    total, squares = np.zeros_like(one.total), np.zeros_like(one.squares)
    histogram = np.zeros_like(one.histogram)
    for found, values in ((total, one.total), (squares, one.squares)):
        np.add.at(found, place, values)
    np.add.at(histogram, place, one.histogram)
    least, most = one.least[place], one.most[place]
    np.minimum.at(least, place, one.least)
    np.maximum.at(most, place, one.most)
    samples = np.full_like(one.samples, np.nan)
    for first in np.unique(place).tolist():
        samples[first] = _samples(one.samples, count, np.flatnonzero(place == first))
    return Spread(total, squares, least, most, histogram, samples)


def _samples(
    samples: NDArray[np.float64], count: NDArray[np.int64], leaves: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Take samples of some leaves, one leaf after the other, by their occurrences."""
    known = ~np.isnan(samples[leaves]).any(axis=1)
    taken = known.sum(axis=1)
    often = np.where(taken > 0, count[leaves], 0)
    wanted = int(min(samples.shape[-1], taken.sum()))
    found: NDArray[np.float64] = np.full_like(samples[0], np.nan)
    if not wanted or not often.sum():
        return found
    at = (np.arange(wanted) + 0.5) / wanted * often.sum()
    ends = np.cumsum(often)
    which = np.searchsorted(ends, at, "right")
    within = (at - (ends - often)[which]) / often[which]
    column = np.minimum((within * taken[which]).astype(np.int64), taken[which] - 1)
    found[:, :wanted] = samples[leaves[which], :, column].T
    return found


def _peers(
    group: RankGroup, place: NDArray[np.int32], leaf: NDArray[np.int32]
) -> tuple[NDArray[np.int32], ...]:
    """Put partners in the order of all calls that a leaf stands for."""
    none = np.empty((0, 2), np.int32)
    found = [none] * len(place)
    varying = [at for at, runs in enumerate(group.peers) if len(runs)]
    if not varying:
        return tuple(found)
    partner = np.zeros(len(leaf), np.int32)
    for at in varying:
        runs = group.peers[at]
        partner[leaf == at] = np.repeat(runs[:, 0], runs[:, 1])
    for first in np.unique(place[varying]).tolist():
        own = partner[place[leaf] == first]
        found[first] = run_lengths(own).astype(np.int32)
    return tuple(found)


def _vectors(
    group: RankGroup, place: NDArray[np.int32]
) -> tuple[NDArray[np.float64], ...]:
    """Return the mean bytes of all calls that a leaf stands for."""
    found = list(group.vectors)
    for first in np.unique(place).tolist():
        own = np.flatnonzero(place == first)
        if len(own) > 1 and group.vectors[first].size:
            weight = group.count[own] / max(int(group.count[own].sum()), 1)
            every = np.stack([group.vectors[at] for at in own])
            found[first] = np.tensordot(weight, every, 1)
    return tuple(found)
