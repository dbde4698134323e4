"""The logical trace of a run: one string of the events of all ranks."""

from __future__ import annotations

import numpy as np

from skelgen import ticks
from skelgen.phases.string import LogicalTrace, logical_trace
from tests import builders, summaries


def trace(text: str, sites: tuple[str, ...] = ()) -> LogicalTrace:
    events = builders.events(text)
    built = summaries.build(events)
    clock = ticks.place(events.calls, built.matching)
    return logical_trace(events.calls, built.matching, clock, built.symbols, sites)


def loop(body: str, ranks: str = "0-1") -> str:
    return f"rank {ranks}\n repeat 3 {{\n{body}\n }}"


BODY = """
 10 Isend to=+1 tag=1 bytes=8 as=s
  0 Irecv from=-1 tag=1 bytes=8 as=r
  0 Waitall of=s,r
 10 Allreduce bytes=8 op=1
"""


def test_iterations_are_the_same_symbols() -> None:
    found = trace(loop(BODY))
    assert len(found.string) == 9  # in each iteration two messages and a collective
    first, *others = found.string.reshape(3, 3).tolist()
    assert others == [first, first]
    assert len(found.identity) == len(set(first)) == len(found.kind)


def test_places_never_go_back_and_completions_stay_with_the_call_before() -> None:
    found = trace(loop(BODY))
    for rank in found.position.reshape(2, 12):
        assert (np.diff(rank) >= 0).all()
        assert (rank[2::4] == rank[1::4]).all()


def test_sizes_do_not_make_another_symbol_but_operations_do() -> None:
    one, other = trace(loop(BODY)), trace(loop(BODY.replace("bytes=8", "bytes=16")))
    assert one.identity.tolist() == other.identity.tolist()
    changed = trace(loop(BODY.replace("op=1", "op=2")))
    collective = one.identity[one.string[2]]
    assert set(one.identity) - set(changed.identity) == {collective}


def test_who_takes_part_makes_another_symbol() -> None:
    found = trace("""
      rank 0
        10 Send to=1 tag=1 bytes=8
        10 Send to=2 tag=1 bytes=8
      rank 1-2
        10 Recv from=0 tag=1 bytes=8
    """)
    assert found.string.tolist() == [0, 1]
