"""Whole matched events are ordered by tick, function, rank and program order."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen import ticks
from skelgen.matching import match
from tests import builders
from tests.random_programs import random_program


def ordered(text):
    """Return the function and rank of each event's first call, in order."""
    calls = builders.calls(text)
    matching = match(calls)
    order = ticks.linear_extension(calls, matching, ticks.place(calls, matching))
    firsts = [int(np.flatnonzero(matching.whole_event == event)[0]) for event in order]
    ranks = np.searchsorted(calls.first, firsts, side="right") - 1
    names = [calls.functions[calls.shapes["function"][calls.shape[c]]] for c in firsts]
    return [f"{name[4:]} {rank}" for name, rank in zip(names, ranks, strict=True)]


def test_an_event_stands_where_its_last_call_stands():
    assert ordered("""
        rank 0
          Send to=1 tag=1
          Barrier comm=self
        rank 1
          Bcast root=0 comm=self
          Bcast root=0 comm=self
          Recv from=0 tag=1
    """) == ["Bcast 1", "Barrier 0", "Bcast 1", "Send 0"]


def test_events_of_one_tick_are_ordered_by_function_then_rank():
    assert ordered("""
        rank 0
          Barrier comm=self
        rank 1
          Bcast root=0 comm=self
        rank 2
          Barrier comm=self
    """) == ["Barrier 0", "Barrier 2", "Bcast 1"]


def test_equal_iterations_have_equal_orders():
    once = """
          Irecv from=-1 tag=1 as=a
          Irecv from=+1 tag=2 as=b
          Isend to=+1 tag=1 as=c
          Isend to=-1 tag=2 as=d
          Waitall of=a,b,c,d
          Allreduce bytes=8 op=1
    """
    one = ordered(f"rank 0-3\n{once}")
    assert ordered(f"rank 0-3\nrepeat 5 {{\n{once}}}\n") == one * 5


@given(st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_an_event_comes_after_those_that_ended_before_it_began(seed):
    calls = random_program(random.Random(seed)).calls
    matching = match(calls)
    result = ticks.place(calls, matching)
    order = ticks.linear_extension(calls, matching, result)
    assert np.array_equal(np.sort(order), np.arange(matching.whole_events))
    members = np.flatnonzero(matching.whole_event >= 0)
    last = np.zeros(matching.whole_events, np.int64)
    np.maximum.at(last, matching.whole_event[members], result[members])
    assert (np.diff(last[order]) >= 0).all()
    # Blocking collectives take part at once: each rank meets them in this order.
    position = np.empty(matching.whole_events, np.int64)
    position[order] = np.arange(matching.whole_events)
    collective = (calls.shapes["tag"][calls.shape] < 0) & (matching.whole_event >= 0)
    collective &= matching.collective_done == np.arange(len(calls))
    for begin, end in zip(calls.first, calls.first[1:], strict=False):
        rows = np.flatnonzero(collective[begin:end]) + begin
        assert (np.diff(position[matching.whole_event[rows]]) > 0).all()
