"""Which requests completions complete, where the signature says: all outstanding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, function_info
from skelgen.events.creations import Creations, rows_of
from skelgen.events.parts import looked_up
from skelgen.events.reorder import RowsOfAges
from skelgen.signature.leaves import leaf_symbols
from skelgen.signature.types import RankGroup, Signature
from skelgen.symbols.key_numbers import factorise_rows
from skelgen.symbols.types import ALL_OUTSTANDING


def completes_all(
    signature: Signature, functions: Sequence[str], symbols: NDArray[np.void]
) -> NDArray[np.bool_]:
    """Say for each symbol whether it completes all requests that are outstanding.

    Parameters
    ----------
    signature : Signature
    functions : sequence of str
        MPI names; the symbols' column ``function`` points here.
    symbols : SYMBOL_DTYPE array
        Those of the signature, and others with rows of its ages.
    """
    first, values = signature.age_first, signature.age_values
    row = np.zeros(len(first) - 1, bool)
    single = np.flatnonzero(np.diff(first) == 1)
    row[single] = values[first[single]] == ALL_OUTSTANDING
    kinds = [function_info(name).kind for name in functions]
    completes = np.array(kinds, np.uint8)[symbols["function"]] == CallKind.COMPLETE
    found: NDArray[np.bool_] = row[symbols["ages"]] & completes
    return found


class ExpandedAges:
    """Collects the rows of ages of a signature's calls.

    Parameters
    ----------
    signature : Signature
    """

    def __init__(self, signature: Signature) -> None:
        infos = [function_info(name) for name in signature.functions]
        function = signature.symbols["function"]
        kind = np.array([info.kind for info in infos], np.uint8)[function]
        self._completes = kind == CallKind.COMPLETE
        plain = [info.creates and not info.persistent for info in infos]
        self._creates = np.array(plain, bool)[function]
        self._row = signature.symbols["ages"].astype(np.uint32)
        self._first, self._values = signature.age_first, signature.age_values
        self._all = completes_all(signature, signature.functions, signature.symbols)
        self._known: dict[int, NDArray[np.uint32]] = {}
        self._rows: RowsOfAges | None = None

    def of(self, group: RankGroup, leaf: NDArray[np.int32]) -> NDArray[np.uint32]:
        """Return the row of each call of a group's ranks.

        Parameters
        ----------
        group : RankGroup
        leaf : (n,) int32 array
            Leaf of each call.
        """
        if id(group) not in self._known:
            symbols = leaf_symbols(group.nest)
            if self._all[symbols].any():
                self._known[id(group)] = self._resolved(symbols, leaf)
            else:
                self._known[id(group)] = looked_up(self._row[symbols], leaf)
        return self._known[id(group)]

    def rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the columns ``age_first`` and ``age_values`` of all rows."""
        if self._rows is None:
            return self._first, self._values
        return self._rows.arrays()

    def _resolved(
        self, symbols: NDArray[np.integer], leaf: NDArray[np.int32]
    ) -> NDArray[np.uint32]:
        """Let completions of everything name what is outstanding, the oldest first."""
        if self._rows is None:
            self._rows = RowsOfAges(self._first, self._values)
        row = self._row[symbols][leaf]
        creator = np.flatnonzero(self._creates[symbols][leaf])
        creations = Creations(creator, np.empty(0, np.int64))
        every = np.flatnonzero(self._all[symbols][leaf])
        ends = self._ends(symbols, leaf, row, creations)
        # Of each request the first such completion behind it.
        by = np.searchsorted(every, creator)
        named = np.flatnonzero(by < len(every))
        named = named[ends[creator[named]] > every[by[named]]]
        by = by[named]
        age = creations.ages(every[by], creator[named])
        begin = np.searchsorted(by, np.arange(len(every)))
        length = np.searchsorted(by, np.arange(len(every)), side="right") - begin
        number = factorise_rows(begin, length, age)
        of_number = np.zeros(int(number.max(initial=-1)) + 1, np.uint32)
        for at in np.unique(number, return_index=True)[1].tolist():
            ages = tuple(age[begin[at] : begin[at] + length[at]].tolist())
            of_number[number[at]] = self._rows.number(ages)
        row[every] = of_number[number]
        return np.asarray(row)

    def _ends(
        self,
        symbols: NDArray[np.integer],
        leaf: NDArray[np.int32],
        row: NDArray[np.uint32],
        creations: Creations,
    ) -> NDArray[np.int64]:
        """Return for each call that creates a request which one completes it by age."""
        ends = np.full(len(leaf), len(leaf), np.int64)
        by_age = self._completes & ~self._all
        call = np.flatnonzero(by_age[symbols][leaf])
        index, age = rows_of(self._first, self._values, row[call])
        created = creations.named(call[index], age)
        known = created >= 0
        np.minimum.at(ends, created[known], call[index[known]])
        return ends
