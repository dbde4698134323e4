"""Checksums of rank files: what is damaged is named, what stands before it is used."""

import random

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.events import collect
from skelgen.events.describe import describe
from skelgen.events.summary import summarise_run
from skelgen.trace import open_trace, rank_file, stream
from skelgen.trace.rank_file import read_header, read_rank_file
from tests.bit_flips import HARMLESS, NOTICED, SILENT, count, decoded, written_run
from tests.trace_samples import anything, ring
from tests.trace_writer import FORMAT, RankWriter, check, crc32c, varint
from tests.twins import trace_stream as twin

HEADER = FORMAT.header.itemsize
CHECK = FORMAT["CHECK_BYTES"]


def windows(folder, rounds=(10, 10, 10)):
    """Save a rank whose recorder moved its window; return where each window begins."""
    writer = RankWriter(0, 1, checked=True)
    writer.event("MPI_Init", 0, 10)
    begins = [HEADER + CHECK]
    for number in rounds:
        for _ in range(number):
            writer.event("MPI_Send", 9, 9, peer=0, tag=0, count_a=1, type_a=8)
        writer.window()
        begins.append(begins[0] + len(writer.out) + CHECK * len(begins))
    writer.finish()
    writer.save(folder)
    return begins


def only_file(folder):
    (file,) = open_trace(folder).files
    return file


def flip(path, at, bit=0):
    data = bytearray(path.read_bytes())
    data[at] ^= 1 << bit
    path.write_bytes(data)


def test_kernel_and_twin_and_tests_compute_the_same_checksums():
    rng = random.Random(1)
    data = rng.randbytes(5000)
    for begin, end in ((0, 0), (0, 1), (3, 11), (5, 3080), (1, 4999)):
        expected = crc32c(data[begin:end])
        assert stream.checksum(data, begin, end) == expected
        assert twin.checksum(data, begin, end) == expected
        middle = (begin + end) // 2
        first = stream.checksum(data, begin, middle)
        assert stream.checksum(data, middle, end, first) == expected
        assert twin.checksum(data, middle, end, first) == expected


def test_a_sound_file_is_checked_to_its_last_byte(tmp_path):
    windows(tmp_path)
    file = only_file(tmp_path)
    assert file.clean
    assert file.checked_bytes == file.used_bytes == file.size_bytes
    trace = open_trace(tmp_path)
    summary = summarise_run(trace, collect(trace))
    assert "all bytes are as they were recorded" in describe(summary)
    assert summary.unchecked_bytes == 0


def test_a_file_without_checksums_is_read_as_before_and_told(tmp_path):
    ring(0, 1).save(tmp_path)
    trace = open_trace(tmp_path)
    assert trace.warnings == ()
    assert trace.files[0].checked_bytes == 0
    summary = summarise_run(trace, collect(trace))
    assert "have none: 1 file of an older recorder" in describe(summary)


def test_a_damaged_window_is_named_and_what_stands_before_it_is_used(tmp_path):
    begins = windows(tmp_path)
    path = tmp_path / "rank-000000.skt"
    flip(path, begins[2] - 20)
    file = only_file(tmp_path)
    assert file.damage.offset == file.used_bytes == file.checked_bytes == begins[1]
    assert file.facts.events == 11
    text = str(file.damage)
    assert text.startswith(f"rank-000000.skt (rank 0), byte {begins[1]}: read bytes ")
    assert f"bytes {begins[1]} to {begins[2]} with the CRC32C" in text
    assert text.endswith("what stands before it is used, nothing else is")


def test_damage_in_the_end_record_leaves_all_windows(tmp_path):
    begins = windows(tmp_path)
    path = tmp_path / "rank-000000.skt"
    flip(path, path.stat().st_size - 1)
    file = only_file(tmp_path)
    assert file.definitions.end is None
    assert file.used_bytes == begins[3]


def test_a_length_that_hides_the_checksum_is_damage(tmp_path):
    begins = windows(tmp_path)
    path = tmp_path / "rank-000000.skt"
    data = path.read_bytes()
    at = data.index(bytes([FORMAT["REC_CLOCK"]]), begins[3])
    path.write_bytes(data[: at + 1] + varint(len(data) - at - 2) + data[at + 2 :])
    file = only_file(tmp_path)
    assert file.definitions.end is None
    assert "no END record up to the end of the file" in str(file.damage)


def test_an_end_record_that_no_checksum_covers_is_damage(tmp_path):
    begins = windows(tmp_path)
    path = tmp_path / "rank-000000.skt"
    data = path.read_bytes()
    at = data.rindex(bytes([FORMAT["REC_CHECK"], 5]))
    path.write_bytes(data[:at] + data[at + CHECK :])
    file = only_file(tmp_path)
    assert file.used_bytes == begins[3]
    assert "an END record before byte" in str(file.damage)


