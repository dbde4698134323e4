"""Folders that hold a run, half a run, several runs, or something else."""

import shutil

import pytest

from skelgen.errors import InputError
from skelgen.trace import open_trace
from tests.trace_samples import ring, save_ring
from tests.trace_writer import FORMAT, RankWriter


def message(folder) -> str:
    with pytest.raises(InputError) as caught:
        open_trace(folder)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_a_clean_run_opens_without_warnings(tmp_path):
    trace = open_trace(save_ring(tmp_path, ranks=3, rounds=5))
    assert trace.clean
    assert trace.warnings == ()
    assert [file.header.world_rank for file in trace.files] == [0, 1, 2]
    assert trace.events == 3 * (5 * 4 + 2)
    assert trace.size_bytes == sum(p.stat().st_size for p in tmp_path.iterdir())


def test_progress_reaches_the_size_of_the_trace(tmp_path):
    save_ring(tmp_path)
    seen = []

    class Recorder:
        def start(self, what, total):
            seen.append(total)

        def advance(self, amount):
            seen[0] -= amount

        def say(self, found):
            seen.append(found)

        def finish(self):
            seen.append("end")

    open_trace(tmp_path, Recorder())
    assert seen == [0, "end"]


def test_missing_ranks_are_named_and_the_others_used(tmp_path):
    save_ring(tmp_path, ranks=4)
    (tmp_path / "rank-000002.skt").unlink()
    trace = open_trace(tmp_path)
    assert trace.missing == (2,)
    assert not trace.clean
    assert trace.warnings == ("1 of 4 ranks have no usable file: 2",)


def test_many_missing_ranks_are_counted_not_listed(tmp_path):
    ring(0, 100_000).save(tmp_path)
    (warning,) = open_trace(tmp_path).warnings
    assert warning == (
        "99999 of 100000 ranks have no usable file: "
        "1, 2, 3, 4, 5, 6, 7, 8 and 99991 more"
    )


