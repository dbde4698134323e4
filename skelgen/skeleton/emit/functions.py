"""Write the loops of a routine as C functions, one for each section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.loops import trip_rows
from skelgen.skeleton.emit.calls.arguments import Surroundings
from skelgen.skeleton.emit.calls.statements import compute, idle, statements
from skelgen.skeleton.emit.fragments import (
    NO_USES,
    Fragment,
    UseKind,
    helper,
    helpers,
    union,
)
from skelgen.skeleton.emit.layout import Statement, call, with_comments
from skelgen.skeleton.emit.ranks import condition
from skelgen.skeleton.emit.steps_in_turn import steps_in_turn
from skelgen.skeleton.emit.texts import Section, SharedFunction
from skelgen.skeleton.share.routines import Routine
from skelgen.skeleton.thresholds import LEAST_COMMENTED_SHARE, LEAST_SECTION_SHARE
from skelgen.skeleton.types import TOLD

_COUNTERS = "ijklmn"
_MOST_INT = 2**31 - 1
#: What gives another value at each call.
_READERS = helpers("count", "next", "next_run")

#: The same item at each place of a text.
_Same = tuple[int, ...]
#: Which ranks of a routine do something.
_Rows = tuple[bool, ...]


def written(
    around: Surroundings, stem: str
) -> tuple[tuple[SharedFunction, ...], tuple[Section, ...]]:
    """Write a routine: its large loops, and what stands between them.

    Parameters
    ----------
    around : Surroundings
    stem : str
        Begin of the names of its functions.

    Returns
    -------
    tuple of SharedFunction
        Functions for what stands at several places.
    tuple of Section
    """
    body = _Body(around, stem)
    stretches = tuple(body.written(number) for number in range(len(body.repeats)))
    return stretches, _sections(body)


def _sections(body: _Body) -> tuple[Section, ...]:
    pieces = _pieces(body)
    found: list[Section] = _set_up(body)
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
        text = steps_in_turn(body) or body.text([(item,) for item in items], 1)
        if number + 1 == len(pieces):
            text += body.tail()
        about = f"{title.capitalize()}: {body.share(items)}."
        uses = union(statement.uses for statement in text)
        found.append(Section(title, about, tuple(with_comments(text)), uses))
    return tuple(section for section in found if section.lines)


def _set_up(body: _Body) -> list[Section]:
    """Write the computation before a loop that begins the program, if any."""
    head_us = body.routine.head_us
    gap = compute(body.around, [head_us[:, None]], [1]) if head_us.any() else None
    if gap is None:
        return []
    percent = 100 * float(head_us.mean()) / body.whole
    text = [call(1, helper("compute"), [gap])]
    uses = union(statement.uses for statement in text)
    about = f"Set-up: {percent:.1f} % of the time."
    return [Section("set-up", about, tuple(with_comments(text)), uses)]


def _pieces(body: _Body) -> list[tuple[list[int], bool]]:
    """Divide the top-level items: large loops by themselves, others together."""
    pieces: list[tuple[list[int], bool]] = []
    if body.routine.in_turn:
        return [(body.inside(0, len(body.symbol)), False)]
    for items in body.units():
        long = body.time_us(items) >= LEAST_SECTION_SHARE * body.whole
        large = long and any(body.is_loop(item) for item in items)
        if large or not pieces or pieces[-1][1]:
            pieces.append((items, large))
        else:
            pieces[-1][0].extend(items)
    return pieces or [([], False)]


class _Body:
    """The items of a routine and their text."""

    def __init__(self, around: Surroundings, stem: str) -> None:
        self.around = around
        self.stem = stem
        self.routine: Routine = around.routine
        self.repeats = self.routine.repeats
        nest = self.routine.nests[0]
        self.symbol = [int(symbol) for symbol in nest.symbol]
        self.end = [i + 1 + int(items) for i, items in enumerate(nest.body_items)]
        self.times = np.concatenate([[0.0], np.cumsum(self.routine.item_us)])
        self.whole = self.routine.time_us
        self.functions: dict[int, SharedFunction] = {}
        #: First item of places: (number of the repeat, number of the place), those
        #: around others first.
        self.begins: dict[int, list[tuple[int, int]]] = {}
        for number, repeat in reversed(list(enumerate(self.repeats))):
            for at, place in enumerate(repeat.places):
                self.begins.setdefault(place[0], []).append((number, at))

    def units(self) -> list[list[int]]:
        """Return the items that are in no loop, those of a place together."""
        found, top = [], self.inside(0, len(self.symbol))
        while top:
            length = 1
            if top[0] in self.begins:
                number, at = self.begins[top[0]][0]
                length = len(self.repeats[number].places[at])
            found.append(top[:length])
            top = top[length:]
        return found

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

    def is_told(self, item: int) -> bool:
        """Return whether a loop ends when an answer says so."""
        steps, inside = self.routine.steps, self.symbol[item + 1 : self.end[item]]
        return all(symbol >= 0 and steps[symbol].turn in TOLD for symbol in inside)

    def time_us(self, items: Sequence[int]) -> float:
        """Return the time of all executions of some items [us]."""
        return sum(float(self.times[self.end[i]] - self.times[i]) for i in items)

    def share(self, items: Sequence[int]) -> str:
        """Write the time of some items as a share of the routine's."""
        percent = 100 * self.time_us(items) / self.whole if self.whole > 0 else 0.0
        return f"{percent:.1f} % of the time"

    def stretch(self, number: int) -> SharedFunction:
        """Write what stands at several places as a function."""
        places = self.repeats[number].places
        text = self.text(list(zip(*places, strict=True)), 1, number)
        uses = union(statement.uses for statement in text)
        items = [item for place in places for item in place]
        about = f"Stands at {len(places)} places: {self.share(items)}."
        differs = any(use.kind is UseKind.PLACE for use in uses)
        return SharedFunction(
            f"{self.stem}steps_{number}",
            about,
            "int at" if differs else "void",
            tuple(with_comments(text)),
            uses,
        )

    def text(
        self,
        items: Sequence[_Same],
        depth: int,
        within: int | None = None,
        guard: _Rows | None = None,
    ) -> list[Statement]:
        """Write items of a body; those that stand at several places as a call.

        Parameters
        ----------
        items : sequence of tuple of int
            Each item at all places of the text.
        depth : int
            Tabs in front of it.
        within : int, optional
            The repeat whose function this is.
        guard : tuple of bool, optional
            The ranks that come here, when not all do.
        """
        found: list[Statement] = []
        i = 0
        while i < len(items):
            same = items[i]
            begins = self.begins.get(same[0], ())
            inner = [begin for begin in begins if within is None or begin[0] < within]
            if inner:
                number, at = inner[0]
                count, length = self.in_a_row(items[i:], number, at)
                found += self.shared_calls(number, at, count, depth)
                i += length
                continue
            count = self.guarded(items[i:], guard)
            some = self.present(same[0])
            if count and some is not None:
                found += self.block(items[i : i + count], depth, within, some)
                i += count
                continue
            if self.is_loop(same[0]):
                found += self.loop(same, depth, within, guard)
            else:
                found += statements(self.around, self.symbol[same[0]], depth)
            i += 1
        return found

    def guarded(self, items: Sequence[_Same], guard: _Rows | None) -> int:
        """Return how many items at the front are executed by the same some ranks."""
        some = self.present(items[0][0])
        if some is None or all(some) or some == guard:
            return 0
        count = 1
        while (
            count < len(items)
            and items[count][0] not in self.begins
            and self.present(items[count][0]) == some
        ):
            count += 1
        return count

    def present(self, item: int) -> _Rows | None:
        """Return which ranks execute an item; None when its parts differ."""
        leaves = [
            symbol for symbol in self.symbol[item : self.end[item]] if symbol >= 0
        ]
        found = {self.routine.steps[symbol].present for symbol in leaves}
        return found.pop() if len(found) == 1 else None

    def block(
        self, items: Sequence[_Same], depth: int, within: int | None, some: _Rows
    ) -> list[Statement]:
        """Write items that only some ranks execute."""
        if not any(some):
            return []
        inside = self.text(items, depth + 1, within, some)
        if not inside:
            return []
        ranks = self.routine.ranks
        chosen = [rank for rank, does in zip(ranks, some, strict=True) if does]
        words, uses = condition(chosen, ranks), NO_USES
        if not words:
            does = self.around.tables.constant("int", "does", np.array(some, float))
            words, uses = f"{does.text}[row]", does.uses | helpers("row")
        indent = "\t" * depth
        begin = Statement((f"{indent}if ({words}) {{",), uses=uses)
        return [begin, *inside, Statement((indent + "}",))]

    def in_a_row(self, items: Sequence[_Same], number: int, at: int) -> tuple[int, int]:
        """Return how many places of a repeat follow each other, and their items."""
        places = self.repeats[number].places
        count = length = 0
        while (
            at + count < len(places)
            and length < len(items)
            and items[length][0] == places[at + count][0]
        ):
            length += len(places[at + count])
            count += 1
        return count, length

    def shared_calls(
        self, number: int, at: int, count: int, depth: int
    ) -> list[Statement]:
        """Write calls of a stretch for places in a row."""
        function = self.written(number)
        if function.parameter == "void":
            return [call(depth, function.name, [])] * count
        if count < 3:
            return [
                call(depth, function.name, [str(place)])
                for place in range(at, at + count)
            ]
        counter, indent = _counter(depth), "\t" * depth
        head = f"for (int {counter} = {at}; {counter} < {at + count}; {counter}++)"
        return [
            Statement((indent + head,)),
            call(depth + 1, function.name, [counter]),
        ]

    def written(self, number: int) -> SharedFunction:
        """Return the function of a repeat, written at its first use."""
        if number not in self.functions:
            self.functions[number] = self.stretch(number)
        return self.functions[number]

    def loop(
        self, same: _Same, depth: int, within: int | None, guard: _Rows | None
    ) -> list[Statement]:
        """Write a loop; one trip is no loop."""
        columns = [self.inside(item + 1, self.end[item]) for item in same]
        items = list(zip(*columns, strict=True))
        if self.is_told(same[0]):
            body = self.text(items, depth + 1, within, guard)
            begin, end = "\t" * depth + "do {", "\t" * depth + "} while (told.again);"
            last = Statement((end,), uses=helpers("told"))
            return [Statement((begin,)), *body, last]
        count = self.trips(same)
        trips = count.text
        if trips == "0":
            return []
        below = depth if trips == "1" else depth + 1
        body = self.text(items, below, within, guard)
        if trips == "1" or not body:
            return body
        indent = "\t" * depth
        counter = _counter(depth)
        if count.uses & _READERS:  # to be read once
            head = f"for (int {counter} = {trips}; {counter} > 0; {counter}--) {{"
        else:
            kind = "long" if trips.isdecimal() and int(trips) > _MOST_INT else "int"
            head = f"for ({kind} {counter} = 0; {counter} < {trips}; {counter}++) {{"
        begins = Statement((indent + head,), uses=count.uses)
        written = [begins, *body, Statement((indent + "}",))]
        if len(body) == 1 and len(body[0].lines) == 1 and not body[0].comment:
            short = (indent + head.removesuffix(" {"),)
            written = [replace(begins, lines=short), *body]
        if depth > 1 and self.time_us(same) >= LEAST_COMMENTED_SHARE * self.whole > 0:
            return [Statement((f"{indent}/* {self.share(same)} */",)), *written]
        return written

    def trips(self, same: _Same) -> Fragment:
        """Return a loop's trip count as an expression."""
        tables = self.around.tables
        places = [self.trip_counts(item) for item in same]
        if any(counts.shape[1] == 0 for counts in places):
            return Fragment("0")
        if all((counts == counts[:, :1]).all() for counts in places):
            values = [counts[:, :1].astype(float) for counts in places]
            return tables.quantity("trips", values, [1] * len(values))
        if len(places) == 1:
            return tables.in_turn("trips", places[0])
        values = [counts.astype(float) for counts in places]
        return tables.quantity("trips", values, [v.shape[1] for v in values])

    def trip_counts(self, item: int) -> NDArray[np.int64]:
        """Return the trips of each execution of a loop, a row for each rank."""
        rows = []
        for nest in self.routine.nests:
            trips = trip_rows(nest, item)
            if len(trips) == 1:
                trips = np.array([[trips[0, 0], 1]])
            rows.append(np.repeat(trips[:, 0], trips[:, 1]))
        return np.array([rows[i] for i in self.routine.rows])

    def tail(self) -> list[Statement]:
        """Write the computation and the sleep after the last call."""
        routine = self.routine
        pieces = {
            "compute": compute(self.around, [routine.tail_us[:, None]], [1]),
            "idle": idle(self.around, [routine.tail_idle_us[:, None]], [1]),
        }
        return [
            call(1, helper(name), [us]) for name, us in pieces.items() if us is not None
        ]


def _counter(depth: int) -> str:
    name = _COUNTERS[(depth - 1) % len(_COUNTERS)]
    turn = (depth - 1) // len(_COUNTERS)
    return name * (turn + 1)
