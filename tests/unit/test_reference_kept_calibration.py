"""Calibrations are measured once, and kept."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from skelgen.errors import MachineError
from skelgen.reference.calibration import ComputeCalibration, Mix
from skelgen.reference.kept_calibration import measured_once


class Clock:
    """Measures another speed each time.

    Attributes
    ----------
    measured : int
    """

    def __init__(self) -> None:
        self.measured = 0

    def __call__(self) -> ComputeCalibration:
        self.measured += 1
        time.sleep(0.02)
        rates = (400.0 + self.measured, 0.0, 0.0)
        return ComputeCalibration(Mix(), rates, 0.0, 0.0, 1, "h", "CPU")


def test_each_program_is_measured_once(tmp_path: Path) -> None:
    clock = Clock()
    first, other, again = (
        measured_once("true", what, clock, tmp_path) for what in ("a", "b", "a")
    )
    assert first == again != other
    assert clock.measured == 2


def test_those_that_measure_at_the_same_time_get_one_result(tmp_path: Path) -> None:
    clock = Clock()
    with ThreadPoolExecutor(3) as pool:
        found = pool.map(
            lambda _: measured_once("true", "a", clock, tmp_path), range(3)
        )
    assert {one.steps_per_us[0] for one in found} == {401.0}


@pytest.mark.parametrize("text", ["{", "[]", '{"mix": {}, "steps_per_us": [1]}'])
def test_what_is_damaged_is_measured_again(tmp_path: Path, text: str) -> None:
    clock = Clock()
    measured_once("true", "a", clock, tmp_path)
    (kept,) = tmp_path.glob("calibrations/*.json")
    kept.write_text(text)
    assert measured_once("true", "a", clock, tmp_path).steps_per_us[0] == 402.0
    assert measured_once("true", "a", clock, tmp_path).steps_per_us[0] == 402.0


def test_what_cannot_be_kept_is_measured_each_time(tmp_path: Path) -> None:
    clock = Clock()
    (tmp_path / "calibrations").write_text("no folder")
    for _ in range(2):
        measured_once("true", "a", clock, tmp_path)
    assert clock.measured == 2


def test_nothing_is_kept_of_a_failure(tmp_path: Path) -> None:
    def fails() -> ComputeCalibration:
        raise MachineError("no core")

    with pytest.raises(MachineError, match="no core"):
        measured_once("true", "a", fails, tmp_path)
    assert not list(tmp_path.glob("calibrations/*.json"))
