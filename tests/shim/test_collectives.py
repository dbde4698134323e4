"""Collectives: both sides, roots, MPI_IN_PLACE, count vectors."""

from __future__ import annotations

import pytest

from tests.shim.conftest import Record, Run
from tests.shim.reader import HAS_A, HAS_B, HOLES, IN_PLACE, Event

pytestmark = pytest.mark.mpi

SUM, PROD, MAX, MIN = 3, 4, 1, 2


@pytest.fixture
def run(record: Record) -> Run:
    return record("collectives", 3)


def sides(event: Event) -> tuple[int | None, int | None]:
    a = event.counts[0] if event.has(HAS_A) else None
    b = event.counts[1] if event.has(HAS_B) else None
    return a, b


def test_in_place_leaves_out_the_ignored_side(run: Run) -> None:
    for rank, trace in enumerate(run.traces):
        root = rank == 0
        gather, scatter = trace.of("Gather")[0], trace.of("Scatter")[0]
        assert sides(gather) == ((None, 2) if root else (2, None))
        assert sides(scatter) == ((2, None) if root else (None, 2))
        assert gather.has(IN_PLACE) == scatter.has(IN_PLACE) == root
        for name in ("Allgather", "Alltoall"):
            event = trace.of(name)[0]
            assert event.has(IN_PLACE)
            assert sides(event) == (None, 2)
        allreduce = trace.of("Allreduce")[0]
        assert allreduce.has(IN_PLACE)
        assert sides(allreduce) == (2, None)
        assert trace.of("Reduce")[0].has(IN_PLACE) == root


def test_count_vectors_are_recorded_on_both_sides(run: Run) -> None:
    for rank, trace in enumerate(run.traces):
        counts = [rank, rank + 1, rank + 2]
        assert trace.of("Alltoallv")[0].vectors == (counts, counts)
        number_bytes = [4 * n for n in counts]
        whole, in_pieces = trace.of("Alltoallw")
        assert whole.vectors == in_pieces.vectors == (number_bytes, number_bytes)
        assert in_pieces.has(HOLES) and not whole.has(HOLES)
        at_root = [1, 2, 3] if rank == 1 else None
        gather, scatter = trace.of("Gatherv")[0], trace.of("Scatterv")[0]
        assert gather.vectors == (None, at_root)
        assert sides(gather) == (rank + 1, None)
        assert scatter.vectors == (at_root, None)
        assert sides(scatter) == (None, rank + 1)
        assert trace.of("Allgatherv")[0].vectors == (None, [1, 2, 3])
        assert trace.of("Reduce_scatter")[0].vectors == ([1, 2, 3], None)


def test_counts_that_do_not_matter_are_not_recorded(run: Run) -> None:
    for rank, trace in enumerate(run.traces):
        assert sides(trace.of("Gather")[1]) == ((1, 1) if rank == 0 else (1, None))
        assert sides(trace.of("Scatter")[1]) == ((1, 1) if rank == 0 else (None, 1))


def test_roots_operations_and_types_are_recorded(run: Run) -> None:
    for trace in run.traces:
        (bcast,) = trace.of("Bcast")
        assert bcast.peer == 2
        assert trace.type_name(bcast.type_a) == "MPI_DOUBLE"
        product = trace.of("Reduce")[1]
        assert (product.peer, product.op) == (1, PROD)
        assert [e.op for e in trace.of("Scan", "Exscan")] == [MIN, MIN]
        assert trace.of("Reduce_scatter_block")[0].counts[0] == 1
        assert all(e.comm == 0 for e in trace.of("Barrier", "Bcast"))


def test_nonblocking_collectives_make_requests(run: Run) -> None:
    for trace in run.traces:
        started = trace.of("Ibarrier", "Iallreduce", "Iallgather")
        assert [e.made for e in started] == [[1], [2], [3]]
        assert trace.of("Waitall")[0].requests == [1, 2, 3]
