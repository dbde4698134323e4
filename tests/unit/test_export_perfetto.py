"""Trace Event JSON: every record is what the format wants."""

import gzip
import json
from collections import Counter, defaultdict
from itertools import pairwise

import pytest

from skelgen.export.perfetto import write
from tests.export_samples import RANKS, calls_by_rank, opened, save_mixed, save_threads

NUMBERS = (int, float)
FIELDS = {
    "M": {"pid": int, "tid": int, "name": str, "args": dict},
    "X": {
        "pid": int,
        "tid": int,
        "ts": NUMBERS,
        "dur": NUMBERS,
        "name": str,
        "cat": str,
        "args": dict,
    },
    "s": {"pid": int, "tid": int, "ts": NUMBERS, "id": int, "name": str, "cat": str},
    "f": {
        "pid": int,
        "tid": int,
        "ts": NUMBERS,
        "id": int,
        "bp": str,
        "name": str,
        "cat": str,
    },
}


def exported(tmp_path, save=save_mixed, name="run.json"):
    (tmp_path / "run").mkdir()
    run, _ = opened(save(tmp_path / "run"), tmp_path)
    return run, write(run, tmp_path / name)


def records(path):
    return json.loads(path.read_text())["traceEvents"]


@pytest.fixture
def found(tmp_path):
    _, result = exported(tmp_path)
    by_kind = defaultdict(list)
    for record in records(result.paths[0]):
        by_kind[record["ph"]].append(record)
    return by_kind


def test_every_record_has_the_fields_of_its_kind_and_no_other(found):
    assert set(found) == set(FIELDS)
    for kind, fields in FIELDS.items():
        for record in found[kind]:
            assert set(record) == {"ph", *fields}
            for name, expected in fields.items():
                assert isinstance(record[name], expected), (record, name)
            assert record.get("dur", 0) >= 0


def test_there_is_a_process_for_each_rank_and_none_is_number_0(found):
    names = {r["pid"]: r["args"] for r in found["M"] if r["name"] == "process_name"}
    assert names == {r + 1: {"name": f"rank {r} on node1"} for r in range(RANKS)}
    threads = [(r["pid"], r["tid"]) for r in found["M"] if r["name"] == "thread_name"]
    assert len(set(threads)) == len(threads) == RANKS
    assert min(tid for _, tid in threads) > 0


def test_every_call_is_a_slice_of_its_rank(found, tmp_path):
    slices = Counter((r["pid"] - 1, r["name"]) for r in found["X"])
    assert slices == calls_by_rank(tmp_path / "run")


def test_slices_of_a_track_do_not_overlap(found):
    tracks = defaultdict(list)
    for record in found["X"]:
        tracks[record["tid"]].append(record)
    for track in tracks.values():
        for one, after in pairwise(track):
            assert one["ts"] + one["dur"] <= after["ts"] + 1e-9


def test_arrows_lead_from_within_a_send_to_within_its_completion(found):
    def around(arrow):
        (record,) = (
            r
            for r in found["X"]
            if r["tid"] == arrow["tid"] and r["ts"] <= arrow["ts"] < r["ts"] + r["dur"]
        )
        return record

    begins = {r["id"]: around(r) for r in found["s"]}
    ends = {r["id"]: around(r) for r in found["f"]}
    assert begins.keys() == ends.keys()
    assert len(begins) == len(found["s"]) == 60
    kinds = Counter((begins[n]["name"], ends[n]["name"]) for n in begins)
    assert kinds == {
        ("MPI_Isend", "MPI_Waitall"): 24,
        ("MPI_Sendrecv", "MPI_Sendrecv"): 12,
        ("MPI_Startall", "MPI_Waitany"): 12,
        ("MPI_Send", "MPI_Recv"): 12,
    }
    for number, begin in begins.items():
        if begin["name"] == "MPI_Isend":
            assert begin["args"]["to"] == ends[number]["pid"] - 1


def test_slices_say_partner_tag_bytes_and_communicator(found):
    sends = [r for r in found["X"] if r["name"] == "MPI_Send" and r["pid"] == 3]
    assert sends[0]["args"] == {
        "communicator": "world 0",
        "to": 0,
        "tag": 9,
        "bytes": 16,
    }
    polls = [r for r in found["X"] if r["name"] == "MPI_Testall"]
    assert [r["args"]["polls"] for r in polls] == [4] * len(polls)
    (both,) = {
        json.dumps(r["args"]) for r in found["X"] if r["name"] == "MPI_Sendrecv"
        and r["pid"] == 1
    }  # fmt: skip
    assert json.loads(both)["from"] == 3
    assert json.loads(both)["to"] == 1


def test_a_name_that_ends_in_gz_is_compressed_and_the_same_each_time(tmp_path):
    run, plain = exported(tmp_path)
    packed = [write(run, tmp_path / name).paths[0] for name in ("a.json.gz", "b.gz")]
    assert gzip.decompress(packed[0].read_bytes()) == plain.paths[0].read_bytes()
    assert packed[0].read_bytes() == packed[1].read_bytes()


def test_messages_without_their_other_half_are_counted(tmp_path):
    (tmp_path / "run").mkdir()
    run, _ = opened(save_mixed(tmp_path / "run", killed=3), tmp_path)
    result = write(run, tmp_path / "run.json")
    assert len(result.notes) == 1
    assert "without their other half" in result.notes[0]
    arrows = Counter(record["ph"] for record in records(result.paths[0]))
    assert arrows["s"] == arrows["f"] == result.records["arrows"]


def test_threads_have_tracks_of_their_own(tmp_path):
    _, result = exported(tmp_path, save_threads)
    tracks = {r["tid"]: r["pid"] for r in records(result.paths[0]) if r["ph"] == "X"}
    assert tracks == {1: 1, 2: 1}
    (end,) = (r for r in records(result.paths[0]) if r["ph"] == "f")
    assert end["tid"] == 2
