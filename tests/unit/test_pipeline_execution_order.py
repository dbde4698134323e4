"""The own calls of a process come into an order that one thread can execute."""

from dataclasses import replace

import numpy as np

from skelgen.events import Events
from skelgen.matching import match
from skelgen.matching.threads import matched
from skelgen.pipeline.build_team import ALONE
from skelgen.pipeline.execution_order import executable
from skelgen.ticks.early_returns import agreed, stuck_in_collectives
from tests.builders import events

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


def timed(text: str, enter: list[int], leave: list[int]) -> Events:
    found = events(text)
    times = {"enter_ns": np.array(enter), "leave_ns": np.array(leave)}
    return replace(found, compute_ns=np.arange(len(enter)), **times)


def test_threads_get_the_order_that_matching_finds():
    found = timed(THREADS, [10, 12, 20, 95, 15, 50, 85], [90, 13, 40, 99, 45, 80, 90])
    found = replace(found, threads=np.array([0, 1, 1, 1, 0, 0, 0], np.uint16))
    ordered, concurrent = executable(found, ALONE)
    expected, _ = matched(found)
    assert concurrent == 1
    for name in ("shape", "ages", "size_bytes"):
        one, other = (getattr(each.calls, name) for each in (ordered, expected))
        assert one.tolist() == other.tolist(), name
    assert ordered.enter_ns.tolist() == expected.enter_ns.tolist()
    assert ordered.enter_ns.tolist() != found.enter_ns.tolist()


def test_collectives_get_one_order_and_times_stay():
    found = timed(CROSSED, [0, 20, 2, 15], [10, 30, 12, 25])
    ordered, concurrent = executable(found, ALONE)
    assert concurrent == 0
    assert not len(stuck_in_collectives(ordered.calls))
    expected, _ = agreed(found, match(found.calls))
    assert ordered.calls.shape.tolist() == expected.calls.shape.tolist()
    for name in ("enter_ns", "leave_ns", "compute_ns"):
        assert getattr(ordered, name) is getattr(found, name)


def test_calls_that_one_thread_made_stay():
    found = events("ranks 2\nrank *\n Bcast root=0 bytes=8\n Barrier")
    assert executable(found, ALONE) == (found, 0)
