"""The header of a rank file, its values and what is refused."""

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.trace.format import trace_format
from skelgen.trace.headers import (
    EMPTY,
    NO_HEADER,
    header_in,
    read_header,
    sized_header,
    start_bytes,
    why_no_header,
)
from skelgen.trace.types import Header
from tests.trace_samples import ring

TEXTS = ("mpi_library", "host", "program", "boot_id")


def changed_start(start: bytes, **values) -> bytes:
    """Return the beginning of a file with other values in its header."""
    layout = trace_format().header
    header = np.frombuffer(start[: layout.itemsize], layout).copy()
    for name, value in values.items():
        header[name] = value
    return header.tobytes()


def test_a_header_has_the_values_of_the_columns_of_its_names(tmp_path):
    path = ring(1, 4).save(tmp_path)
    start = path.read_bytes()[: start_bytes()]
    start = changed_start(start, thread_level=3, pid=77, host=b"n" * 64)
    columns = np.frombuffer(start, trace_format().header, count=1)[0]
    found = header_in(path, start, 1 << 16)
    for name in set(Header.__slots__) - {"seal"}:
        expected = columns[name]
        if name in TEXTS:
            expected = expected.decode()
        if name == "mpi_family":
            expected = trace_format().name("mpi_family", int(expected))
        assert getattr(found, name) == expected
    assert (found.pid, found.host) == (77, "n" * 64)


def test_equal_headers_may_have_other_seals(tmp_path):
    """Another process hashes otherwise: it compares what the bytes say."""
    path = ring(1, 4).save(tmp_path)
    start = path.read_bytes()[: start_bytes()]
    one, other = (header_in(path, some, 9000) for some in (start, start[:-1]))
    assert one == other
    assert one.seal == hash(start) != other.seal


def test_texts_end_at_a_zero_and_may_be_no_utf_8(tmp_path):
    path = ring(0, 1).save(tmp_path)
    start = path.read_bytes()[: start_bytes()]
    start = changed_start(start, host=b"one\0two", program=b"\xffa")
    found = header_in(path, start, 1 << 16)
    assert (found.host, found.program) == ("one", "\ufffda")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"world_rank": 4, "world_size": 4}, "rank 4 of 4"),
        ({"world_size": 0}, "world size 0"),
        ({"thread": 1 << 16}, "thread 65536"),
        ({"clock_kind": 9}, "clock 9"),
        ({"unit_shift": 33}, "time unit 2^33 ticks"),
        ({"ticks_per_s": 0}, "clock frequency 0"),
        ({"start_ticks": 1 << 63}, f"start at {1 << 63} ticks"),
        ({"header_bytes": 8}, "header of 8 bytes"),
    ],
)
def test_what_a_damaged_header_states_is_said(tmp_path, values, said):
    path = ring(0, 4).save(tmp_path)
    start = changed_start(path.read_bytes()[: start_bytes()], **values)
    with pytest.raises(InputError) as caught:
        header_in(path, start, 1 << 16)
    assert f"states {said}; record the run again" in str(caught.value)


def test_the_size_of_a_file_comes_with_its_header(tmp_path):
    path = ring(0, 1).save(tmp_path)
    assert sized_header(path) == (read_header(path), path.stat().st_size)


def test_files_without_a_header_say_why(tmp_path):
    path = tmp_path / "rank-000000.skt"
    path.write_bytes(b"")
    assert read_header(path) is None
    assert why_no_header(path) == EMPTY
    path.write_bytes(bytes(5000))
    assert read_header(path) is None
    assert why_no_header(path) == NO_HEADER
