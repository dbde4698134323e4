"""The main job with real MPIs: record, build, compile, calibrate, predict."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from skelgen.prediction.scaling import correction, scaled
from tests.mpi.test_cli_record import skelgen
from tests.mpis import MPIS, TestMpi

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(params=MPIS, ids=[mpi.name for mpi in MPIS])
def mpi(request: pytest.FixtureRequest) -> TestMpi:
    return request.param


def result(*words: str, folder: Path) -> dict:
    done = skelgen(*words, folder=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_main_job_runs_from_recording_to_prediction(mpi: TestMpi, tmp_path: Path):
    source = EXAMPLES / "heat2d.c"
    line = [str(mpi.compiler), "-O2", "-o", "heat2d", str(source), "-lm"]
    subprocess.run(line, cwd=tmp_path, check=True)
    command = [*mpi.launcher, "-n", "2", "./heat2d", "600", "400"]

    recorded = result("record", "-o", "run", "--json", "--", *command, folder=tmp_path)
    info = result("info", "run", "--json", folder=tmp_path)
    assert info["ranks"] == recorded["ranks"] == 2
    assert info["events"] == recorded["events"] > 1000
    assert info["trace_bytes"] == recorded["trace_bytes"]
    assert 0 < info["mpi_share"] < 1

    words = ["build", "run", "--scale", "4", "-o", "skel", "--json"]
    built = result(*words, folder=tmp_path)
    # Calls that are kept whole may have waited for long on a busy machine.
    assert 0 < built["expected_s"] < info["application_s"]
    again = result(*words[:-2], "again", "--json", folder=tmp_path)
    assert again["skeleton_events"] == built["skeleton_events"]
    for path in (tmp_path / "skel").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()
    stored = result(
        "build", "skel", "--scale", "4", "-o", "stored", "--json", folder=tmp_path
    )
    assert stored["skeleton_events"] == built["skeleton_events"]
    code = [
        (tmp_path / name / "skeleton.c").read_bytes() for name in ("skel", "stored")
    ]
    assert code[0] == code[1]

    measured = result(
        "calibrate", "skel", "--json", "--runs", "2", "--force", folder=tmp_path
    )
    assert measured["ratio"] == pytest.approx(
        measured["application_s"] / measured["skeleton_s"]
    )
    (only,) = result("predict", "skel", "--budget", "1s", "--json", folder=tmp_path)[
        "sets"
    ]
    assert len(only["runs_s"]) >= 3
    assert only["p5_s"] < only["predicted_s"] < only["p95_s"]
    expected = info["application_s"] / built["expected_s"]
    by = correction(measured["ratio"], expected, "whole-events")
    quiet_s = measured["application_s"], measured["skeleton_s"]
    found_s = float(scaled(only["skeleton_s"], *quiet_s, by))
    assert only["predicted_s"] == pytest.approx(found_s)


def test_node_sets_of_this_machine_are_compared(mpi: TestMpi, tmp_path: Path):
    source = EXAMPLES / "heat2d.c"
    line = [str(mpi.compiler), "-O2", "-o", "heat2d", str(source), "-lm"]
    subprocess.run(line, cwd=tmp_path, check=True)
    command = [*mpi.launcher, "-n", "2", "./heat2d", "200", "200"]
    result("record", "-o", "run", "--json", "--", *command, folder=tmp_path)
    result("build", "run", "--scale", "2", "-o", "skel", "--json", folder=tmp_path)
    words = ["predict", "skel", "--budget", "1s", "--json", "--hosts", "localhost:2"]
    patient = mpi.compiler.name == "mpicc.mpich"  # waits a minute for a missing host
    missing = [] if patient else ["--hosts", "localhost,no-such-host"]
    done = skelgen(*words, *missing, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["hosts"] for one in found["sets"]] == [["localhost"]]
    assert len(found["failed"]) == len(missing[1:])
    for one in found["failed"]:
        assert one["hosts"] == ["localhost", "no-such-host"]
        assert "no-such-host" in one["reason"]
