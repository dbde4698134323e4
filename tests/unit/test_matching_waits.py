"""Wait states are the certain part of what ranks wait for others."""

from __future__ import annotations

import pytest

from skelgen.matching import match
from skelgen.matching.waits import WaitKind, WaitState, wait_states
from tests import builders


def states(text: str) -> list[WaitState]:
    events = builders.events(text)
    return list(wait_states(events, match(events.calls)))


def test_a_receive_waits_until_its_message_is_sent():
    (one,) = states("""
    ranks 2
    rank 0
      5000 Send to=1 bytes=8 mpi=100
    rank 1
      1000 Recv from=0 bytes=8 mpi=4300
    """)
    assert one.kind is WaitKind.LATE_SENDER
    assert (one.function, one.calls, one.behind) == ("MPI_Recv", 1, 0)
    assert one.time_s == pytest.approx(4e-6)
    assert one.behind_s == one.time_s


def test_a_wait_for_several_messages_counts_once_until_the_last_is_sent():
    (one,) = states("""
    ranks 3
    rank 0
      2000 Send to=2 bytes=8
    rank 1
      7000 Send to=2 bytes=8
    rank 2
      0 Irecv from=0 bytes=8 as=a
      0 Irecv from=1 bytes=8 as=b
      800 Waitall of=a,b mpi=7000
    """)
    assert (one.function, one.calls, one.behind) == ("MPI_Waitall", 1, 1)
    assert one.time_s == pytest.approx(6e-6)


def test_a_send_that_stays_until_it_is_received_waits():
    (one,) = states("""
    ranks 2
    rank 0
      1000 Ssend to=1 bytes=8 mpi=3200
    rank 1
      4000 Recv from=0 bytes=8 mpi=300
    """)
    assert one.kind is WaitKind.LATE_RECEIVER
    assert (one.function, one.behind) == ("MPI_Ssend", 1)
    assert one.time_s == pytest.approx(3e-6)


def test_a_send_that_is_buffered_waits_for_nobody():
    assert not states("""
    ranks 2
    rank 0
      1000 Send to=1 bytes=8 mpi=100
    rank 1
      4000 Recv from=0 bytes=8 mpi=300
    """)


def test_a_completion_of_sends_and_receives_has_no_late_receiver():
    """What it stayed for may have been the receive."""
    found = states("""
    ranks 2
    rank *
      0 Irecv from=+1 tag=1 bytes=8 as=r
      0 Isend to=+1 tag=1 bytes=8 as=s
      0 Waitall of=r,s mpi=3000
    """)
    assert all(one.kind is not WaitKind.LATE_RECEIVER for one in found)


def test_all_ranks_of_a_collective_wait_for_the_last():
    (one,) = states("""
    ranks 3
    rank 0
      1000 Allreduce bytes=8 op=1 mpi=9100
    rank 1
      4000 Allreduce bytes=8 op=1 mpi=6100
    rank 2
      10000 Allreduce bytes=8 op=1 mpi=100
    """)
    assert one.kind is WaitKind.AT_COLLECTIVE
    assert (one.calls, one.behind) == (2, 2)
    assert one.time_s == pytest.approx(15e-6)


def test_a_collective_from_one_rank_is_no_wait_for_all():
    assert not states("""
    ranks 2
    rank 0
      1000 Bcast root=0 bytes=8 mpi=100
    rank 1
      9000 Bcast root=0 bytes=8 mpi=100
    """)


def test_a_nonblocking_collective_is_waited_for_where_it_is_completed():
    (one,) = states("""
    ranks 2
    rank 0
      1000 Ibarrier as=b
      900 Wait of=b mpi=5000
    rank 1
      5000 Ibarrier as=b mpi=100
      0 Wait of=b mpi=100
    """)
    assert (one.kind, one.function) == (WaitKind.AT_COLLECTIVE, "MPI_Wait")
    assert one.time_s == pytest.approx(3e-6)


def test_waits_are_summed_by_call_and_named_after_the_rank_that_is_late_most():
    (one,) = states("""
    ranks 2
    rank 0
      1000 Barrier mpi=4100
      1000 Barrier mpi=100
      1000 Barrier mpi=3100
    rank 1
      5000 Barrier mpi=100
      0 Barrier mpi=1100
      4000 Barrier mpi=100
    """)
    assert one.calls == 3
    assert one.time_s == pytest.approx(8e-6, rel=0.05)
    assert one.behind == 1
    assert one.behind_s == pytest.approx(7e-6, rel=0.05)


def test_a_run_without_communication_has_none():
    assert not states("ranks 2\nrank *\n  1000 Comm_rank")
