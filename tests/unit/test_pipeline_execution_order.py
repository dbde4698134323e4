"""The own calls of a process come into an order that one thread can execute."""

from skelgen.events.reorder import reorder
from skelgen.matching.threads import order_of_threads
from skelgen.pipeline.build_team import ALONE
from skelgen.pipeline.execution_order import executable
from skelgen.ticks.early_returns import order_without_circles, stuck_in_collectives
from tests.builders import events
from tests.timed_calls import timed

THREADS = """
    rank 0
      Recv from=1 tag=1 bytes=8
      Irecv from=1 tag=3 bytes=8 as=a
      Send to=1 tag=2 bytes=8
      Wait of=a
    rank 1
      Recv from=0 tag=2 bytes=8
      Send to=0 tag=1 bytes=8
      Send to=0 tag=3 bytes=8
"""
CROSSED = """
    comm one members=0,1
    comm two members=0,1
    rank 0
      Bcast comm=one root=0 bytes=8
      Bcast comm=two root=1 bytes=8
    rank 1
      Bcast comm=two root=1 bytes=8
      Bcast comm=one root=0 bytes=8
"""


def test_threads_get_the_order_that_matching_finds():
    first, second = "0 10 90; 1 12 13; 1 20 40; 1 95 99", "0 15 45; 0 50 80; 0 85 90"
    found = timed(THREADS, first, second)
    ordered, concurrent = executable(found, ALONE)
    expected = reorder(found, order_of_threads(found))
    assert concurrent == 1
    for name in ("shape", "ages", "size_bytes"):
        one, other = (getattr(each.calls, name) for each in (ordered, expected))
        assert one.tolist() == other.tolist(), name
    assert ordered.enter_ns.tolist() == expected.enter_ns.tolist()
    assert ordered.enter_ns.tolist() != found.enter_ns.tolist()


def test_collectives_get_one_order_and_times_stay():
    found = timed(CROSSED, "0 10; 20 30", "2 12; 15 25")
    ordered, concurrent = executable(found, ALONE)
    assert concurrent == 0
    assert not len(stuck_in_collectives(ordered.calls))
    order = order_without_circles(found)
    assert ordered.calls.shape.tolist() == found.calls.shape[order].tolist()
    for name in ("enter_ns", "leave_ns", "compute_ns"):
        assert getattr(ordered, name) is getattr(found, name)


def test_calls_that_one_thread_made_stay():
    found = events("ranks 2\nrank *\n Bcast root=0 bytes=8\n Barrier")
    assert executable(found, ALONE) == (found, 0)
