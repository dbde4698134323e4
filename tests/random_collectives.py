"""The collective steps of random MPI programs: blocking, nonblocking, persistent."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from skelgen.events.types import HOLES, IN_PLACE
from tests.actor import Actor

PLAIN = (
    "Barrier Bcast Reduce Allreduce Allgather Gather Scatter Alltoall Scan Exscan "
    "Reduce_scatter_block"
).split()
_VECTOR = "Alltoallv Alltoallw Allgatherv Gatherv Scatterv".split()
_NEIGHBOURHOOD = (
    "Neighbor_alltoall Neighbor_alltoallv Neighbor_alltoallw Neighbor_allgather "
    "Neighbor_allgatherv"
).split()
_ROOTED = {"Bcast", "Reduce", "Gather", "Scatter", "Gatherv", "Scatterv"}
_REDUCING = {"Reduce", "Allreduce", "Scan", "Exscan", "Reduce_scatter_block"}

#: Makes the calls of a collective on all its ranks; returns their requests.
Call = Callable[[], list[tuple[int, int]]]
_Edge = tuple[int, int, int]


class Collectives(Actor):
    """Draws collectives."""

    def __init__(self, rng: random.Random, ranks: int, standard: int = 4) -> None:
        super().__init__(rng, ranks)
        self.standard = standard
        #: Communicators with neighbours.
        self.topologies: list[int] = []

    def topology(self) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        """Draw sources and destinations of all ranks, sometimes an edge twice."""
        ranks = range(self.ranks)
        sources: list[list[int]] = [[] for _ in ranks]
        destinations: list[list[int]] = [[] for _ in ranks]
        share = self.rng.choice((0.2, 0.5, 0.9))
        for source in ranks:
            for target in ranks:
                for _ in range(self.rng.choice((1, 1, 1, 2))):
                    if self.rng.random() < share:
                        destinations[source].append(target)
                        sources[target].append(source)
        for around in (*sources, *destinations):
            self.rng.shuffle(around)
        return list(map(tuple, sources)), list(map(tuple, destinations))

    def drawn_collective(self, function: str, form: str = "") -> Call:
        """Draw a collective; form ``I`` is nonblocking, ``_init`` creates it."""
        near = function in _NEIGHBOURHOOD
        comm = self.rng.choice(self.topologies if near else self.comms)
        members = self.members(comm)
        given: dict[str, Any] = {"comm": comm, "site": self.site()}
        if function in _ROOTED:
            given["peer"] = self.rng.randrange(len(members))
        if function in _REDUCING:
            given |= {"op": self.rng.randint(1, 3), "datatype_bytes": 8}
        if function in ("Allreduce", "Allgather") and self.rng.random() < 0.2:
            given["flags"] = IN_PLACE
        if function != "Barrier":
            given["size_bytes"] = 8 * self.rng.choice((1, 1, 4, 100, 2000))
        matrix = [[8 * self.rng.randrange(5) for _ in members] for _ in members]
        vectors = [
            self._vectors(function, matrix, own, given.get("peer", 0))
            for own in range(len(members))
        ]
        if near:
            vectors = self._of_edges(function, comm)
        if function not in ("Barrier", *_REDUCING):
            self._in_pieces(given, vectors)
        name = {
            "": function,
            "I": f"I{function[0].lower()}{function[1:]}",
            "_init": f"{function}_init",
        }[form]
        work = self.work_ns()

        def run() -> list[tuple[int, int]]:
            together = max(self.builder.clock_ns[rank] for rank in members)
            together = 0 if form else together
            requests = []
            for own, rank in enumerate(members):
                words = {**given, **vectors[own], "after": together}
                requests.append((rank, self.call(rank, name, work, **words)))
            return requests

        return run

    def _in_pieces(self, given: dict[str, Any], of_ranks: list[dict[str, Any]]) -> None:
        """Give data holes in memory: on all ranks, on some, or on none."""
        some = self.rng.choice(((0,), (0,), (0, HOLES), (HOLES,)))
        for own in of_ranks:
            flags = self.rng.choice(some)
            own["flags"] = given.get("flags", 0) | flags
            own["datatype_bytes"] = self.rng.choice((4, 8)) if flags else 1
            own["piece_bytes"] = self.rng.choice((0, 2, 8, 64, 4096)) if flags else 0

    def _vectors(
        self, function: str, matrix: list[list[int]], own: int, root: int
    ) -> dict[str, Any]:
        """Return the byte counts for each rank of a vector collective."""
        column = [row[0] for row in matrix]
        if function in ("Alltoallv", "Alltoallw"):
            return {"sends": matrix[own], "receives": [row[own] for row in matrix]}
        if function == "Allgatherv":
            return {"size_bytes": column[own], "receives": column}
        if function == "Gatherv":
            return {
                "size_bytes": column[own],
                "receives": column if own == root else None,
            }
        if function == "Scatterv":
            if own == root:
                return {"sends": column}
            return {"size_bytes": 0, "receives": None}
        return {}

    def _of_edges(self, function: str, comm: int) -> list[dict[str, Any]]:
        """Return the byte counts of each rank for each of its neighbours."""
        known = self.builder.communicators[comm]
        size: dict[_Edge, int] = {}
        for own, others in enumerate(known.destinations):
            gathered = 8 * self.rng.randrange(1, 400)
            for edge in edges(own, others, sends=True):
                apart = function.endswith(("alltoallv", "alltoallw"))
                size[edge] = 8 * self.rng.randrange(400) if apart else gathered
        if function in ("Neighbor_allgather", "Neighbor_alltoall"):
            size = dict.fromkeys(size, 800)
        return [
            {
                "sends": [size[edge] for edge in edges(own, out, sends=True)],
                "receives": [size[edge] for edge in edges(own, into, sends=False)],
            }
            for own, (into, out) in enumerate(
                zip(known.sources, known.destinations, strict=True)
            )
        ]

    def function(self) -> str:
        """Draw the name of a collective."""
        if self.topologies and self.rng.random() < 0.4:
            return self.rng.choice(_NEIGHBOURHOOD)
        return self.rng.choice(PLAIN if self.rng.random() < 0.8 else _VECTOR)


def edges(own: int, others: tuple[int, ...], *, sends: bool) -> list[_Edge]:
    """Name a rank's edges: source, destination, which of several between the two."""
    before: Counter[int] = Counter()
    found = []
    for other in others:
        ends = (own, other) if sends else (other, own)
        found.append((*ends, before[other]))
        before[other] += 1
    return found
