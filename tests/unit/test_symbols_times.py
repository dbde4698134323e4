"""Every piece of time belongs to a symbol, or is dropped with a reason."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.matching import match
from skelgen.symbols.cluster import cluster
from skelgen.units import NS_PER_S
from tests import builders
from tests.random_programs import random_program
from tests.summaries import cut_events


def times_of(text):
    """Return the symbols of a trace whose rank 1 is not looked at."""
    events = builders.events(text)
    return cluster(events, match(events.calls))


def inside(symbols, rank_calls):
    """Return the computation before each symbol of rank 0."""
    own = symbols.symbol[:rank_calls] >= 0
    return symbols.compute_ns[:rank_calls][own].tolist()


def test_local_calls_fold_into_the_computation_before_the_next_symbol():
    symbols = times_of("""
        rank 0
          10 Comm_rank mpi=1
          20 Barrier mpi=100
          30 Comm_size mpi=2
          40 Send to=null tag=1 mpi=3
          50 Allreduce bytes=8 comm=self mpi=4
          60 Barrier mpi=100
          70 Comm_size mpi=5
          tail 80
        rank 1
          Barrier
          Barrier
    """)
    assert inside(symbols, 7) == [10 + 1 + 20, 30 + 2 + 40 + 3 + 50 + 4 + 60]
    assert symbols.tail_ns.tolist() == [70 + 5 + 80, 0]
    assert len(symbols.waiting_call) == 0


def test_polling_is_waiting_and_not_computation():
    symbols = times_of("""
        rank 0
          5 Irecv from=1 tag=1 bytes=8 as=r
          1000 Test mpi=10
          20 Test mpi=11
          30 Test mpi=12
          40 Test of=r mpi=13
        rank 1
          Send to=0 tag=1 bytes=8
    """)
    assert inside(symbols, 5) == [5, 1000]
    assert symbols.waiting_call.tolist() == [4]
    assert symbols.waiting_ns.tolist() == [10 + 20 + 11 + 30 + 12 + 40]


def test_long_gaps_between_polls_are_computation():
    symbols = times_of("""
        rank 0
          Irecv from=1 tag=1 bytes=8 as=r
          5 Test mpi=10
          60000 Test mpi=11
          70000 Test of=r mpi=12
        rank 1
          Send to=0 tag=1 bytes=8
    """)
    assert inside(symbols, 4) == [0, 130_005]
    assert symbols.waiting_ns.tolist() == [21]


def test_sleep_between_polls_is_waiting_whatever_its_length():
    symbols = times_of("""
        rank 0
          Irecv from=1 tag=1 bytes=8 as=r
          5 Test mpi=10 failed bytes=4
          70 Test mpi=11 failed bytes=1 sleep=200000
          80000 Test mpi=11 failed bytes=1 sleep=70000
          90 Test of=r mpi=12 sleep=300000
        rank 1
          Send to=0 tag=1 bytes=8
    """)
    assert inside(symbols, 5) == [0, 5 + 11 + 80000]  # it worked there
    assert symbols.waiting_call.tolist() == [4]
    assert symbols.waiting_ns.tolist() == [10 + 70 + 200_000 + 11 + 90 + 300_000]
    assert symbols.polls.tolist() == [6]
    assert symbols.nap_ns.tolist() == [500_000]
    assert symbols.idle_call.tolist() == [4]
    assert symbols.idle_ns.tolist() == [70_000]


def test_polls_that_find_at_once_count_and_other_tests_do_not():
    symbols = times_of("""
        rank 0
          Irecv from=1 tag=1 bytes=8 as=r
          Test of=r mpi=12
          Test_cancelled mpi=1
          Probe from=1 tag=2 mpi=5
          Recv from=1 tag=2 bytes=8
          Test_cancelled mpi=1
          Recv from=1 tag=3 bytes=8
        rank 1
          Send to=0 tag=1 bytes=8
          Send to=0 tag=2 bytes=8
          Send to=0 tag=3 bytes=8
    """)
    assert symbols.waiting_call.tolist() == [1, 4]
    assert symbols.polls.tolist() == [1, 1]
    assert symbols.waiting_ns.tolist() == [0, 5]


def test_a_look_at_the_clock_amid_polling_is_waiting():
    symbols = times_of("""
        rank 0
          Irecv from=1 tag=1 bytes=8 as=r
          5 Test mpi=10
          6 Wtime mpi=1
          7 Test of=r mpi=12
        rank 1
          Send to=0 tag=1 bytes=8
    """)
    assert inside(symbols, 4) == [0, 5]
    assert symbols.waiting_ns.tolist() == [10 + 6 + 1 + 7]


def test_other_work_between_a_poll_and_a_call_is_computation():
    symbols = times_of("""
        rank 0
          5 Iprobe from=1 tag=1 mpi=10
          6 Send to=1 tag=1 bytes=8
        rank 1
          Recv from=0 tag=1 bytes=8
    """)
    assert inside(symbols, 2) == [11]
    assert symbols.waiting_ns.tolist() == [10]


def test_probes_are_waiting_of_the_receive_behind_them():
    symbols = times_of("""
        rank 0
          5 Probe from=1 tag=1 mpi=1000
          6 Recv from=1 tag=1 bytes=8 mpi=10
        rank 1
          Send to=0 tag=1 bytes=8
    """)
    assert inside(symbols, 2) == [11]
    assert symbols.waiting_call.tolist() == [1]
    assert symbols.waiting_ns.tolist() == [1000]


def test_polling_after_the_last_communication_is_dropped():
    symbols = times_of("""
        rank 0
          Barrier
          5 Iprobe from=1 tag=1 mpi=1000
        rank 1
          Barrier
    """)
    assert symbols.dropped == (("polling after the last communication", 1, 1e-6),)
    assert symbols.tail_ns.tolist() == [5, 0]


def total_ns(events):
    inner = int((events.leave_ns - events.enter_ns).sum())
    return int(events.compute_ns.sum()) + inner + int(events.tail_ns.sum())


def accounted_ns(events, symbols):
    inside = symbols.symbol >= 0
    inner = int((events.leave_ns - events.enter_ns)[inside].sum())
    dropped = sum(time_s for _, _, time_s in symbols.dropped)
    return (
        int(symbols.compute_ns.sum())
        + inner
        + int(symbols.waiting_ns.sum())
        + int(symbols.tail_ns.sum())
        + round(dropped * NS_PER_S)
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_computation_calls_waiting_and_dropped_time_are_all_time(seed):
    rng = random.Random(seed)
    events = random_program(rng)
    for one in (events, cut_events(events, rng)):
        symbols = cluster(one, match(one.calls))
        assert abs(accounted_ns(one, symbols) - total_ns(one)) <= 1
