"""Monitors on the hosts of the test cluster: by a remote shell, in jobs of Slurm."""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skelgen.launch.hosts import Host
from skelgen.launch.launchers import launcher_of
from skelgen.launch.mpi import identify_launcher
from skelgen.store import Run, Store, open_store
from tests.mpis import MPIS, TestMpi
from tests.processes import alive, comes_true
from tests.testbed import cluster as machine
from tests.testbed import slurm as batch
from tests.testbed.cluster import HEAD, Cluster
from tests.testbed.slurm import Slurm

ROOT = Path(__file__).resolve().parents[2]
SKELGEN = [sys.executable, "-m", "skelgen", "monitor"]
pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(bool(machine.lacking()), reason=machine.lacking()),
]
needs_slurm = pytest.mark.skipif(bool(batch.lacking()), reason=batch.lacking())


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, str]:
    """Variables that hosts and head need."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "SKELGEN_MONITOR": str(tmp_path / "monitors"),
    }


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    made = Cluster(f"monitor-{os.getpid()}")
    made.up(2)
    try:
        yield made
        left = made.groups.processes()
    finally:
        made.down()
    assert comes_true(lambda: not any(alive(pid) for pid in left))


def asked(cluster: Cluster, settings: dict[str, str], *words: str) -> dict[str, Any]:
    """Run a command about monitors at the head; return what it says."""
    line = [*SKELGEN, *words, "--json"]
    done = cluster.run(HEAD, line, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def samples(cluster: Cluster, settings: dict[str, str]) -> dict[str, list[float]]:
    """Return the available CPU of each host."""
    said = asked(cluster, settings, "show", "--quantity", "cpu")
    return {one["host"]: one["values"] for one in said["series"]}


def test_monitors_probe_their_link_and_a_store_takes_what_they_found(
    cluster: Cluster, settings: dict[str, str], tmp_path: Path
) -> None:
    cluster.link("all", "20mbit")
    settings["SKELGEN_SSH"] = str(cluster.shell)
    hosts = ["--hosts", "h[1-2]"]
    asked(cluster, settings, "start", *hosts, "--links", "--link-interval", "1s")

    def shown(quantity: str) -> list[dict[str, Any]]:
        series: list[dict[str, Any]] = asked(
            cluster, settings, "show", "--quantity", quantity
        )["series"]
        return [one for one in series if one["host"] == "h1-h2"]

    # A TCP stream gets 1448 of 1514 bytes of what tc counts.
    expected = 20e6 / 8 * 1448 / 1514

    def right() -> bool:
        try:  # a file without a sample is an error: there is no series yet
            found = shown("bandwidth_bytes_per_s")
        except AssertionError:
            return False
        values = [value for one in found for value in one["values"]]
        return any(abs(value / expected - 1) < 0.1 for value in values)

    folder = Path(settings["SKELGEN_MONITOR"])
    assert comes_true(lambda: bool(list(folder.glob("h1/links/h2/*.jsonl"))))
    assert comes_true(right)
    (latency,) = shown("latency_s")
    assert all(0 < value < 1 for value in latency["values"])
    (share,) = shown("bandwidth")
    assert all(0 < value <= 1 for value in share["values"])
    asked(cluster, settings, "stop", *hosts)
    nodes = asked(cluster, settings, "status")["nodes"]
    assert all(0 < one["link_bytes"] <= one["link_limit_bytes"] for one in nodes)
    place = str(tmp_path / "store.db")
    line = json.dumps({"row": "series", **share})
    with contextlib.closing(cli_store(place, line)) as store:
        (kept,) = store.series("h1-h2", "bandwidth")
    assert list(kept.values) == share["values"]


def cli_store(place: str, line: str) -> Store:
    """Add a line to a store with the command line; return the store."""
    words = [sys.executable, "-m", "skelgen", "store", "add", "-", "--store", place]
    subprocess.run(words, input=line, text=True, check=True, capture_output=True)
    return open_store(place, make=False)


def test_monitors_of_two_hosts_see_the_one_that_is_busy(
    cluster: Cluster, settings: dict[str, str]
) -> None:
    cluster.load("h1", 3)
    settings["SKELGEN_SSH"] = str(cluster.shell)
    hosts = ["--hosts", "h[1-2]"]
    said = asked(cluster, settings, "start", *hosts, "--interval", "1s")
    assert [one["host"] for one in said["started"]] == ["h1", "h2"]
    folder = Path(settings["SKELGEN_MONITOR"])
    assert comes_true(lambda: len(list(folder.glob("h*/*.jsonl"))) == 2)

    found: dict[str, list[float]] = {}

    def sees_it() -> bool:
        """One of four gets a quarter; other work of the machine may hide it a while."""
        with contextlib.suppress(AssertionError):  # there is no sample yet
            found.update(samples(cluster, settings))
        return (
            len(found) == 2
            and min(map(len, found.values())) >= 8
            and statistics.median(found["h1"][-5:]) < 0.4
        )

    assert comes_true(sees_it), (found, cluster.competing("h1"))
    assert max(max(values) for values in found.values()) <= 1.0
    nodes = asked(cluster, settings, "status", *hosts)["nodes"]
    assert [one["running"] for one in nodes] == [True, True]
    assert all(one["rss_bytes"] < 40e6 for one in nodes)
    said = asked(cluster, settings, "stop", *hosts)
    assert [one["host"] for one in said["stopped"]] == ["h1", "h2"]


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", MPIS, ids=[mpi.name for mpi in MPIS])
def test_monitors_that_mpirun_started_outlive_it(
    cluster: Cluster, settings: dict[str, str], mpi: TestMpi
) -> None:
    program = [*SKELGEN, "start", "--interval", "0.5s"]
    places = [Host("h1"), Host("h2")]
    launcher = launcher_of(identify_launcher(Path(mpi.launcher[0])))
    line = launcher.arguments(program, ranks=2, hosts=places)
    environment = {**settings, **cluster.environment()}
    done = cluster.run(HEAD, line, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(line.partition(":")[0] for line in done.stdout.splitlines()) == [
        "h1",
        "h2",
    ]
    folder = Path(settings["SKELGEN_MONITOR"])
    assert comes_true(lambda: len(list(folder.glob("h*/*.jsonl"))) == 2)
    settings["SKELGEN_SSH"] = str(cluster.shell)
    asked(cluster, settings, "stop", "--hosts", "h1,h2")


@pytest.fixture
def program(tmp_path: Path, settings: dict[str, str]) -> Path:
    """A program of two seconds that no other test runs, and a store."""
    settings["SKELGEN_STORE"] = str(tmp_path / "store.db")
    path = tmp_path / f"w{os.getpid()}"
    path.write_text("#!/bin/sh\nsleep 2\n")
    path.chmod(0o755)
    return path


def the_run(settings: dict[str, str], program: Path) -> Run:
    """Return the only run of the store, which was on two hosts."""
    with open_store(settings["SKELGEN_STORE"]) as store:
        (run,) = store.runs(program.name)
    assert (run.ranks, run.nodes, run.status) == (2, 2, "ok")
    assert sorted(run.hosts) == ["h1", "h2"] and run.inputs == (("n", 7.0),)
    assert run.time_s >= 2.0
    return run


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", MPIS, ids=[mpi.name for mpi in MPIS])
def test_a_watched_program_on_two_hosts_becomes_one_run(
    cluster: Cluster, settings: dict[str, str], program: Path, mpi: TestMpi
) -> None:
    settings["SKELGEN_SSH"] = str(cluster.shell)
    hosts = ["--hosts", "h1,h2", "--interval", "0.5s"]
    asked(cluster, settings, "start", *hosts, "--watch", program.name, "--input=n=7")
    launcher = launcher_of(identify_launcher(Path(mpi.launcher[0])))
    places = [Host("h1"), Host("h2")]
    line = launcher.arguments([str(program)], ranks=2, hosts=places)
    environment = {**settings, **cluster.environment()}
    began_s = time.monotonic()
    done = cluster.run(HEAD, line, env=environment, capture_output=True, text=True)
    wall_s = time.monotonic() - began_s
    assert done.returncode == 0, done.stderr
    asked(cluster, settings, "stop", "--hosts", "h1,h2")
    assert the_run(settings, program).time_s <= wall_s + 0.1


@pytest.fixture
def slurm(cluster: Cluster) -> Slurm:
    made = Slurm(cluster)
    made.up()
    return made


def run_in_job(slurm: Slurm, settings: dict[str, str], script: str) -> Any:
    """Run lines in an allocation of two hosts."""
    environment = {**settings, **slurm.environment()}
    line = ["salloc", "-Q", "-N2", "-n2", "bash", "-ec", script]
    return slurm.run(line, env=environment, capture_output=True, text=True)


def marks(cluster: Cluster, settings: dict[str, str]) -> dict[str, list[str]]:
    said = asked(cluster, settings, "show")
    return {
        one["host"]: [m["kind"] for m in one["marks"] if m["kind"] != "refused"]
        for one in said["marks"]
    }


@needs_slurm
def test_monitors_are_a_step_that_ends_with_the_job(
    cluster: Cluster, slurm: Slurm, settings: dict[str, str]
) -> None:
    monitor = " ".join(SKELGEN)
    script = (
        f"{monitor} start --hosts h1,h2 --interval 0.5s\n"
        "sleep 3\n"
        f"{monitor} status --hosts h1,h2 --json\n"
    )
    done = run_in_job(slurm, settings, script)
    assert done.returncode == 0, done.stderr
    status = json.loads(done.stdout[done.stdout.index("{") :])
    assert [one["running"] for one in status["nodes"]] == [True, True]
    found = samples(cluster, settings)
    assert min(map(len, found.values())) >= 3 and sorted(found) == ["h1", "h2"]
    assert comes_true(lambda: set(marks(cluster, settings)) == {"h1", "h2"})


@needs_slurm
def test_a_line_in_a_job_script_starts_monitors(
    cluster: Cluster, slurm: Slurm, settings: dict[str, str]
) -> None:
    start = f"{' '.join(SKELGEN)} start --foreground --interval 0.5s"
    written = "$SKELGEN_MONITOR/{}/*.jsonl".format
    both = f"grep -qs cpu {written('h1')} && grep -qs cpu {written('h2')}"
    script = (
        f"srun --overlap --ntasks-per-node=1 {start} &\n"
        f"for second in $(seq 60); do {both} && break; sleep 1; done\n"
        "srun --overlap hostname\n"
    )
    done = run_in_job(slurm, settings, script)
    assert sorted(done.stdout.split()) == ["h1", "h2"], done.stderr
    found = samples(cluster, settings)
    assert sorted(found) == ["h1", "h2"] and min(map(len, found.values())) >= 1


@needs_slurm
def test_a_watched_step_of_a_job_becomes_one_run(
    slurm: Slurm, settings: dict[str, str], program: Path
) -> None:
    monitor = " ".join(SKELGEN)
    script = (
        f"{monitor} start --hosts h1,h2 --interval 0.5s --watch {program.name}\n"
        f"SKELGEN_INPUTS=n=7 srun --overlap {program}\n"
        f"{monitor} stop --hosts h1,h2\n"
        "echo job $SLURM_JOB_ID\n"
    )
    done = run_in_job(slurm, settings, script)
    assert done.returncode == 0, done.stderr
    job = done.stdout.rpartition("job ")[2].strip()
    assert the_run(settings, program).allocation == job
