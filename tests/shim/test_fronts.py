"""The recorder behind another tool for MPI: what that one hides is told."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from skelgen.events.unseen import unseen_of
from skelgen.trace import open_trace
from skelgen.trust.unseen import unseen_doubts
from tests.shim.conftest import HERE, Lab, Run

pytestmark = pytest.mark.mpi

SENDS = 123


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
