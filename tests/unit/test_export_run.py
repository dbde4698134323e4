"""Events and messages as exports read them, against what reads all at once."""

from collections import Counter

import pytest

from skelgen.export import run as run_module
from skelgen.export.messages import Messages
from skelgen.export.spool import RecordSpool
from skelgen.export.types import ExportRole
from skelgen.matching import match
from tests.export_samples import (
    RANKS,
    ROUNDS,
    calls_by_rank,
    opened,
    save_mixed,
    save_threads,
)
from tests.trace_samples import save_ring


def events_of(run):
    return [event for rank in run.ranks for event in run.events_of(rank)]


@pytest.mark.parametrize("in_memory", [4, 1 << 16])
def test_every_recorded_event_comes_once(tmp_path, monkeypatch, in_memory):
    monkeypatch.setattr(run_module, "_EVENTS_IN_MEMORY", in_memory)
    monkeypatch.setattr(run_module, "_LEAST_EVENTS", 1)
    run, _ = opened(save_mixed(tmp_path / "run"), tmp_path)
    counts = Counter(
        (run.streams[event.stream].rank, event.call.function)
        for event in events_of(run)
    )
    assert counts == calls_by_rank(tmp_path / "run")


def test_events_of_all_ranks_come_in_order_of_time(tmp_path):
    run, _ = opened(save_mixed(tmp_path / "run"), tmp_path)
    times = [event.enter_ns for event in run.events()]
    assert len(times) == run.trace.events
    assert times == sorted(times)


@pytest.mark.parametrize("save", [save_mixed, save_ring])
def test_messages_have_the_partners_that_matching_finds(tmp_path, save):
    (tmp_path / "run").mkdir()
    run, events = opened(save(tmp_path / "run"), tmp_path)
    found = match(events.calls)
    messages = Messages(run)
    assert messages.pairs == len(found.send_call)
    assert messages.alone == 0
    begins = events.enter_ns
    assert Counter(
        (half.begin_ns, other.begin_ns)
        for event in run.events()
        for half in event.posts
        if half.role == ExportRole.SEND and (other := messages.other(half))
    ) == Counter(
        zip(
            begins[found.send_call].tolist(),
            begins[found.receive_call].tolist(),
            strict=True,
        )
    )
    sizes = Counter(found.message_bytes.tolist())
    assert sizes == Counter(
        half.size_bytes
        for event in run.events()
        for half in event.posts
        if half.role == ExportRole.SEND
    )


def test_halves_of_a_message_name_each_other(tmp_path):
    run, _ = opened(save_mixed(tmp_path / "run"), tmp_path)
    messages = Messages(run)
    halves = {
        (half.stream, half.ordinal): half
        for event in events_of(run)
        for half in event.posts
        if half.role <= ExportRole.RECEIVE
    }
    for half in halves.values():
        found = messages.other(half)
        other = halves[found.stream, found.ordinal]
        assert {half.role, other.role} == {ExportRole.SEND, ExportRole.RECEIVE}
        assert run.streams[other.stream].rank == half.partner
        assert half.tag == other.tag
        assert found.begin_ns == other.begin_ns < found.end_ns


def test_a_receive_from_anybody_knows_its_sender_before_it_is_complete(tmp_path):
    run, _ = opened(save_mixed(tmp_path / "run"), tmp_path)
    posts = [
        half
        for event in run.events_of(1)
        for half in event.posts
        if event.call.function == "MPI_Irecv"
    ]
    assert [half.partner for half in posts] == [0] * 2 * ROUNDS
    assert [half.tag for half in posts] == [5, 5, 6, 6, 7, 7]


def test_all_that_is_begun_ends_in_a_run_that_ended(tmp_path):
    run, _ = opened(save_mixed(tmp_path / "run"), tmp_path)
    for rank in range(RANKS):
        open_halves = Counter()
        for event in run.events_of(rank):
            open_halves.update(event.posts)
            open_halves.subtract(event.ends)
            assert min(open_halves.values(), default=0) >= 0
        assert not +open_halves


def test_a_killed_rank_leaves_halves_alone(tmp_path):
    run, _ = opened(save_mixed(tmp_path / "run", killed=3), tmp_path)
    messages = Messages(run)
    whole, _ = opened(save_mixed(tmp_path / "whole"), tmp_path)
    assert messages.alone > 0
    assert messages.pairs < Messages(whole).pairs


def test_a_thread_ends_what_another_thread_began(tmp_path):
    run, _ = opened(save_threads(tmp_path / "run"), tmp_path)
    events = events_of(run)
    (wait,) = (event for event in events if event.call.function == "MPI_Wait")
    assert [half.call.function for half in wait.ends] == ["MPI_Irecv"]
    assert run.streams[wait.stream].thread == 1


def test_a_limit_keeps_the_begin_of_all_ranks(tmp_path):
    run, _ = opened(save_mixed(tmp_path / "run"), tmp_path)
    total = run.trace.events
    left_out = run.limit(total // 2)
    kept = list(run.events())
    assert 0 < len(kept) <= total // 2
    assert left_out == total - len(kept)
    ends = [max(e.enter_ns for e in run.events_of(rank)) for rank in run.ranks]
    assert max(ends) <= run.until_ns
    assert len(kept) > total // 4


def test_a_limit_that_is_not_reached_leaves_out_nothing(tmp_path):
    run, _ = opened(save_mixed(tmp_path / "run"), tmp_path)
    assert run.limit(run.trace.events) == 0
    assert len(list(run.events())) == run.trace.events


def test_a_spool_gives_back_what_was_put_and_zeros_elsewhere(tmp_path):
    spool = RecordSpool("<qi", tmp_path)
    spool.put(3, -5, 7)
    spool.put(1_000_000, 1 << 60, -1)
    assert spool.get(3) == (-5, 7)
    assert spool.get(1_000_000) == (1 << 60, -1)
    assert spool.get(4) == spool.get(10**9) == (0, 0)
    spool.close()
    assert list(tmp_path.iterdir()) == []
