"""Calls expanded from a signature match as the calls of the trace did."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.matching import match
from skelgen.signature import calls_of
from tests import builders
from tests.random_programs import random_program
from tests.summaries import build, cut_events

seeds = st.integers(0, 2**32)


def expected_events(built):
    """Return messages and events of the trace in positions of the strings."""
    inside = built.symbols.symbol >= 0
    position = np.cumsum(inside) - 1
    matching = built.matching
    kept = inside[matching.send_call]
    messages = zip(
        position[matching.send_call[kept]].tolist(),
        position[matching.receive_call[kept]].tolist(),
        strict=True,
    )
    return sorted(messages), whole(matching.whole_event, inside, position)


def whole(group, inside, position):
    events = {}
    for call in np.flatnonzero(inside & (group >= 0)).tolist():
        events.setdefault(int(group[call]), []).append(int(position[call]))
    return sorted(events.values())


def found_events(signature):
    matching = match(calls_of(signature))
    assert matching.problems == ()
    everything = np.ones(len(matching.whole_event), bool)
    messages = zip(
        matching.send_call.tolist(), matching.receive_call.tolist(), strict=True
    )
    position = np.arange(len(everything))
    return sorted(messages), whole(matching.whole_event, everything, position)


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_expanded_calls_pair_as_in_the_trace(seed):
    built = build(random_program(random.Random(seed)))
    assert found_events(built.signature) == expected_events(built)


@settings(max_examples=80, deadline=None)
@given(seeds)
def test_expanded_calls_of_a_cut_run_pair_as_in_the_trace(seed):
    rng = random.Random(seed)
    built = build(cut_events(random_program(rng), rng))
    assert found_events(built.signature) == expected_events(built)


def test_expanded_partners_are_those_of_the_trace():
    built = build(
        builders.events("""
            comm row members=2,0
            comm row members=1,3
            rank *
              repeat 3 {
                Isend to=+1 tag=5 bytes=80 comm=row as=s
                Irecv from=+1 tag=5 bytes=80 comm=row as=r
                Waitall of=r,s
                Bcast root=1 bytes=8 comm=row
              }
        """)
    )
    assert len(built.signature.groups) == 1
    calls = calls_of(built.signature)
    recorded = built.events.calls
    for column in ("peer", "communicator", "site"):
        np.testing.assert_array_equal(
            calls.shapes[column][calls.shape],
            recorded.shapes[column][recorded.shape],
        )
    np.testing.assert_array_equal(calls.size_bytes, recorded.size_bytes)
    assert calls.communicators == recorded.communicators


def test_varying_partners_come_back_in_their_order():
    rng = random.Random(3)
    builder = builders.EventsBuilder(5)
    for _ in range(300):
        worker = rng.randint(1, 4)
        builder.call(worker, "Send", peer=0, tag=1, size_bytes=8, site=1)
        builder.call(0, "Recv", peer=worker, tag=1, size_bytes=8, site=2, flags=1)
    built = build(builder.events())
    assert len(built.signature.groups[0].peers[0]) > 100
    assert found_events(built.signature) == expected_events(built)


def test_vectors_come_back_as_means():
    built = build(
        builders.events("""
            rank 0
              repeat 2 {
                Alltoallv sends=1,2 receives=1,3
              }
            rank 1
              repeat 2 {
                Alltoallv sends=3,4 receives=2,4
              }
        """)
    )
    calls = calls_of(built.signature)
    assert calls.vector_call.tolist() == [0, 1, 2, 3]
    assert [v.tolist() for v in calls.vectors[0]] == [[1, 2], [1, 3]]
    assert [v.tolist() for v in calls.vectors[3]] == [[3, 4], [2, 4]]
