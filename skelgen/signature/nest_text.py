"""Loop nests as indented lists of names and loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skelgen.documents.document_field import Field
from skelgen.documents.numbers import NumberError, format_runs, runs
from skelgen.loops import Nest

#: Calls of one rank that a nest may stand for.
_LONGEST = 1_000_000_000
_WIDTH = 88
#: Memory of an execution of a loop [bytes]. Those with trips count as calls.
_EXECUTION_BYTES = 24


def nest_lines(nest: Nest, names: list[str], indent: str) -> list[str]:
    """Write a nest as lines of YAML.

    Parameters
    ----------
    nest : Nest
    names : list of str
        Of the symbols.
    indent : str
        Blanks before each line.

    Returns
    -------
    list of str
        A list of strings, each some names, and of loops.
    """
    lines: list[str] = []
    words: list[str] = []
    ends: list[int] = []

    def flush() -> None:
        if words:
            lines.append(f"{indent}{'  ' * len(ends)}- {' '.join(words)}")
            words.clear()

    symbols, bodies = nest.symbol.tolist(), nest.body_items.tolist()
    firsts = nest.trips_first.tolist()
    for item, symbol in enumerate(symbols):
        while ends and item >= ends[-1]:
            flush()
            ends.pop()
        if not bodies[item]:
            width = sum(len(word) + 1 for word in words) + len(names[symbol])
            if words and width + len(indent) + 2 * len(ends) + 2 > _WIDTH:
                flush()
            words.append(names[symbol])
            continue
        flush()
        rows = nest.trips[firsts[item] : firsts[item + 1]].tolist()
        trips = str(rows[0][0]) if len(rows) == 1 else format_runs(rows)
        begin = f"{indent}{'  ' * len(ends)}"
        lines += [f"{begin}- loop: {trips}", f"{begin}  body:"]
        ends.append(item + 1 + bodies[item])
    while ends:
        flush()
        ends.pop()
    flush()
    return lines


@dataclass(slots=True)
class ReadNest:
    """A nest as it was read.

    Attributes
    ----------
    nest : Nest
    count : (leaves,) int64 array
        Occurrences of each leaf.
    """

    nest: Nest
    count: NDArray[np.int64]


@dataclass(slots=True)
class _Loop:
    """A body that is being read."""

    entries: Iterator[Field]
    executions: int
    item: int
    place: Field


@dataclass(slots=True)
class _Columns:
    body_items: list[int] = field(default_factory=list)
    symbol: list[int] = field(default_factory=list)
    trips_first: list[int] = field(default_factory=lambda: [0])
    trips: list[tuple[int, int]] = field(default_factory=list)
    count: list[int] = field(default_factory=list)

    def add(self, symbol: int, trips: list[tuple[int, int]]) -> None:
        self.body_items.append(0)
        self.symbol.append(symbol)
        self.trips += trips
        self.trips_first.append(len(self.trips))


def read_nest(document: Field, symbols: dict[str, int]) -> ReadNest:
    """Read a nest and count its leaves, without expanding it.

    Parameters
    ----------
    document : Field
    symbols : dict of str to int
        Row of each symbol's name.

    Raises
    ------
    InputError
        When it is something else, or longer than a billion calls.
    """
    columns = _Columns()
    length = 0
    open_loops = [_Loop(iter(document.items()), 1, -1, document)]
    while open_loops:
        loop = open_loops[-1]
        entry = next(loop.entries, None)
        if entry is None:
            _close(columns, loop)
            open_loops.pop()
        elif isinstance(entry.value, str):
            for name in entry.value.split():
                if name not in symbols:
                    raise entry.error(f"read {name[:60]!r}, expected a name of symbols")
                columns.add(symbols[name], [])
                columns.count.append(loop.executions)
                length += loop.executions
            if length > _LONGEST:
                raise entry.error(f"the nest expands to more than {_LONGEST} calls")
        else:
            open_loops.append(_open(columns, entry, loop.executions))
    nest = Nest(
        body_items=np.array(columns.body_items, np.int32),
        symbol=np.array(columns.symbol, np.int32),
        trips_first=np.array(columns.trips_first, np.int64),
        trips=np.array(columns.trips, np.int64).reshape(-1, 2),
    )
    return ReadNest(nest, np.array(columns.count, np.int64))


def _open(columns: _Columns, entry: Field, executions: int) -> _Loop:
    fields = entry.mapping(("loop", "body"))
    place = fields["loop"]
    try:
        text = place.text()
        least = 0 if " " in text else 1
        trips = runs(text, least, _LONGEST, _LONGEST)
    except NumberError as error:
        raise place.error(str(error)) from error
    if len(trips) == 1 and trips[0][1] == 1:
        trips = [(trips[0][0], executions)]
    entered = sum(times for _, times in trips)
    if entered != executions:
        raise place.error(
            f"read trip counts of {entered} executions, but the loop is entered "
            f"{executions} times"
        )
    skipped = sum(times for trip, times in trips if not trip)
    place.take(_EXECUTION_BYTES * skipped, "executions of loops")
    total = sum(trip * times for trip, times in trips)
    if not total:
        raise place.error("the loop never runs, expected at least one trip")
    if total > _LONGEST:
        raise place.error(f"the nest expands to more than {_LONGEST} calls")
    item = len(columns.symbol)
    columns.add(-1, trips)
    return _Loop(iter(fields["body"].items()), total, item, fields["body"])


def _close(columns: _Columns, loop: _Loop) -> None:
    if loop.item < 0:
        return
    columns.body_items[loop.item] = len(columns.symbol) - 1 - loop.item
    if not columns.body_items[loop.item]:
        raise loop.place.error("the body of a loop is empty, expected names or loops")
