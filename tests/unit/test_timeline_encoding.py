"""What a page has of the pieces is what they were."""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.timeline import encoding, timeline_of
from skelgen.timeline.types import RankWork
from tests.timelines import FUNCTIONS, run_of, times_of


def many(count: int, functions: int = 4) -> list[tuple[int, int, int]]:
    rng = np.random.default_rng(3)
    gaps = rng.integers(10, 4000, count).tolist()
    inside = rng.integers(10, 900, count).tolist()
    return [(gaps[n], inside[n], n % functions) for n in range(count)]


@given(st.lists(st.integers(0, (1 << 62) - 1), max_size=50))
def test_numbers_come_back(values):
    written = encoding._varints(np.array(values, np.int64))
    assert encoding._numbers(written, len(values)).tolist() == values


def test_calls_that_are_alone_come_back_exactly():
    events = run_of([many(300), many(100)], begins=[0, 500], tails=[70, 0])
    found = timeline_of(events)
    assert found.is_complete
    rows = encoding.decoded(found)
    expected = times_of(events)
    for row, times in zip(rows, expected, strict=True):
        assert np.array_equal(row.times_ns.sum(axis=0), times)
    first = rows[0]
    calls = first.longest > 0
    assert first.begin_ns[calls].tolist() == events.enter_ns[:300].tolist()
    ends = first.begin_ns + first.length_ns
    assert ends[calls].tolist() == events.leave_ns[:300].tolist()
    names = [found.things[number & 0xFFF].name for number in first.longest[calls]]
    assert names == [FUNCTIONS[n % 4] for n in range(300)]


def test_mixtures_are_right_to_a_part_in_255():
    events = run_of([many(4000)])
    found = timeline_of(events, most_bytes=700)
    assert len(found.data) <= 700
    (row,) = encoding.decoded(found)
    times = times_of(events)[0]
    parts = row.times_ns.sum(axis=0)
    assert np.allclose(parts / parts.sum(), times / times.sum(), atol=1 / 255)
    assert row.length_ns.sum() == pytest.approx(found.span_ns, abs=found.unit_ns)


def test_the_level_is_the_first_that_fits():
    events = run_of([many(4000)])
    sizes = [timeline_of(events, most_bytes=most) for most in (700, 1400, 2800)]
    widths = [one.width_ns for one in sizes]
    assert widths == sorted(widths, reverse=True)
    assert all(
        len(one.data) <= m for one, m in zip(sizes, (700, 1400, 2800), strict=True)
    )
    assert len(sizes[-1].data) > 1400


def test_more_functions_than_numbers_lose_their_names_but_no_time():
    functions = tuple(f"MPI_Made_{i}" for i in range(3000))
    events = run_of([many(3000, 3000)], functions=functions)
    found = timeline_of(events)
    assert len(found.things) < 255
    assert "another function" in {one.name for one in found.things}
    times = np.rint(1e9 * np.array(found.lanes[0].times_s))
    assert np.array_equal(times, times_of(events)[0])
    assert times[RankWork.OTHER] > 0
    (row,) = encoding.decoded(found)
    assert np.array_equal(row.times_ns.sum(axis=0), times)


@pytest.mark.parametrize(
    "data",
    [b"", b"no zlib", zlib.compress(b""), zlib.compress(bytes(10_000_000))],
)
def test_bytes_of_something_else_are_refused(data):
    found = timeline_of(run_of([many(30)]))
    with pytest.raises(ValueError, match=r"expanded|bytes|lengths"):
        encoding.decoded(replace(found, data=data))


def test_a_thing_that_is_not_known_is_refused():
    found = timeline_of(run_of([many(30)]))
    with pytest.raises(ValueError, match="beyond the 2"):
        encoding.decoded(replace(found, things=found.things[:2]))


@given(st.binary(max_size=60), st.integers(0, 20))
def test_any_bytes_are_read_or_refused(raw, pieces):
    found = timeline_of(run_of([many(3)]))
    (lane,) = found.lanes
    lanes = (replace(lane, pieces=pieces),)
    try:
        (row,) = encoding.decoded(replace(found, lanes=lanes, data=zlib.compress(raw)))
    except ValueError:
        return
    assert len(row) == pieces
    assert (row.times_ns >= 0).all()