def test_a_killed_rank_is_used_up_to_its_last_complete_record(tmp_path):
    save_ring(tmp_path)
    writer = ring(1, 2)
    cut = writer.data()[: -len(writer.out) // 3]
    (tmp_path / writer.name).write_bytes(cut + bytes(4096 - len(cut) % 4096))
    trace = open_trace(tmp_path)
    assert trace.files[0].clean
    assert not trace.files[1].clean
    assert 20 < trace.files[1].facts.events < trace.files[0].facts.events


def test_a_file_cut_between_records_counts_as_killed(tmp_path):
    save_ring(tmp_path)
    writer = RankWriter(1, 2)
    writer.event("MPI_Init", 0, 10)
    writer.save(tmp_path)
    trace = open_trace(tmp_path)
    assert trace.files[1].facts.events == 1
    assert trace.files[1].damage is None
    assert "ranks 1 were killed" in trace.warnings[0]


def test_damage_is_told_with_file_rank_and_byte(tmp_path):
    save_ring(tmp_path)
    path = tmp_path / "rank-000001.skt"
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    trace = open_trace(tmp_path)
    damage = trace.files[1].damage
    assert damage.rank == 1
    assert damage.offset == trace.files[1].used_bytes < len(data) - 1
    (warning,) = trace.warnings
    assert warning == (
        f"rank-000001.skt (rank 1), byte {damage.offset}: read the beginning of a "
        "record, expected all of it; what stands before it is used, nothing else is"
    )


def test_bytes_behind_the_end_are_damage_unless_zero(tmp_path):
    save_ring(tmp_path)
    path = tmp_path / "rank-000000.skt"
    data = path.read_bytes()
    path.write_bytes(data + bytes(100))
    assert open_trace(tmp_path).clean
    path.write_bytes(data + b"more")
    (warning,) = open_trace(tmp_path).warnings
    assert f"byte {len(data)}: read bytes behind the END record" in warning


def test_a_definition_that_makes_no_sense_ends_the_usable_part(tmp_path):
    writer = RankWriter(0, 1)
    writer.event("MPI_Init", 0, 10)
    good = len(writer.data())
    writer.comm(7, [0, 1, 2], kind="SPLIT")  # ranks that the run does not have
    writer.event("MPI_Barrier", 1, 1, comm=7)
    writer.save(tmp_path)
    (file,) = open_trace(tmp_path).files
    assert file.facts.events == 1
    assert file.used_bytes == file.damage.offset == good
    assert "read a group with a rank outside of the world" in str(file.damage)


def test_a_shape_of_an_undefined_type_ends_the_usable_part(tmp_path):
    writer = RankWriter(0, 1)
    writer.event("MPI_Init", 0, 10)
    writer.type(8)
    writer._once("type", (4, "", False, False, 0))  # as if it were defined
    writer.event("MPI_Send", 1, 1, peer=0, tag=0, count_a=1, type_a=4)
    writer.save(tmp_path)
    (file,) = open_trace(tmp_path).files
    assert file.facts.events == 1
    assert "undefined function, type, communicator or site" in str(file.damage)


def test_an_end_record_with_other_counts_tells_that_a_part_is_missing(tmp_path):
    writer = RankWriter(0, 1)
    writer.event("MPI_Init", 0, 10)
    writer.events += 8
    writer.finish()
    writer.save(tmp_path)
    (warning,) = open_trace(tmp_path).warnings
    assert "it states 10 events and 0 requests, but 2 and 0 were read" in warning


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("ABORT", "the program called MPI_Abort with code 3"),
        ("EXIT", "the program ended without MPI_Finalize"),
        ("FULL", "the disk was full"),
        ("LIMIT", "SKELGEN_MAX_BYTES was reached"),
    ],
)
def test_ends_other_than_finalize_are_told(tmp_path, reason, words):
    writer = RankWriter(0, 1)
    writer.event("MPI_Init", 0, 10)
    writer.note("something odd")
    writer.finish(reason, code=3, unrecorded=12)
    writer.save(tmp_path)
    warnings = open_trace(tmp_path).warnings
    assert words in warnings[0]
    assert "12 calls were not recorded" in warnings[1]
    assert warnings[2] == "the recorder says: something odd"


def test_equal_ends_of_several_ranks_are_told_once(tmp_path):
    for rank in range(3):
        writer = RankWriter(rank, 3)
        writer.event("MPI_Init", 0, 10)
        writer.finish("LIMIT")
        writer.save(tmp_path)
    (warning,) = open_trace(tmp_path).warnings
    assert warning == (
        "rank-000000.skt, rank-000001.skt, rank-000002.skt: SKELGEN_MAX_BYTES was "
        "reached; what followed was not recorded"
    )


def test_further_runs_inside_the_folder_are_named_and_left_out(tmp_path):
    save_ring(tmp_path)
    (tmp_path / "world-2").mkdir()
    save_ring(tmp_path / "world-2", ranks=3)
    trace = open_trace(tmp_path)
    assert trace.world_size == 2
    (warning,) = trace.warnings
    assert "world-2 holds another run (app on 3 ranks)" in warning
    assert f"skelgen info {tmp_path / 'world-2'}" in warning


def test_an_empty_file_tells_where_the_ranks_own_may_be(tmp_path):
    save_ring(tmp_path)
    (tmp_path / "rank-000001.skt").write_bytes(b"")
    warning = open_trace(tmp_path).warnings[0]
    assert warning.startswith("rank-000001.skt is not used: it is empty: another ")
    assert "SKELGEN_TMPDIR" in warning


def test_no_such_folder(tmp_path):
    assert "does not exist" in message(tmp_path / "nothing")


def test_a_file_in_place_of_a_folder(tmp_path):
    save_ring(tmp_path)
    assert "is a file" in message(tmp_path / "rank-000000.skt")


def test_an_empty_folder(tmp_path):
    (tmp_path / "run.json").write_text("{}")
    assert "holds no rank file" in message(tmp_path)


