"""Turn quantities into C expressions, and into tables where they vary.

A quantity that is the same for all ranks and occurrences is a literal; one that
differs between ranks is indexed by ``row``; one that changes during the run is a
`series` that hands out its values in turn.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skelgen.skeleton.render_layout import COLUMNS, number, width, wrap

#: Longest list of values whose period is looked for.
_LONGEST_PERIOD_SEARCH = 1 << 16


@dataclass(frozen=True, slots=True)
class Table:
    """A constant array of the C program.

    Attributes
    ----------
    kind : str
        Type of its elements.
    name : str
    dimensions : str
        Such as ``[2][16]``.
    lines : tuple of str
        The initialiser, braces included.
    """

    kind: str
    name: str
    dimensions: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SeriesTable:
    """A quantity that changes from occurrence to occurrence."""

    name: str
    values: str
    columns: int
    by_row: bool
    occurrences: int

    @property
    def values_expression(self) -> str:
        """Return a pointer to the first value."""
        return f"{self.values}[0]" if self.by_row else self.values


@dataclass(slots=True)
class Tables:
    """Collects the tables of a program; equal contents share one."""

    tables: list[Table] = field(default_factory=list)
    series: list[SeriesTable] = field(default_factory=list)
    runs: list[tuple[str, str, int]] = field(default_factory=list)
    by_row: bool = False
    _known: dict[tuple[str, tuple[int, ...], bytes], str] = field(default_factory=dict)
    _counted: dict[tuple[Hashable, str, bytes], str] = field(default_factory=dict)

    def constant(self, kind: str, stem: str, values: NDArray[np.float64]) -> str:
        """Return the name of a table with these values."""
        key = (kind, values.shape, values.tobytes())
        if key not in self._known:
            name = f"{stem}_{len(self.tables)}"
            dimensions = "".join(f"[{size}]" for size in values.shape)
            words = _initialiser(values)
            self._known[key] = name
            self.tables.append(Table(kind, name, dimensions, words))
        return self._known[key]

    def quantity(
        self,
        stem: str,
        values: NDArray[np.float64],
        occurrences: int,
        *,
        owner: Hashable = None,
        whole: bool = True,
    ) -> str:
        """Return an expression for a quantity.

        Parameters
        ----------
        stem : str
            Begin of the table's name.
        values : (ranks, s) array
            Occurrence k of n takes column ``k * s // n``.
        occurrences : int
        owner : hashable
            What the quantity belongs to: a call that stands at several places of
            the text counts its occurrences at all of them together.
        whole : bool
            Whether the values are integers.
        """
        values = _shortened(np.asarray(values, np.float64))
        same = bool((values == values[:1]).all())
        if same and values.shape[1] == 1:
            return number(values[0, 0], 17 if whole else 5)
        if not same:
            self.by_row = True
        if values.shape[1] == 1:
            kind = "int" if whole else "double"
            return f"{self.constant(kind, stem, values[:, 0])}[row]"
        key = (owner, stem, values.tobytes())
        if owner is None or key not in self._counted:
            table = self.constant("double", stem, values[0] if same else values)
            name = f"{stem}_series_{len(self.series)}"
            self._counted[key] = name
            self.series.append(
                SeriesTable(name, table, values.shape[1], not same, occurrences)
            )
        name = self._counted[key]
        return f"(int)next(&{name})" if whole else f"next(&{name})"

    def in_turn(
        self, stem: str, values: NDArray[np.int64], *, owner: Hashable = None
    ) -> str:
        """Return an expression that gives one value after another.

        Parameters
        ----------
        stem : str
            Begin of the table's name.
        values : (ranks, n) array
            All values of each rank, in order.
        owner : hashable
            As for `quantity`.
        """
        runs = _run_lengths(values)
        period = _period(values)
        same = bool((values == values[:1]).all())
        if period <= 2 * len(runs) or not same:
            first = values[:, :period].astype(float)
            return self.quantity(stem, first, period, owner=owner)
        key = (owner, stem, values.tobytes())
        if owner is None or key not in self._counted:
            table = self.constant("double", stem, np.array(runs, float))
            name = f"{stem}_runs_{len(self.runs)}"
            self._counted[key] = name
            self.runs.append((name, table, len(runs)))
        return f"(int)next_run(&{self._counted[key]})"


def _shortened(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Drop columns that say nothing."""
    if values.shape[1] > 1 and (values == values[:, :1]).all():
        return values[:, :1]
    return values


def _period(values: NDArray[np.int64]) -> int:
    """Return after how many values they repeat, for as long as they last."""
    n = values.shape[1]
    if n > _LONGEST_PERIOD_SEARCH:
        return n
    # Candidates are distances from the start to a copy of the first column.
    copies = np.flatnonzero((values == values[:, :1]).all(axis=0))[1:]
    for candidate in copies[:1000]:
        if (values[:, candidate:] == values[:, : n - candidate]).all():
            return int(candidate)
    return n


def _run_lengths(values: NDArray[np.int64]) -> list[tuple[int, int]]:
    first = values[0]
    begins = np.flatnonzero(np.diff(first, prepend=first[0] - 1))
    ends = np.append(begins[1:], len(first))
    return [(int(first[b]), int(e - b)) for b, e in zip(begins, ends, strict=True)]


def _initialiser(values: NDArray[np.float64]) -> tuple[str, ...]:
    """Write the values in braces, one line when they fit."""
    if values.ndim == 1:
        words = _words(values)
        line = "{" + ", ".join(words) + "}"
        if len(line) <= COLUMNS - 40:
            return (line,)
        return ("{", *wrap(words, 1), "}")
    rows = ["{" + ", ".join(_words(row)) + "}" for row in values]
    if all(width("\t" + row + ",") <= COLUMNS for row in rows):
        return ("{", *_packed(rows), "}")
    lines: list[str] = []
    for row in values:
        lines += ["\t{", *wrap(_words(row), 2), "\t},"]
    return ("{", *lines, "}")


def _packed(rows: Sequence[str]) -> list[str]:
    """Put short rows beside each other, long ones below each other."""
    if max(len(row) for row in rows) > 20:
        return [f"\t{row}," for row in rows]
    return wrap(rows, 1)


def _words(values: NDArray[np.float64]) -> list[str]:
    whole = bool((values == np.rint(values)).all())
    return [number(value, 17 if whole else 4) for value in values]
