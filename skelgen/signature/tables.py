"""Other numbers of a group as tables of text, one line for each leaf."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skelgen.documents.document_field import Field
from skelgen.documents.numbers import (
    MOST_RANKS,
    NumberError,
    format_real,
    format_repeated,
    integer,
    place_of,
    reals,
    runs,
)

_SIDES = ("sent", "received")
#: Bytes of one call to all partners; integers hold twice as many.
_TOO_LARGE = 1 << 62


def row_lines(values: NDArray[np.float64]) -> list[str]:
    """Write one line for each leaf: its number, then a value for each rank."""
    return [
        f"{leaf} {format_repeated([format_real(value) for value in row])}"
        for leaf, row in enumerate(values.tolist())
    ]


def read_rows(document: Field, leaves: int, ranks: int) -> NDArray[np.float64]:
    """Read one line for each leaf."""
    values = np.full((leaves, ranks), np.nan)
    known: set[int] = set()
    for number, line in document.lines():
        first, _, rest = line.partition(" ")
        try:
            leaf = integer(first, 0, leaves - 1)
            row = reals(rest.strip(), ranks)
        except NumberError as error:
            raise document.line(number).error(str(error)) from error
        if len(row) != ranks or None in row:
            found = f"read {len(row)} numbers, expected {ranks}"
            raise document.line(number).error(found)
        if leaf in known:
            raise document.line(number).error(f"read leaf {leaf} twice")
        known.add(leaf)
        values[leaf] = row
    missing = np.flatnonzero(np.isnan(values).any(axis=1))
    if len(missing):
        raise document.error(f"leaf {missing[0]} is missing")
    return values


def vector_lines(
    vectors: Sequence[NDArray[np.float64]], ranks: Sequence[int]
) -> list[str]:
    """Write the vectors: leaf, rank, side and a value for each partner."""
    return [
        f"{leaf} {rank} {side} "
        + format_repeated(
            ["-" if np.isnan(value) else format_real(value) for value in row.tolist()]
        )
        for leaf, of_leaf in enumerate(vectors)
        if of_leaf.shape[2]
        for rank, sides in zip(ranks, of_leaf, strict=True)
        for side, row in zip(_SIDES, sides, strict=True)
        if not np.isnan(row).all()
    ]


def read_vectors(
    document: Field | None, leaves: int, ranks: Sequence[int]
) -> tuple[NDArray[np.float64], ...]:
    """Read the vectors; leaves without lines have none."""
    vectors = [np.empty((len(ranks), 2, 0))] * leaves
    place = {rank: at for at, rank in enumerate(ranks)}
    for number, line in document.lines() if document else ():
        assert document is not None
        field, words = document.line(number), line.split()
        try:
            leaf, at, side, row = _vector_line(words, leaves, place)
        except NumberError as error:
            raise field.error(str(error)) from error
        if not vectors[leaf].shape[2]:
            document.take(16 * len(ranks) * len(row), "vectors")
            vectors[leaf] = np.full((len(ranks), 2, len(row)), np.nan)
        if vectors[leaf].shape[2] != len(row):
            expected = vectors[leaf].shape[2]
            raise field.error(f"read {len(row)} numbers, expected {expected}")
        if not np.isnan(vectors[leaf][at, side]).all():
            raise field.error(f"read leaf {leaf} twice for rank {words[1]}")
        vectors[leaf][at, side] = [np.nan if v is None else v for v in row]
    return tuple(vectors)


def _vector_line(
    words: list[str], leaves: int, place: dict[int, int]
) -> tuple[int, int, int, list[float | None]]:
    if len(words) < 4 or words[2] not in _SIDES:
        raise NumberError(
            f"read {' '.join(words)[:60]!r}, expected leaf, rank, sent or received, "
            "and numbers"
        )
    row = reals(" ".join(words[3:]), MOST_RANKS)
    if all(value is None for value in row):
        raise NumberError("read no number")
    if (whole := sum(value or 0.0 for value in row)) >= _TOO_LARGE:
        raise NumberError(f"read {whole:g} bytes in all, expected less than 2^62")
    leaf = integer(words[0], 0, leaves - 1)
    return leaf, place_of(words[1], place), _SIDES.index(words[2]), row


def peer_lines(peers: Sequence[NDArray[np.int32]]) -> list[str]:
    """Write the partners of leaves whose partners vary: leaf, partner*repeats ..."""
    return [
        f"{leaf} " + " ".join(f"{p}*{n}" if n > 1 else str(p) for p, n in rows.tolist())
        for leaf, rows in enumerate(peers)
        if len(rows)
    ]


def read_peers(
    document: Field | None, count: NDArray[np.int64], sizes: Sequence[int]
) -> tuple[NDArray[np.int32], ...]:
    """Read the partners of leaves whose partners vary.

    Parameters
    ----------
    document : Field or None
    count : (leaves,) int64 array
    sizes : sequence of int
        Ranks that can be partners at each leaf; 0 where partners do not vary.
    """
    none = np.empty((0, 2), np.int32)
    peers = [none] * len(count)
    for number, line in document.lines() if document else ():
        assert document is not None
        field, (first, *words) = document.line(number), line.split()
        try:
            leaf = integer(first, 0, len(count) - 1)
            if not sizes[leaf] or len(peers[leaf]):
                raise NumberError(f"read leaf {leaf} {'twice' if sizes[leaf] else ''}")
            text = " ".join(words)
            found = runs(text, 0, sizes[leaf] - 1, int(count[leaf]))
        except NumberError as error:
            raise field.error(str(error)) from error
        if sum(times for _, times in found) != count[leaf]:
            raise field.error(f"expected partners of {count[leaf]} occurrences")
        peers[leaf] = np.array(found, np.int32).reshape(-1, 2)
    for leaf, size in enumerate(sizes):
        if size and not len(peers[leaf]):
            if document is not None:
                raise document.error(f"leaf {leaf} is missing")
            raise NumberError(f"the field 'peers' is missing for leaf {leaf}")
    return tuple(peers)
