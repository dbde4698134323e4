"""What the world outside refuses: one line, the exit code of its kind, nothing left."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skelgen.cli.main import run
from skelgen.documents.system import reading, refused, system_error
from skelgen.errors import ApplicationError, ExitCode, InputError, MachineError
from skelgen.launch import record as recording
from skelgen.launch.mpi import programs
from skelgen.launch.process import Finished
from tests.golden.rewrite import CASES
from tests.unit.test_skeleton_emit_skeleton_files import CALIBRATION

SIGNATURE = next(case for case in CASES if case.name == "halo") / "signature.yaml"
SKELGEN = [sys.executable, "-m", "skelgen"]


def told(capsys: pytest.CaptureFixture[str], words: list[str]) -> tuple[int, str]:
    """Run a command that must fail; return its exit code and its one error."""
    code = run(words)
    lines = capsys.readouterr().err.splitlines()
    (line,) = (line for line in lines if not line.startswith("skelgen: warning: "))
    assert line.startswith("skelgen: error: ")
    return code, line


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the speed of this machine out."""
    monkeypatch.setattr(
        "skelgen.pipeline.machine_mpi.calibrate", lambda *_, **__: CALIBRATION
    )


@pytest.mark.root
def test_a_full_disk_during_build_is_one_line_and_leaves_nothing(
    capsys, tmp_path: Path, quick
):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", str(disk)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        words = ["build", str(SIGNATURE), "--scale", "10", "-o", str(disk / "skel")]
        code, line = told(capsys, words)
        assert code == ExitCode.ENVIRONMENT
        assert f"{disk}/skel cannot be written: No space left on device; free" in line
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_output_that_cannot_be_written_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*SKELGEN, "--version"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == ExitCode.ENVIRONMENT
    assert done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr


def test_a_run_folder_that_is_removed_meanwhile_is_one_line(
    capsys, tmp_path: Path, monkeypatch
):
    def remove(launch, folder: Path, **_) -> Finished:
        shutil.rmtree(folder)
        return Finished(("app",), 0, 1.0, "", "")

    monkeypatch.setattr(recording, "run_recorded", remove)
    monkeypatch.setattr(recording, "check_library", lambda launch: None)
    code, line = told(capsys, ["record", "-o", str(tmp_path / "run"), "--", "true"])
    assert code == ExitCode.USAGE
    assert f"{tmp_path}/run cannot be written: No such file" in line
    assert "it was removed meanwhile" in line
    assert list(tmp_path.iterdir()) == []


def test_a_working_folder_that_was_removed_is_one_line(
    capsys, tmp_path: Path, monkeypatch
):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    code, line = told(capsys, ["record", "-o", "run", "--", "true"])
    assert code == ExitCode.INPUT
    assert "the working folder was removed; change to another one" in line


def test_a_file_that_may_not_be_read_is_one_line(capsys, tmp_path: Path, monkeypatch):
    locked, stat = tmp_path / "locked", os.stat

    def refuse(path, *args, **kwargs):
        if str(path).startswith(str(locked)):
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, *args, **kwargs)

    monkeypatch.setattr(os, "stat", refuse)
    words = ["build", str(locked / "sig.yaml"), "--scale", "2", "-o", "skel"]
    code, line = told(capsys, words)
    assert code == ExitCode.INPUT
    assert f"{locked}/sig.yaml cannot be used: Permission denied; change its" in line


def test_a_folder_on_the_path_that_may_not_be_entered_has_no_programs(
    tmp_path: Path, monkeypatch
):
    locked, stat = tmp_path / "locked", os.stat

    def refuse(path, *args, **kwargs):
        if str(path).startswith(str(locked)):
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, *args, **kwargs)

    monkeypatch.setenv("PATH", f"{locked}:{os.environ['PATH']}")
    monkeypatch.setattr(os, "stat", refuse)
    assert next(programs("sh")).name == "sh"


def test_too_little_memory_is_one_line(capsys, monkeypatch):
    def fail(*_, **__):
        raise MemoryError("no memory for matching 7 calls")

    monkeypatch.setattr("skelgen.pipeline.build.read_signature", fail)
    code, line = told(capsys, ["build", "x", "--scale", "2", "-o", "skel"])
    assert code == ExitCode.ENVIRONMENT
    assert "not enough memory: no memory for matching 7 calls; end other" in line


def test_a_bug_stays_a_traceback(monkeypatch):
    def fail(*_, **__):
        raise OverflowError("a bug")

    monkeypatch.setattr("skelgen.pipeline.build.read_signature", fail)
    with pytest.raises(OverflowError, match="a bug"):
        run(["build", "x", "--scale", "2", "-o", "skel"])


@pytest.mark.parametrize("number", range(1, 134))
def test_each_error_of_the_system_is_one_line_with_what_to_do(number: int) -> None:
    error = OSError(number, os.strerror(number), "some/file")
    for writing in (False, True):
        found = system_error(error, writing=writing)
        assert "some/file cannot be " in str(found)
        assert "; " in str(found)
        assert found.exit_code != ExitCode.INTERNAL
    assert system_error(OSError(number, os.strerror(number))).exit_code


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_names_that_are_not_utf_8_are_printed_by_any_output(tmp_path: Path, encoding):
    name = os.fsencode(tmp_path) + b"/caf\xe9-\xe2\x82\xac"
    done = subprocess.run(
        [*map(os.fsencode, SKELGEN), b"info", name],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert done.returncode == ExitCode.INPUT
    assert done.stderr.count(b"\n") == 1
    assert b"caf" in done.stderr and b"Traceback" not in done.stderr


def test_what_a_refusal_means_is_told_with_its_reason_and_the_file_it_names() -> None:
    gone = OSError(errno.ENOENT, "No such file or directory", "/y")
    for error, told in (
        (gone, "it cannot be kept: No such file or directory (/y); mend it"),
        (OSError("lost: 3 files"), "it cannot be kept: lost: 3 files; mend it"),
    ):
        fence = refused(ApplicationError, "it cannot be kept", "mend it")
        with pytest.raises(ApplicationError) as caught, fence:
            raise error
        assert str(caught.value) == told
        assert caught.value.__cause__ is error


def test_a_file_that_cannot_be_read_is_told_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "gone"
    said = f"^{path} cannot be used: "
    with pytest.raises(InputError, match=f"{said}No such file"), reading(path):
        path.read_bytes()
    with pytest.raises(MachineError, match=f"{said}.*; try again"), reading(path):
        raise OSError(errno.EIO, "Input/output error")
