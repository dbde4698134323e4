"""Requests: equal handles, null ones, persistent ones, orders of completion."""

from __future__ import annotations

import pytest

from tests.shim.conftest import Record
from tests.shim.reader import CREATES, NOT_READY, Event, Trace

pytestmark = pytest.mark.mpi


def completions(trace: Trace) -> list[Event]:
    return [e for e in trace.events if e.function.startswith(("MPI_Wait", "MPI_Test"))]


def test_equal_handles_of_eager_sends_are_told_apart(record: Record) -> None:
    run = record("requests", 2, "eager")
    assert run.output == "equal handles 2, got 1 1 1\n"
    for trace in run.traces:
        sends, receives = trace.of("Isend"), trace.of("Irecv")
        assert [e.made for e in sends + receives] == [[i] for i in range(1, 7)]
        wait, everything, nulls = completions(trace)
        # With one handle for three sends the oldest completes first.
        assert wait.requests == [1]
        assert everything.requests == [2, 3, 4, 5, 6]
        assert everything.counts[0] == 6
        assert nulls.requests == []
        assert nulls.counts[0] == 6


def test_persistent_requests_keep_their_number_and_their_starts_age(
    record: Record,
) -> None:
    for trace in record("requests", 2, "persistent").traces:
        send, receive = trace.of("Send_init", "Recv_init")
        assert (send.made, receive.made) == ([-1], [-2])
        starts = trace.of("Startall")
        assert len(starts) == 20
        assert len({e.fields["reference"] for e in starts}) == 1
        waits = trace.of("Waitall")
        assert [e.made for e in starts] == [e.requests for e in waits[:20]]
        assert len({e.fields["reference"] for e in waits[:20]}) == 1
        assert waits[20].requests == []
        one, two = trace.of("Start")
        assert (one.requests, two.requests) == ([-2], [-1])
        last = trace.of("Wait")[-2:]
        assert [e.requests for e in last] == [two.made, one.made]
        assert [e.requests for e in trace.of("Request_free")] == [[-1], [-2]]


def test_the_recorded_indices_say_which_requests_completed(record: Record) -> None:
    run = record("requests", 2, "some")
    trace = run.traces[0]
    done = [e.requests for e in completions(trace) if not e.has(NOT_READY)]
    assert done == [[4], [3], [2], [1], []]
    first = next(e for e in completions(trace))
    assert first.function == "MPI_Testsome"
    assert first.has(NOT_READY)


def test_failed_tests_in_a_row_are_one_record(record: Record) -> None:
    trace = record("requests", 2, "some").traces[0]
    polls = [e for e in trace.of("Testany", "Testsome") if e.has(NOT_READY)]
    assert all(a.polls >= 1 and a.inside <= a.end - a.begin for a in polls)
    end = next(iter(trace.tables["ends"].values()))
    assert end["events"] == len(trace.events)


def test_null_and_cancelled_and_freed_requests(record: Record) -> None:
    for trace in record("requests", 2).traces:
        empty, proc_null = trace.of("Waitall")
        assert (empty.requests, empty.counts[0]) == ([], 3)
        assert (proc_null.requests, proc_null.counts[0]) == ([1], 3)
        null, cancelled = trace.of("Wait")
        assert null.requests == []
        assert trace.of("Cancel")[0].requests == [2]
        assert cancelled.requests == [2]
        assert cancelled.statuses == [(0, -5, -1)]
        assert trace.of("Request_free")[0].requests == [3]
        assert sum(e.has(CREATES) for e in trace.events) == 3


def test_each_file_states_what_recording_costs(record: Record) -> None:
    for trace in record("requests", 2, "eager").traces:
        (end,) = trace.tables["ends"].values()
        assert 0 < end["cost_ps"] < 10**8
        assert 0 < end["inside_ps"] < 10**8
        assert 0 < end["request_ps"] < 10**8
