"""Calls that communicate with nobody, or that nothing reproduces, have no symbol."""

import numpy as np
import pytest

from skelgen.matching import match
from skelgen.symbols.cluster import cluster
from skelgen.symbols.types import OUTSIDE
from tests import builders
from tests.summaries import ages, described


def symbols_of(text):
    events = builders.events(text)
    return cluster(events, match(events.calls)), events


@pytest.mark.parametrize(
    "call",
    [
        "Comm_rank",
        "Type_commit",
        "Comm_dup comm=world",
        "Comm_free comm=world",
        "Send to=null tag=1 bytes=8",
        "Recv from=null tag=1 bytes=8",
        "Sendrecv to=null from=null tag=1 tag2=1 bytes=8",
        "Allreduce bytes=8 comm=self",
        "Sendrecv to=0 from=0 tag=1 tag2=1 bytes=8 comm=self",
        "Wait",
        "Waitall",
        "Request_free",
        "Iprobe",
        "Test",
        "Testsome",
    ],
)
def test_calls_that_communicate_with_nobody_have_no_symbol(call):
    symbols, _ = symbols_of(f"ranks 2\nrank *\n {call}\n Barrier\n")
    assert symbols.symbol.tolist() == [OUTSIDE, 0, OUTSIDE, 0]
    assert symbols.dropped == ()


def test_collectives_alone_divide_a_run_of_one_rank():
    symbols, _ = symbols_of("rank 0\n 10 Allreduce bytes=8\n 20 Send to=0 tag=1\n")
    assert symbols.symbol.tolist() == [0, OUTSIDE]
    assert symbols.tail_ns.tolist() == [120]
    assert len(symbols.table) == 1


def test_a_trace_without_calls_has_no_symbols():
    symbols, _ = symbols_of("ranks 3\nrank *\n tail 7\n")
    assert len(symbols.symbol) == 0
    assert symbols.tail_ns.tolist() == [7, 7, 7]


def test_a_sendrecv_with_one_partner_keeps_its_symbol():
    symbols, events = symbols_of("""
        ranks 3
        rank *
          Sendrecv to=>1 from=<1 tag=1 tag2=1 bytes=8
    """)
    assert described(symbols, events, 0) == ["Sendrecv"]
    assert symbols.table["peer"].tolist() == [1, 1, -2]
    assert symbols.table["peer2"].tolist() == [-2, 2, 2]


def test_requests_to_nobody_vanish_from_completions_and_ages():
    symbols, events = symbols_of("""
        rank 0
          Isend to=1 tag=1 bytes=8 as=s
          Isend to=null tag=1 bytes=8 as=n
          Irecv from=1 tag=1 bytes=8 as=r
          Waitall of=n,s,r
          Isend to=null tag=1 bytes=8 as=n
          Wait of=n
        rank 1
          Isend to=0 tag=1 bytes=8 as=s
          Irecv from=0 tag=1 bytes=8 as=r
          Waitall of=s,r
    """)
    assert described(symbols, events, 0) == described(symbols, events, 1)
    assert ages(symbols, events, 0) == ages(symbols, events, 1) == [[2, 1]]


def test_successful_tests_count_as_waits():
    symbols, events = symbols_of("""
        rank *
          repeat 4 {
            Irecv from=-1 tag=1 bytes=8 as=r
            Isend to=+1 tag=1 bytes=8 as=s
            Test of=r
            Testany of=s
          }
          Isend to=+1 tag=1 bytes=8 as=s
          Irecv from=-1 tag=1 bytes=8 as=r
          Testsome of=s,r
          Isend to=+1 tag=1 bytes=8 as=s
          Irecv from=-1 tag=1 bytes=8 as=r
          Testall of=s,r
        rank 1
          Barrier
        rank 0
          Barrier
    """)
    completions = [name for name in described(symbols, events) if "ait" in name]
    assert completions == ["Wait"] * 8 + ["Waitall"] * 2


def test_blocking_and_nonblocking_calls_have_different_symbols():
    symbols, events = symbols_of("""
        rank 0
          Send to=1 tag=1 bytes=8
          Isend to=1 tag=1 bytes=8 as=s
          Wait of=s
          Ssend to=1 tag=1 bytes=8
        rank 1
          Recv from=0 tag=1 bytes=8
          Recv from=0 tag=1 bytes=8
          Recv from=0 tag=1 bytes=8
    """)
    names = described(symbols, events)
    assert names == ["Send", "Isend", "Wait", "Ssend"]
    assert len(set(symbols.symbol[:4].tolist())) == 4


def test_matched_receives_and_large_counts_have_their_plain_names():
    symbols, events = symbols_of("""
        rank 0
          Send_c to=1 tag=1 bytes=8
        rank 1
          Mprobe from=0 tag=1
          Mrecv from=0 tag=1 bytes=8
    """)
    assert described(symbols, events, 0) == ["Send"]
    assert described(symbols, events, 1) == ["Recv"]


