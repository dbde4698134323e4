"""The few occurrences of a leaf that compute much longer than its others.

Where a leaf stands for many calls, its mean would give their time to all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from skelgen.documents.document_field import Field
from skelgen.documents.numbers import (
    NumberError,
    amount,
    format_real,
    integer,
    place_of,
)
from skelgen.keys import occurrence_of
from skelgen.signature.rank_values import PositionValues
from skelgen.signature.spread import blocks
from skelgen.signature.thresholds import LEAST_LONG_SHARE, MOST_LONG_OCCURRENCES
from skelgen.signature.types import LONG_DTYPE, Spread

_COLUMNS = "leaf rank occurrence compute_ns"


def long_occurrences(
    leaf: NDArray[np.int32],
    count: NDArray[np.int64],
    compute_ns: Spread,
    values: Iterable[PositionValues],
    ranks: int,
) -> NDArray[np.void]:
    """Find the occurrences that hold much more computation than their leaf's mean.

    Leaves whose samples are all of their occurrences have none: they are known.

    Parameters
    ----------
    leaf : (n,) int32 array
        Leaf of each position of the string.
    count : (leaves,) int64 array
    compute_ns : Spread
        Of these ranks.
    values : iterable of (n,) int64 array or RankValues
        Computation at each position, for each of these ranks [ns].
    ranks : int
        Ranks of the whole group, which share the number that is kept.

    Returns
    -------
    (m,) LONG_DTYPE array
        By leaf, occurrence and rank.
    """
    unknown = count > compute_ns.samples.shape[2]
    mean = compute_ns.total / np.maximum(count, 1)[:, np.newaxis]
    least = mean + LEAST_LONG_SHARE * compute_ns.total.sum(axis=0)
    wanted = unknown[:, np.newaxis] & (compute_ns.most > least)
    most = max(MOST_LONG_OCCURRENCES // ranks, 1)
    found = [np.empty(0, LONG_DTYPE)]
    parts = blocks(len(leaf), len(count))
    # The same of all ranks; of a long string it would need much memory.
    occurrence = occurrence_of(leaf) if len(parts) == 1 else None
    for rank, of_rank in enumerate(values):
        if wanted[:, rank].any():
            beyond = np.where(wanted[:, rank], least[:, rank], np.inf)
            if occurrence is None:
                own = _in_parts(leaf, beyond, of_rank, parts)
            else:
                own = _longer(leaf, beyond, of_rank[parts[0]], occurrence)
            own["rank"] = rank
            longest = np.argsort(-own["compute_ns"], kind="stable")[:most]
            found.append(own[longest])
    return in_order(np.concatenate(found))


def _in_parts(
    leaf: NDArray[np.int32],
    beyond: NDArray[np.float64],
    values: PositionValues,
    parts: Sequence[slice],
) -> NDArray[np.void]:
    """Return the occurrences of a rank that are longer than their leaf's limit [ns]."""
    done = np.zeros(len(beyond), np.int64)
    found = [np.empty(0, LONG_DTYPE)]
    for part in parts:
        own = leaf[part]
        occurrence = done[own] + occurrence_of(own)
        found.append(_longer(own, beyond, values[part], occurrence))
        done += np.bincount(own, minlength=len(done))
    return np.concatenate(found)


def _longer(
    leaf: NDArray[np.int32],
    beyond: NDArray[np.float64],
    value: NDArray[np.int64],
    occurrence: NDArray[np.int64],
) -> NDArray[np.void]:
    """Return the positions that are longer than their leaf's limit [ns]."""
    place = np.flatnonzero(value > beyond[leaf])
    rows = np.zeros(len(place), LONG_DTYPE)
    rows["leaf"] = leaf[place]
    rows["occurrence"] = occurrence[place]
    rows["compute_ns"] = value[place]
    return rows


def in_order(rows: NDArray[np.void]) -> NDArray[np.void]:
    """Return them by leaf, occurrence and rank."""
    order = np.lexsort([rows["rank"], rows["occurrence"], rows["leaf"]])
    return rows[order]


def long_lines(rows: NDArray[np.void], ranks: tuple[int, ...]) -> list[str]:
    """Write one line for each."""
    lines = [
        f"{leaf} {ranks[rank]} {occurrence} {format_real(time_ns)}"
        for leaf, rank, occurrence, time_ns in rows.tolist()
    ]
    return [f"# {_COLUMNS}", *lines] if lines else []


def read_long(
    document: Field | None, count: NDArray[np.int64], ranks: tuple[int, ...]
) -> NDArray[np.void]:
    """Read one line for each; they stand in order."""
    if document is None:
        return np.empty(0, LONG_DTYPE)
    place = {rank: at for at, rank in enumerate(ranks)}
    rows: list[tuple[int, int, int, float]] = []
    for number, line in document.lines():
        field = document.line(number)
        words = line.split()
        if len(words) != 4:
            raise field.error(f"read {line[:60]!r}, expected {_COLUMNS}")
        try:
            leaf = integer(words[0], 0, len(count) - 1)
            rank = place_of(words[1], place)
            occurrence = integer(words[2], 0, int(count[leaf]) - 1)
            row = leaf, rank, occurrence, amount(words[3])
        except NumberError as error:
            raise field.error(str(error)) from error
        if rows and _key(rows[-1]) >= _key(row):
            raise field.error(
                f"read {line[:60]!r}, expected lines by leaf, occurrence and rank"
            )
        rows.append(row)
    return np.array(rows, LONG_DTYPE)


def _key(row: tuple[int, int, int, float]) -> tuple[int, int, int]:
    leaf, rank, occurrence, _ = row
    return leaf, occurrence, rank
