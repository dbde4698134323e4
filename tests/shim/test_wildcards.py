"""Wildcards are recorded with the source and tag that the message had."""

from __future__ import annotations

import pytest

from tests.shim.conftest import Record, Run
from tests.shim.reader import NOT_READY, WILD_SOURCE, WILD_TAG, Event

pytestmark = pytest.mark.mpi


@pytest.fixture
def run(record: Record) -> Run:
    return record("wildcards", 3)


def where(event: Event) -> tuple[int, int]:
    return event.peer, event.tag


def test_a_receive_states_what_it_got(run: Run) -> None:
    first, after_probe, after_iprobe, last = run.traces[0].of("Recv")
    assert first.has(WILD_SOURCE)
    assert first.has(WILD_TAG)
    assert where(first) == (2, 7)
    assert where(after_probe) == (2, 15)
    assert where(after_iprobe) == (1, 16)
    assert where(last) == (2, 18)
    assert not last.has(WILD_SOURCE)
    assert last.has(WILD_TAG)


def test_a_wildcard_irecv_is_resolved_where_it_completes(run: Run) -> None:
    trace = run.traces[0]
    assert [where(e) for e in trace.of("Irecv")] == [
        (-3, 8),
        (-3, -2),
        (-3, 12),
        (1, 13),
        (-3, 14),
    ]
    waits = trace.of("Wait")
    assert [e.statuses for e in waits[:2]] == [[(0, 1, 8)], [(0, 2, 11)]]
    assert trace.of("Waitall")[0].statuses == [(0, 2, 12), (2, 1, 14)]


def test_probes_state_what_they_found(run: Run) -> None:
    trace = run.traces[0]
    assert where(trace.of("Probe")[0]) == (2, 15)
    found = [e for e in trace.of("Iprobe") if not e.has(NOT_READY)]
    assert [where(e) for e in found] == [(1, 16)]
    assert [where(e) for e in trace.of("Mprobe")] == [(2, 17), (1, 18)]


def test_a_thousand_failed_probes_are_few_records(run: Run) -> None:
    misses = [e for e in run.traces[0].of("Iprobe") if e.has(NOT_READY)]
    assert sum(e.polls for e in misses) >= 1000
    assert 2 * len(misses) < sum(e.polls for e in misses)
    assert where(misses[0]) == (-3, -2)


def test_a_matched_receive_knows_communicator_source_and_tag(run: Run) -> None:
    trace = run.traces[0]
    (receive,), (later,) = trace.of("Mrecv"), trace.of("Imrecv")
    assert (receive.comm, *where(receive)) == (0, 2, 17)
    assert (later.comm, *where(later)) == (0, 1, 18)


def test_sendrecv_states_the_source_of_its_receive(run: Run) -> None:
    (event,) = run.traces[0].of("Sendrecv")
    assert where(event) == (2, 99)
    assert (event.peer2, event.tag2) == (1, 19)
