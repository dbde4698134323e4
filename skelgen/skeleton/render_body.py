"""Write the loops of a routine as C functions, one for each section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skelgen.skeleton.render_calls import compute, statements
from skelgen.skeleton.render_layout import Statement, call, with_comments
from skelgen.skeleton.render_routines import Routine
from skelgen.skeleton.render_surroundings import Surroundings

#: Loops with at least this share of a routine's time are sections of their own.
_LEAST_SHARE = 0.01
_COUNTERS = "ijklmn"
_MOST_INT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Section:
    """A function with some of a routine's top-level items.

    Attributes
    ----------
    title : str
        Such as ``start`` or ``loop 1``.
    about : str
        Comment in front of the function.
    lines : tuple of str
        Its body.
    """

    title: str
    about: str
    lines: tuple[str, ...]


def sections(around: Surroundings) -> tuple[Section, ...]:
    """Write a routine: its large loops, and what stands between them."""
    body = _Body(around)
    pieces = _pieces(body)
    found: list[Section] = []
    loops = straights = 0
    for number, (items, large) in enumerate(pieces):
        if large:
            loops += 1
            title = f"loop {loops}"
        elif len(pieces) == 1:
            title = "whole"
        elif number == 0:
            title = "start"
        elif number + 1 == len(pieces):
            title = "end"
        else:
            straights += 1
            title = f"between {straights}"
        written = [text for item in items for text in body.item(item, 1)]
        if number + 1 == len(pieces):
            written += body.tail()
        share = body.share(sum(body.time_us(item) for item in items))
        about = f"{title.capitalize()}: {share}."
        found.append(Section(title, about, tuple(with_comments(written))))
    return tuple(section for section in found if section.lines)


def _pieces(body: _Body) -> list[tuple[list[int], bool]]:
    """Divide the top-level items: large loops by themselves, others together."""
    pieces: list[tuple[list[int], bool]] = []
    for item in body.top():
        large = body.is_loop(item) and body.time_us(item) >= _LEAST_SHARE * body.whole
        if large or not pieces or pieces[-1][1]:
            pieces.append(([item], large))
        else:
            pieces[-1][0].append(item)
    return pieces or [([], False)]


class _Body:
    """The items of a routine and their text."""

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self.routine: Routine = around.routine
        nest = self.routine.nests[0]
        self.symbol = [int(symbol) for symbol in nest.symbol]
        self.end = [i + 1 + int(items) for i, items in enumerate(nest.body_items)]
        times = [
            self.routine.steps[symbol].time_us if symbol >= 0 else 0.0
            for symbol in self.symbol
        ]
        self.times = np.concatenate([[0.0], np.cumsum(times)])
        self.whole = self.routine.time_us

    def top(self) -> list[int]:
        """Return the items that are in no loop."""
        return self.inside(0, len(self.symbol))

    def inside(self, begin: int, end: int) -> list[int]:
        """Return the items from `begin` to `end` that are in no deeper loop."""
        found = []
        while begin < end:
            found.append(begin)
            begin = self.end[begin]
        return found

    def is_loop(self, item: int) -> bool:
        """Return whether an item is a loop."""
        return self.symbol[item] < 0

    def time_us(self, item: int) -> float:
        """Return the time of all executions of an item [us]."""
        return float(self.times[self.end[item]] - self.times[item])

    def share(self, time_us: float) -> str:
        """Write a time as a share of the routine's."""
        percent = 100 * time_us / self.whole if self.whole > 0 else 0.0
        return f"{percent:.1f} % of the time"

    def item(self, item: int, depth: int) -> list[Statement]:
        """Write an item."""
        if self.is_loop(item):
            return self.loop(item, depth)
        return statements(self.around, self.symbol[item], depth)

    def loop(self, item: int, depth: int) -> list[Statement]:
        """Write a loop; one trip is no loop."""
        trips = self.trips(item)
        if trips == "0":
            return []
        below = depth if trips == "1" else depth + 1
        body = [
            text
            for inner in self.inside(item + 1, self.end[item])
            for text in self.item(inner, below)
        ]
        if trips == "1" or not body:
            return body
        indent = "\t" * depth
        counter = _counter(depth)
        if "next" in trips:
            head = f"for (int {counter} = {trips}; {counter} > 0; {counter}--) {{"
        else:
            kind = "long" if trips.isdecimal() and int(trips) > _MOST_INT else "int"
            head = f"for ({kind} {counter} = 0; {counter} < {trips}; {counter}++) {{"
        written = [Statement((indent + head,)), *body, Statement((indent + "}",))]
        if depth > 1 and self.time_us(item) >= _LEAST_SHARE * self.whole > 0:
            share = self.share(self.time_us(item))
            return [Statement((f"{indent}/* {share} */",)), *written]
        return written

    def trips(self, item: int) -> str:
        """Return a loop's trip count as an expression."""
        tables = self.around.tables
        rows = []
        for nest in self.routine.nests:
            first, end = nest.trips_first[item : item + 2]
            trips = nest.trips[first:end]
            rows.append(np.repeat(trips[:, 0], trips[:, 1]))
        if any(len(row) == 0 for row in rows):
            return "0"
        if all((row == row[0]).all() for row in rows):
            values = np.array([rows[i][0] for i in self.routine.rows], float)
            return tables.quantity("trips", values[:, None], 1)
        values = np.array([rows[i] for i in self.routine.rows])
        return tables.in_turn("trips", values)

    def tail(self) -> list[Statement]:
        """Write the computation after the last call."""
        if gap := compute(self.around, self.routine.tail_us[:, None]):
            return [call(1, "compute", [gap])]
        return []


def _counter(depth: int) -> str:
    name = _COUNTERS[(depth - 1) % len(_COUNTERS)]
    turn = (depth - 1) // len(_COUNTERS)
    return name * (turn + 1)


def ranks_text(ranks: Sequence[int]) -> str:
    """Name a set of ranks, with ranges.

    Examples
    --------
    >>> ranks_text((0, 1, 2, 5)), ranks_text((3,))
    ('ranks 0-2, 5', 'rank 3')
    """
    parts: list[list[int]] = []
    for rank in ranks:
        if parts and rank == parts[-1][-1] + 1:
            parts[-1][1:] = [rank]
        else:
            parts.append([rank])
    text = ", ".join("-".join(str(rank) for rank in part) for part in parts)
    return f"ranks {text}" if len(ranks) > 1 else f"rank {text}"
