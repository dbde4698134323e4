"""Join what was summarised of some ranks of a group with what was of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.signature.long_occurrences import in_order
from skelgen.signature.types import RankGroup, Spread


def joined(parts: Sequence[RankGroup]) -> RankGroup:
    """Return one group with the ranks of all parts, in their order.

    Parameters
    ----------
    parts : sequence of RankGroup
        Ranks of one group: their nests, counts and varying partners are the same.
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    return replace(
        first,
        ranks=tuple(rank for part in parts for rank in part.ranks),
        compute_ns=_spread([part.compute_ns for part in parts]),
        mpi_ns=np.concatenate([part.mpi_ns for part in parts], axis=1),
        idle_ns=np.concatenate([part.idle_ns for part in parts], axis=1),
        polls=np.concatenate([part.polls for part in parts], axis=1),
        nap_ns=np.concatenate([part.nap_ns for part in parts], axis=1),
        size_bytes=_spread([part.size_bytes for part in parts]),
        size_steps=np.concatenate([part.size_steps for part in parts], axis=1),
        vectors=tuple(
            np.concatenate(_widened(of_leaf, np.nan))
            for of_leaf in zip(*(part.vectors for part in parts), strict=True)
        ),
        tail_ns=np.concatenate([part.tail_ns for part in parts]),
        tail_idle_ns=np.concatenate([part.tail_idle_ns for part in parts]),
        long_occurrences=_long_occurrences(parts),
    )


def _long_occurrences(parts: Sequence[RankGroup]) -> NDArray[np.void]:
    rows = np.concatenate([part.long_occurrences for part in parts])
    lengths = [len(part.long_occurrences) for part in parts]
    ranks = np.cumsum([0, *(len(part.ranks) for part in parts)])[:-1]
    rows["rank"] += np.repeat(ranks, lengths)
    return in_order(rows)


def _spread(parts: Sequence[Spread]) -> Spread:
    return Spread(
        **{
            name: np.concatenate(
                _widened([getattr(part, name) for part in parts], 0), axis=1
            )
            for name in Spread.__slots__
        }
    )


def _widened(arrays: Sequence[NDArray[Any]], value: float) -> list[NDArray[Any]]:
    """Make three-dimensional arrays equally long: histograms and vectors."""
    if arrays[0].ndim < 3:
        return list(arrays)
    longest = max(array.shape[2] for array in arrays)
    return [
        np.pad(
            array,
            ((0, 0), (0, 0), (0, longest - array.shape[2])),
            constant_values=value,
        )
        if array.shape[2] < longest
        else array
        for array in arrays
    ]
