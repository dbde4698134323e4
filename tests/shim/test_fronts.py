"""The recorder behind another tool for MPI: what that one hides is told."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from skelgen.events.unrecorded_work import unseen_of
from skelgen.trace import open_trace
from skelgen.trust.recording_doubts import unseen_doubts
from tests.shim.conftest import HERE, Lab, Run

pytestmark = pytest.mark.mpi

SENDS = 123
#: EZTrace's tracers for Debian's MPIs.
EZTRACE = Path("/usr/lib/x86_64-linux-gnu")


def behind(lab: Lab, folder: Path, *flags: str) -> Run:
    """Record a program that sends, with the tool in front of the recorder."""
    tool = folder / "libfront.so"
    words = [str(lab.mpi.compiler), "-shared", "-fPIC", str(HERE / "front.c"), *flags]
    subprocess.run([*words, "-ldl", "-o", str(tool)], check=True)
    program = [str(lab.compile("endings")), "many", str(SENDS)]
    run = lab.launch(1, program, folder, preload=f"{tool}:{lab.shim}")
    assert run.exit_code == 0, run.errors
    assert f"the tool in front saw {SENDS} sends" in run.output
    return run


def test_a_tool_in_front_that_hides_calls_is_named(lab: Lab, tmp_path: Path) -> None:
    run = behind(lab, tmp_path)
    assert not run.traces[0].of("Send")
    assert run.errors.count("libfront.so stands in front of the recorder") == 1
    found = unseen_of(open_trace(run.folder).files)
    assert found is not None
    assert found.hidden == ("libfront.so (MPI_Send)",)
    (doubt,) = unseen_doubts(found)
    assert doubt.code == "hidden-calls"


def test_a_tool_in_front_that_passes_calls_on_hides_none(lab, tmp_path) -> None:
    run = behind(lab, tmp_path, "-DNEXT")
    assert len(run.traces[0].of("Send")) == SENDS
    assert "in front" not in run.errors
    found = unseen_of(open_trace(run.folder).files)
    assert found is not None and not found.hidden


def test_a_tool_in_front_that_opens_mpi_is_named(lab: Lab, tmp_path: Path) -> None:
    run = behind(lab, tmp_path, "-DINIT")
    assert "libfront.so stands in front of the recorder and hides how" in run.errors
    assert not list(run.folder.glob("rank-*.skt"))


@pytest.mark.parametrize("in_front", [True, False])
def test_eztrace_and_the_recorder_see_the_same_program(
    lab: Lab, tmp_path: Path, in_front: bool
) -> None:
    """In front, EZTrace compares clocks by messages of its own, which are recorded."""
    family = lab.mpi.compiler.name.removeprefix("mpicc.")
    tool = EZTRACE / f"libeztrace-{family}.so"
    if not tool.exists():
        pytest.skip("EZTrace (Debian's eztrace) is not installed for this MPI")
    libraries = [str(tool), str(lab.shim)]
    run = lab.launch(
        2,
        [str(lab.compile("endings")), "many", str(SENDS)],
        tmp_path,
        preload=":".join(libraries if in_front else libraries[::-1]),
        EZTRACE_TRACE_DIR=str(tmp_path / "eztrace"),
    )
    assert run.exit_code == 0, run.errors
    assert "hides" not in run.errors
    own = [sum(one.peer == -2 for one in t.of("Send")) for t in run.traces]
    assert own == [SENDS, SENDS]
    found = unseen_of(open_trace(run.folder).files)
    assert found is None or not found.hidden
    assert any((tmp_path / "eztrace").rglob("*.otf2"))
