"""Turn quantities into C expressions, and into tables where they vary.

A quantity that is the same for all ranks and occurrences is a literal; one that
differs between ranks is indexed by ``row``; one that changes during the run is a
`series` that hands out its values in turn.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.skeleton.emit.fragments import (
    NO_USES,
    Fragment,
    Use,
    UseKind,
    Uses,
    helpers,
)
from skelgen.skeleton.emit.layout import COLUMNS, number, width, wrap
from skelgen.skeleton.types import Serving

#: Partner of a call to nobody; no real one is that large.
NO_PARTNER = 1 << 30
#: Longest list of values whose period is looked for.
_LONGEST_PERIOD_SEARCH = 1 << 16
#: Whole numbers below it have no digits that `number` would round.
_EXACT = 1e15


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
    shifts: Fragment
    due: Fragment
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


@dataclass(frozen=True, slots=True)
class Definition:
    """How a table is written.

    Attributes
    ----------
    lines : tuple of str
        None of those that the template writes.
    uses : frozenset of Use
        What has to be defined before it.
    """

    lines: tuple[str, ...]
    uses: Uses = NO_USES


@dataclass(slots=True)
class ProgramTables:
    """Collects the tables of a program; equal constant ones are written once.

    Attributes
    ----------
    definitions : dict of str to Definition
        By the name of the table.
    servings : dict of int to ServingTable
        Whom ranks serve as they come.
    """

    definitions: dict[str, Definition] = field(default_factory=dict)
    servings: dict[int, ServingTable] = field(default_factory=dict)
    _count: int = 0
    _known: dict[Hashable, str] = field(default_factory=dict)

    def lines(self, used: Uses) -> list[str]:
        """Return the definitions of the tables that are used.

        A call may ask for a quantity that its text does not need in the end, and C
        compilers warn about what nobody uses.
        """
        return [
            line
            for name, definition in self.definitions.items()
            if Use(UseKind.TABLE, name) in used
            for line in definition.lines
        ]

    def needs_of(self, name: str) -> Uses:
        """Return what has to be defined before a table."""
        return self.definitions[name].uses

    def constant(self, kind: str, stem: str, values: NDArray[np.float64]) -> Fragment:
        """Return the name of a constant array with these values."""
        key = (kind, values.shape, values.tobytes())
        if key not in self._known:
            size = "".join(f"[{size}]" for size in values.shape)
            name = self._name(key, stem)
            head = f"static const {kind} {name}{size} = "
            self._define(name, head, _rows(values), ";")
        return _table(self._known[key])

    def serving(self, serving: Serving, room_bytes: int, answer_bytes: int) -> Fragment:
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
            uses = helpers("serve") | shifts.uses | due.uses
            self.definitions[table.name] = Definition((), uses)
        table.room_bytes = max(table.room_bytes, room_bytes)
        table.answer_bytes = max(table.answer_bytes, answer_bytes)
        return _table(table.name)

    def _name(self, key: Hashable, stem: str) -> str:
        self._known[key] = name = f"{stem}_{self._count}"
        self._count += 1
        return name

    def _define(
        self,
        name: str,
        head: str,
        rows: Sequence[str],
        tail: str,
        uses: Uses = NO_USES,
    ) -> None:
        """Write a definition, in one line when it fits."""
        line = f"{head}{{{', '.join(rows)}}}{tail}"
        lines = (f"{head}{{", *wrap(rows, 1), f"}}{tail}")
        short = width(line) <= COLUMNS
        self.definitions[name] = Definition((line,) if short else lines, uses)

    def quantity(
        self,
        stem: str,
        values: Sequence[NDArray[np.float64]],
        occurrences: Sequence[int],
        *,
        owner: Hashable = None,
        read: str = "count",
        once: bool = True,
    ) -> Fragment:
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
        read : str
            Helper that reads a series: ``count`` of integers, ``next`` of others, or
            ``now`` where answers say how far all are.
        once : bool
            Whether a run reads it n times, not more.
        """
        found = [_shortened(np.asarray(array, np.float64)) for array in values]
        if all(np.array_equal(a, found[0]) for a in found) and found[0].shape[1] == 1:
            found = found[:1]
        by_row = any((array != array[:1]).any() for array in found)
        if all(array.shape[1] == 1 for array in found):
            single = np.stack([array[:, 0] for array in found])
            return self._single(stem, single, by_row, whole=read == "count")
        key = (owner, stem, *(array.tobytes() for array in found))
        if owner is None or key not in self._known:
            once = once and read != "now"
            self._series(key, stem, found, occurrences, once=once)
        table, at = _table(self._known[key]), _at(len(found))
        text = f"{read}(&{table.text}{at.text})"
        return Fragment(text, helpers(read) | table.uses | at.uses)

    def _single(
        self, stem: str, values: NDArray[np.float64], by_row: bool, *, whole: bool
    ) -> Fragment:
        """Return an expression for (places, ranks) values that do not change."""
        at = _at(len(values))
        if not by_row:
            values = values[:, 0]
            if not at.text:
                return Fragment(number(values[0], 17 if whole else 5))
        elif not at.text:
            values = values[0]
        table = self.constant("int" if whole else "double", stem, values)
        row = Fragment("[row]", helpers("row")) if by_row else Fragment("")
        text = f"{table.text}{at.text}{row.text}"
        return Fragment(text, table.uses | at.uses | row.uses)

    def _series(
        self,
        key: Hashable,
        stem: str,
        values: Sequence[NDArray[np.float64]],
        occurrences: Sequence[int],
        *,
        once: bool,
    ) -> None:
        """Define series: columns, by row or not, occurrences, now, values."""
        entries = []
        uses = helpers("series")
        for array, times in zip(values, occurrences, strict=True):
            rows = array[:1] if (array == array[:1]).all() else array
            often = times
            if once and rows.shape[1] == times:
                often = _period(rows)
                rows = rows[:, :often]
            words = ", ".join(word for row in rows for word in _words(row))
            if rows.size == 1:
                entries.append(f"ONE({words})")
                uses |= helpers("ONE")
                continue
            uses |= helpers("row") if len(rows) > 1 else NO_USES
            numbers = f"{rows.shape[1]}, {int(len(rows) > 1)}, {often}, 0"
            entries.append(f"{{{numbers}, (const double[]){{{words}}}}}")
        size = f"[{len(values)}]" if len(values) > 1 else ""
        name = self._name(key, stem)
        head = f"static struct series {name}{size} = "
        if size:
            self._define(name, head, entries, ";", uses)
        elif width(f"{head}{entries[0]};") <= COLUMNS:
            self.definitions[name] = Definition((f"{head}{entries[0]};",), uses)
        else:
            *first, last = wrap(entries, 1)
            lines = (head.rstrip(), *first, last.rstrip(",") + ";")
            self.definitions[name] = Definition(lines, uses)

    def in_turn(
        self, stem: str, values: NDArray[np.int64], *, owner: Hashable = None
    ) -> Fragment:
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
            return self.quantity(stem, [first], [period], owner=owner, once=False)
        key = (owner, stem, values.tobytes())
        if owner is None or key not in self._known:
            name = self._name(key, stem)
            head = f"static struct runs {name} = "
            head += f"{{{len(runs)}, 0, 0, (const double[][2])"
            rows = _rows(np.array(runs, float))
            self._define(name, head, rows, "};", helpers("next_run"))
        table = _table(self._known[key])
        text = f"(int)next_run(&{table.text})"
        return Fragment(text, helpers("next_run") | table.uses)


def _table(name: str) -> Fragment:
    return Fragment(name, frozenset({Use(UseKind.TABLE, name)}))


def _at(places: int) -> Fragment:
    """Return the index of the place of a text that stands at several ones."""
    if places == 1:
        return Fragment("")
    return Fragment("[at]", frozenset({Use(UseKind.PLACE, "at")}))


def _shortened(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Drop columns that say nothing."""
    if values.shape[1] > 1 and (values == values[:, :1]).all():
        return values[:, :1]
    return values


def _period(values: NDArray[Any]) -> int:
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
    if whole and (np.abs(values) < _EXACT).all():  # as `number` writes them
        return [
            "MPI_PROC_NULL" if value == NO_PARTNER else str(value)
            for value in values.astype(np.int64).tolist()
        ]
    return [
        "MPI_PROC_NULL" if value == NO_PARTNER else number(value, 17 if whole else 4)
        for value in values
    ]
