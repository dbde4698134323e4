"""What a rank does and no event shows stands in its trace all the same."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from skelgen.events.unrecorded_work import unseen_of
from skelgen.trace import open_trace
from skelgen.trust.recording_doubts import Unseen, unseen_doubts
from tests.shim.conftest import Lab

pytestmark = pytest.mark.mpi

#: What a thread or a process of the program uses [s], and how finely Linux tells it.
WORK_S, TICK_S = 0.3, 0.03


def unseen(lab: Lab, folder: Path, *arguments: str, preload: str = "") -> Unseen:
    program = [str(lab.compile("unseen", "-lpthread", "-ldl")), *arguments]
    preload = preload or str(lab.shim)
    run = lab.launch(1, program, folder, preload=preload)
    assert run.exit_code == 0, run.errors
    found = unseen_of(open_trace(run.folder).files)
    assert found is not None
    return found


def codes(found: Unseen) -> list[str]:
    return [doubt.code for doubt in unseen_doubts(found)]


@pytest.mark.alone
def test_a_thread_that_computes_and_calls_no_mpi_is_seen(lab: Lab, tmp_path) -> None:
    found = unseen(lab, tmp_path, "thread")
    assert found.threads.time_s == pytest.approx(WORK_S, abs=TICK_S)
    assert codes(found) == ["threads"]


def test_a_thread_that_waits_as_progress_threads_do_is_none(lab: Lab, tmp_path) -> None:
    assert codes(unseen(lab, tmp_path, "quiet")) == []


def test_threads_that_call_mpi_in_turn_are_seen_whole(lab: Lab, tmp_path) -> None:
    """What they compute between their calls stands in the trace."""
    assert codes(unseen(lab, tmp_path, "caller")) == []


@pytest.mark.parametrize("how", ["waited", "left"])
def test_processes_of_a_rank_are_seen(lab: Lab, tmp_path: Path, how: str) -> None:
    found = unseen(lab, tmp_path, how)
    assert found.children.time_s == pytest.approx(WORK_S, abs=TICK_S)
    assert found.children_left == (how == "left")
    assert (found.threads.notable, found.files.notable) == (False, False)
    assert codes(found) == ["children"]


def test_files_are_seen_with_their_bytes(lab: Lab, tmp_path: Path) -> None:
    found = unseen(lab, tmp_path, "files", str(tmp_path / "data"))
    assert found.file_bytes >= 4 * 20 * 2**20
    assert found.files.time_s > 0
    assert not found.children.time_s


def test_a_gpu_runtime_is_named(lab: Lab, tmp_path: Path) -> None:
    library = tmp_path / "libcudart-0a1b2c.so.12"
    source = tmp_path / "nothing.c"
    source.write_text("int nothing;\n")
    words = ["cc", "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run(words, check=True)
    found = unseen(lab, tmp_path, "load", str(library))
    assert found.gpu == (library.name,)
    assert codes(found) == ["gpu"]


def test_hwloc_looking_for_gpus_is_no_use_of_one(lab: Lab, tmp_path: Path) -> None:
    source = tmp_path / "nothing.c"
    source.write_text("int nothing;\n")
    for name in ("libOpenCL.so.1", "hwloc_opencl.so"):
        words = ["cc", "-shared", "-fPIC", str(source), "-o", str(tmp_path / name)]
        subprocess.run(words, check=True)
    preload = f"{lab.shim}:{tmp_path}/hwloc_opencl.so"
    library = str(tmp_path / "libOpenCL.so.1")
    assert unseen(lab, tmp_path, "load", library, preload=preload).gpu == ()


def test_a_program_that_only_calls_mpi_leaves_no_doubt(lab: Lab, tmp_path) -> None:
    found = unseen(lab, tmp_path, "nothing")
    assert codes(found) == []
    assert found.file_bytes == 0 and not found.hidden and not found.gpu
