"""Assemble programs: loops over operations with all their quantities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen import loops
from skelgen.events import function_info
from skelgen.events.functions import WITH_PARTNERS
from skelgen.signature import RankGroup
from skelgen.skeleton.keep.expansion import Expansion
from skelgen.skeleton.quantities.durations import Durations
from skelgen.skeleton.quantities.nodes import Nodes
from skelgen.skeleton.quantities.sizes import Sizes
from skelgen.skeleton.quantities.strings import INSERTED, SharedStrings
from skelgen.skeleton.types import OccurrenceSeries, Operation, Program
from skelgen.symbols.types import VARYING


def programs_of(
    nodes: Nodes,
    sizes: Sizes,
    durations: list[Durations],
    expansion: Expansion,
    calls_first: NDArray[np.int64],
) -> tuple[Program, ...]:
    """Put the programs of shared strings together.

    Parameters
    ----------
    nodes : Nodes
        Of these strings.
    sizes : Sizes
    durations : list of Durations
        Of each program.
    expansion : Expansion
    calls_first : (ranks + 1,) int64 array
        ``Calls.first`` of the application.
    """
    found = []
    for program, ranks in enumerate(nodes.shared.ranks):
        partners = _Partners(nodes, program, expansion, calls_first)
        operations = tuple(
            _operation(nodes, sizes, durations[program], partners, program, number)
            for number in range(len(nodes.shared.step[program]))
        )
        nest = loops.fold_with_skips(nodes.shared.local[program])
        own = durations[program]
        around = own.tail_ns, own.head_ns, own.tail_idle_ns
        found.append(Program(ranks, nest, operations, *around))
    return tuple(found)


def _operation(
    nodes: Nodes,
    sizes: Sizes,
    durations: Durations,
    partners: _Partners,
    program: int,
    number: int,
) -> Operation:
    shared = nodes.shared
    own = (nodes.first[list(shared.ranks[program])] + number).tolist()
    leaf, symbol = int(nodes.leaf[own[0]]), int(nodes.symbol[own[0]])
    return Operation(
        symbol=symbol,
        group=INSERTED if leaf == INSERTED else shared.group[program],
        leaf=leaf,
        occurrences=int(nodes.occurrences[own[0]]),
        ages=shared.operation_ages(program, number),
        compute_ns=OccurrenceSeries(durations.compute_ns[number]),
        idle_ns=OccurrenceSeries(durations.idle_ns[number]),
        size_bytes=OccurrenceSeries(_rows([sizes.values[node] for node in own])),
        receive_bytes=sizes.receive_bytes[own],
        peers=partners.of_occurrences(number, leaf, symbol),
        partners=partners.of_all_occurrences(leaf, symbol),
        vectors=_vectors(
            [sizes.vectors.get(node) for node in own] if sizes.vectors else [], len(own)
        ),
        nap_ns=durations.nap_ns[number],
    )


def _rows(rows: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Stack series of the ranks; a constant among longer ones is repeated."""
    lengths = list(map(len, rows))
    columns = max(lengths)
    if min(lengths) < columns:
        rows = [row if len(row) == columns else row.repeat(columns) for row in rows]
    return np.concatenate(rows).reshape(len(rows), columns)


def _vectors(rows: list[NDArray[np.float64] | None], ranks: int) -> NDArray[np.float64]:
    """Join the vectors of the ranks; no rows: none has any."""
    size = max((row.shape[1] for row in rows if row is not None), default=0)
    found = np.zeros((ranks, 2, size))
    for place, row in enumerate(rows):
        if row is not None:
            found[place, :, : row.shape[1]] = row
    return found


class _Partners:
    """Partners that change from call to call, at the kept occurrences."""

    def __init__(
        self,
        nodes: Nodes,
        program: int,
        expansion: Expansion,
        calls_first: NDArray[np.int64],
    ) -> None:
        self.shared: SharedStrings = nodes.shared
        self.symbols = nodes.symbols
        self.signature = nodes.signature
        self.kinds = [
            function_info(name).kind in WITH_PARTNERS for name in nodes.functions
        ]
        self.program = program
        self.group: RankGroup = nodes.signature.groups[self.shared.group[program]]
        self.rank = self.shared.ranks[program][0]
        number = self.shared.group[program]
        self.positions = expansion.leaf[
            expansion.first[number] : expansion.first[number + 1]
        ]
        self.begin = int(calls_first[self.rank])

    def of_all_occurrences(self, leaf: int, symbol: int) -> tuple[int, ...]:
        """Return the relative partners of a call that has several, always the same."""
        if leaf == INSERTED or not self.kinds[self.symbols["function"][symbol]]:
            return ()
        row = int(self.symbols["ages"][symbol])
        first, last = self.signature.age_first[row : row + 2].tolist()
        return tuple(self.signature.age_values[first:last].tolist())

    def of_occurrences(self, number: int, leaf: int, symbol: int) -> NDArray[np.int32]:
        """Return the relative partner of each kept occurrence, where they vary."""
        if leaf == INSERTED or self.symbols["peer"][symbol] != VARYING:
            return np.zeros(0, np.int32)
        runs = self.group.peers[leaf]
        partners = np.repeat(runs[:, 0], runs[:, 1])
        strings = self.shared.strings
        first, last = strings.first[self.rank : self.rank + 2]
        calls = strings.call[first:last][self.shared.local[self.program] == number]
        occurrence = np.searchsorted(
            np.flatnonzero(self.positions == leaf), calls - self.begin
        )
        return np.asarray(partners[occurrence], np.int32)
