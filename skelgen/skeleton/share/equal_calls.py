"""Find sequences of calls that are the same, or the same but for a few calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.skeleton.thresholds import (
    LEAST_COMMON_CALLS,
    LONGEST_COMPARED,
    MOST_DIFFERENCES,
    MOST_SEQUENCES_COMPARED,
)


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
        for i, other in enumerate(
            found if len(equal) <= MOST_SEQUENCES_COMPARED else ()
        ):
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
    if longest > LONGEST_COMPARED or shortest < LEAST_COMMON_CALLS * longest:
        return None
    most = min(MOST_DIFFERENCES, int(2 * (1 - LEAST_COMMON_CALLS) * longest))
    pairs = _matched(one.sequence, other.sequence, most)
    if pairs is None:
        return None
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    return Cluster(
        np.where(first < 0, other.sequence[second], one.sequence[first]),
        one.members + other.members,
        tuple(_moved(place, first) for place in one.places)
        + tuple(_moved(place, second) for place in other.places),
    )


def _moved(place: NDArray[np.int64], at: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(at < 0, -1, place[at])


def _matched(
    a: NDArray[np.int64], b: NDArray[np.int64], most: int
) -> list[tuple[int, int]] | None:
    """Return a shortest way to turn one sequence into another, as pairs of places.

    A place of one that has none in the other is paired with -1. None when it needs
    more than `most` insertions and deletions.

    References
    ----------
    Myers, "An O(ND) Difference Algorithm and Its Variations", 1986.
    """
    reach = {1: 0}  # by diagonal k = x - y: the furthest x
    history: list[dict[int, int]] = []
    for differences in range(most + 1):
        history.append(dict(reach))
        for k in range(-differences, differences + 1, 2):
            down = k == -differences or (
                k != differences and reach[k - 1] < reach[k + 1]
            )
            x = reach[k + 1] if down else reach[k - 1] + 1
            x += _common(a, b, x, x - k)
            reach[k] = x
            if x >= len(a) and x - k >= len(b):
                return _way_back(history, len(a), len(b))
    return None


def _common(a: NDArray[np.int64], b: NDArray[np.int64], x: int, y: int) -> int:
    """Return how long both are equal from some places on."""
    count, chunk = 0, 16
    while True:
        one, other = a[x + count : x + count + chunk], b[y + count : y + count + chunk]
        length = min(len(one), len(other))
        unequal = np.flatnonzero(one[:length] != other[:length])
        if len(unequal):
            return count + int(unequal[0])
        count += length
        if length < chunk:
            return count
        chunk *= 4


def _way_back(history: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for differences in range(len(history) - 1, -1, -1):
        reach, k = history[differences], x - y
        down = k == -differences or (k != differences and reach[k - 1] < reach[k + 1])
        before = k + 1 if down else k - 1
        from_x = reach[before] if differences else 0
        from_y = from_x - before if differences else 0
        while x > from_x + (not down) * (differences > 0) and y > from_y + down * (
            differences > 0
        ):
            x, y = x - 1, y - 1
            pairs.append((x, y))
        if differences:
            pairs.append((-1, y - 1) if down else (x - 1, -1))
            x, y = from_x, from_y
    return pairs[::-1]
