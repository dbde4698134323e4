"""Events of a file in blocks against the whole file at once."""

import itertools
import random

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.trace import EventColumns, TimeScale, decode, open_trace
from skelgen.trace.blocks import blocks
from tests.trace_samples import anything, ring
from tests.trace_writer import RankWriter

SCALE = TimeScale(ns_per_unit=0.5, origin_ns=1000, cost_ns=3)
TABLES = ("statuses", "foreign", "vectors")


def opened(folder, writer):
    writer.save(folder)
    file = open_trace(folder).files[0]
    shapes = file.shapes.copy()
    shapes["rule"], shapes["bytes_a"] = np.arange(len(shapes)) % 5, 8
    return file, shapes


def variants_of(found, columns):
    return found.variants[columns.variant]


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_blocks_hold_what_the_whole_holds(tmp_path, seed, size):
    file, shapes = opened(tmp_path, anything(random.Random(seed), 0, 4, 300))
    columns = EventColumns.of(file.facts.events)
    whole = decode(file, shapes, columns, SCALE)
    tables = {name: [] for name in TABLES}
    at = 0
    for block in blocks(file, shapes, SCALE, size):
        count = len(block.columns.variant)
        assert 0 < count <= size
        for name in EventColumns.__slots__[1:]:
            np.testing.assert_array_equal(
                getattr(block.columns, name), getattr(columns, name)[at : at + count]
            )
        np.testing.assert_array_equal(
            variants_of(block, block.columns),
            variants_of(whole, columns.part(at, at + count)),
        )
        for name in TABLES:
            table = getattr(block, name).copy()
            table["event"] += at
            tables[name].append(table)
        at += count
    assert at == file.facts.events
    for name in TABLES:
        np.testing.assert_array_equal(
            np.concatenate(tables[name]), getattr(whole, name)
        )


def test_an_event_with_more_statuses_than_a_block_has_room_for_is_one_block(tmp_path):
    writer = RankWriter(0, 1)
    writer.event("MPI_Init", 0, 10)
    for _ in range(200):
        writer.event("MPI_Irecv", 1, 1, flags="CREATES WILD_SOURCE", peer=-3, tag=1)
    writer.event(
        "MPI_Waitall",
        1,
        1,
        flags="COMPLETES",
        requests=list(range(200, 0, -1)),
        extras={"statuses": [(i, 0, 1) for i in range(200)]},
    )
    writer.finish()
    file, shapes = opened(tmp_path, writer)
    found = [
        (len(block.columns.variant), len(block.statuses))
        for block in blocks(file, shapes, SCALE, 4)
    ]
    assert sum(events for events, _ in found) == file.facts.events
    assert sum(statuses for _, statuses in found) == 200
    assert max(statuses for _, statuses in found) == 200


def test_tags_that_count_fill_no_table(tmp_path):
    writer = RankWriter(0, 1)
    writer.event("MPI_Init", 0, 10)
    for tag in range(2000):
        writer.event("MPI_Send", 1, 1, varies="TAG", peer=0, tag=tag, count_a=1)
    writer.finish()
    file, shapes = opened(tmp_path, writer)
    found = [len(block.variants) for block in blocks(file, shapes, SCALE, 100)]
    assert max(found) <= 100
    assert sum(found) >= 2000


def test_few_variants_keep_their_numbers_from_block_to_block(tmp_path):
    file, shapes = opened(tmp_path, ring(0, 4, rounds=200))
    found = [block.variants.tobytes() for block in blocks(file, shapes, SCALE, 400)]
    assert len(found) > 1
    assert all(after.startswith(before) for before, after in itertools.pairwise(found))


def test_a_file_that_was_replaced_meanwhile_is_told(tmp_path):
    file, shapes = opened(tmp_path, ring(0, 1))
    ring(0, 1, run_id=9).save(tmp_path)
    with pytest.raises(InputError, match="changed while it was read"):
        list(blocks(file, shapes, SCALE))
