"""Full, limited and distant disks: the program runs on, and one line says so."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from skelgen.events.describe import describe
from skelgen.launch.folders import new_folder
from skelgen.launch.node_files import NodeFolder
from skelgen.launch.own_folders import FolderKind
from skelgen.pipeline.info import info
from skelgen.trace import open_trace
from tests.shim.conftest import HERE, Lab, Record, Run
from tests.shim.reader import Trace, read_run
from tests.shim.test_endings import killed

pytestmark = [pytest.mark.mpi, pytest.mark.families]

FULL, LIMIT = 3, 4


def reason(trace: Trace) -> int:
    (row,) = trace.tables["ends"].values()
    return row["reason"]


def only_line(run: Run) -> str:
    """Return the one line that the recorder printed; the program must be unharmed."""
    assert (run.exit_code, run.output) == (0, "the end\n"), run.errors
    (line,) = [x for x in run.errors.splitlines() if x.startswith("skelgen:")]
    return line


def many(lab: Lab, folder: Path, calls: int, ranks: int = 1, **settings: str) -> Run:
    command = [str(lab.compile("endings")), "many", str(calls)]
    preload = settings.pop("preload", str(lab.shim))
    return lab.launch(ranks, command, folder, preload=preload, **settings)


@pytest.fixture
def other_disk(lab: Lab, tmp_path: Path) -> str:
    """Return what to preload for a disk with other manners."""
    library = tmp_path / "libotherdisk.so"
    command = ["cc", "-shared", "-fPIC", str(HERE / "otherdisk.c"), "-o", str(library)]
    subprocess.run([*command, "-ldl"], check=True)
    return f"{lab.shim}:{library}"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 600 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "none", str(place)]
    if (
        os.getuid()
        or subprocess.run(mount, capture_output=True, check=False).returncode
    ):
        pytest.skip("only root may mount a small file system here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_an_unwritable_folder_costs_one_line_only(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file where the folder should be")
    line = only_line(many(lab, tmp_path, 100, ranks=2))
    assert "cannot record into" in line
    assert "Not a directory" in line


def test_a_folder_on_the_node_that_cannot_be_made_costs_one_line_only(
    lab: Lab, tmp_path: Path
) -> None:
    (tmp_path / "node").write_text("a file where the folder should be")
    run = many(lab, tmp_path, 100, ranks=2, SKELGEN_TMPDIR=str(tmp_path / "node"))
    assert "node on rank 0: Not a directory" in only_line(run)


def test_a_full_disk_costs_one_line_only(lab: Lab, small_disk: Path) -> None:
    line = only_line(many(lab, small_disk, 300_000))
    assert "cannot extend" in line
    assert "No space left on device" in line
    (trace,) = read_run(small_disk / "run")
    assert trace.clean
    assert reason(trace) == FULL
    assert 300_000 < trace.bytes <= 600 * 1024


def test_a_disk_that_is_full_from_the_start_costs_one_line_only(
    lab: Lab, small_disk: Path
) -> None:
    (small_disk / "ballast").write_bytes(bytes(600 * 1024))
    line = only_line(many(lab, small_disk, 100))
    assert "cannot record into" in line


def test_a_quota_costs_one_line_only(record: Record) -> None:
    run = record("endings", 1, "many", "80000", "400000")
    assert "File too large" in only_line(run)
    (trace,) = run.traces
    assert trace.clean
    assert reason(trace) == FULL
    assert 300_000 < trace.bytes <= 400_000


def test_a_disk_that_cannot_allocate_loses_nothing(
    lab: Lab, tmp_path: Path, other_disk: str
) -> None:
    run = many(lab, tmp_path, 150_000, preload=other_disk, DISK_IS="simple")
    assert (run.exit_code, run.errors) == (0, "")
    trace = open_trace(run.folder)
    assert trace.warnings == ()
    assert trace.size_bytes > 3 * 2**18  # several windows
    assert trace.events == 150_002


def test_a_network_file_system_is_remarked(
    lab: Lab, tmp_path: Path, other_disk: str
) -> None:
    run = many(lab, tmp_path, 100, 2, preload=other_disk, DISK_IS="network")
    assert (run.exit_code, run.errors) == (0, "")
    summary = info(run.folder).summary
    (warning,) = [x for x in summary.warnings if "network file system" in x]
    assert "SKELGEN_TMPDIR" in warning
    assert [len(t.tables.get("notes", ())) for t in run.traces] == [1, 0]


def test_a_limit_is_for_the_whole_run(lab: Lab, tmp_path: Path) -> None:
    run = many(lab, tmp_path, 50_000, ranks=2, SKELGEN_MAX_BYTES="200k")
    assert "reached SKELGEN_MAX_BYTES" in only_line(run)
    assert all(trace.clean and reason(trace) == LIMIT for trace in run.traces)
    total = sum(trace.bytes for trace in run.traces)
    assert 100_000 < total <= 200 * 1024
    summary = info(run.folder).summary
    (warning,) = [x for x in summary.warnings if "SKELGEN_MAX_BYTES" in x]
    assert warning.startswith("rank-000000.skt, rank-000001.skt: ")
    assert "did not end cleanly" not in describe(summary)


def test_a_limit_is_for_all_threads_of_a_rank(lab: Lab, tmp_path: Path) -> None:
    program = str(lab.compile("threads", "-lpthread"))
    limit = {"SKELGEN_MAX_BYTES": "700k"}
    run = lab.launch(1, [program], tmp_path, preload=str(lab.shim), **limit)
    assert run.exit_code == 0
    files = list(run.folder.glob("*.skt"))
    assert sum(path.stat().st_size for path in files) <= 700 * 1024
    assert run.errors.count("skelgen:") <= 2  # a thread without a file, a full file
    assert all(Trace(path).clean for path in files)


def test_a_limit_that_is_too_small_is_told(lab: Lab, tmp_path: Path) -> None:
    run = many(lab, tmp_path, 100, SKELGEN_MAX_BYTES="1000")
    assert "SKELGEN_MAX_BYTES is too small" in only_line(run)


def test_a_limit_that_is_no_number_is_told(lab: Lab, tmp_path: Path) -> None:
    run = many(lab, tmp_path, 100, SKELGEN_MAX_BYTES="plenty")
    assert "SKELGEN_MAX_BYTES=plenty is no number" in only_line(run)
    assert len(run.traces[0].of("Send")) == 100


def test_files_on_the_node_are_brought_to_the_folder(lab: Lab, tmp_path: Path) -> None:
    node = tmp_path / "node"
    run = many(lab, tmp_path, 100, ranks=2, SKELGEN_TMPDIR=str(node))
    assert (run.exit_code, run.errors) == (0, "")
    assert list(node.iterdir()) == []
    names = sorted(path.name for path in run.folder.iterdir())
    assert names == ["rank-000000.skt", "rank-000001.skt"]
    assert all(t.clean and len(t.of("Send")) == 100 for t in run.traces)


def test_a_file_that_cannot_be_brought_stays_on_the_node(
    lab: Lab, tmp_path: Path, small_disk: Path
) -> None:
    node = tmp_path / "node"
    run = many(lab, small_disk, 300_000, SKELGEN_TMPDIR=str(node))
    line = only_line(run)
    assert "cannot copy" in line
    assert "it stays there" in line
    (private,) = node.iterdir()
    trace = open_trace(private)
    assert trace.events == 300_002
    assert [path.name for path in (small_disk / "run").iterdir()] == ["rank-000000.skt"]


def test_a_killed_rank_leaves_its_file_on_the_node(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKELGEN_TMPDIR", str(tmp_path / "node"))
    with new_folder(tmp_path / "target", FolderKind.RUN, force=False) as folder:
        node = NodeFolder.of(folder)
        settings = {"SKELGEN_TMPDIR": str(node.path), "SKELGEN_DIR": str(folder)}
        done = killed(lab, tmp_path, trial=4, **settings)
        (empty,) = folder.glob("*.skt")
        assert empty.stat().st_size == 0
        node.bring(folder)
    assert not node.path.exists()
    (trace,) = open_trace(tmp_path / "target").files
    assert done <= trace.facts.events - 1 <= done + 1


def test_a_run_may_end_while_it_is_read(lab: Lab, tmp_path: Path) -> None:
    """A mapped file that becomes shorter would end the reader with SIGBUS."""
    folder = many(lab, tmp_path, 100).folder
    script = """
import os, sys
from pathlib import Path
from skelgen.errors import InputError
from skelgen.events import collect
from skelgen.trace import open_trace, rank_file

path = Path(sys.argv[1]) / "rank-000000.skt"
length = path.stat().st_size
os.truncate(path, length + (1 << 20))  # as while it is recorded
scan = rank_file.stream.scan
def ends(*arguments):
    os.truncate(path, length)
    return scan(*arguments)
rank_file.stream.scan = ends
trace = open_trace(path.parent)
print(trace.events, len(collect(trace).calls))
os.truncate(path, length - 100)
try:
    collect(trace)
except InputError as error:
    print(error)
"""
    command = [sys.executable, "-c", script, str(folder)]
    root = {"PYTHONPATH": str(HERE.parents[1])}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | root
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert lines[0] == "102 100"
    assert lines[1].endswith("changed while it was read; try again")
