"""Neighbourhood collectives: counts for each neighbour, and who the neighbours are."""

from __future__ import annotations

import pytest

from tests.shim.conftest import Record, Run
from tests.shim.reader import HAS_A, HAS_B, Event, Trace

pytestmark = pytest.mark.mpi

CART, GRAPH, DIST_GRAPH = 7, 9, 10


@pytest.fixture
def run(record: Record) -> Run:
    return record("neighbours", 4)


def around(trace: Trace, kind: int) -> tuple[list[int], list[int]]:
    (found,) = [comm for comm in trace.comms.values() if comm["kind"] == kind]
    return found["sources"], found["destinations"]


def on(trace: Trace, name: str, kind: int) -> Event:
    (found,) = [e for e in trace.of(name) if trace.comms[e.comm]["kind"] == kind]
    return found


def test_the_neighbours_of_every_topology_are_defined(run: Run) -> None:
    line = [[1], [0, 2], [1, 3], [2]]
    for rank, trace in enumerate(run.traces):
        assert around(trace, CART) == around(trace, GRAPH) == (line[rank], line[rank])
        star = ([], [1, 2, 3]) if rank == 0 else ([0], [])
        assert around(trace, DIST_GRAPH) == star
        assert trace.comms[0]["sources"] == []


def test_a_copy_of_a_communicator_has_its_neighbours(run: Run) -> None:
    for trace in run.traces:
        (copy,) = [c for c in trace.comms.values() if c["kind"] == 2]
        assert (copy["sources"], copy["destinations"]) == around(trace, CART)


def test_places_beyond_a_border_have_no_count(run: Run) -> None:
    for rank, trace in enumerate(run.traces):
        inside = [rank > 0, rank < 3]
        counts = [
            n
            for n, is_in in zip((2 * rank + 1, 2 * rank + 2), inside, strict=True)
            if is_in
        ]
        back = [
            n
            for n, is_in in zip((2 * rank, 2 * rank + 3), inside, strict=True)
            if is_in
        ]
        alltoallv = on(trace, "Neighbor_alltoallv", CART)
        assert alltoallv.vectors == (counts, back)
        assert trace.type_name(alltoallv.type_a) == "MPI_INT"
        in_bytes = [4 * n for n in counts], [4 * n for n in back]
        assert on(trace, "Ineighbor_alltoallw", CART).vectors == in_bytes


def test_one_count_for_all_becomes_one_for_each(run: Run) -> None:
    for rank, trace in enumerate(run.traces):
        near = 1 if rank in (0, 3) else 2
        gathered = on(trace, "Neighbor_allgather", CART)
        assert gathered.vectors == ([3] * near, [3] * near)
        assert not gathered.has(HAS_A) and not gathered.has(HAS_B)
        assert on(trace, "Ineighbor_allgatherv", CART).vectors == (
            [4] * near,
            [4] * near,
        )
        star = on(trace, "Neighbor_alltoall", DIST_GRAPH).vectors
        assert star == (([1, 1, 1], []) if rank == 0 else ([], [1]))


def test_nonblocking_ones_make_requests(run: Run) -> None:
    for trace in run.traces:
        made = [e.made for e in trace.of("Ineighbor_allgatherv", "Ineighbor_alltoallw")]
        assert made == [[1], [2]]
        assert [e.requests for e in trace.of("Wait")] == made
        assert trace.counts == {"MPI_Comm_rank": 1, "MPI_Comm_size": 1}
