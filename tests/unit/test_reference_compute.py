"""The compute operation: its numbers, and calibrations that fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from skelgen.errors import MachineError
from skelgen.reference.calibration import ComputeCalibration, Mix
from skelgen.reference.compute import ComputeNumbers, calibrate


def test_a_part_without_a_share_is_not_written() -> None:
    speed = ComputeCalibration(Mix(), (615.0, 0.0, 0.0), 0.01, 0.05, 1, "h", "CPU")
    work = ComputeNumbers.of(speed)
    assert (work.arithmetic, work.streaming, work.chasing) == ("615.0", "", "")
    assert work.reference == "CPU, 1 process"


def test_without_a_compiler_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="no-such-mpicc"):
        calibrate(tmp_path / "no-such-mpicc", cache=tmp_path)


def test_a_compiler_that_fails_is_reported(tmp_path: Path) -> None:
    broken = tmp_path / "mpicc"
    broken.write_text("#!/bin/sh\necho 'internal compiler error' >&2; exit 3\n")
    broken.chmod(0o755)
    with pytest.raises(MachineError, match="ended with 3: internal compiler error"):
        calibrate(broken, cache=tmp_path)
    assert not list(tmp_path.glob("calibrations/*.json"))


def test_a_mixture_is_measured_anew_and_arithmetic_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from skelgen.reference import compute

    measured: list[Mix] = []

    def measure(compiler: str, mix: Mix, processes: int) -> ComputeCalibration:
        measured.append(mix)
        return ComputeCalibration(
            mix, (400.0 * mix.arithmetic, 0.0, 2.0), 0, 0, 1, "h", "c"
        )

    compiler = tmp_path / "mpicc"
    compiler.write_text("#!/bin/sh\n")
    compiler.chmod(0o755)
    monkeypatch.setattr(compute, "measure", measure)
    both = Mix(0.7, 0.0, 0.3), Mix(0.6, 0.0, 0.4)
    for mix in (*both, *both, Mix(), Mix()):
        assert calibrate(compiler, mix=mix, cache=tmp_path).mix == mix
    assert measured == [*both, *both, Mix()]
