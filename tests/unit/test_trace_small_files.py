"""Files that are read together are read as each alone."""

import random

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.events import collect
from skelgen.trace import open_trace, rank_file, small_files, stream
from skelgen.trace.rank_file import read_header
from skelgen.trace.small_files import SmallFiles, decode_small
from skelgen.trace.stream import EventColumns, TimeScale
from skelgen.trace.workspace import Workspace
from tests.broken_bytes import broken
from tests.trace_samples import anything, ring, save_ring

RANKS = 6
TABLES = ("variants", "statuses", "foreign", "vectors", "away")


def some_files(rng, folder, damage=0.0):
    """Write files of any kind; return their headers and bytes."""
    headers, data = [], []
    for rank in range(RANKS):
        calls = rng.randrange(60)
        writer = rng.choice((anything(rng, rank, RANKS, calls), ring(rank, RANKS)))
        header, found = read_header(writer.save(folder)), writer.data()
        if rng.random() < damage:
            end = header.header_bytes
            found = found[:end] + broken(rng, found[end:])
        headers.append(header)
        data.append(found)
    return headers, data


def same_scan(one, other):
    assert (one.stop, one.position, one.facts, one.records) == (
        other.stop,
        other.position,
        other.facts,
        other.records,
    )
    np.testing.assert_array_equal(one.definitions, other.definitions)
    assert one.shapes.tobytes() == other.shapes.tobytes()


@pytest.mark.parametrize("seed", range(40))
def test_files_are_walked_through_together_as_alone(tmp_path, seed):
    rng, small = random.Random(seed), SmallFiles()
    for _ in range(3):  # tables are used again
        headers, data = some_files(rng, tmp_path, damage=0.5)
        found = small.scan(data, headers)
        for header, one, scan in zip(headers, data, found, strict=True):
            same_scan(scan, stream.scan(one, header, len(one)))


@pytest.mark.parametrize("seed", range(20))
def test_files_that_the_tables_have_no_room_for_are_left_out(
    tmp_path, seed, monkeypatch
):
    rng = random.Random(seed)
    monkeypatch.setattr(small_files, "_DEFINITIONS", rng.randrange(40))
    monkeypatch.setattr(small_files, "_SHAPES", rng.randrange(30))
    small, left_out = SmallFiles(), 0
    headers, data = some_files(rng, tmp_path, damage=0.3)
    for header, one, scan in zip(headers, data, small.scan(data, headers), strict=True):
        left_out += scan is None
        if scan is not None:
            same_scan(scan, stream.scan(one, header, len(one)))
    assert left_out


def opened_files(rng, folder):
    """Return files, what their calls mean to the kernel, and their clocks."""
    for path in folder.iterdir():
        path.unlink()
    some_files(rng, folder)
    files = open_trace(folder).files
    shapes = [file.shapes.copy() for file in files]
    for one in shapes:
        one["rule"] = np.arange(len(one)) % 5
        one["own"], one["bytes_a"], one["bytes_b"] = 1, 8, 3
    scales = [TimeScale(0.5 * (i + 1), 1000 * i, 3 + i, i) for i in range(len(files))]
    return files, shapes, scales


@pytest.mark.parametrize("seed", range(20))
def test_events_are_decoded_together_as_alone(tmp_path, seed):
    files, shapes, scales = opened_files(random.Random(seed), tmp_path)
    data = [file.path.read_bytes()[: file.used_bytes] for file in files]
    columns = EventColumns.of(sum(file.facts.events for file in files))
    found = decode_small(data, files, shapes, columns, scales)
    begin = 0
    for file, shape, scale, one, bytes_ in zip(
        files, shapes, scales, found, data, strict=True
    ):
        facts, alone = file.facts, EventColumns.of(file.facts.events)
        rest = (file.header, file.used_bytes, facts, shape, alone, scale, Workspace())
        other = stream.decode(bytes_, *rest)
        assert (one.events, one.implausible) == (other.events, other.implausible)
        for name in TABLES:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        part = columns.part(begin, begin + facts.events)
        for name in EventColumns.__slots__:
            np.testing.assert_array_equal(getattr(part, name), getattr(alone, name))
        begin += facts.events


@pytest.mark.parametrize("seed", range(20))
def test_a_file_that_is_another_one_now_spoils_no_other(tmp_path, seed):
    """The kernel trusts no file to be as it was: it stays in the rows of the file."""
    rng = random.Random(seed)
    files, shapes, scales = opened_files(rng, tmp_path)
    data = [file.path.read_bytes()[: file.used_bytes] for file in files]
    columns = EventColumns.of(sum(file.facts.events for file in files))
    sound = decode_small(data, files, shapes, columns, scales)
    before = columns.enter_ns.copy()
    wrong, end = rng.randrange(RANKS), files[0].header.header_bytes
    other = broken(rng, data[(wrong + 1) % RANKS][end:])
    data[wrong] = data[wrong][:end] + other
    found = decode_small(data, files, shapes, columns, scales)
    edges = np.cumsum([0, *(file.facts.events for file in files)])
    for rank in set(range(RANKS)) - {wrong}:
        assert found[rank].events == sound[rank].events
        np.testing.assert_array_equal(found[rank].variants, sound[rank].variants)
        own = slice(edges[rank], edges[rank + 1])
        np.testing.assert_array_equal(columns.enter_ns[own], before[own])


@pytest.mark.parametrize(("small", "batch"), [(0, 1 << 19), (1 << 16, 1), (900, 2000)])
def test_any_size_of_batches_reads_the_same(tmp_path, monkeypatch, small, batch):
    some_files(random.Random(small + batch), tmp_path)
    together = open_trace(tmp_path)
    calls = collect(together).calls
    monkeypatch.setattr(rank_file, "_SMALL_BYTES", small)
    monkeypatch.setattr(rank_file, "BATCH_BYTES", batch)
    other = open_trace(tmp_path)
    assert [file.facts for file in other.files] == [
        file.facts for file in together.files
    ]
    again = collect(other).calls
    np.testing.assert_array_equal(calls.shape, again.shape)
    np.testing.assert_array_equal(calls.ages, again.ages)


def test_a_file_that_became_shorter_is_named_among_many(tmp_path):
    trace = open_trace(save_ring(tmp_path, ranks=20))
    path = tmp_path / "rank-000007.skt"
    path.write_bytes(path.read_bytes()[:900])
    with pytest.raises(InputError, match=r"rank-000007\.skt changed while it was read"):
        collect(trace)