def test_a_killed_rank_is_used_behind_its_last_checksum_and_that_is_told(tmp_path):
    writer = RankWriter(0, 1, checked=True)
    writer.event("MPI_Init", 0, 10)
    writer.window()
    writer.event("MPI_Barrier", 1, 1)
    writer.save(tmp_path)
    trace = open_trace(tmp_path)
    assert trace.files[0].damage is None
    assert trace.files[0].facts.events == 2
    assert 0 < trace.files[0].checked_bytes < trace.files[0].used_bytes
    assert "ranks 0 were killed" in trace.warnings[0]
    text = describe(summarise_run(trace, collect(trace)))
    assert "ranks were killed before they wrote the next one" in text


def test_nonsense_behind_the_last_checksum_of_a_killed_rank_is_not_used(tmp_path):
    writer = RankWriter(0, 1, checked=True)
    writer.event("MPI_Init", 0, 10)
    writer.window()
    end = len(writer.data().rstrip(b"\0"))
    writer.event("MPI_Barrier", 1, 1)
    writer.out += b"\xff\x01\x01\x01\x01\x01\x01\x01\x01\xff\xff\xff"
    writer.save(tmp_path)
    file = only_file(tmp_path)
    assert file.used_bytes == file.damage.offset == end
    assert "an undefined call shape at byte" in str(file.damage)


@pytest.mark.parametrize("kept", [0.8, 0.9, 0.99])
def test_a_file_that_was_cut_is_not_taken_for_a_killed_one(tmp_path, kept):
    windows(tmp_path)
    path = tmp_path / "rank-000000.skt"
    data = path.read_bytes()
    path.write_bytes(data[: int(kept * len(data))])
    (warning,) = open_trace(tmp_path).warnings
    assert "killed" not in warning
    assert "the file was cut" in warning or "the beginning of a record" in warning


@pytest.mark.parametrize("at", [20, 80, HEADER - 1, HEADER + CHECK - 1])
def test_a_damaged_header_is_named_and_the_other_ranks_are_used(tmp_path, at):
    for rank in range(2):
        writer = RankWriter(rank, 2, checked=True)
        writer.event("MPI_Init", 0, 10)
        writer.finish()
        writer.save(tmp_path)
    flip(tmp_path / "rank-000001.skt", at)
    trace = open_trace(tmp_path)
    assert trace.missing == (1,)
    assert "rank-000001.skt is not used: its header has the CRC32C" in trace.warnings[0]
    (tmp_path / "rank-000000.skt").unlink()
    with pytest.raises(InputError, match="its header has the CRC32C"):
        open_trace(tmp_path)


def test_every_flipped_bit_of_a_run_that_ended_is_noticed(tmp_path):
    run = written_run(tmp_path, 60, random.Random(3), checked=True, ended=True)
    assert decoded(run)[0] == decoded(run)[0]
    found = count(run, 400, random.Random(5))
    assert found[SILENT] == found[HARMLESS] == 0
    assert found[NOTICED] == 400


def test_flipped_bits_were_silent_in_files_without_checksums(tmp_path):
    """The count above can fail."""
    run = written_run(tmp_path, 60, random.Random(3), checked=False, ended=True)
    found = count(run, 100, random.Random(5))
    assert found[SILENT] > 20
    assert found[HARMLESS] > 0


def test_a_check_record_is_as_the_document_says(tmp_path):
    writer = RankWriter(0, 1, checked=True)
    writer.finish(finalize=False)
    data = writer.data()
    assert data[HEADER : HEADER + 3] == bytes([0x40, 5, 0])
    assert int.from_bytes(data[HEADER + 3 : HEADER + 7], "little") == crc32c(
        data[: HEADER + 3]
    )
    assert check(b"") == bytes([0x40, 5, 0]) + crc32c(bytes([0x40, 5, 0])).to_bytes(
        4, "little"
    )


@pytest.mark.parametrize("seed", range(12))
def test_large_files_are_mapped_and_found_the_same(seed, tmp_path, monkeypatch):
    """Files of killed ranks end in zeros, which the recorder may still cut."""
    rng = random.Random(seed)
    writer = anything(rng, 0, 2, 200, checked=seed % 2 == 0, ended=seed % 3 > 0)
    path = writer.save(tmp_path)
    if seed % 4 == 3:
        path.write_bytes(path.read_bytes()[: -rng.randrange(1, 400)])
    header = read_header(path)
    found = [read_rank_file(path, header)]
    monkeypatch.setattr(rank_file, "_MOST_READ_BYTES", 0)
    monkeypatch.setattr(stream, "_READ_BYTES", 1000)
    found.append(read_rank_file(path, header))
    for name in ("used_bytes", "size_bytes", "checked_bytes", "facts", "damage"):
        assert getattr(found[0], name) == getattr(found[1], name)
    np.testing.assert_array_equal(found[0].shapes, found[1].shapes)
