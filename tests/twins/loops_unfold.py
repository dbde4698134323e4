"""Twin of `skelgen.loops.unfold`, in plain Python."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skelgen.loops.types import Nest
from skelgen.loops.unfold import Spans


class PlainUnfolding:
    """One walk over the expansion of a nest.

    Attributes
    ----------
    leaf : list of int
        Leaf of each position.
    executions : list of (int, list of int)
        Loop and bounds of each execution in the order in which they begin.
    """

    def __init__(self, nest: Nest) -> None:
        self.leaf: list[int] = []
        self.executions: list[tuple[int, list[int]]] = []
        self._body_items = nest.body_items.tolist()
        leaves = iter(range(len(nest)))
        self._number = [-1 if n else next(leaves) for n in self._body_items]
        self._trips = [_repeated(nest, item) for item in range(len(nest))]
        self._body(0, len(nest))

    def spans(self) -> Spans:
        """Return the executions as `skelgen.loops.unfold.spans` does."""
        bounds = [bound for _, own in self.executions for bound in own]
        counts = [len(own) for _, own in self.executions]
        return Spans(
            np.array([item for item, _ in self.executions], np.int32),
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.array(bounds, np.int64),
        )

    def _body(self, item: int, end: int) -> None:
        while item < end:
            if self._number[item] < 0:
                self._loop(item)
            else:
                self.leaf.append(self._number[item])
            item += 1 + self._body_items[item]

    def _loop(self, item: int) -> None:
        bounds = [len(self.leaf)]
        self.executions.append((item, bounds))
        for _ in range(next(self._trips[item])):
            self._body(item + 1, item + 1 + self._body_items[item])
            bounds.append(len(self.leaf))


def _repeated(nest: Nest, item: int) -> Iterator[int]:
    first, last = nest.trips_first[item : item + 2]
    for trips, executions in nest.trips[first:last].tolist():
        for _ in range(executions):
            yield trips
