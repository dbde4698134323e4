"""OTF2 archives, read back by the library's own otf2-print."""

import re
import shutil
import subprocess
from collections import Counter

import pytest

from skelgen.errors import MachineError
from skelgen.export import otf2_archive, otf2_library
from skelgen.export.otf2 import write
from tests.export_samples import (
    RANKS,
    ROUNDS,
    calls_by_rank,
    opened,
    save_mixed,
    save_threads,
)

PRINT = shutil.which("otf2-print")


def installed():
    try:
        otf2_library.library()
    except MachineError:
        return False
    return PRINT is not None


needs_otf2 = pytest.mark.skipif(
    not installed(), reason="no OTF2 library with otf2-print (Debian: otf2-tools)"
)
EVENT = re.compile(r"^([A-Z0-9_]+) +(\d+) +(\d+)  ?(.*)$")


def printed(archive, *options):
    done = subprocess.run(
        [PRINT, *options, str(archive)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    text = done.stdout + done.stderr
    assert done.returncode == 0, text[-2000:]
    assert not re.search("warning|error|invalid", text, re.IGNORECASE), text[-2000:]
    return text


def exported(tmp_path, save=save_mixed, **options):
    for name in ("run", "out"):
        (tmp_path / name).mkdir()
    run, _ = opened(save(tmp_path / "run", **options), tmp_path)
    return run, write(run, tmp_path / "out")


def events(archive):
    """Return (kind, location, time, text) of each event."""
    found = [EVENT.match(line) for line in printed(archive).splitlines()]
    return [(m[1], int(m[2]), int(m[3]), m[4]) for m in found if m]


def region(text):
    return re.search(r'Region: "([^"]+)"', text)[1]


def number(text, word):
    return int(re.search(rf"{word}: (\d+)", text)[1])


@needs_otf2
def test_every_call_is_a_region_of_its_rank(tmp_path):
    _, result = exported(tmp_path)
    found = events(result.paths[0])
    expected = calls_by_rank(tmp_path / "run")
    for kind in ("ENTER", "LEAVE"):
        counts = Counter((at, region(text)) for k, at, _, text in found if k == kind)
        assert counts == expected
    assert len(found) == sum(result.records.values())


@needs_otf2
def test_times_of_a_location_never_go_back(tmp_path):
    _, result = exported(tmp_path)
    times = {}
    for _, location, time, _ in events(result.paths[0]):
        assert times.get(location, 0) <= time
        times[location] = time
    assert len(times) == RANKS


@needs_otf2
def test_messages_are_sent_and_received_with_the_same_words(tmp_path):
    _, result = exported(tmp_path)
    sent, received = Counter(), Counter()
    for kind, at, _, text in events(result.paths[0]):
        if kind in ("MPI_SEND", "MPI_ISEND"):
            who = at, number(text, "Receiver")
            sent[*who, number(text, "Tag"), number(text, "Length")] += 1
        elif kind in ("MPI_RECV", "MPI_IRECV"):
            who = number(text, "Sender"), at
            received[*who, number(text, "Tag"), number(text, "Length")] += 1
    assert sent == received
    assert sum(sent.values()) == 60
    assert sent[2, 0, 9, 16] == 2 * ROUNDS


@needs_otf2
def test_every_request_begins_and_ends_once(tmp_path):
    _, result = exported(tmp_path)
    kinds = {
        "MPI_ISEND": "MPI_ISEND_COMPLETE",
        "MPI_IRECV_REQUEST": "MPI_IRECV",
        "NON_BLOCKING_COLLECTIVE_REQUEST": "NON_BLOCKING_COLLECTIVE_COMPLETE",
    }
    begun, ended = Counter(), Counter()
    for kind, at, _, text in events(result.paths[0]):
        if kind in kinds:
            begun[at, kinds[kind], number(text, "Request")] += 1
        elif kind in kinds.values():
            ended[at, kind, number(text, "Request")] += 1
    assert begun == ended
    assert set(begun.values()) == {1}
    assert {kind for _, kind, _ in begun} == set(kinds.values())


@needs_otf2
def test_collectives_name_operation_root_communicator_and_bytes(tmp_path):
    _, result = exported(tmp_path)
    found = Counter()
    for kind, at, _, text in events(result.paths[0]):
        if kind == "MPI_COLLECTIVE_END" and "BCAST" in text:
            size = number(text, "Sent"), number(text, "Received")
            name = re.search(r'Communicator: "([^"]+)"', text)[1]
            found[at, name.split()[0], number(text, "Root"), *size] += 1
    world = {
        (rank, "MPI_COMM_WORLD", 1, *((16, 0) if rank == 1 else (0, 16)))
        for rank in range(RANKS)
    }
    rows = {
        (rank, "split", 1, *((16, 0) if rank > 1 else (0, 16))) for rank in range(RANKS)
    }
    assert found == dict.fromkeys(world | rows, ROUNDS)


@needs_otf2
def test_definitions_say_clock_hosts_ranks_and_groups(tmp_path):
    _, result = exported(tmp_path)
    text = printed(result.paths[0], "-G")
    assert "Ticks per Seconds: 1000000000" in text
    assert len(re.findall(r"^LOCATION_GROUP ", text, re.MULTILINE)) == RANKS
    assert len(re.findall(r"^LOCATION ", text, re.MULTILINE)) == RANKS
    assert len(re.findall(r"^COMM ", text, re.MULTILINE)) == 4  # world, self, two rows
    assert 'Name: "node1"' in text
    assert re.search(r'"MPI_Bcast".*Role: COLL_ONE2ALL', text)
    assert re.search(r'"MPI_Waitall".*Role: POINT2POINT', text)


@needs_otf2
def test_threads_are_locations_of_their_rank(tmp_path):
    _, result = exported(tmp_path, save_threads)
    text = printed(result.paths[0], "-G")
    assert len(re.findall(r"^LOCATION_GROUP ", text, re.MULTILINE)) == 1
    assert len(re.findall(r"^LOCATION ", text, re.MULTILINE)) == 2
    assert {at for _, at, _, _ in events(result.paths[0])} == {0, 1}


@needs_otf2
def test_a_missing_rank_has_a_place_without_events(tmp_path):
    for name in ("run", "out"):
        (tmp_path / name).mkdir()
    (save_mixed(tmp_path / "run") / "rank-000002.skt").unlink()
    run, _ = opened(tmp_path / "run", tmp_path)
    result = write(run, tmp_path / "out")
    assert len(re.findall(r"^LOCATION ", printed(result.paths[0], "-G"), re.M)) == RANKS
    assert {at for _, at, _, _ in events(result.paths[0])} == {0, 1, 2}


@needs_otf2
def test_a_location_is_written_out_before_it_takes_much_memory(tmp_path):
    lib, null = otf2_library.library(), otf2_library.interface().NULL
    with otf2_archive.opened(tmp_path / "archive") as archive:
        lib.OTF2_Archive_OpenEvtFiles(archive)
        writer = lib.OTF2_Archive_GetEvtWriter(archive, 0)
        file = tmp_path / "archive/traces/0.evt"
        for time in range(600_000):  # of 12 bytes, in chunks of 1 MiB
            otf2_library.check(lib.OTF2_EvtWriter_Enter(writer, null, time, 3))
        assert file.stat().st_size >= otf2_library.EVENT_CHUNK_BYTES
        lib.OTF2_Archive_CloseEvtWriter(archive, writer)
        lib.OTF2_Archive_CloseEvtFiles(archive)


def test_a_missing_library_is_one_line_that_names_the_package(monkeypatch):
    monkeypatch.setattr(otf2_library, "_NAMES", ("libotf2-of-nobody.so",))
    with pytest.raises(MachineError) as caught:
        otf2_library.library.__wrapped__()
    assert "libopen-trace-format2-10" in str(caught.value)
    assert "\n" not in str(caught.value)
