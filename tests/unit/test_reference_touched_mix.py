"""Computation that touches as much memory as was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from skelgen.reference import touched_mix
from skelgen.reference.calibration import ComputeCalibration, Mix
from skelgen.reference.thresholds import LARGEST_SET_BYTES
from skelgen.reference.touched_mix import BYTES_OF_STEP, calibrate_touching

ARITHMETIC, STREAMING = 500.0, 200.0
SET = 4 << 20


@dataclass
class Machine:
    """Stands in for what is compiled and measured.

    Attributes
    ----------
    took : float
        What a microsecond of a mixture takes [us].
    asked : list
        Mixes whose parts were measured.
    cache : Path
        Empty at first.
    """

    cache: Path
    took: float = 1.0
    asked: list[Mix] = field(default_factory=list)

    def parts_alone(
        self, compiler: str, mix: Mix, processes: int
    ) -> tuple[float, float, float]:
        self.asked.append(mix)
        return ARITHMETIC, STREAMING, 0.0

    def mixture_took(self, *arguments: object) -> float:
        return self.took

    def with_costs(
        self,
        compiler: str,
        mix: Mix,
        steps: Sequence[float],
        processes: int,
        arithmetic: float,
    ) -> ComputeCalibration:
        a, s, c = steps
        return ComputeCalibration(mix, (a, s, c), 0.0, 0.0, processes, "h", "CPU")

    def calibrate(
        self, compiler: str, *, processes: int, cache: Path
    ) -> ComputeCalibration:
        return self.with_costs(compiler, Mix(), (1, 0, 0), processes, 0)

    def touching(self, bytes_per_us: float, set_bytes: int) -> ComputeCalibration:
        return calibrate_touching("true", bytes_per_us, set_bytes, 1, cache=self.cache)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    found = Machine(tmp_path)
    for name in ("parts_alone", "mixture_took", "with_costs", "calibrate"):
        monkeypatch.setattr(touched_mix, name, getattr(found, name))
    return found


def test_streaming_is_in_bytes_and_arithmetic_has_the_rest(machine: Machine) -> None:
    speed = machine.touching(50 * BYTES_OF_STEP, SET)
    assert speed.mix == Mix(0.75, 0.25, 0.0, SET)
    assert speed.steps_per_us == (0.75 * ARITHMETIC, 50.0, 0.0)


@pytest.mark.parametrize(("took", "left"), [(1.1, 0.65), (0.9, 0.85)])
def test_what_both_take_together_is_set_right_by_arithmetic(
    machine: Machine, took: float, left: float
) -> None:
    machine.took = took
    speed = machine.touching(50 * BYTES_OF_STEP, SET)
    assert speed.steps_per_us[:2] == (pytest.approx(left * ARITHMETIC), 50.0)


def test_arithmetic_never_becomes_negative(machine: Machine) -> None:
    machine.took = 3.0
    assert machine.touching(50 * BYTES_OF_STEP, SET).steps_per_us[0] > 0


@pytest.mark.parametrize("bytes_per_us", [200 * BYTES_OF_STEP, 1e9])
def test_what_touches_all_that_memory_gives_only_streams(
    machine: Machine, bytes_per_us: float
) -> None:
    assert machine.touching(bytes_per_us, SET).mix == Mix(0, 1, 0, SET)


@pytest.mark.parametrize("bytes_per_us", [0.0, 0.5 * BYTES_OF_STEP])
def test_what_touches_hardly_anything_is_arithmetic(
    machine: Machine, bytes_per_us: float
) -> None:
    assert machine.touching(bytes_per_us, SET).mix == Mix()


@pytest.mark.parametrize(
    ("recorded", "used"), [(0, 1 << 16), (SET, SET), (1 << 50, LARGEST_SET_BYTES)]
)
def test_the_working_set_has_bounds(machine: Machine, recorded: int, used: int) -> None:
    machine.touching(50 * BYTES_OF_STEP, recorded)
    assert machine.asked[0].working_set_bytes == used


def test_two_builds_of_a_recording_measure_once(machine: Machine) -> None:
    first = machine.touching(50 * BYTES_OF_STEP, SET)
    machine.took = 1.2  # the machine does something else meanwhile
    assert machine.touching(50 * BYTES_OF_STEP, SET) == first
    assert machine.touching(51 * BYTES_OF_STEP, SET) != first
    assert machine.touching(50 * BYTES_OF_STEP, 2 * SET) != first
