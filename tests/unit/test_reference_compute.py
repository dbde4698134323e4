"""The compute operation: its mix, and calibrations that fail."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from skelgen.documents import Field
from skelgen.errors import MachineError, UsageError
from skelgen.reference.compute import (
    ComputeCalibration,
    ComputeNumbers,
    Mix,
    calibrate,
    read_calibration,
)


@pytest.mark.parametrize(
    "shares", [(0.5, 0.5, 0.5), (1.5, -0.5, 0.0), (0, 0, 0), (float("nan"), 0, 1)]
)
def test_shares_that_are_no_mix_are_refused(shares) -> None:
    with pytest.raises(UsageError, match="sum 1"):
        Mix(*shares)


def test_a_working_set_beyond_reason_is_refused() -> None:
    with pytest.raises(UsageError, match="working set"):
        Mix(working_set_bytes=12)


def test_a_part_without_a_share_is_not_written() -> None:
    speed = ComputeCalibration(Mix(), (615.0, 0.0, 0.0), 0.01, 0.05, 1, "h", "CPU")
    work = ComputeNumbers.of(speed)
    assert (work.arithmetic, work.streaming, work.chasing) == ("615.0", "", "")
    assert work.reference == "CPU, 1 process"


def test_a_calibration_comes_back_and_older_ones_do_too() -> None:
    speed = ComputeCalibration(Mix(), (615.0, 0.0, 0.0), 0.01, 0.05, 1, "h", "CPU", 0.7)
    kept = json.loads(json.dumps(asdict(speed)))
    assert read_calibration(Field(Path("speed"), "", kept, typed=True)) == speed
    del kept["query_us"]
    assert read_calibration(Field(Path("speed"), "", kept, typed=True)) == replace(
        speed, query_us=0.0
    )


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


def test_a_damaged_kept_calibration_is_measured_again(tmp_path: Path) -> None:
    broken = tmp_path / "mpicc"
    broken.write_text('#!/bin/sh\ncase "$1" in --version) exit 0;; esac; exit 1\n')
    broken.chmod(0o755)
    folder = tmp_path / "calibrations"
    folder.mkdir()
    for text in ("{", "[]", '{"mix": {}, "steps_per_us": [1]}'):
        for name in _keys(broken, tmp_path):
            (folder / f"{name}.json").write_text(text)
        with pytest.raises(MachineError):  # it tried to compile
            calibrate(broken, cache=tmp_path)


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
    monkeypatch.setattr(compute, "_measure", measure)
    both = Mix(0.7, 0.0, 0.3), Mix(0.6, 0.0, 0.4)
    for mix in (*both, *both, Mix(), Mix()):
        assert calibrate(compiler, mix=mix, cache=tmp_path).mix == mix
    assert measured == [*both, *both, Mix()]


def test_those_that_calibrate_at_the_same_time_get_one_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from skelgen.reference import compute

    rates = iter((400.0, 401.0, 402.0))

    def measure(compiler: str, mix: Mix, processes: int) -> ComputeCalibration:
        time.sleep(0.1)
        return ComputeCalibration(mix, (next(rates), 0.0, 0.0), 0, 0, 1, "h", "c")

    monkeypatch.setattr(compute, "_measure", measure)
    with ThreadPoolExecutor(3) as pool:
        found = pool.map(lambda _: calibrate("true", cache=tmp_path), range(3))
    assert [one.steps_per_us[0] for one in found] == [400.0, 400.0, 400.0]


def _keys(compiler: Path, cache: Path) -> list[str]:
    from skelgen.reference import compute

    return [compute._key(str(compiler), Mix(), 1)]
