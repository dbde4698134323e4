"""Find sequences of calls that are the same, or the same but for a few calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

#: Sequences are merged when they have at least this part in common.
_LEAST_COMMON = 0.8
#: Longest sequence that is compared with others call by call.
_LONGEST = 3000
#: Most different sequences that are compared with each other.
_MOST_SEQUENCES = 16


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """Sequences and one that holds them all.

    Attributes
    ----------
    sequence : (n,) int64 array
        The common sequence.
    members : tuple of int
        Numbers of the sequences.
    places : tuple of (n,) int64 arrays
        For each member where its own element at each place is, -1 for none.
    """

    sequence: NDArray[np.int64]
    members: tuple[int, ...]
    places: tuple[NDArray[np.int64], ...]


def clusters(sequences: Sequence[NDArray[np.int64]]) -> list[Cluster]:
    """Put equal and nearly equal sequences together.

    Examples
    --------
    >>> one, two = np.array([1, 2, 3, 4, 5, 6]), np.array([1, 2, 3, 4, 9, 5, 6])
    >>> (found,) = clusters([one, two])
    >>> found.places[0].tolist()
    [0, 1, 2, 3, -1, 4, 5]
    """
    equal: dict[bytes, list[int]] = {}
    for number, sequence in enumerate(sequences):
        equal.setdefault(sequence.tobytes(), []).append(number)
    found: list[Cluster] = []
    for members in equal.values():
        sequence = sequences[members[0]].astype(np.int64)
        places = np.arange(len(sequence))
        one = Cluster(sequence, tuple(members), (places,) * len(members))
        for i, other in enumerate(found if len(equal) <= _MOST_SEQUENCES else ()):
            if (merged := _merged(other, one)) is not None:
                found[i] = merged
                break
        else:
            found.append(one)
    return found


def _merged(one: Cluster, other: Cluster) -> Cluster | None:
    """Return both in one when they have enough in common."""
    longest = max(len(one.sequence), len(other.sequence))
    shortest = min(len(one.sequence), len(other.sequence))
    if longest > _LONGEST or shortest < _LEAST_COMMON * longest:
        return None
    a, b = one.sequence.tolist(), other.sequence.tolist()
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if matcher.quick_ratio() < _LEAST_COMMON:
        return None
    if sum(block.size for block in matcher.get_matching_blocks()) < (
        _LEAST_COMMON * longest
    ):
        return None
    pairs: list[tuple[int, int]] = []
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind == "equal":
            pairs += zip(range(i, j), range(k, m), strict=True)
        else:
            pairs += [(place, -1) for place in range(i, j)]
            pairs += [(-1, place) for place in range(k, m)]
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    return Cluster(
        np.where(first < 0, other.sequence[second], one.sequence[first]),
        one.members + other.members,
        tuple(_moved(place, first) for place in one.places)
        + tuple(_moved(place, second) for place in other.places),
    )


def _moved(place: NDArray[np.int64], at: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(at < 0, -1, place[at])
