"""Statistics as tables of text, one line for each leaf and rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.documents.document_field import Field
from skelgen.documents.numbers import (
    NumberError,
    amount,
    format_real,
    format_repeated,
    integer,
    place_of,
    reals,
)
from skelgen.signature.spread import MOST_BINS, constant_spread
from skelgen.signature.thresholds import MOST_SAMPLES
from skelgen.signature.types import Spread

#: Sums of floats may differ by this much from what they must lie between [1].
_SLACK = 1e-9
#: Histograms end here.
_TOO_LARGE = 1 << (MOST_BINS - 1)
SPREAD_HEAD = "# leaf rank total squares least most | first bin, counts | samples"


def spread_lines(
    spread: Spread, ranks: Sequence[int], count: NDArray[np.int64]
) -> list[str]:
    """Write the statistics of one quantity.

    Lines such as ``3 = 4096*4`` say that the quantity always has the same value on
    each rank, and which.
    """
    constant: NDArray[np.bool_] = _is_constant(spread, count)
    always: list[bool] = np.all(constant, axis=1).tolist()
    values = spread.least.tolist()
    lines = [SPREAD_HEAD]
    for leaf, of_leaf in enumerate(values):
        if always[leaf]:
            lines.append(f"{leaf} = {format_repeated(list(map(format_real, of_leaf)))}")
            continue
        for at, rank in enumerate(ranks):
            if constant[leaf, at]:
                lines.append(f"{leaf} {rank} = {format_real(of_leaf[at])}")
            else:
                row = _format_row(spread, leaf, at, int(count[leaf]))
                lines.append(f"{leaf} {rank} {row}")
    return lines


def _format_row(spread: Spread, leaf: int, at: int, count: int) -> str:
    columns = (spread.total, spread.squares, spread.least, spread.most)
    numbers = " ".join(format_real(float(column[leaf, at])) for column in columns)
    bins = _format_histogram(spread.histogram[leaf, at].tolist())
    samples = spread.samples[leaf, at, :count].tolist()
    values = format_repeated([format_real(value) for value in samples])
    return f"{numbers} | {bins} | {values}"


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
        self.count = count
        self.counts = count.tolist()
        self.samples = samples
        self.constant = np.full((len(count), len(ranks)), np.nan)
        self.rows: dict[tuple[int, int], _Row] = {}
        # Leaves with a line for all ranks, and with lines for some.
        self.whole: set[int] = set()
        self.parts: set[int] = set()

    def read(self, document: Field) -> Spread:
        """Read a table and check it against the counts."""
        for number, line in document.lines():
            try:
                self._line(line)
            except NumberError as error:
                raise document.line(number).error(str(error)) from error
        self._check_complete(document)
        bins = self._bins()
        cell_bytes = 8 * (5 + bins + 3 * self.samples)
        document.take(cell_bytes * self.constant.size, "its statistics")
        return self._spread(bins)

    def _line(self, line: str) -> None:
        begin, equals, rest = line.partition("=")
        words = begin.split()
        if not words or (not equals and len(words) < 4) or (equals and len(words) > 2):
            raise NumberError(f"read {line[:60]!r}, expected {SPREAD_HEAD}")
        leaf = integer(words[0], 0, len(self.counts) - 1)
        if leaf in self.whole:
            raise NumberError(f"read leaf {leaf} twice")
        if equals and len(words) == 1:
            if leaf in self.parts:
                raise NumberError(f"read leaf {leaf} twice")
            self.constant[leaf] = _values(rest, len(self.place))
            self.whole.add(leaf)
            return
        at = place_of(words[1], self.place)
        if (leaf, at) in self.rows:
            raise NumberError(f"read leaf {leaf} twice for rank {words[1]}")
        self.parts.add(leaf)
        count = self.counts[leaf]
        if equals:
            (value,) = _values(rest, 1)
            self.rows[leaf, at] = _always(value, count, min(count, self.samples))
        else:
            row = _read_row(line.split(maxsplit=2)[2])
            _check_row(row, count, min(count, self.samples))
            self.rows[leaf, at] = row

    def _check_complete(self, document: Field) -> None:
        there = ~np.isnan(self.constant)
        for leaf, at in self.rows:
            there[leaf, at] = True
        if not there.all():
            leaf, at = np.argwhere(~there)[0].tolist()
            rank = list(self.place)[at]
            raise document.error(f"leaf {leaf} of rank {rank} is missing")

    def _bins(self) -> int:
        known = self.constant[~np.isnan(self.constant)]
        bins = 1 + _bin_of(float(known.max(initial=0)))
        ends = (row.first_bin + len(row.counts) for row in self.rows.values())
        return max([bins, *ends])

    def _spread(self, bins: int) -> Spread:
        constant = np.nan_to_num(self.constant, nan=0.0)
        spread = constant_spread(constant, self.count, bins, self.samples)
        for (leaf, at), row in self.rows.items():
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


def _values(text: str, expected: int) -> list[float]:
    values = [value for value in reals(text.strip(), expected) if value is not None]
    if len(values) != expected:
        raise NumberError(f"read {len(values)} values after =, expected {expected}")
    if max(values) >= _TOO_LARGE:
        raise NumberError(f"read {max(values)}, expected a number below 2^63")
    return values


def _always(value: float, count: int, samples: int) -> _Row:
    """Return the statistics of a quantity that always has one value."""
    return _Row(
        (value * count, value * (value * count), value, value),
        _bin_of(value),
        [count],
        [value] * samples,
    )


def _bin_of(value: float) -> int:
    return math.frexp(max(value, 0.5))[1]


def _size(word: str) -> float:
    value = amount(word)
    if value >= _TOO_LARGE:
        raise NumberError(f"read {word[:60]!r}, expected a number below 2^63")
    return value


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
