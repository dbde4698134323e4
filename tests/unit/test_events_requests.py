"""The kernels that follow requests and number rows, against their twins in Python."""

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.events.requests import (
    AgeRows,
    RankRequests,
    RequestFollower,
    dtype,
    kernel,
)
from skelgen.events.rows import RowTable
from skelgen.events.types import SHAPE_DTYPE
from skelgen.trace.definition_types import Ragged
from skelgen.trace.format import trace_format
from tests.twins.events_requests import PlainRows
from tests.twins.events_rows import number_plainly

LIB, FORMAT = kernel().lib, trace_format()
CREATES = LIB.SKELGEN_ACTION_CREATES
NEW = LIB.SKELGEN_ACTION_NEW
LASTING = LIB.SKELGEN_ACTION_LASTING
PERSISTENT = LIB.SKELGEN_ACTION_PERSISTENT
STARTS = LIB.SKELGEN_ACTION_STARTS
ENDS = LIB.SKELGEN_ACTION_ENDS
#: Variants: nothing, Isend, File_iread, Send_init, Start, Wait, Cancel.
ACTIONS = [0, CREATES | NEW, CREATES, PERSISTENT | NEW | LASTING, STARTS, ENDS, 0]


def reference(rng: random.Random, lists: int) -> int:
    kind = rng.choice(("REF_AGE", "REF_AGE", "REF_PERSISTENT", "REF_LIST"))
    return rng.randrange(1, lists + 2 if kind == "REF_LIST" else 5) << 2 | FORMAT[kind]


def random_rank(rng: random.Random, streams: int, events: int) -> RankRequests:
    """A rank whose references are often wrong."""
    rows = [
        [rng.choice((1, 2, 3, 9, -1, -2, 0)) for _ in range(rng.randrange(5))]
        for _ in range(12)
    ]
    lists = Ragged(
        np.cumsum([0, *map(len, rows)]).astype(np.int64),
        np.array([e for row in rows for e in row], np.int64),
    )
    variant = np.array([rng.randrange(len(ACTIONS)) for _ in range(events)], np.uint32)
    lists_them = np.isin(variant, (4, 5, 6))
    refs = [reference(rng, len(rows)) if has else 0 for has in lists_them]
    stream = np.array([rng.randrange(streams) for _ in range(events)], np.uint16)
    counts = [
        (variant[stream == s] == v).sum() for s in range(streams) for v in range(7)
    ]
    made = np.array(counts).reshape(streams, 7)
    foreign = [
        (event, rng.randrange(-1, streams), rng.randrange(1, 9))
        for event in np.flatnonzero(variant == 5).tolist()
        for _ in range(rng.randrange(3))
    ]
    statuses = [
        (event, rng.randrange(4), -1, 0, 0)
        for event in np.flatnonzero(variant >= 4).tolist()
        if rng.random() < 0.3
    ]
    return RankRequests(
        variant=variant,
        action=np.array(ACTIONS, np.uint8),
        reference=np.array(refs, np.uint32),
        stream=stream if streams > 1 else None,
        lists=[lists] * streams,
        persistent=made[:, 3].tolist(),
        foreign=np.array(foreign, dtype("foreign_request")),
        statuses=np.array(statuses, dtype("request_status")),
    )


def copy_of(rank: RankRequests) -> RankRequests:
    values = {name: getattr(rank, name) for name in rank.__slots__}
    values["reference"] = rank.reference.copy()
    values["statuses"] = rank.statuses.copy()
    return RankRequests(**values)


@pytest.mark.parametrize("seed", range(30))
def test_kernel_and_twin_follow_requests_alike(seed):
    rng = random.Random(seed)
    rows, plain = AgeRows(), PlainRows()
    for _ in range(3):  # ranks share the rows
        rank = random_rank(rng, rng.choice((1, 1, 2, 3)), 400)
        other = copy_of(rank)
        assert rows.follow(rank) == plain.follow(other)
        np.testing.assert_array_equal(rank.reference, other.reference)
        np.testing.assert_array_equal(rank.statuses, other.statuses)
    first, values = rows.arrays()
    got = [tuple(values[begin:end].tolist()) for begin, end in pairwise(first)]
    assert got == list(plain.rows)


def blocks_of(rank: RankRequests, sizes: list[int]) -> list[RankRequests]:
    """Cut a rank of one thread into blocks; their tables are copies."""
    edges = [0, *np.cumsum(sizes).tolist(), len(rank.variant)]
    found = []
    for begin, end in pairwise(edges):
        columns = {
            name: None
            if getattr(rank, name) is None
            else getattr(rank, name)[begin:end]
            for name in ("variant", "reference", "shape", "size_bytes")
        }
        tables = {}
        for name in ("foreign", "statuses"):
            table = getattr(rank, name)
            table = table[(table["event"] >= begin) & (table["event"] < end)]
            table["event"] -= begin
            tables[name] = table
        found.append(replace(rank, **columns, **tables))
    return found