def test_calls_without_partner_are_dropped_and_counted():
    symbols, events = symbols_of("""
        rank 0
          Send to=1 tag=1 bytes=8 mpi=1000
          Isend to=1 tag=2 bytes=8 as=s mpi=2000
          Wait of=s mpi=3000
          Barrier mpi=4000
        rank 1
          Recv from=0 tag=1 bytes=8
          Barrier
    """)
    assert described(symbols, events) == ["Send", "Barrier"]
    assert symbols.dropped == (
        ("MPI_Isend: no partner in the trace", 1, 2e-6),
        ("MPI_Wait: partner is left out", 1, 3e-6),
    )
    assert symbols.compute_ns[:4].tolist() == [0, 0, 0, 0]


def test_the_partner_of_a_dropped_call_is_dropped_too():
    symbols, events = symbols_of("""
        rank 0
          Sendrecv to=1 from=1 tag=1 tag2=9 bytes=8  # nobody sends this one
          Barrier
        rank 1
          Recv from=0 tag=1 bytes=8
          Barrier
    """)
    assert described(symbols, events, 0) == described(symbols, events, 1) == ["Barrier"]
    reasons = [reason.split(":")[0] for reason, _, _ in symbols.dropped]
    assert sorted(reasons) == ["MPI_Recv", "MPI_Sendrecv"]


def test_collectives_of_intercommunicators_are_dropped_and_messages_stay():
    symbols, events = symbols_of("""
        comm inter members=0 remote=1
        comm inter members=1 remote=0
        rank 0
          Send to=0 tag=1 bytes=8 comm=inter
          Barrier comm=inter mpi=3000
          Barrier
        rank 1
          Recv from=0 tag=1 bytes=8 comm=inter
          Barrier comm=inter mpi=4000
          Barrier
    """)
    assert described(symbols, events, 0) == ["Send", "Barrier"]
    assert described(symbols, events, 1) == ["Recv", "Barrier"]
    assert symbols.dropped == (
        ("MPI_Barrier: intercommunicator", 2, pytest.approx(7e-6)),
    )
    assert symbols.table["peer"].tolist() == [1, -1, 1]


def test_a_persistent_request_that_lost_a_message_goes_with_all_its_messages():
    symbols, events = symbols_of("""
        rank 0
          Send_init to=1 tag=1 bytes=8 as=p
          repeat 3 {
            Start of=p
            Wait of=p
          }
          Request_free of=p
          Barrier
        rank 1
          repeat 2 {
            Recv from=0 tag=1 bytes=8
          }
          Barrier
    """)
    assert described(symbols, events, 0) == described(symbols, events, 1) == ["Barrier"]
    assert sum(calls for _, calls, _ in symbols.dropped) == 10


def test_persistent_requests_have_ages_of_their_own():
    symbols, events = symbols_of("""
        rank *
          Send_init to=+1 tag=1 bytes=8 as=p
          Recv_init from=-1 tag=1 bytes=8 as=q
          repeat 3 {
            Startall of=p,q
            Waitall of=p,q
          }
          Request_free of=p
          Request_free of=q
        rank 1
          Barrier
        rank 0
          Barrier
    """)
    assert ages(symbols, events) == [[-2, -1]] * 6 + [[-2], [-1]]


def test_a_cancel_is_local():
    symbols, events = symbols_of("""
        rank 0
          Irecv from=* tag=*5 bytes=8 as=r
          Cancel of=r
          Wait of=r
          Barrier
        rank 1
          Barrier
    """)
    assert described(symbols, events) == ["Barrier"]


def test_waitanys_in_a_row_complete_in_the_order_of_creation():
    text = """
        rank 0
          repeat 30 {{
            Irecv from=1 tag=1 bytes=8 as=a
            Irecv from=1 tag=2 bytes=8 as=b
            Irecv from=1 tag=3 bytes=8 as=c
            Waitany of={0}
            Waitany of={1}
            Testany of={2}
            Barrier
          }}
        rank 1
          repeat 30 {{
            Send to=0 tag=1 bytes=8
            Send to=0 tag=2 bytes=8
            Send to=0 tag=3 bytes=8
            Barrier
          }}
    """
    for order in ("abc", "bca", "cab", "cba"):
        symbols, events = symbols_of(text.format(*order))
        assert ages(symbols, events) == [[3], [2], [1]] * 30


def test_a_waitany_before_other_calls_keeps_its_request():
    symbols, events = symbols_of("""
        rank 0
          Irecv from=1 tag=1 bytes=8 as=a
          Irecv from=1 tag=2 bytes=8 as=b
          Waitany of=b
          Send to=1 tag=3 bytes=8
          Waitany of=a
        rank 1
          Send to=0 tag=2 bytes=8
          Recv from=0 tag=3 bytes=8
          Send to=0 tag=1 bytes=8
    """)
    assert ages(symbols, events) == [[1], [2]]


def test_symbols_are_numbered_by_first_appearance():
    symbols, _ = symbols_of("ranks 2\nrank *\n Barrier\n Allreduce bytes=8\n Barrier\n")
    assert symbols.symbol.tolist() == [0, 1, 0, 0, 1, 0]
    assert np.array_equal(symbols.table["size_class"], [0, 0])
