"""The benchmarks of models on a real cluster: runs are made, kept, and told."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.models import real, real_runs
from benchmarks.models.hosts import Runner
from benchmarks.models.programs import building
from benchmarks.models.real_runs import Study
from benchmarks.models.rows import Rows
from skelgen.errors import ApplicationError, MachineError
from tests.needs import needs_own
from tests.testbed.cluster import Cluster, lacking

pytestmark = [
    pytest.mark.root,
    pytest.mark.mpi,
    pytest.mark.skipif(bool(lacking()), reason=lacking()),
    needs_own,
]
STUDY = Study("conjugate-gradient", (4000, 5000), (6000,), ("30", "10"), "n", "n")


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    cluster = Cluster(f"models-{os.getpid()}")
    with cluster.used(2):
        yield Runner(cluster, tmp_path, 60.0)


def test_a_program_is_timed_from_init_to_finalize_on_all_hosts(
    runner: Runner, tmp_path: Path
) -> None:
    built = building.build("kernels", tmp_path)
    both = ("16", "10"), runner.cluster.hosts
    assert 0 < runner.seconds(built, both[0], hosts=both[1]) < 60
    assert 0 < runner.seconds(built, both[0], hosts=both[1][:1], per_host=2) < 60
    # On a busy machine MPICH's launcher may end before it has shown what ranks said.
    said = r"kernels 16 10 nothing: (.*no kernel|it printed nothing)"
    with pytest.raises(ApplicationError, match=said):
        runner.seconds(built, ("16", "10", "nothing"), hosts=both[1])


@pytest.mark.parametrize("name, size", [("pdsyev", "64"), ("fft", "64")])
def test_programs_of_the_2006_paper_run_where_their_libraries_are(
    runner: Runner, tmp_path: Path, name: str, size: str
) -> None:
    try:
        built = building.build(name, tmp_path)
    except MachineError as error:
        pytest.skip(str(error))
    assert runner.seconds(built, (size,), hosts=runner.cluster.hosts) > 0


def test_real_runs_under_weather_are_kept_and_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESTBED_NAME", f"models-{os.getpid()}")
    monkeypatch.setattr(real_runs, "SKELETON_S", 0.02)
    monkeypatch.setattr(real_runs, "_LEAST_S", 15.0)
    rows = Rows.of(tmp_path / "real.jsonl")
    with real_runs.laboratory(rows, tmp_path, 2, "1s,2s", math.inf) as lab:
        ready = real_runs.prepared(lab, STUDY)
        assert real_runs.changing(lab, ready, 1, 1)
        late = dataclasses.replace(lab, end_s=0.0)
        assert not real_runs.steady(late, ready, 1, 1)
        assert real_runs.steady(lab, ready, 1, 1)
        assert real_runs.changing(late, ready, 1, 1)
    again = Rows.of(tmp_path / "real.jsonl")
    assert again.known == rows.known
    for phase, count in (("learn", 2), ("changing", 1), ("steady", 1)):
        found = real.told(again, tmp_path, STUDY, phase)
        assert len(found) == count
        for one in found:
            assert one.time_s > 0
            assert all(0 < share <= 1 for share in one.loads.during.values())
            assert math.isnan(one.slowdown) == (phase == "learn")