@pytest.mark.parametrize("seed", range(10))
def test_requests_are_followed_block_by_block_as_at_once(seed):
    rng = random.Random(seed)
    rank = random_rank(rng, 1, 3000)
    actions = rank.action.copy()
    actions[4] |= LIB.SKELGEN_ACTION_COUNTED
    shape = np.array([rng.randrange(7) for _ in rank.variant], np.uint32)
    size = np.arange(3000)
    rank = replace(rank, action=actions, shape=shape, size_bytes=size)
    whole, rows, plain = copy_of(rank), AgeRows(), PlainRows()
    dropped = plain.follow(whole)
    blocks = blocks_of(copy_of(rank), [1, 100, 0, 1300])
    follower = RequestFollower(rank.lists, rank.persistent, 3000, rows)
    follower.make_room(7)
    for block in blocks:
        follower.follow(block)
    references = np.concatenate([block.reference for block in blocks])
    np.testing.assert_array_equal(references, whole.reference)
    assert follower.dropped == dropped
    statuses = np.concatenate([block.statuses for block in blocks])
    creators = whole.statuses["creator"]
    np.testing.assert_array_equal(statuses["creator"], creators)
    known = creators >= 0
    np.testing.assert_array_equal(statuses["size_bytes"][known], creators[known])
    np.testing.assert_array_equal(statuses["shape"][known], shape[creators[known]])
    lengths = np.array([len(row) for row in plain.rows])
    started = int(lengths[whole.reference[rank.variant == 4]].sum())
    assert follower.started[0].sum() == started > 0


def test_memory_for_requests_is_that_of_the_open_ones():
    """One is open from the first call to the last, as that of a listening thread."""
    events = 30_000
    variant = np.full(events, 1, np.uint32)
    variant[2::2] = 5
    refs = np.where(variant == 5, 1 << 2 | FORMAT["REF_AGE"], 0).astype(np.uint32)
    refs[-2] = (events // 2) << 2 | FORMAT["REF_AGE"]
    nothing = Ragged(np.zeros(1, np.int64), np.zeros(0, np.int64))
    rank = RankRequests(
        variant=variant,
        action=np.array(ACTIONS, np.uint8),
        reference=refs,
        stream=None,
        lists=[nothing],
        persistent=[0],
        foreign=np.zeros(0, dtype("foreign_request")),
        statuses=np.zeros(0, dtype("request_status")),
    )
    other, rows, plain = copy_of(rank), AgeRows(), PlainRows()
    follower = RequestFollower(rank.lists, rank.persistent, events, rows)
    follower.follow(rank)
    assert follower.dropped == plain.follow(other) == 0
    np.testing.assert_array_equal(rank.reference, other.reference)
    assert follower.most_open < 1000


def test_tables_of_requests_grow():
    events = 20_000
    variant = np.tile(np.array([1, 1, 5], np.uint32), events)
    age = np.arange(events, dtype=np.uint32) % 5000 + 1
    refs = np.zeros(3 * events, np.uint32)
    refs[2::3] = age << 2 | FORMAT["REF_AGE"]
    rank = RankRequests(
        variant=variant,
        action=np.array(ACTIONS, np.uint8),
        reference=refs,
        stream=None,
        lists=[Ragged(np.zeros(1, np.int64), np.zeros(0, np.int64))],
        persistent=[0],
        foreign=np.zeros(0, dtype("foreign_request")),
        statuses=np.zeros(0, dtype("request_status")),
    )
    other, rows, plain = copy_of(rank), AgeRows(), PlainRows()
    assert rows.follow(rank) == plain.follow(other)
    np.testing.assert_array_equal(rank.reference, other.reference)
    assert rows.count > 2000


def test_a_list_that_is_named_without_end_is_refused():
    """Else a small file could keep the reader busy for years."""
    events, length = 60_000, 6_000_000
    rank = RankRequests(
        variant=np.full(events, 6, np.uint32),
        action=np.array(ACTIONS, np.uint8),
        reference=np.full(events, 1 << 2 | FORMAT["REF_LIST"], np.uint32),
        stream=None,
        lists=[Ragged(np.array([0, length]), np.ones(length, np.int64))],
        persistent=[0],
        foreign=np.zeros(0, dtype("foreign_request")),
        statuses=np.zeros(0, dtype("request_status")),
    )
    with pytest.raises(InputError, match="more requests than its calls can have"):
        AgeRows().follow(rank)


def test_rows_are_numbered_as_they_appear():
    rng = np.random.default_rng(3)
    table, known = RowTable(SHAPE_DTYPE, "tag"), {}
    for size in (0, 10, 5000, 200):
        rows = np.zeros(size, SHAPE_DTYPE)
        rows["tag"] = rng.integers(0, 4000, size)
        rows["peer"] = rng.integers(0, 3, size)
        np.testing.assert_array_equal(table.number(rows), number_plainly(known, rows))
    assert [row.tobytes() for row in table.rows] == list(known)
    np.testing.assert_array_equal(table.at(np.array([1, 0])), table.rows[[1, 0]])
