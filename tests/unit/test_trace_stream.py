"""The kernel that decodes a stream against its twin in Python."""

import random
from pathlib import Path

import numpy as np
import pytest

from skelgen.trace import stream
from skelgen.trace.rank_file import read_header
from skelgen.trace.stream import EventColumns, TimeScale
from tests.broken_bytes import broken
from tests.trace_samples import anything, ring
from tests.trace_writer import RankWriter
from tests.twins import trace_stream as twin

SCALE = TimeScale(ns_per_unit=0.5, origin_ns=1000, cost_ns=3)
SHAPE_COLUMNS = [
    "offset", "flags", "function", "op", "type_a", "type_b", "site", "comm", "peer",
    "tag", "peer2", "tag2", "reference", "vector_a", "vector_b",
]  # fmt: skip


def compare(data, header, end=None):
    """Scan and decode with both; return the scan."""
    end = len(data) if end is None else end
    one, other = (module.scan(data, header, end) for module in (stream, twin))
    assert (one.stop, one.position, one.facts) == (
        other.stop,
        other.position,
        other.facts,
    )
    np.testing.assert_array_equal(one.definitions, other.definitions)
    np.testing.assert_array_equal(
        one.shapes[SHAPE_COLUMNS], other.shapes[SHAPE_COLUMNS]
    )
    shapes = one.shapes.copy()
    shapes["rule"] = np.arange(len(shapes)) % 5
    shapes["own"], shapes["bytes_a"], shapes["bytes_b"] = 1, 8, 3
    columns = [EventColumns.of(one.facts.events) for _ in range(2)]
    end, facts = one.position, one.facts
    decoded = (
        stream.decode(data, header, end, facts, shapes, columns[0], SCALE),
        twin.decode(data, header, end, shapes, columns[1], SCALE),
    )
    for name in EventColumns.__slots__:
        np.testing.assert_array_equal(*(getattr(c, name) for c in columns))
    for name in ("variants", "statuses", "foreign", "vectors", "away"):
        np.testing.assert_array_equal(*(getattr(d, name) for d in decoded))
    assert decoded[0].events == decoded[1].events == facts.events
    assert decoded[0].implausible == decoded[1].implausible
    return one


@pytest.mark.parametrize(
    ("inside", "took", "works"),
    [
        (400, 4 * 20_000 + 400, True),
        (400, 4 * 20_000 + 396, False),  # a little less than 10 us each
        (10_000, 110_000, True),
        (10_001, 110_010, False),  # a little less than ten times as long as polls
        (30_000, 20_000, False),  # longer than all of it: not true
    ],
)
def test_work_between_polls_is_computation_before_them(tmp_path, inside, took, works):
    writer = RankWriter(0, 1)
    writer.event(
        "MPI_Test",
        100,
        took,
        flags="NOT_READY",
        count_a=1,
        extras={"polls": 5, "inside": inside},
    )
    data, header = writer.data(), header_of(writer, tmp_path)
    scan = compare(data, header)
    columns = EventColumns.of(1)
    decoded = stream.decode(
        data, header, scan.position, scan.facts, scan.shapes, columns, SCALE
    )
    work_ns = (took - inside) // 2 if works else 0
    assert decoded.variants["amid_work"].tolist() == [works]
    assert columns.enter_ns.tolist() == [1050 + work_ns]
    assert columns.leave_ns.tolist() == [1050 + took // 2]
    recorder_ns = SCALE.cost_ns * (5 if works else 1)
    assert columns.compute_ns.tolist() == [50 + work_ns - recorder_ns]


def header_of(writer, folder):
    return read_header(writer.save(folder))


@pytest.mark.parametrize("seed", range(8))
def test_kernel_and_twin_read_the_same_from_sound_files(tmp_path, seed):
    writer = anything(random.Random(seed), 1, 4, 300, checked=seed % 2 == 1)
    scan = compare(writer.data(), header_of(writer, tmp_path))
    assert scan.stop in stream.GOOD_STOPS
    assert scan.facts.events == writer.events
    assert scan.facts.requests <= writer.requests
    assert not writer.data()[scan.position :].strip(b"\0")


@pytest.mark.parametrize("seed", range(60))
def test_kernel_and_twin_stop_at_the_same_byte_of_damaged_files(tmp_path, seed):
    rng = random.Random(seed)
    writer = anything(rng, 0, 3, 40)
    header = header_of(writer, tmp_path)
    first = header.header_bytes
    records = broken(rng, writer.data()[first:])
    compare(writer.data()[:first] + records, header)


def test_kernel_stops_at_any_end_of_the_data_without_reading_on(tmp_path):
    writer = ring(0, 2, rounds=2)
    header, data = header_of(writer, tmp_path), writer.data()
    ends = []
    for end in range(header.header_bytes, len(data)):
        scan = compare(data, header, end)
        assert scan.position <= end
        ends.append(scan.facts.events)
    assert ends == sorted(ends)


def test_a_zero_tag_ends_the_data(tmp_path):
    writer = ring(0, 2)
    data = writer.data()
    scan = compare(data + bytes(64), header_of(writer, tmp_path))
    assert scan.stop == 1
    cut = data[:-200]
    whole = compare(cut, header_of(writer, tmp_path))
    again = compare(cut[: whole.position] + bytes(64), header_of(writer, tmp_path))
    assert (again.stop, again.facts) == (0, whole.facts)


def test_growing_tables_lose_nothing(tmp_path: Path):
    writer = RankWriter(0, 2)
    for i in range(3000):
        writer.event("MPI_Send", 1, 1, peer=i % 2, tag=i, site=i, count_a=1, type_a=8)
    for i in range(3000):
        writer.event("MPI_Recv", 1, 1, varies="TAG", peer=0, tag=i, count_b=1, type_b=8)
    scan = compare(writer.data(), header_of(writer, tmp_path))
    assert len(scan.shapes) == 3001
    assert scan.facts.events == 6000
