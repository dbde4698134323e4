"""Check that the parts of a signature fit each other, without expanding it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skelgen.documents.document_field import Field
from skelgen.events import function_info
from skelgen.loops import Nest
from skelgen.signature.leaves import leaf_symbols
from skelgen.signature.types import CommunicatorFamily, RankGroup
from skelgen.symbols.pairs import ON_REQUESTS
from skelgen.symbols.types import VARYING


def check_ranks(groups: Sequence[RankGroup], ranks: int, fields: list[Field]) -> None:
    """Check that every rank is in exactly one group."""
    owner: dict[int, int] = {}
    for number, group in enumerate(groups):
        for rank in group.ranks:
            if rank in owner:
                raise fields[number].error(
                    f"read rank {rank}, which is in groups[{owner[rank]}] already"
                )
            owner[rank] = number
    for rank in range(ranks):
        if rank not in owner:
            raise fields[0].error(f"rank {rank} is in no group")


def check_members(
    group: RankGroup,
    symbols: NDArray[np.void],
    families: Sequence[CommunicatorFamily],
    field: Field,
) -> None:
    """Check that ranks are in the communicators, and partners too, that they use."""
    for symbol in np.unique(leaf_symbols(group.nest)).tolist():
        row = symbols[symbol]
        family = int(row["family"])
        if family < 0:
            continue
        size_of = {
            rank: len(members)
            for members in families[family].instances
            for rank in members
        }
        for rank in group.ranks:
            if rank not in size_of:
                raise field.error(f"rank {rank} is in no communicator of {family=}")
            for end in ("peer", "peer2"):
                if int(row[end]) >= size_of[rank]:
                    raise field.error(
                        f"read partner {row[end]} of rank {rank} in a communicator of "
                        f"{size_of[rank]} ranks"
                    )


def partner_limits(
    nest: Nest,
    symbols: NDArray[np.void],
    families: Sequence[CommunicatorFamily],
    ranks: Sequence[int],
) -> list[int]:
    """Return how many partners each leaf can have whose partners vary, else 0."""
    wanted = set(ranks)
    smallest = [
        min((len(i) for i in f.instances if not wanted.isdisjoint(i)), default=0)
        for f in families
    ]
    rows = symbols[leaf_symbols(nest)]
    return [
        smallest[family] if peer == VARYING else 0
        for peer, family in zip(
            rows["peer"].tolist(), rows["family"].tolist(), strict=True
        )
    ]


def check_ages(
    nest: Nest,
    symbols: NDArray[np.void],
    functions: Sequence[str],
    ages: Sequence[Sequence[int]],
    field: Field,
) -> None:
    """Check that no leaf uses a request from before the first call.

    At its first occurrence a leaf has the fewest requests behind it.

    Parameters
    ----------
    nest : Nest
    symbols : (s,) SYMBOL_DTYPE array
    functions : sequence of str
    ages : sequence of sequence of int
        Rows of ages that the symbols point to.
    field : Field
        Of the nest.
    """
    infos = [function_info(functions[f]) for f in symbols["function"]]
    for sign, sort in ((1, "request"), (-1, "persistent request")):
        creates = [info.creates and info.persistent == (sign < 0) for info in infos]
        oldest = [max((sign * age for age in row), default=0) for row in ages]
        of_symbol = [
            oldest[row] if info.kind in ON_REQUESTS else 0
            for info, row in zip(infos, symbols["ages"].tolist(), strict=True)
        ]
        _check_sort(nest, creates, of_symbol, sort, field)


def _check_sort(
    nest: Nest,
    creates: Sequence[bool],
    oldest: Sequence[int],
    sort: str,
    field: Field,
) -> None:
    """Check the ages of plain or of persistent requests; `oldest` is of each symbol."""
    walk = _Creations(nest, creates)
    leaf = -1
    for item, symbol in enumerate(nest.symbol.tolist()):
        before = walk.before(item)
        if symbol < 0:
            continue
        leaf += 1
        if oldest[symbol] > before:
            raise field.error(
                f"leaf {leaf} uses the {sort} created {oldest[symbol]} before it, "
                f"but only {before} are created before it"
            )


class _Creations:
    """Counts the requests that are created before items occur first."""

    def __init__(self, nest: Nest, creates: Sequence[bool]) -> None:
        self.bodies = nest.body_items.tolist()
        self.symbol = nest.symbol.tolist()
        self.first = nest.trips_first.tolist()
        self.trips = nest.trips.tolist()
        self.creates = creates
        self.created = 0
        # Loops that are open, with the count before them.
        self.open: list[tuple[int, int, int]] = []

    def before(self, item: int) -> int:
        """Return the requests before an item; items come one after the other."""
        while self.open and item >= self.open[-1][1]:
            loop, _, count = self.open.pop()
            self.created = count + self._in_first_execution(loop)
        count = self.created
        if self.bodies[item]:
            self.open.append((item, item + 1 + self.bodies[item], count))
        else:
            self.created += self.creates[self.symbol[item]]
        return count

    def _in_first_execution(self, loop: int) -> int:
        """Count what a loop's first execution creates, all its trips."""
        total = 0
        executions = 1
        ends: list[tuple[int, int]] = []
        for item in range(loop, loop + 1 + self.bodies[loop]):
            while ends and item >= ends[-1][0]:
                executions = ends.pop()[1]
            if self.bodies[item]:
                ends.append((item + 1 + self.bodies[item], executions))
                executions = self._trips(item, executions)
            else:
                total += executions * self.creates[self.symbol[item]]
        return total

    def _trips(self, loop: int, executions: int) -> int:
        total = 0
        for trips, times in self.trips[self.first[loop] : self.first[loop + 1]]:
            taken = min(times, executions)
            total += trips * taken
            executions -= taken
            if not executions:
                break
        return total
