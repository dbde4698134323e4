"""Turn quantities into C expressions, and into tables where they vary.

A quantity that is the same for all ranks and occurrences is a literal; one that
differs between ranks is indexed by ``row``; one that changes during the run is a
`series` that hands out its values in turn.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skelgen.skeleton.emit.layout import COLUMNS, number, width, wrap
from skelgen.skeleton.types import Serving

#: Partner of a call to nobody; no real one is that large.
NOBODY = 1 << 30
#: Longest list of values whose period is looked for.
_LONGEST_PERIOD_SEARCH = 1 << 16


@dataclass(slots=True)
class ServingTable:
    """Whom a rank serves, as the template sees it.

    Attributes
    ----------
    name : str
    serving : Serving
    shifts, due : str
        Names of its tables.
    room_bytes, answer_bytes : int
        What its calls receive from a partner, and send at most [bytes].
    """

    name: str
    serving: Serving
    shifts: str
    due: str
    room_bytes: int = 0
    answer_bytes: int = 0

    @property
    def partners(self) -> int:
        """Return the number of partners."""
        return len(self.serving.shifts)

    @property
    def stretches(self) -> int:
        """Return the number of different stretches."""
        return len(self.serving.due)

    @property
    def turns(self) -> int:
        """Return the number of turns of a run."""
        due = self.serving.due
        return int((due[:, 0] * due[:, 1:].sum(axis=1)).sum())


@dataclass(slots=True)
class ProgramTables:
    """Collects the tables of a program; equal constant ones are written once.

    Attributes
    ----------
    definitions : dict of str to list of str
        Lines of each table's definition.
    by_row : bool
        Whether any of them is indexed by ``row``.
    servings : dict of int to ServingTable
        Whom ranks serve as they come.
    """

    definitions: dict[str, list[str]] = field(default_factory=dict)
    by_row: bool = False
    servings: dict[int, ServingTable] = field(default_factory=dict)
    _count: int = 0
    _known: dict[Hashable, str] = field(default_factory=dict)

    @property
    def lines(self) -> list[str]:
        """Return the definitions of all tables."""
        return [line for lines in self.definitions.values() for line in lines]

    @property
    def served_bytes(self) -> int:
        """Return what the first messages of all partners of a rank need [bytes]."""
        return max(one.partners * one.room_bytes for one in self.servings.values())

    @property
    def answer_bytes(self) -> int:
        """Return what the longest answer needs [bytes]."""
        return max(one.answer_bytes for one in self.servings.values())

    def drop_unused(self, text: str) -> bool:
        """Drop the tables that a text only defines; return whether there were any.

        A call may ask for a quantity that its text does not need in the end, and C
        compilers warn about what nobody uses.
        """
        words = Counter(re.findall(r"\w+", text))
        unused = [name for name in self.definitions if words[name] == 1]
        for name in unused:
            del self.definitions[name]
        return bool(unused)

    def constant(self, kind: str, stem: str, values: NDArray[np.float64]) -> str:
        """Return the name of a constant array with these values."""
        key = (kind, values.shape, values.tobytes())
        if key not in self._known:
            size = "".join(f"[{size}]" for size in values.shape)
            name = self._name(key, stem)
            head = f"static const {kind} {name}{size} = "
            self._define(name, head, _rows(values), ";")
        return self._known[key]

    def serving(self, serving: Serving, room_bytes: int, answer_bytes: int) -> str:
        """Return the name of the table of whom a rank serves.

        Parameters
        ----------
        serving : Serving
        room_bytes, answer_bytes : int
            What a call receives and sends [bytes].
        """
        table = self.servings.get(id(serving))
        if table is None:
            shifts = self.constant("int", "shifts", serving.shifts.astype(float))
            due = self.constant("int", "due", serving.due.ravel().astype(float))
            table = ServingTable(f"serving_{len(self.servings)}", serving, shifts, due)
            self.servings[id(serving)] = table
        table.room_bytes = max(table.room_bytes, room_bytes)
        table.answer_bytes = max(table.answer_bytes, answer_bytes)
        return table.name

    def _name(self, key: Hashable, stem: str) -> str:
        self._known[key] = name = f"{stem}_{self._count}"
        self._count += 1
        return name

    def _define(self, name: str, head: str, rows: Sequence[str], tail: str) -> None:
        """Write a definition, in one line when it fits."""
        line = f"{head}{{{', '.join(rows)}}}{tail}"
        lines = [f"{head}{{", *wrap(rows, 1), f"}}{tail}"]
        self.definitions[name] = [line] if width(line) <= COLUMNS else lines

    def quantity(
        self,
        stem: str,
        values: Sequence[NDArray[np.float64]],
        occurrences: Sequence[int],
        *,
        owner: Hashable = None,
        whole: bool = True,
    ) -> str:
        """Return an expression for a quantity.

        Parameters
        ----------
        stem : str
            Begin of the table's name.
        values : sequence of (ranks, s) arrays
            One for each place of the text, whose number is in ``at``; occurrence k
            of n takes column ``k * s // n``.
        occurrences : sequence of int
            n at each place.
        owner : hashable
            What the quantity belongs to: a call that stands at several places of
            the text counts its occurrences at all of them together.
        whole : bool
            Whether the values are integers.
        """
        found = [_shortened(np.asarray(array, np.float64)) for array in values]
        if all(np.array_equal(a, found[0]) for a in found) and found[0].shape[1] == 1:
            found = found[:1]
        by_row = any((array != array[:1]).any() for array in found)
        self.by_row |= by_row
        if all(array.shape[1] == 1 for array in found):
            return self._single(stem, np.stack([a[:, 0] for a in found]), by_row, whole)
        key = (owner, stem, *(array.tobytes() for array in found))
        if owner is None or key not in self._known:
            self._series(key, stem, found, occurrences)
        place = "[at]" if len(found) > 1 else ""
        return f"{'count' if whole else 'next'}(&{self._known[key]}{place})"

    def _single(
        self, stem: str, values: NDArray[np.float64], by_row: bool, whole: bool
    ) -> str:
        """Return an expression for (places, ranks) values that do not change."""
        places = "[at]" if len(values) > 1 else ""
        if not by_row:
            values = values[:, 0]
            if not places:
                return number(values[0], 17 if whole else 5)
        elif not places:
            values = values[0]
        kind = "int" if whole else "double"
        return self.constant(kind, stem, values) + places + ("[row]" if by_row else "")

    def _series(
        self,
        key: Hashable,
        stem: str,
        values: Sequence[NDArray[np.float64]],
        occurrences: Sequence[int],
    ) -> None:
        """Define series: columns, by row or not, occurrences, now, values."""
        entries = []
        for array, often in zip(values, occurrences, strict=True):
            rows = array[:1] if (array == array[:1]).all() else array
            words = ", ".join(word for row in rows for word in _words(row))
            if rows.size == 1:
                entries.append(f"ONE({words})")
                continue
            numbers = f"{rows.shape[1]}, {int(len(rows) > 1)}, {often}, 0"
            entries.append(f"{{{numbers}, (const double[]){{{words}}}}}")
        size = f"[{len(values)}]" if len(values) > 1 else ""
        name = self._name(key, stem)
        head = f"static struct series {name}{size} = "
        if size:
            self._define(name, head, entries, ";")
        elif width(f"{head}{entries[0]};") <= COLUMNS:
            self.definitions[name] = [f"{head}{entries[0]};"]
        else:
            *first, last = wrap(entries, 1)
            self.definitions[name] = [head.rstrip(), *first, last.rstrip(",") + ";"]

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
            return self.quantity(stem, [first], [period], owner=owner)
        key = (owner, stem, values.tobytes())
        if owner is None or key not in self._known:
            name = self._name(key, stem)
            head = f"static struct runs {name} = "
            head += f"{{{len(runs)}, 0, 0, (const double[][2])"
            self._define(name, head, _rows(np.array(runs, float)), "};")
        return f"(int)next_run(&{self._known[key]})"


def _shortened(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Drop columns that say nothing."""
    if values.shape[1] > 1 and (values == values[:, :1]).all():
        return values[:, :1]
    return values


def _period(values: NDArray[np.int64]) -> int:
    """Return after how many values they repeat, for as long as they last."""
    n = int(values.shape[1])
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


def _rows(values: NDArray[np.float64]) -> list[str]:
    """Write the values of each row in braces; a single row without."""
    if values.ndim == 1:
        return _words(values)
    return ["{" + ", ".join(_words(row)) + "}" for row in values]


def _words(values: NDArray[np.float64]) -> list[str]:
    whole = bool((values == np.rint(values)).all())
    return [
        "MPI_PROC_NULL" if value == NOBODY else number(value, 17 if whole else 4)
        for value in values
    ]
