"""Statistics as tables of text, one line for each leaf and rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.signature.field import Field
from skelgen.signature.numbers import (
    NumberError,
    amount,
    format_real,
    format_repeated,
    integer,
    reals,
    runs,
)
from skelgen.signature.spread import MOST_BINS, MOST_SAMPLES, constant_spread
from skelgen.signature.types import Spread

#: Sums of floats may differ by this much from what they must lie between [1].
_SLACK = 1e-9
#: Ranks of a communicator, for vectors.
_MOST_PARTNERS = 10_000_000
#: Histograms end here.
_TOO_LARGE = 1 << (MOST_BINS - 1)
_SIDES = ("sent", "received")
SPREAD_HEAD = "# leaf rank total squares least most | first bin, counts | samples"


def spread_lines(
    spread: Spread, ranks: Sequence[int], count: NDArray[np.int64]
) -> list[str]:
    """Write the statistics of one quantity.

    Lines such as ``3 0 = 4096`` say that the quantity always has this value; ``*``
    stands for all ranks.
    """
    constant = _is_constant(spread, count).tolist()
    columns = [part.tolist() for part in (
        spread.total, spread.squares, spread.least, spread.most,
    )]  # fmt: skip
    histogram, samples = spread.histogram.tolist(), spread.samples.tolist()
    taken = np.minimum(count, spread.samples.shape[2]).tolist()
    lines = [SPREAD_HEAD]
    for leaf in range(len(count)):
        least = columns[2][leaf]
        if all(constant[leaf]) and len(set(least)) == 1:
            lines.append(f"{leaf} * = {format_real(least[0])}")
            continue
        for at, rank in enumerate(ranks):
            if constant[leaf][at]:
                lines.append(f"{leaf} {rank} = {format_real(least[at])}")
                continue
            numbers = " ".join(format_real(column[leaf][at]) for column in columns)
            bins = _format_histogram(histogram[leaf][at])
            taken_here = samples[leaf][at][: taken[leaf]]
            values = format_repeated([format_real(value) for value in taken_here])
            lines.append(f"{leaf} {rank} {numbers} | {bins} | {values}")
    return lines


def _is_constant(spread: Spread, count: NDArray[np.int64]) -> NDArray[np.bool_]:
    expected = constant_spread(
        spread.least, count, spread.histogram.shape[2], spread.samples.shape[2]
    )
    same: NDArray[np.bool_] = spread.least == spread.most
    same &= spread.total == expected.total
    same &= spread.squares == expected.squares
    same &= (spread.histogram == expected.histogram).all(axis=2)
    alike = (spread.samples == expected.samples) | np.isnan(expected.samples)
    same &= alike.all(axis=2)
    return same


def _format_histogram(counts: list[int]) -> str:
    used = [at for at, number in enumerate(counts) if number]
    first, last = used[0], used[-1]
    return " ".join(map(str, [first, *counts[first : last + 1]]))


@dataclass(slots=True)
class _Row:
    """Statistics of one leaf and rank as they were read."""

    numbers: tuple[float, float, float, float]
    first_bin: int
    counts: list[int]
    samples: list[float]


class SpreadReader:
    """Reads the statistics of one quantity.

    Parameters
    ----------
    ranks : sequence of int
        World ranks of the group.
    count : (leaves,) int64 array
        Occurrences of each leaf.
    samples : int
        Samples of leaves that occur so often.
    """

    def __init__(
        self, ranks: Sequence[int], count: NDArray[np.int64], samples: int
    ) -> None:
        self.place = {rank: at for at, rank in enumerate(ranks)}
        self.count = count.tolist()
        self.samples = samples
        shape = (len(count), len(ranks))
        self.constant = np.full(shape, np.nan)
        self.rows: list[list[_Row | None]] = [[None] * len(ranks) for _ in count]

    def read(self, document: Field) -> Spread:
        """Read a table and check it against the counts."""
        for field, words in document.lines():
            try:
                self._line(words)
            except NumberError as error:
                raise field.error(str(error)) from error
        self._check_complete(document)
        return self._spread()

    def _line(self, words: list[str]) -> None:
        if len(words) < 4:
            raise NumberError(f"read {' '.join(words)[:60]!r}, expected {SPREAD_HEAD}")
        leaf = integer(words[0], 0, len(self.count) - 1)
        places = _places(words[1], self.place)
        known = [
            at for at in places
            if self.rows[leaf][at] or not np.isnan(self.constant[leaf, at])
        ]  # fmt: skip
        if known:
            raise NumberError(f"read leaf {leaf} twice for rank {words[1]}")
        if words[2] == "=":
            if len(words) != 4:
                raise NumberError(f"read {len(words) - 3} values after =, expected 1")
            self.constant[leaf, places] = _size(words[3])
            return
        row = _read_row(" ".join(words[2:]))
        _check_row(row, self.count[leaf], min(self.count[leaf], self.samples))
        for at in places:
            self.rows[leaf][at] = row

    def _check_complete(self, document: Field) -> None:
        for leaf, of_leaf in enumerate(self.rows):
            for rank, at in self.place.items():
                if of_leaf[at] is None and np.isnan(self.constant[leaf, at]):
                    raise document.error(f"leaf {leaf} of rank {rank} is missing")

    def _spread(self) -> Spread:
        rows = [
            (leaf, at, row)
            for leaf, of_leaf in enumerate(self.rows)
            for at, row in enumerate(of_leaf)
            if row is not None
        ]
        constant = np.nan_to_num(self.constant, nan=0.0)
        bins = max(
            [row.first_bin + len(row.counts) for _, _, row in rows]
            + [int(bin_number) + 1 for bin_number in (
                _bins_of(self.constant[~np.isnan(self.constant)]).max(initial=0),
            )]
        )  # fmt: skip
        count = np.array(self.count, np.int64)
        spread = constant_spread(constant, count, bins, self.samples)
        for leaf, at, row in rows:
            for column, number in zip(
                (spread.total, spread.squares, spread.least, spread.most),
                row.numbers,
                strict=True,
            ):
                column[leaf, at] = number
            spread.histogram[leaf, at] = 0
            end = row.first_bin + len(row.counts)
            spread.histogram[leaf, at, row.first_bin : end] = row.counts
            spread.samples[leaf, at, : len(row.samples)] = row.samples
        return spread


def _size(word: str) -> float:
    value = amount(word)
    if value >= _TOO_LARGE:
        raise NumberError(f"read {word[:60]!r}, expected a number below 2^63")
    return value


def _bins_of(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.frexp(np.maximum(values, 0.5))[1].astype(np.int64)


def _places(text: str, place: dict[int, int]) -> list[int]:
    if text == "*":
        return list(place.values())
    rank = integer(text, 0, max(place))
    if rank not in place:
        raise NumberError(f"read rank {rank}, which is not in the group")
    return [place[rank]]


def _read_row(text: str) -> _Row:
    parts = text.split("|")
    if len(parts) != 3:
        raise NumberError(f"read {len(parts)} parts between |, expected 3")
    numbers = [amount(word) for word in parts[0].split()[:2]]
    numbers += [_size(word) for word in parts[0].split()[2:]]
    if len(numbers) != 4:
        raise NumberError(f"read {len(numbers)} numbers, expected 4 before the first |")
    first, *counts = parts[1].split() or [""]
    first_bin = integer(first, 0, MOST_BINS - 1)
    return _Row(
        (numbers[0], numbers[1], numbers[2], numbers[3]),
        first_bin,
        [integer(word, 0, 1 << 62) for word in counts],
        _samples(parts[2]),
    )


def _samples(text: str) -> list[float]:
    values = reals(text, MOST_SAMPLES)
    if None in values:
        raise NumberError("read - among the samples, expected numbers")
    return [value for value in values if value is not None]


def _check_row(row: _Row, count: int, samples: int) -> None:
    total, squares, least, most = row.numbers
    if least > most:
        raise NumberError(f"read least {least}, which is more than most {most}")
    if not _between(total, least * count, most * count):
        raise NumberError(
            f"read total {total}, expected {count} values from {least} to {most}"
        )
    if not _between(squares, total * (total / count), most * (most * count)):
        raise NumberError(f"read squares {squares}, which do not fit the total {total}")
    if row.first_bin + len(row.counts) > MOST_BINS:
        raise NumberError(f"read a histogram of more than {MOST_BINS} bins")
    if sum(row.counts) != count:
        raise NumberError(
            f"read a histogram of {sum(row.counts)} values, but the leaf occurs "
            f"{count} times"
        )
    if len(row.samples) != samples:
        raise NumberError(f"read {len(row.samples)} samples, expected {samples}")
    if not all(least <= sample <= most for sample in row.samples):
        raise NumberError(f"read a sample that is not within {least} to {most}")


def _between(value: float, low: float, high: float) -> bool:
    return low * (1 - _SLACK) <= value <= high * (1 + _SLACK)


def row_lines(values: NDArray[np.float64]) -> list[str]:
    """Write one line for each leaf: its number, then a value for each rank."""
    return [
        f"{leaf} {format_repeated([format_real(value) for value in row])}"
        for leaf, row in enumerate(values.tolist())
    ]


def read_rows(document: Field, leaves: int, ranks: int) -> NDArray[np.float64]:
    """Read one line for each leaf."""
    values = np.full((leaves, ranks), np.nan)
    for field, (first, *words) in document.lines():
        try:
            leaf = integer(first, 0, leaves - 1)
            row = reals(" ".join(words), ranks)
        except NumberError as error:
            raise field.error(str(error)) from error
        if len(row) != ranks or None in row:
            raise field.error(f"read {len(row)} numbers, expected {ranks}")
        if not np.isnan(values[leaf]).all():
            raise field.error(f"read leaf {leaf} twice")
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
    for field, words in document.lines() if document else ():
        try:
            leaf, at, side, row = _vector_line(words, leaves, place)
        except NumberError as error:
            raise field.error(str(error)) from error
        if not vectors[leaf].shape[2]:
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
    if len(words) < 4 or words[2] not in _SIDES or words[1] == "*":
        raise NumberError(
            f"read {' '.join(words)[:60]!r}, expected leaf, rank, sent or received, "
            "and numbers"
        )
    row = reals(" ".join(words[3:]), _MOST_PARTNERS)
    if all(value is None for value in row):
        raise NumberError("read no number")
    leaf = integer(words[0], 0, leaves - 1)
    return leaf, _places(words[1], place)[0], _SIDES.index(words[2]), row


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
    for field, (first, *words) in document.lines() if document else ():
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
