"""Twin of `skelgen.loops.kernel`, in plain Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from skelgen.loops.readings import settle
from skelgen.loops.types import Nest
from skelgen.loops.views import children

Rows = list[list[int]]  # (trips, executions in a row), oldest first

_LOOP = 1 << 31  # id of loop number 0; a run's id is its symbol
_PRIME = (1 << 61) - 1
_BASE = 0x1234_5678_9ABC_DEF1 % _PRIME
_WORD = (1 << 64) - 1
_SPREAD = 0x9E37_79B9_7F4A_7C15
_SPREAD_PAIR = 0xD6E8_FEB8_6659_FD93
_LONG = 16  # items of a key
_NEAR = 32  # items from which on stretches are found by landmarks
_WINDOW = _NEAR - _LONG + 1  # heights whose keys are of the last `_NEAR` items
_EARLIER = 8  # likes of a landmark that are tried, newest first
_GOING_ON = 3  # distances of the landmark before that are tried
_ENDING_BITS = 12
_BODIES = 16  # bodies with the same end that are tried, newest first
_REACH = 16  # items between a loop and the end that may repeat its body's end
_NEAR_LOOPS = 4  # loops in reach that are tried
_DEEPEST = 64  # levels of loops
_MANY = 512  # items of a new body whose counts may vary when iterations are counted


def fold_plain(symbols: NDArray[np.int32]) -> Nest:
    """Fold a string of symbols into nested loops; see `skelgen.loops.fold`."""
    string = [int(symbol) for symbol in symbols]
    return settle(
        lambda known, depth: _Reducer(string, known, depth).nest(),
        lambda known, depth: tuple(_Reducer([], known, depth).bodies.items),
        len(string),
    )


class _Bodies:
    """Bodies of loops, numbered as they were found."""

    def __init__(self) -> None:
        self.items: list[tuple[int, ...]] = []
        self.counters: list[int] = []
        self.depth: list[int] = []
        self.ending: dict[int, list[int]] = {}  # by the key of the last two items

    def pair_key(self, before: int, last: int) -> int:
        """Return a key of two items."""
        key = (before * _SPREAD + last) * _SPREAD_PAIR & _WORD
        return key >> (64 - _ENDING_BITS)

    def counters_of(self, item: int) -> int:
        """Return how many trip counts stand beside an item."""
        return self.counters[item - _LOOP] if item >= _LOOP else 1

    def ending_like(self, items: Sequence[int]) -> list[int]:
        """Return bodies that may end as some items do, newest first."""
        return self.ending.get(self.pair_key(*items[-2:]), [])[: -_BODIES - 1 : -1]

    def define(self, body: Sequence[int], deepest: int) -> int:
        """Return the number of a body, -1 when it is too deep."""
        for number in self.ending_like(body):
            if self.items[number] == tuple(body):
                return number
        depth = 1 + max(self.depth[i - _LOOP] if i >= _LOOP else 0 for i in body)
        if depth > deepest:
            return -1
        self.ending.setdefault(self.pair_key(*body[-2:]), []).append(len(self.items))
        self.items.append(tuple(body))
        self.counters.append(1 + sum(map(self.counters_of, body)))
        self.depth.append(depth)
        return len(self.items) - 1

    def learn(self, nest: Nest, item: int, depth: int) -> int:
        """Define the bodies inside an item of a nest; return its id, -1 if too deep."""
        if not nest.body_items[item]:
            return int(nest.symbol[item])
        ids = [self.learn(nest, inner, depth) for inner in children(nest, item)]
        if -1 in ids or len(ids) == 1:
            return min(ids)
        number = self.define(ids, depth)
        return -1 if number < 0 else _LOOP + number


class _Landmarks:
    """Heights of the stack that are looked up to find stretches that repeat.

    A height has a key, a hash of its topmost items. Its landmark is the least key of
    the last heights.
    """

    def __init__(self) -> None:
        self.keys: list[int] = []  # of all heights from `_LONG` on
        self.heights: list[int] = []  # of the landmarks
        self.distances: list[list[int]] = []  # how far below each its likes are
        self.by_key: dict[int, list[int]] = {}  # heights, newest last

    def note(self, key: int) -> None:
        """Note the key of the next height."""
        self.keys.append(key)
        height = self.landmark_of(len(self.keys) + _LONG - 1)
        if not self.heights or height > self.heights[-1]:
            self.distances.append(self.likes(height))
            self.heights.append(height)
            self.by_key.setdefault(self.keys[height - _LONG], []).append(height)

    def forget_above(self, height: int) -> None:
        """Forget keys, and the landmarks that no height has any more."""
        last = self.landmark_of(height) if height >= _LONG else 0
        while self.heights and self.heights[-1] > last:
            self.by_key[self.keys[self.heights.pop() - _LONG]].pop()
            self.distances.pop()
        del self.keys[max(0, height - _LONG + 1) :]

    def landmark_of(self, height: int) -> int:
        """Return the newest of the heights with the least key."""
        heights = range(max(_LONG, height - _WINDOW + 1), height + 1)
        return min(heights, key=lambda one: (self.keys[one - _LONG], -one))

    def likes(self, height: int) -> list[int]:
        """Return how far below a new landmark likes are.

        Some are as far below it as some of the landmark before.
        """
        key = self.keys[height - _LONG]
        going_on = [
            distance
            for distance in (self.distances[-1] if self.heights else [])
            if height - distance >= _LONG
            and self.keys[height - distance - _LONG] == key
        ][:_GOING_ON]
        heights = self.by_key.get(key, [])[: -_EARLIER - 1 : -1]
        newest = [height - like for like in heights]
        return going_on + [distance for distance in newest if distance not in going_on]


class _Reducer:
    """One reading of the string."""

    def __init__(self, string: list[int], known: Nest, depth: int) -> None:
        self.string = string
        self.read = 0
        self.news = 0  # what was read when a body was defined
        self.bodies = _Bodies()
        self.ids: list[int] = []
        self.start: list[int] = []  # where each item begins in the string
        self.prefix = [0]  # hash of the items below each height
        self.landmarks = _Landmarks()
        self.rows: list[Rows] = []
        # Outermost bodies are found again, and then begin at the right item.
        for item in children(known):
            for inner in children(known, item):
                self.bodies.learn(known, inner, depth)
        while self.read < len(string):
            self.settle_run()

    def settle_run(self) -> None:
        """Read one run and reduce the stack as far as it goes."""
        start, item = self.read, self.string[self.read]
        while self.read < len(self.string) and self.string[self.read] == item:
            self.read += 1
        self.rows.append([[self.read - start, 1]])
        while True:
            self.push(item, start)
            if len(self.ids) < 2:
                return
            number, again = self.known_end(), False
            if number < 0:
                number = self.repeated_end()
                again = number >= 0
            if number < 0:
                number = self.tail_end()
            if number < 0:
                return
            item, start = self.reduce(number, again)
            if self.joins(item):
                return

    # Rules. Those that find return the number of a body that ends the stack, or -1.

    def joins(self, item: int) -> bool:
        """Add the topmost rows to an equal item at the end of what lies below."""
        if not self.ids:
            return False
        size = self.bodies.counters_of(item)
        end = len(self.rows) - size
        below = self.ids[-1]
        while below != item:
            if below < _LOOP:
                return False
            below = self.bodies.items[below - _LOOP][-1]
            end -= 1
        later = self.rows[-size:]
        del self.rows[-size:]
        for to, rows in zip(self.rows[end - size : end - 1], later[:-1], strict=True):
            _append(to, rows)
        _lengthen(self.rows[end - 1], later[-1][0][0])
        return True

    def known_end(self) -> int:
        """Find the shortest known body."""
        found = -1
        for number in self.bodies.ending_like(self.ids):
            body = self.bodies.items[number]
            shorter = found < 0 or len(body) < len(self.bodies.items[found])
            if shorter and tuple(self.ids[-len(body) :]) == body:
                found = number
        return found

    def repeated_end(self) -> int:
        """Find the shortest stretch that ends the stack twice in a row."""
        if len(self.ids) >= _LONG:
            self.landmarks.note(self.long_key(len(self.ids)))
        far = self.landmarks.distances[-1] if self.landmarks.distances else []
        for length in (*range(2, _NEAR), *sorted(far)):
            if self.repeats(length):
                return self.define_end(length)
        return -1

    def define_end(self, length: int) -> int:
        """Return the number of the body that the topmost items are."""
        known = len(self.bodies.items)
        number = self.bodies.define(self.ids[-length:], _DEEPEST)
        if len(self.bodies.items) > known:
            self.news = self.read
        return number

    def repeats(self, length: int) -> bool:
        """Say whether the topmost items equal those below them."""
        return self.ids[-length:] == self.ids[-2 * length : -length]

    def tail_end(self) -> int:
        """Find a stretch behind a loop that also ends the loop's body."""
        loops = 0
        for length in range(1, min(_REACH + 1, len(self.ids))):
            loop = self.ids[-1 - length]
            if loop < _LOOP:
                continue
            loops += 1
            while length > 1 and loop >= _LOOP:
                body = self.bodies.items[loop - _LOOP]
                tail = tuple(self.ids[-length:])
                if len(body) > length and body[-length:] == tail:
                    return self.define_end(length)
                loop = body[-1]
            if loops == _NEAR_LOOPS:
                break
        return -1

    def reduce(self, number: int, again: bool) -> tuple[int, int]:
        """Put a loop in the place of the topmost items, and of their likes below."""
        length = len(self.bodies.items[number])
        size = self.bodies.counters[number] - 1
        start = self.start[-length]
        vary = self.news == self.read and length >= _MANY
        trips = 1 + self.equal_ahead(start, size, vary)
        self.pop(length)
        if again:
            later = self.rows[-size:]
            del self.rows[-size:]
            for to, rows in zip(self.rows[-size:], later, strict=True):
                _append(to, rows)
            start = self.start[-length]
            self.pop(length)
            trips += 1
        self.rows.append([[trips, 1]])
        return _LOOP + number, start

    def equal_ahead(self, start: int, size: int, vary: bool) -> int:
        """Read iterations ahead that equal the last one; count them in its rows.

        They may have counts that vary inside or not.
        """
        string, read = self.string, self.read
        length = read - start
        last = self.rows[len(self.rows) - size :]
        if not vary and any(len(rows) > 1 for rows in last):
            return 0
        end = read
        while end < len(string) and string[end] == string[end - length]:
            end += 1
        times = (end - read) // length
        end = read + times * length
        if times and end < len(string) and string[end] == string[end - 1]:
            times -= 1  # its last run goes on
        for rows in last:
            once = [row.copy() for row in rows]
            for _ in range(times):
                _append(rows, [row.copy() for row in once])
        self.read += times * length
        return times

    # The stack.

    def push(self, item: int, start: int) -> None:
        self.ids.append(item)
        self.start.append(start)
        self.prefix.append((self.prefix[-1] * _BASE + item + 1) % _PRIME)

    def pop(self, length: int) -> None:
        del self.ids[-length:], self.start[-length:], self.prefix[-length:]
        self.landmarks.forget_above(len(self.ids))

    def long_key(self, height: int) -> int:
        """Return the key of the topmost `_LONG` items below a height."""
        below = self.prefix[height - _LONG] * pow(_BASE, _LONG, _PRIME)
        return ((self.prefix[height] - below) % _PRIME * _SPREAD & _WORD) >> 32

    # The result.

    def nest(self) -> Nest:
        """Return what the stack holds."""
        body_items: list[int] = []
        symbol: list[int] = []
        trips_first = [0]
        trips: Rows = []

        def put(item: int, end: int) -> None:
            rows = _shortened(self.rows[end - 1])
            place = len(symbol)
            wrapped = item >= _LOOP or len(rows) > 1 or rows[0][0] > 1
            if wrapped:
                body_items.append(0)
                symbol.append(-1)
                trips.extend(rows)
                trips_first.append(len(trips))
            if item < _LOOP:
                body_items.append(0)
                symbol.append(item)
                trips_first.append(len(trips))
            else:
                body = self.bodies.items[item - _LOOP]
                for inner, inner_end in self.ends_of(body, end - 1):
                    put(inner, inner_end)
            if wrapped:
                body_items[place] = len(symbol) - place - 1

        for item, end in self.ends_of(self.ids, len(self.rows)):
            put(item, end)
        return Nest(
            np.array(body_items, np.int32),
            np.array(symbol, np.int32),
            np.array(trips_first, np.int64),
            np.array(trips, np.int64).reshape(-1, 2),
        )

    def ends_of(self, body: Sequence[int], end: int) -> Iterator[tuple[int, int]]:
        """Yield the items of a body with the end of the rows of each."""
        begin = end - sum(map(self.bodies.counters_of, body))
        for item in body:
            begin += self.bodies.counters_of(item)
            yield item, begin


def _append(rows: Rows, later: Rows) -> None:
    """Append the rows of later executions."""
    if rows[-1][0] == later[0][0]:
        rows[-1][1] += later[0][1]
        later = later[1:]
    rows.extend(later)


def _lengthen(rows: Rows, trips: int) -> None:
    """Add trips to the last execution."""
    rows[-1][1] -= 1
    rows.append([rows[-1][0] + trips, 1])
    if rows[-2][1] == 0:
        del rows[-2]


def _shortened(rows: Rows) -> Rows:
    """Join neighbours with equal trips."""
    shorter: Rows = []
    for trips, executions in rows:
        if shorter and shorter[-1][0] == trips:
            shorter[-1][1] += executions
        else:
            shorter.append([trips, executions])
    return shorter
