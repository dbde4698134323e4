"""Choosing among real hosts: one is busy, one does not exist."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mpis import FAMILIES, MPIS, TestMpi
from tests.testbed.cluster import Cluster, lacking

REASON = lacking()
ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.root,
    pytest.mark.mpi,
    pytest.mark.skipif(bool(REASON), reason=REASON),
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Give four hosts of half a core; the fourth is busy.

    They outweigh the tests beside them, whose loads would slow down quiet hosts as
    much: a cluster's weight goes to its own busy host first. The others keep the rest
    of each core.
    """
    monkeypatch.delenv("TESTBED_MODEST", raising=False)
    made = Cluster(f"select-{os.getpid()}")
    made.up(4, share=0.5)
    made.load("h4", 4)  # so that what else runs here does not outweigh it
    yield made
    made.down()


@pytest.fixture(params=FAMILIES, ids=[mpi.name for mpi in FAMILIES])
def skelgen(
    request: pytest.FixtureRequest, cluster: Cluster, tmp_path: Path
) -> Callable[..., tuple[str, str]]:
    """Return what runs a command at the head, where an application was recorded."""
    mpi: TestMpi = request.param
    environment = {**os.environ, **cluster.environment()}
    folder = str(Path(mpi.launcher[0]).parent)
    environment["PATH"] = f"{folder}{os.pathsep}{environment['PATH']}"

    def run(*words: str, code: int = 0) -> tuple[str, str]:
        line = [sys.executable, "-m", "skelgen", *words]
        options = {"capture_output": True, "text": True, "env": environment}
        done = cluster.run("head", line, cwd=tmp_path, **options)
        assert done.returncode == code, done.stderr
        return str(done.stdout), str(done.stderr)

    source = str(ROOT / "examples/heat2d.c")
    compile_line = [str(mpi.compiler), "-O2", source, "-o", tmp_path / "app", "-lm"]
    subprocess.run(compile_line, check=True)
    hosts = "-hosts" if len(mpi.launcher) == 1 else "--host"
    launch = [mpi.launcher[0], hosts, "h1,h2", "-n", "2", "./app", "512", "1500"]
    run("record", "-o", "run", "--", *launch)
    return run


def test_the_quiet_hosts_are_chosen_and_an_unknown_one_is_named(
    skelgen: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    skelgen("build", "run", "--target-time", "0.7s", "-o", "skel")
    words = ["select", "skel", "--from", "h[1-2],h4,h9", "--limit", "150s", "--json"]
    output, errors = skelgen(*words, "--budget", "200s", "--interval", "40%")
    found: dict[str, Any] = json.loads(output)
    order = [one["hosts"] for one in found["sets"]]
    assert order[0] == ["h1", "h2"]
    assert sorted(order[1:]) == [["h1", "h4"], ["h2", "h4"]]
    assert len(found["failed"]) == 3
    assert all("h9" in one["hosts"] for one in found["failed"])
    assert "host h9" in errors
    (shorter,) = (tmp_path / "skel/select").glob("k*/skeleton")
    assert shorter.exists()
    for one in found["sets"]:
        assert 0 < one["p5_s"] < one["predicted_s"] < one["p95_s"]


def test_an_application_is_stopped_behind_its_phases_on_several_hosts(
    skelgen: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    """Hosts share no memory, and none of them the head's folder of temporary files."""
    skelgen("phases", "run", "-o", "sig")
    # As it was recorded, on the hosts of its own launch; and on others.
    for words in ([], ["--hosts", "h2,h1"]):
        found = json.loads(skelgen("measure", "sig", *words, "--json")[0])
        assert 0 < found["p5_s"] < found["paet_s"] < found["p95_s"]
        assert found["ranks"] == 2
    words = ["select", "sig", "--from", "h[1-2],h9", "--nodes", "2", "--json"]
    output, errors = skelgen(*words, "--budget", "200s", "--interval", "90%")
    assert [one["hosts"] for one in json.loads(output)["sets"]] == [["h1", "h2"]]
    assert "host h9" in errors
    _, errors = skelgen("measure", "sig", "--hosts", "h1,h9", code=5)
    # A busy machine may have made the run irregular, which is a warning.
    (said,) = [line for line in errors.splitlines() if "skelgen: error: " in line]
    assert "h9" in said
    _, errors = skelgen("measure", "sig", "--backend", "criu", code=4)
    assert "CRIU saves the ranks of this host only" in errors
    assert not list(tmp_path.glob("sig/skelgen-phases-*"))
