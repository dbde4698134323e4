"""What files define alike is read once; a damaged file does not spoil the others."""

import pytest

from skelgen.trace import open_trace
from skelgen.trace.definitions import read_definitions
from skelgen.trace.shared_definitions import ListReader, NameReader, SharedDefinitions
from tests.trace_samples import ring, save_ring
from tests.trace_writer import FORMAT, RankWriter, string, varint


def test_files_of_a_run_share_what_they_define_alike(tmp_path):
    one, other = (file.definitions for file in open_trace(save_ring(tmp_path)).files)
    assert one.functions is other.functions
    assert one.sites is other.sites
    assert one.types is other.types
    assert one.lists is other.lists
    assert one.clocks is not other.clocks


def test_files_that_differ_share_nothing_that_differs(tmp_path):
    ring(0, 2).save(tmp_path)
    writer = RankWriter(1, 2)
    writer.event("MPI_Init", 0, 10)
    writer.event("MPI_Barrier", 5, 10, site=0x99)
    writer.finish()
    writer.save(tmp_path)
    one, other = (file.definitions for file in open_trace(tmp_path).files)
    assert one.functions != other.functions
    assert (("/opt/app", 0x99),) in other.sites.values()
    assert (("/opt/app", 0x99),) not in one.sites.values()


def test_the_damaged_file_of_many_is_named(tmp_path):
    for rank in range(20):
        writer = ring(rank, 20)
        if rank == 7:  # a site in a module that nobody defined
            writer.define("SITE", varint(99), varint(55), varint(1))
        writer.save(tmp_path)
    trace = open_trace(tmp_path)
    damaged = [file for file in trace.files if file.damage is not None]
    assert [file.path.name for file in damaged] == ["rank-000007.skt"]
    assert sum("rank-000007.skt" in line for line in trace.warnings) == 1
    others = [file for file in trace.files if file.damage is None]
    assert len({id(file.definitions.functions) for file in others}) == 1


def record(tag: str, *parts: bytes) -> bytes:
    payload = b"".join(parts)
    return bytes([FORMAT[f"REC_{tag}"]]) + varint(len(payload)) + payload


def records_of(data: bytes) -> list[tuple[int, int, int, int]]:
    """Return the records in bytes whose payloads are shorter than 128."""
    found, at = [], 0
    while at < len(data):
        found.append((at, at + 2, data[at + 1], data[at]))
        at += 2 + data[at + 1]
    return found


def test_records_of_a_damaged_file_are_not_kept_for_others():
    function = record("FUNCTION", varint(1), string("MPI_Send"), varint(1))
    bad = function + record("NOTE", varint(200), b"x")
    shared = SharedDefinitions()
    found, problem = read_definitions(bad, records_of(bad), 1, shared)
    assert problem == (len(function), "a text of 200 bytes")
    assert shared.names.get(shared.names.key(bad, records_of(bad))) is None
    again, problem = read_definitions(function, records_of(function), 1, shared)
    assert problem is None
    assert again.functions == found.functions


@pytest.mark.parametrize("reader", [NameReader(), ListReader()])
def test_readers_of_shared_records_read_different_tags(reader):
    assert not set(reader.readers()) & set(
        (ListReader if isinstance(reader, NameReader) else NameReader)().readers()
    )


def test_a_number_is_defined_once():
    twice = 2 * record("FUNCTION", varint(1), string("MPI_Send"), varint(1))
    found, problem = read_definitions(twice, records_of(twice), 1, SharedDefinitions())
    assert problem == (len(twice) // 2, "a second definition of number 1")
    assert list(found.functions) == [1]
