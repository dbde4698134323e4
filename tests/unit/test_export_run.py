"""Events and messages as exports read them, against what reads all at once."""

from collections import Counter
from types import SimpleNamespace

import pytest

from skelgen.export import run as run_module
from skelgen.export.kernel import halves
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

EVENT = ("enter_ns", "leave_ns", "stream", "call", "post_count", "end_count")
HALF = (
    "stream ordinal role call by partner tag size_bytes begin_ns request event"
).split()


def rows(columns, names):
    """Return rows of named numbers, which stay when the next batch comes."""
    values = zip(*(columns[name].tolist() for name in names), strict=True)
    return [SimpleNamespace(**dict(zip(names, row, strict=True))) for row in values]


def events_of(run, rank):
    """Return the events of a rank with their halves."""
    found = []
    for batch in run.batches_of(rank):
        events = rows(batch.events, EVENT)
        for event in events:
            event.function = run.calls.table[event.call].function
            event.posts, event.ends = [], []
        for half in rows(batch.posts, HALF):
            events[half.event].posts.append(half)
        for half in rows(batch.ends, HALF):
            events[half.event].ends.append(half)
        assert all(len(e.posts) == e.post_count for e in events)
        assert all(len(e.ends) == e.end_count for e in events)
        found += events
    return found


def all_events(run):
    return [event for rank in run.ranks for event in events_of(run, rank)]


def pairs(run, messages):
    """Return each half of a message that is posted, with its other half."""
    names = ("stream", "ordinal", "size_bytes", "begin_ns", "end_ns")
    found = []
    for rank in run.ranks:
        for batch in run.batches_of(rank):
            others = rows(messages.others(batch.posts), names)
            halves_of = rows(batch.posts, HALF)
            found += zip(halves_of, others, strict=True)
    return [(half, other) for half, other in found if other.stream >= 0]


@pytest.mark.parametrize("in_memory", [4, 1 << 16])
def test_every_recorded_event_comes_once(tmp_path, monkeypatch, in_memory):
    monkeypatch.setattr(run_module, "_EVENTS_IN_MEMORY", in_memory)
    monkeypatch.setattr(run_module, "_LEAST_EVENTS", 1)
    run, _ = opened(save_mixed(tmp_path / "run"), tmp_path)
    counts = Counter(
        (run.streams[event.stream].rank, event.function) for event in all_events(run)
    )
    assert counts == calls_by_rank(tmp_path / "run")


def test_events_of_a_rank_come_in_order_of_time(tmp_path):
    run, _ = opened(save_threads(tmp_path / "run"), tmp_path)
    times = [event.enter_ns for event in events_of(run, 0)]
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
    sends = [one for one in pairs(run, messages) if one[0].role == ExportRole.SEND]
    assert Counter((half.begin_ns, other.begin_ns) for half, other in sends) == Counter(
        zip(
            begins[found.send_call].tolist(),
            begins[found.receive_call].tolist(),
            strict=True,
        )
    )
    sizes = Counter(found.message_bytes.tolist())
    assert sizes == Counter(half.size_bytes for half, _ in sends)


def test_halves_of_a_message_name_each_other(tmp_path):
    run, _ = opened(save_mixed(tmp_path / "run"), tmp_path)
    found = pairs(run, Messages(run))
    known = {(half.stream, half.ordinal): half for half, _ in found}
    assert len(known) == len(found)
    for half, noted in found:
        other = known[noted.stream, noted.ordinal]
        assert {half.role, other.role} == {ExportRole.SEND, ExportRole.RECEIVE}
        assert run.streams[other.stream].rank == half.partner
        assert half.tag == other.tag
        assert noted.begin_ns == other.begin_ns < noted.end_ns


def test_a_receive_from_anybody_knows_its_sender_before_it_is_complete(tmp_path):
    run, _ = opened(save_mixed(tmp_path / "run"), tmp_path)
    posts = [
        half
        for event in events_of(run, 1)
        for half in event.posts
        if event.function == "MPI_Irecv"
    ]
    assert [half.partner for half in posts] == [0] * 2 * ROUNDS
    assert [half.tag for half in posts] == [5, 5, 6, 6, 7, 7]


def test_all_that_is_begun_ends_in_a_run_that_ended(tmp_path):
    run, _ = opened(save_mixed(tmp_path / "run"), tmp_path)
    for rank in range(RANKS):
        open_halves = Counter()
        for event in events_of(run, rank):
            open_halves.update(_key(half) for half in event.posts)
            open_halves.subtract(_key(half) for half in event.ends)
            assert min(open_halves.values(), default=0) >= 0
        assert not +open_halves


def _key(half):
    return half.stream, half.role, half.ordinal, half.request


def test_a_killed_rank_leaves_halves_alone(tmp_path):
    run, _ = opened(save_mixed(tmp_path / "run", killed=3), tmp_path)
    messages = Messages(run)
    whole, _ = opened(save_mixed(tmp_path / "whole"), tmp_path)
    assert messages.alone > 0
    assert messages.pairs < Messages(whole).pairs


def test_a_thread_ends_what_another_thread_began(tmp_path):
    run, _ = opened(save_threads(tmp_path / "run"), tmp_path)
    (wait,) = (event for event in events_of(run, 0) if event.function == "MPI_Wait")
    (ended,) = wait.ends
    assert run.calls.table[ended.call].function == "MPI_Irecv"
    assert run.streams[wait.stream].thread == 1


def test_a_limit_keeps_the_begin_of_all_ranks(tmp_path):
    run, _ = opened(save_mixed(tmp_path / "run"), tmp_path)
    total = run.trace.events
    left_out = run.limit(total // 2)
    kept = all_events(run)
    assert 0 < len(kept) <= total // 2
    assert left_out == total - len(kept)
    ends = [max(e.enter_ns for e in events_of(run, rank)) for rank in run.ranks]
    assert max(ends) <= run.until_ns
    assert len(kept) > total // 4


def test_a_limit_that_is_not_reached_leaves_out_nothing(tmp_path):
    run, _ = opened(save_mixed(tmp_path / "run"), tmp_path)
    assert run.limit(run.trace.events) == 0
    assert len(all_events(run)) == run.trace.events


def test_a_spool_keeps_what_was_put_when_it_grows_and_has_zeros_elsewhere(tmp_path):
    spool = RecordSpool(8, tmp_path)
    kind = "struct skelgen_half_source"
    spool.rows(kind)[3].source = 7
    assert spool.make_room(1_000_000)
    assert spool.capacity >= 1_000_000
    rows_of = spool.rows(kind)
    rows_of[999_999].tag = -1
    spool.let_go()
    assert (rows_of[3].source, rows_of[999_999].tag, rows_of[4].source) == (7, -1, 0)
    assert not spool.make_room(10)
    spool.close()
    assert list(tmp_path.iterdir()) == []


def test_roles_have_the_numbers_of_the_kernel():
    lib = halves().lib
    for role in ExportRole:
        assert getattr(lib, f"SKELGEN_ROLE_{role.name}") == role
