"""The operations of shared strings on each of their ranks, and how they are linked.

A node is an operation on one rank: what has a size of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind, FunctionInfo, function_info
from skelgen.events.creations import Creations, rows_of
from skelgen.keys import mixed, rows_by
from skelgen.matching import Matching
from skelgen.matching.components import components
from skelgen.signature import RankGroup, Signature
from skelgen.signature.types import Neighbours
from skelgen.skeleton.keep.units import Units
from skelgen.skeleton.quantities.communicator_places import places_in
from skelgen.skeleton.quantities.strings import INSERTED, SharedStrings


@dataclass(frozen=True, slots=True)
class Sized:
    """Where a node's statistics stand.

    Attributes
    ----------
    group : RankGroup
    leaf, row : int
        Leaf, and position of the rank in the group.
    occurrences : int
    """

    group: RankGroup
    leaf: int
    row: int
    occurrences: int


class Nodes:
    """All nodes of shared strings, rank after rank, operation after operation.

    Parameters
    ----------
    signature : Signature
    shared : SharedStrings
    functions : sequence of str
    symbols : SYMBOL_DTYPE array
        Those of the plan.
    units : Units
        Of all calls of the application.
    """

    def __init__(
        self,
        signature: Signature,
        shared: SharedStrings,
        functions: Sequence[str],
        symbols: NDArray[np.void],
        units: Units,
    ) -> None:
        self.signature, self.shared = signature, shared
        self.functions, self.symbols, self.units = functions, symbols, units
        counts = [len(shared.step[program]) for program in shared.program]
        self.first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.rank = np.repeat(np.arange(len(counts)), counts)
        programs = shared.program.tolist()
        self.symbol = _joined([shared.column("symbol", p) for p in programs])
        self.leaf = _joined([shared.column("leaf", p) for p in programs])
        self.step_node = _joined(
            [shared.local[p] + self.first[rank] for rank, p in enumerate(programs)]
        )
        self.occurrences = np.bincount(self.step_node, minlength=len(self))
        self._infos = [function_info(name) for name in functions]
        kinds = np.array([int(info.kind) for info in self._infos] + [0])
        self._kind = kinds[symbols["function"]][self.symbol]
        self._places = places_in(signature.families)
        self._row = np.zeros(signature.ranks, np.int64)
        for group in signature.groups:
            self._row[list(group.ranks)] = np.arange(len(group.ranks))

    def __len__(self) -> int:
        """Return the number of nodes."""
        return int(self.first[-1])

    def kind(self, node: int) -> CallKind:
        """Return how a node's call takes part in communication."""
        return CallKind(int(self._kind[node]))

    def of_kinds(self, kinds: Sequence[CallKind]) -> list[int]:
        """Return the nodes of some kinds."""
        found: list[int] = np.flatnonzero(np.isin(self._kind, kinds)).tolist()
        return found

    def function(self, node: int) -> str:
        """Return the MPI name of a node's call."""
        return self.functions[int(self.symbols["function"][self.symbol[node]])]

    def info(self, node: int) -> FunctionInfo:
        """Return the properties of a node's function."""
        return self._infos[int(self.symbols["function"][self.symbol[node]])]

    def datatype_bytes(self, node: int) -> int:
        """Return the size of an element [bytes], at least 1."""
        return max(1, int(self.symbols["datatype_bytes"][self.symbol[node]]))

    def sized(self, node: int) -> Sized:
        """Return where a node's statistics stand."""
        number, leaf = self.place(node)
        row = int(self._row[self.rank[node]])
        group = self.signature.groups[number]
        return Sized(group, leaf, row, int(self.occurrences[node]))

    def rows(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions of the nodes' ranks in their groups."""
        found: NDArray[np.int64] = self._row[self.rank[nodes]]
        return found

    def of_operations(self, program: int) -> Iterator[NDArray[np.int64]]:
        """Give the nodes of each operation of a program, on all of its ranks."""
        first = self.first[list(self.shared.ranks[program])]
        for number in range(len(self.shared.step[program])):
            yield first + number

    def place(self, node: int) -> tuple[int, int]:
        """Return group and leaf of a node."""
        program = self.shared.program[self.rank[node]]
        return self.shared.group[program], int(self.leaf[node])

    def blocks(self, node: int) -> bool:
        """Return whether a send waits by itself, not by a completion."""
        return self.kind(node) is CallKind.SEND

    def describe(self, node: int) -> str:
        """Name a node's call with its partner, for people."""
        row = self.symbols[self.symbol[node]]
        words = [self.function(node)]
        if (
            int(row["family"]) >= 0
            and int(row["peer"]) >= 0
            and not self.info(node).rooted
        ):
            world = self.members(node)
            partner = world[(self.own(node) + int(row["peer"])) % len(world)]
            words.append(f"with rank {partner}")
        return " ".join(words)

    def members(self, node: int) -> tuple[int, ...]:
        """Return the world ranks of the communicator of a node's call."""
        family = int(self.symbols["family"][self.symbol[node]])
        number, _ = self._places[family][int(self.rank[node])]
        return self.signature.families[family].instances[number]

    def neighbours(self, node: int) -> tuple[Neighbours, Neighbours]:
        """Return the sources and destinations of all ranks of a node's topology."""
        family = int(self.symbols["family"][self.symbol[node]])
        number, _ = self._places[family][int(self.rank[node])]
        found = self.signature.families[family]
        none: Neighbours = ((),) * len(found.instances[number])
        sources = found.sources[number] if found.sources else none
        return sources, found.destinations[number] if found.destinations else none

    def own(self, node: int) -> int:
        """Return a node's rank in the communicator of its call."""
        family = int(self.symbols["family"][self.symbol[node]])
        return self._places[family][int(self.rank[node])][1]

    def _steps_of(self, kinds: Sequence[CallKind]) -> NDArray[np.int64]:
        return np.flatnonzero(np.isin(self._kind, kinds)[self.step_node])

    def linked(
        self, kinds: Sequence[CallKind], group: NDArray[np.int64]
    ) -> list[NDArray[np.int64]]:
        """Return the sets of nodes that meet, directly or through others.

        Parameters
        ----------
        kinds : sequence of CallKind
            Of collectives.
        group : (n,) int64 array
            Event of each call of the application.
        """
        steps = self._steps_of(kinds)
        if not len(steps):
            return []
        unit = group[self.shared.strings.call[steps]]
        node = self.step_node[steps]
        whole = unit >= 0
        names, edge_node = np.unique(node[whole], return_inverse=True)
        meetings, edge_unit = np.unique(unit[whole], return_inverse=True)
        least = components(edge_node, edge_unit, len(names), len(meetings))
        return [names[part] for part in rows_by(least)]

    def in_step(self, members: NDArray[np.int64]) -> bool:
        """Say whether some nodes meet in all their calls."""
        keys = set()
        strings = self.shared.strings
        for node in members.tolist():
            rank = int(self.rank[node])
            rows = slice(strings.first[rank], strings.first[rank + 1])
            own = strings.call[rows][self.step_node[rows] == node]
            with np.errstate(over="ignore"):
                keys.add((len(own), int(mixed(self.units.unit[own]).sum())))
        return len(keys) == 1

    def messages(
        self, matching: Matching
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the calls at both ends of the kept messages."""
        kept = np.zeros(len(matching.whole_event) + 1, bool)
        kept[self.shared.strings.call] = True
        kept[INSERTED] = False
        both = kept[matching.send_call] & kept[matching.receive_call]
        return matching.send_call[both], matching.receive_call[both]

    def ends(
        self, call: NDArray[np.int64], persistent: CallKind
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the nodes that hold the buffers of some kept calls.

        Parameters
        ----------
        call : (m,) int64 array
            Calls that begin one end of a message.
        persistent : CallKind
            Kind of the requests that a start begins at this end.

        Returns
        -------
        index, node : (e,) int64 arrays
            Positions in `call` and nodes; several for a start of several requests.
        """
        strings = self.shared.strings
        steps = np.flatnonzero(strings.call != INSERTED)
        step = steps[np.searchsorted(strings.call[steps], call)]
        started = self._kind[self.step_node[step]] == CallKind.START
        plain = np.flatnonzero(~started)
        index, creator = self._requests(step[started])
        node = self.step_node[creator]
        wanted = self._kind[node] == persistent
        return (
            np.concatenate([plain, np.flatnonzero(started)[index[wanted]]]),
            np.concatenate([self.step_node[step[plain]], node[wanted]]),
        )

    def _requests(
        self, step: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the steps that created the requests which some steps name."""
        strings = self.shared.strings
        function = self.symbols["function"][self.symbol][self.step_node]
        creations = Creations.among(
            np.array([info.creates for info in self._infos])[function],
            np.array([info.persistent for info in self._infos])[function],
        )
        index, age = rows_of(strings.age_first, strings.ages, step)
        return index, creations.named(step[index], age)


def _joined(parts: Sequence[NDArray[np.signedinteger]]) -> NDArray[np.int64]:
    if not parts:
        return np.zeros(0, np.int64)
    return np.concatenate(parts).astype(np.int64)