def test_files_that_ended_before_their_header(tmp_path):
    (tmp_path / "rank-000000.skt").write_bytes(b"")
    (tmp_path / "rank-000001.skt").write_bytes(bytes(4096))
    (tmp_path / "rank-000002.skt").write_bytes(ring(2, 3).data()[:100])
    text = message(tmp_path)
    assert "3 rank files but none has a usable header" in text
    assert "rank-000000.skt: it is empty: another process cut it" in text
    (tmp_path / "rank-000000.skt").write_bytes(bytes(4096))
    assert "rank-000002.skt: it was cut at byte 100, within" in message(tmp_path)
    (tmp_path / "rank-000002.skt").write_bytes(bytes(4096))
    assert "the run ended before MPI was initialised" in message(tmp_path)
    ring(0, 3).save(tmp_path)
    trace = open_trace(tmp_path)
    assert trace.missing == (1, 2)
    assert trace.warnings[0] == (
        "rank-000001.skt is not used: it ends before its header does"
    )


def test_a_file_that_is_no_trace(tmp_path):
    save_ring(tmp_path)
    (tmp_path / "rank-000001.skt").write_bytes(b"#!/bin/sh\necho hello\n" * 100)
    text = message(tmp_path)
    assert "rank-000001.skt is not a trace: it begins with b'#!/bin/s'" in text


def test_a_trace_of_another_version(tmp_path):
    ring(0, 1).save(tmp_path, version=2)
    assert "has trace format version 2, this skelgen reads version 1" in message(
        tmp_path
    )


def test_a_trace_of_the_other_byte_order(tmp_path):
    ring(0, 1).save(tmp_path, endian=0x04030201, version=0x01000000)
    assert "other byte order" in message(tmp_path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("world_size", 0),
        ("world_size", 2**31 - 1),
        ("world_rank", 5),
        ("world_rank", -1),
        ("thread", -1),
        ("header_bytes", 8),
        ("header_bytes", 2**31),
        ("clock_kind", 99),
        ("unit_shift", 64),
        ("ticks_per_s", 0),
        ("start_ticks", 2**63),
    ],
)
def test_a_header_that_cannot_be(tmp_path, field, value):
    ring(0, 1).save(tmp_path, **{field: value})
    assert "damaged header" in message(tmp_path)


def test_a_header_longer_than_its_file(tmp_path):
    ring(0, 1, rounds=1).save(tmp_path, header_bytes=60_000)
    assert "within its header of 60000 bytes" in message(tmp_path)


def test_a_longer_header_of_a_later_version_is_skipped(tmp_path):
    writer = ring(0, 1)
    size = FORMAT.header.itemsize
    path = tmp_path / writer.name
    path.write_bytes(writer.header(header_bytes=size + 16) + bytes(16) + writer.out)
    assert open_trace(tmp_path).clean


def test_mixed_runs_are_listed(tmp_path):
    ring(0, 2).save(tmp_path)
    ring(1, 3, program="/opt/other").save(tmp_path, run_id=9)
    text = message(tmp_path)
    assert "holds files of 2 runs" in text
    assert "app on 2 ranks of 2023-11-14T22:13:20+00:00: rank-000000.skt" in text
    assert "other on 3 ranks of 2023-11-14T22:13:20+00:00: rank-000001.skt" in text


def test_ranks_that_disagree_on_the_size_of_the_world(tmp_path):
    ring(0, 2).save(tmp_path)
    ring(1, 3).save(tmp_path)
    assert "disagree on the number of ranks: 2, 3" in message(tmp_path)


def test_the_same_rank_twice(tmp_path):
    save_ring(tmp_path)
    shutil.copy(tmp_path / "rank-000001.skt", tmp_path / "rank-000001-copy.skt")
    text = message(tmp_path)
    assert "holds rank 1 twice (rank-000001-copy.skt and rank-000001.skt)" in text


def test_threads_of_a_rank_are_files_of_their_own(tmp_path):
    save_ring(tmp_path)
    ring(1, 2, thread=1).save(tmp_path)
    trace = open_trace(tmp_path)
    assert [f.header.thread for f in trace.files] == [0, 0, 1]
