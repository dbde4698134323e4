"""Ranks joined into blocks, so that pictures of thousands of them stay small."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import function_info
from skelgen.events.functions import SENDING
from skelgen.signature import RankGroup, Signature
from skelgen.symbols.types import VARYING

#: Most blocks of one picture, and of one side of a matrix.
MOST_BLOCKS = 128

_Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SentBlocks:
    """Messages from ranks to ranks.

    Attributes
    ----------
    ranks : int
    each : int
        Ranks of a block.
    size_bytes : (blocks, blocks) float64 array
        Row: senders, column: receivers [bytes].
    messages : (blocks, blocks) float64 array
    """

    ranks: int
    each: int
    size_bytes: NDArray[np.float64]
    messages: NDArray[np.float64]


def ranks_in_block(ranks: int) -> int:
    """Return how many ranks share a block: a power of two.

    Examples
    --------
    >>> ranks_in_block(128), ranks_in_block(129), ranks_in_block(4096)
    (1, 2, 32)
    """
    return 1 << max(0, -(-ranks // MOST_BLOCKS) - 1).bit_length()


def blocks_of_ranks(
    size_bytes: NDArray[np.float64], messages: NDArray[np.uint32]
) -> SentBlocks:
    """Join the ranks of two matrices, each (ranks, ranks) or (0, 0)."""
    ranks = len(size_bytes)
    if not ranks:
        return SentBlocks(0, 1, size_bytes, size_bytes)
    each = ranks_in_block(ranks)
    starts = np.arange(0, ranks, each)
    joined = []
    for whole in (size_bytes, messages):
        rows = np.add.reduceat(whole, starts, axis=0, dtype=np.float64)
        joined.append(np.add.reduceat(rows, starts, axis=1))
    return SentBlocks(ranks, each, *joined)


def blocks_of_signature(signature: Signature) -> SentBlocks:
    """Add up what point-to-point calls of a signature send."""
    ranks = signature.ranks
    each = ranks_in_block(ranks)
    blocks = -(-ranks // each)
    size_bytes, messages = np.zeros((2, blocks, blocks))
    places = [_Places.of(signature, f) for f in range(len(signature.families))]
    for group in signature.groups:
        senders = np.array(group.ranks, np.int64)
        for leaf, family, partner, share in _sending(signature, group):
            cells = senders // each, places[family].ranks_at(senders, partner) // each
            np.add.at(size_bytes, cells, share * group.size_bytes.total[leaf])
            np.add.at(messages, cells, share * float(group.count[leaf]))
    return SentBlocks(ranks, each, size_bytes, messages)


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """Where each rank is in its communicator of a family, (ranks,) arrays.

    Attributes
    ----------
    members : array
        Of all communicators, one behind the other.
    first, size, own : array
        Where those of a rank's begin, their number, and its own place among them.
    """

    members: _Integers
    first: _Integers
    size: _Integers
    own: _Integers

    @classmethod
    def of(cls, signature: Signature, family: int) -> _Places:
        instances = signature.families[family].instances
        members = np.array([rank for one in instances for rank in one], np.int64)
        sizes = np.array([len(one) for one in instances], np.int64)
        begins = np.cumsum(sizes) - sizes
        first, size, own = np.zeros((3, signature.ranks), np.int64)
        first[members], size[members] = (
            np.repeat(begins, sizes),
            np.repeat(sizes, sizes),
        )
        own[members] = np.arange(len(members)) - first[members]
        return cls(members, first, size, own)

    def ranks_at(self, ranks: _Integers, partner: int) -> _Integers:
        """Return the rank that is so many places behind each of some."""
        places = (self.own[ranks] + partner) % self.size[ranks]
        found: _Integers = self.members[self.first[ranks] + places]
        return found


def _sending(
    signature: Signature, group: RankGroup
) -> Iterator[tuple[int, int, int, float]]:
    """Yield leaf, family, relative partner, and its share of the leaf's calls."""
    for leaf, row in enumerate(group.nest.symbol[group.nest.body_items == 0]):
        symbol = signature.symbols[row]
        peer, family = int(symbol["peer"]), int(symbol["family"])
        kind = function_info(signature.functions[symbol["function"]]).kind
        if kind not in SENDING:
            continue
        if peer == VARYING:
            runs = group.peers[leaf].astype(np.int64)
            partners, which = np.unique(runs[:, 0], return_inverse=True)
            shares = np.bincount(which, weights=runs[:, 1]) / runs[:, 1].sum()
            for partner, share in zip(partners.tolist(), shares.tolist(), strict=True):
                yield leaf, family, partner, share
        elif peer >= 0:
            yield leaf, family, peer, 1.0
