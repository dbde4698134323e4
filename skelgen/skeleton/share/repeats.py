"""Find stretches of calls that stand at several places of a program.

The loop of an application becomes several loops when some of its iterations are
special, with the same body in each of them. Such a body is written once, as a
function; what differs between its places (times, sizes, trips) comes from tables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from skelgen.loops import Nest
from skelgen.skeleton.thresholds import (
    CALL_LINES,
    FUNCTION_LINES,
    LOOP_LINES,
    MOST_PROGRAM_ITEMS,
    MOST_REPEATS,
    TABLE_LINES_PER_LINE,
)


@dataclass(frozen=True, slots=True)
class RepeatedItems:
    """A stretch of items that stands at several places.

    Attributes
    ----------
    places : tuple of tuple of int
        The items of each place, neighbours in the same body; without those inside
        them.
    """

    places: tuple[tuple[int, ...], ...]


def repeats(
    nest: Nest,
    keys: Sequence[Hashable],
    *,
    outer: Sequence[RepeatedItems] = (),
    least: int = 1,
) -> tuple[RepeatedItems, ...]:
    """Find stretches that are worth a function, those that save most lines first.

    Parameters
    ----------
    nest : Nest
    keys : sequence of hashable
        For each item what must be equal at all places.
    outer : sequence of RepeatedItems
        Stretches that are functions already; only their first places are searched.
    least : int
        Lines that a function must save.
    """
    if len(nest) > MOST_PROGRAM_ITEMS:
        return ()
    search = _Search(nest, keys, outer)
    found: list[RepeatedItems] = []
    while len(found) < MOST_REPEATS and (best := search.best(least)) is not None:
        found.append(best)
    return tuple(found)


class _Search:
    """The bodies of a nest, one behind the other, as numbers of equal items."""

    def __init__(
        self, nest: Nest, keys: Sequence[Hashable], outer: Sequence[RepeatedItems]
    ) -> None:
        self.end = [i + 1 + int(items) for i, items in enumerate(nest.body_items)]
        self.lines = [0] * len(nest)
        known: dict[Hashable, int] = {}
        number = [0] * len(nest)
        for item in reversed(range(len(nest))):
            inside = self.inside(item + 1, self.end[item])
            loop = int(nest.symbol[item]) < 0
            content = (loop, keys[item], tuple(number[i] for i in inside))
            number[item] = known.setdefault(content, len(known))
            below = sum(self.lines[i] for i in inside)
            self.lines[item] = below + LOOP_LINES if loop else CALL_LINES
        self.items: list[int] = []
        self.text: list[int] = []
        self.mark = 0
        first = [repeat.places[0] for repeat in outer]
        edges = {place[0] for place in first} | {self.end[place[-1]] for place in first}
        bodies = [(0, len(nest))]
        while bodies:
            begin, end = bodies.pop(0)
            for item in self.inside(begin, end):
                if item in edges:
                    self.separate()
                self.items.append(item)
                self.text.append(number[item])
                bodies.append((item + 1, self.end[item]))
            self.separate()
        self.take_out([place for repeat in outer for place in repeat.places[1:]])

    def separate(self) -> None:
        """Let no stretch go on beyond the end of the text so far."""
        self.items.append(-1)
        self.text.append(self.unique())

    def inside(self, begin: int, end: int) -> list[int]:
        """Return the items from `begin` to `end` that are in no deeper loop."""
        found = []
        while begin < end:
            found.append(begin)
            begin = self.end[begin]
        return found

    def unique(self) -> int:
        """Return a number that equals no other."""
        self.mark -= 1
        return self.mark

    def best(self, least: int) -> RepeatedItems | None:
        """Return the stretch that saves most, and take it out of the text."""
        most, chosen, long = least - 1, [], 0
        begins = self.begins()
        for begin, length in self.candidates():
            stretch = self.text[begin : begin + length]
            where = begins[tuple(stretch[:2])]
            weight = self.weight(begin, length)
            count = min(len(where), self.upper(length))
            cost = FUNCTION_LINES + weight * TABLE_LINES_PER_LINE
            if (count - 1) * weight <= most + cost:
                continue
            places = self.places(stretch, where)
            saved = int((len(places) - 1) * weight - cost - len(places))
            if saved > most:
                most, chosen, long = saved, places, length
        if not chosen:
            return None
        found = RepeatedItems(tuple(tuple(self.items[p : p + long]) for p in chosen))
        self.take_out(found.places)
        return found

    def begins(self) -> dict[tuple[int, ...], list[int]]:
        """Return where each item stands, and each pair of items, ascending."""
        found: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for i, item in enumerate(self.text):
            found[item,].append(i)
        for i, pair in enumerate(pairwise(self.text)):
            found[pair].append(i)
        return found

    def upper(self, length: int) -> int:
        """Return how often a stretch of some length can stand in the text."""
        return len(self.text) // max(1, length)

    def candidates(self) -> list[tuple[int, int]]:
        """Return the longest stretches that stand at two places: begin and length."""
        text = self.text
        suffixes = sorted(range(len(text)), key=lambda i: text[i : i + 400])
        found: dict[tuple[int, ...], int] = {}
        for one, other in pairwise(suffixes):
            length = 0
            limit = len(text) - max(one, other)
            while length < limit and text[one + length] == text[other + length]:
                length += 1
            if length:
                found.setdefault(tuple(text[one : one + length]), one)
        return [(begin, len(stretch)) for stretch, begin in found.items()]

    def weight(self, begin: int, length: int) -> int:
        """Return the lines of a stretch."""
        return sum(self.lines[item] for item in self.items[begin : begin + length])

    def places(self, stretch: list[int], begins: Sequence[int]) -> list[int]:
        """Return where a stretch stands, without overlaps.

        Parameters
        ----------
        stretch : list of int
        begins : sequence of int
            Where its first item stands, or its first two, ascending.
        """
        found, free = [], 0
        for i in begins:
            if i >= free and self.text[i : i + len(stretch)] == stretch:
                found.append(i)
                free = i + len(stretch)
        return found

    def take_out(self, places: Sequence[Sequence[int]]) -> None:
        """Let no other stretch have items of the places, in them or around them."""
        taken = {
            inner
            for place in places
            for item in place
            for inner in range(item, self.end[item])
        }
        begins = {item for place in places for item in place}
        for i, item in enumerate(self.items):
            around = range(item, self.end[item]) if item >= 0 else ()
            if item in taken or not begins.isdisjoint(around):
                self.text[i] = self.unique()
