"""Persistent collectives, Isendrecv and partitioned messages of MPI 4."""

from __future__ import annotations

import pytest

from tests.shim.conftest import Lab, Run
from tests.shim.reader import CREATES, PERSISTENT, WILD_SOURCE

pytestmark = pytest.mark.mpi


@pytest.fixture
def run(lab: Lab) -> Run:
    if lab.mpi.standard < 4:
        pytest.skip("this MPI is older than MPI 4")
    return lab.record("persistent", 2)


def test_a_collective_is_created_once_and_started_often(run: Run) -> None:
    for trace in run.traces:
        (reduced,) = trace.of("Allreduce_init")
        (gathered,) = trace.of("Allgatherv_init")
        assert reduced.has(PERSISTENT) and gathered.has(PERSISTENT)
        assert (reduced.made, gathered.made) == ([-1], [-2])
        assert gathered.vectors == (None, [1, 2])
        together = trace.of("Startall")
        assert [e.requests for e in together] == [[-1, -2]] * 3
        done = [e.requests for e in trace.of("Waitall")]
        assert done == [e.made for e in together]
        assert trace.of("Start")[0].requests == [-1]
        assert [e.requests for e in trace.of("Request_free")][:2] == [[-1], [-2]]


def test_a_persistent_neighbourhood_has_its_counts_at_creation(run: Run) -> None:
    for trace in run.traces:
        (made,) = trace.of("Neighbor_alltoall_init")
        assert made.vectors == ([1, 1], [1, 1])


def test_isendrecv_is_two_messages_and_one_request(run: Run) -> None:
    for rank, trace in enumerate(run.traces):
        (both,) = trace.of("Isendrecv")
        assert both.has(CREATES) and both.has(WILD_SOURCE)
        assert (both.peer, both.tag) == (1 - rank, 5)
        assert (both.peer2, both.tag2) == (-3, 5)
        (wait,) = [e for e in trace.of("Wait") if e.requests == both.made]
        assert [status[:2] for status in wait.statuses] == [(0, 1 - rank)]
        (replaced,) = trace.of("Isendrecv_replace")
        assert (replaced.peer2, replaced.tag2) == (1 - rank, 6)


def test_a_partitioned_message_counts_all_its_partitions(run: Run) -> None:
    sender, receiver = run.traces
    (sent,), (received,) = sender.of("Psend_init"), receiver.of("Precv_init")
    assert sent.has(PERSISTENT) and received.has(PERSISTENT)
    assert (sent.counts[0], received.counts[1]) == (12, 12)
    assert (sent.peer, sent.tag, received.peer) == (1, 7, 0)
    assert sender.counts["MPI_Pready"] == 2
    assert sender.counts["MPI_Pready_range"] == 2
    polls = receiver.of("Parrived")
    assert polls and not any(e.requests for e in polls)
