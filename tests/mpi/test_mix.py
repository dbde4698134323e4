"""Fitting a compute mix with real MPIs. How fast things were is no matter here."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from skelgen.errors import ApplicationError, UsageError
from skelgen.pipeline.mix import MIX_FILE, fit_mix, fitted_mix
from skelgen.pipeline.record import record
from skelgen.reference import competitors, mix_fit
from tests.mpis import FAMILIES, MPIS, TestMpi

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]

KINDS = Path(__file__).parents[2] / "benchmarks/kinds.c"


@pytest.fixture(params=FAMILIES, ids=[mpi.name for mpi in FAMILIES])
def mpi(request: pytest.FixtureRequest) -> TestMpi:
    return request.param


@pytest.fixture
def command(mpi: TestMpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give the launch of a short walk through memory, in a fit that takes seconds."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(competitors, "ROUNDS_BESIDE_COMPETITORS", 1)
    monkeypatch.setattr("skelgen.pipeline.mix.WORKING_SETS", (1 << 19,))
    monkeypatch.setattr(mix_fit, "MOST_MIXTURES", 1)
    line = [str(mpi.compiler), "-std=c11", "-O2", "-o", "kinds", str(KINDS)]
    subprocess.run(line, check=True)
    return [*mpi.launcher, "-n", "2", "./kinds", "chasing", "8", "1"]


def test_a_recorded_program_gets_a_mix(command: list[str], tmp_path: Path) -> None:
    record(command, tmp_path / "run", quiet_output=True)
    cores = os.sched_getaffinity(0)
    fitted = fit_mix(tmp_path / "run", (), runs=1)
    assert sum(fitted.mix.shares) == pytest.approx(1)
    assert min(*fitted.wanted, *fitted.got) > 0
    assert os.sched_getaffinity(0) == cores
    assert fitted_mix(tmp_path / "run") == fitted


def test_an_application_that_fails_or_hangs_beside_competitors_leaves_no_mix(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(command, tmp_path / "run", quiet_output=True)
    Path("kinds").write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(ApplicationError, match="exit code 3"):
        fit_mix(tmp_path / "run", (), runs=1)
    Path("kinds").write_text("#!/bin/sh\nexec sleep 600\n")
    monkeypatch.setattr("skelgen.pipeline.mix.longest_s", lambda _: 0.5)
    with pytest.raises(ApplicationError, match="did not end within"):
        fit_mix(tmp_path / "run", (), runs=1)
    assert not (tmp_path / "run" / MIX_FILE).exists()


def test_a_run_recorded_by_hand_cannot_be_run_again(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="how the application was launched"):
        fit_mix(tmp_path, (), runs=1)
