"""A rank file that is cut, removed or closed during the run ends only the trace."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from skelgen.errors import InputError
from skelgen.trace import open_trace
from tests.shim.conftest import SANITIZE, Lab, Run
from tests.shim.reader import read_run

pytestmark = [pytest.mark.mpi, pytest.mark.families]

#: Of three bytes each: within the first window, and with several before and behind.
FEW, MANY = 500, 150_000


def cut(lab: Lab, folder: Path, how: str, calls: int, ranks: int = 1) -> Run:
    path = folder / "run/rank-000000.skt"
    if how.startswith(("own", "default")):
        path = folder / "empty file"
    command = [str(lab.compile("cut")), how, str(path), str(calls)]
    return lab.launch(ranks, command, folder, preload=str(lab.shim))


def only_line(run: Run) -> str:
    assert (run.exit_code, run.output) == (0, "the end\n"), run.errors
    (line,) = [x for x in run.errors.splitlines() if x.startswith("skelgen:")]
    return line


@pytest.mark.parametrize("calls", [FEW, MANY])
@pytest.mark.parametrize("how", ["empty", "half"])
def test_a_cut_file_ends_the_trace_and_not_the_program(
    lab: Lab, tmp_path: Path, how: str, calls: int
) -> None:
    run = cut(lab, tmp_path, how, calls)
    line = only_line(run)
    assert "rank-000000.skt was cut by another process" in line
    assert "the program runs on unrecorded" in line


def test_the_reader_says_that_a_file_was_cut(lab: Lab, tmp_path: Path) -> None:
    run = cut(lab, tmp_path, "half", MANY, ranks=2)
    assert (run.exit_code, run.output) == (0, "the end\n"), run.errors
    trace = open_trace(run.folder)
    broken, whole = trace.files
    assert whole.clean
    assert whole.facts.events == 2 * MANY + 2
    assert 0 < broken.facts.events < 2 * MANY
    assert broken.damage is not None
    assert not any("killed" in warning for warning in trace.warnings)
    run = cut(lab, tmp_path / "again", "empty", FEW)
    with pytest.raises(InputError, match="it is empty: another process cut it"):
        open_trace(run.folder)


def test_a_removed_file_is_told(lab: Lab, tmp_path: Path) -> None:
    line = only_line(cut(lab, tmp_path, "removed", MANY))
    assert "rank-000000.skt was removed while the program ran" in line


def test_a_number_that_the_program_closed_is_not_used(lab: Lab, tmp_path: Path) -> None:
    run = cut(lab, tmp_path, "closed", MANY)
    assert "the program runs on unrecorded" in only_line(run)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_program_keeps_its_own_handler(lab: Lab, tmp_path: Path, when: str) -> None:
    run = cut(lab, tmp_path, f"own-{when}", FEW)
    assert (run.exit_code, run.output) == (0, "handled\nhandled\nthe end\n")
    (trace,) = read_run(run.folder)
    assert trace.clean
    assert len(trace.of("Send")) == 2 * FEW


@pytest.mark.skipif(SANITIZE, reason="sanitizers have a handler of their own")
def test_what_is_not_ours_ends_a_program_without_a_handler(
    lab: Lab, tmp_path: Path
) -> None:
    folder = tmp_path / "plain"
    command = [str(lab.compile("cut")), "default", str(tmp_path / "file"), "10"]
    plain = lab.launch(1, command, folder)
    recorded = lab.launch(1, command, tmp_path, preload=str(lab.shim))
    assert plain.exit_code == recorded.exit_code != 0
    assert signal.SIGBUS in {code % 128 for code in (-plain.exit_code, plain.exit_code)}


def test_a_sound_file_has_a_checksum_for_each_window(lab: Lab, tmp_path: Path) -> None:
    run = cut(lab, tmp_path, "none", MANY)
    assert (run.exit_code, run.errors) == (0, "")
    (trace,) = read_run(run.folder)  # which compares all of them
    assert trace.clean
    assert trace.checks == 3  # header, first window, the end
    (file,) = open_trace(run.folder).files
    assert file.checked_bytes == file.size_bytes > 2**19
