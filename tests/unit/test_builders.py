"""The text format of traces in tests means what its description says."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.events.types import NO_COMMUNICATOR, PROC_NULL, WILDCARD_SOURCE
from tests import builders
from tests.as_text import as_text
from tests.random_programs import random_program

TEXT = """
comm row members=0,1
comm row members=2,3
rank 0
  1000 Isend to=1 tag=5 bytes=800 site=3 as=s
     0 Irecv from=*1 tag=*6 bytes=1000 as=r
  2500 Waitall of=s,r
  repeat 2 {
    10 Allreduce bytes=8 op=1 comm=row
    repeat 1,2 {
      Barrier comm=self
    }
  }
  tail 500
rank *
  Sendrecv to=>1 from=<1 tag=1 tag2=1 bytes=8 mpi=7
  Alltoallv sends=1,2,3,4 receives=4,3,2,1
"""


def names(calls):
    return [calls.functions[f] for f in calls.shapes["function"][calls.shape]]


def test_text_becomes_calls_in_program_order():
    calls = builders.calls(TEXT)
    assert calls.ranks == 4
    assert calls.first.tolist() == [0, 10, 12, 14, 16]
    assert names(calls)[:10] == [
        f"MPI_{name}"
        for name in (
            "Isend Irecv Waitall Allreduce Barrier Allreduce Barrier Barrier "
            "Sendrecv Alltoallv"
        ).split()
    ]


def test_requests_become_ages_counted_from_the_latest():
    calls = builders.calls(TEXT)
    row = calls.ages[2]
    first, last = calls.age_first[row : row + 2]
    assert calls.age_values[first:last].tolist() == [2, 1]
    assert calls.shapes["communicator"][calls.shape[2]] == NO_COMMUNICATOR


def test_partners_are_resolved_for_each_rank():
    calls = builders.calls(TEXT)
    irecv = calls.shapes[calls.shape[1]]
    assert (irecv["peer"], irecv["tag"]) == (1, 6)
    assert irecv["flags"] & WILDCARD_SOURCE
    shifts = [calls.shapes[calls.shape[calls.first[r + 1] - 2]] for r in range(4)]
    assert [int(shift["peer"]) for shift in shifts] == [1, 2, 3, PROC_NULL]
    assert [int(shift["peer2"]) for shift in shifts] == [PROC_NULL, 0, 1, 2]


def test_communicators_of_one_name_are_instances_of_one_family():
    calls = builders.calls(TEXT)
    rows = [c for c in calls.communicators if c.family == 2]
    assert [row.members for row in rows] == [(0, 1), (2, 3)]


def test_times_follow_each_other():
    events = builders.events(TEXT)
    assert events.enter_ns[:3].tolist() == [1000, 1100, 3700]
    assert events.leave_ns[2] == 3800
    assert events.tail_ns.tolist() == [500, 0, 0, 0]
    assert events.end_ns[0] == events.leave_ns[9] + 500
    assert np.array_equal(
        events.leave_ns[10:12] - events.enter_ns[10:12], np.array([7, 100])
    )


def test_vectors_belong_to_their_calls():
    calls = builders.calls(TEXT)
    assert calls.vector_call.tolist() == [9, 11, 13, 15]
    assert calls.vectors[0, 0].tolist() == [1, 2, 3, 4]
    assert calls.size_bytes[9] == 10


@given(st.integers(0, 2**32))
@settings(max_examples=50, deadline=None)
def test_text_of_events_becomes_the_same_events(seed):
    before = random_program(random.Random(seed), calls=100)
    after = builders.events(as_text(before))
    assert after.calls.communicators == before.calls.communicators
    for name in ("enter_ns", "leave_ns", "compute_ns", "tail_ns", "end_ns"):
        assert np.array_equal(getattr(after, name), getattr(before, name))
    assert list(described(after.calls)) == list(described(before.calls))


def described(calls):
    """Yield all that is known of each call, without the numbers of its tables."""
    vectors = dict(zip(calls.vector_call.tolist(), calls.vectors, strict=True))
    for call, name in enumerate(names(calls)):
        row = list(calls.shapes[calls.shape[call]].tolist())[1:]
        first, last = calls.age_first[calls.ages[call] :][:2]
        yield (
            name,
            row,
            int(calls.size_bytes[call]),
            calls.age_values[first:last].tolist(),
            [None if v is None else v.tolist() for v in vectors.get(call, ())],
        )
