"""Computation that touches as much memory as was recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from skelgen.reference import compute, touched_mix
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
    cache : Path
        Empty at first.
    speed : float
        Of the machine at this moment, against that when arithmetic was measured [1].
    measured : list
        Mixes that were measured.
    """

    cache: Path
    speed: float = 1.0
    measured: list[Mix] = field(default_factory=list)

    def calibrate(
        self, compiler: str, *, processes: int, cache: Path
    ) -> ComputeCalibration:
        rates = (ARITHMETIC, 0.0, 0.0)
        return ComputeCalibration(Mix(), rates, 0.01, 0.05, processes, "h", "CPU", 0.7)

    def measure(self, compiler: str, mix: Mix, processes: int) -> ComputeCalibration:
        self.measured.append(mix)
        arithmetic, streaming, _ = mix.shares
        rates = self.speed * arithmetic * ARITHMETIC, self.speed * streaming * STREAMING
        costs = 0.02, 0.06
        return ComputeCalibration(mix, (*rates, 0.0), *costs, processes, "h", "CPU")

    def touching(self, bytes_per_us: float, set_bytes: int = SET) -> ComputeCalibration:
        return calibrate_touching("true", bytes_per_us, set_bytes, 1, cache=self.cache)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    found = Machine(tmp_path)
    monkeypatch.setattr(touched_mix, "calibrate", found.calibrate)
    monkeypatch.setattr(compute, "measure", found.measure)
    return found


@pytest.mark.parametrize("speed", [1.0, 0.5, 1.3])
def test_streaming_is_in_bytes_and_arithmetic_has_the_rest(
    machine: Machine, speed: float
) -> None:
    machine.speed = speed  # however fast the machine is at that moment
    found = machine.touching(50 * BYTES_OF_STEP)
    assert found.mix == Mix(0.75, 0.25, 0.0, SET)
    assert found.steps_per_us == (0.75 * ARITHMETIC, 50.0, 0.0)
    assert (found.call_us, found.clock_us, found.query_us) == (0.01, 0.05, 0.7)


@pytest.mark.parametrize("bytes_per_us", [200 * BYTES_OF_STEP, 1e9])
def test_what_touches_all_that_memory_gives_only_streams(
    machine: Machine, bytes_per_us: float
) -> None:
    found = machine.touching(bytes_per_us)
    assert found.mix == Mix(0, 1, 0, SET)
    assert found.steps_per_us == (0.0, STREAMING, 0.0)


@pytest.mark.parametrize("bytes_per_us", [0.0, 0.5 * BYTES_OF_STEP])
def test_what_touches_hardly_anything_is_arithmetic(
    machine: Machine, bytes_per_us: float
) -> None:
    found = machine.touching(bytes_per_us)
    assert found.mix == Mix()
    assert found.steps_per_us == (ARITHMETIC, 0.0, 0.0)


@pytest.mark.parametrize(
    ("recorded", "used"),
    [
        *((0, 1 << 16), (SET, SET), (1 << 50, LARGEST_SET_BYTES)),
        *((SET - 100_000, SET), (SET + 100_000, SET), (5 << 20, round(2**22.25))),
    ],
)
def test_sets_are_measured_in_some_sizes(
    machine: Machine, recorded: int, used: int
) -> None:
    found = machine.touching(50 * BYTES_OF_STEP, recorded)
    assert machine.measured == [Mix(0.5, 0.5, 0.0, used)]
    assert found.mix.working_set_bytes == used


def test_each_size_is_measured_once(machine: Machine) -> None:
    first = machine.touching(50 * BYTES_OF_STEP)
    machine.speed = 0.8  # the machine does something else meanwhile
    assert machine.touching(50 * BYTES_OF_STEP) == first
    other = machine.touching(30 * BYTES_OF_STEP, SET + 1)
    assert other.steps_per_us[1] == 30.0
    assert len(machine.measured) == 1
    machine.touching(50 * BYTES_OF_STEP, 2 * SET)
    assert len(machine.measured) == 2
