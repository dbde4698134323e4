"""A model of quiet times and a skeleton on busy hosts: together they know a new size.

The whole way on the test cluster, by the commands of a user.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mpis import OWN
from tests.needs import needs_own
from tests.testbed.cluster import Cluster, lacking

REASON = lacking()
ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.alone,
    pytest.mark.root,
    pytest.mark.mpi,
    pytest.mark.skipif(bool(REASON), reason=REASON),
    needs_own,
]

#: Steps of the program that are timed, recorded, and predicted.
LEARNT, RECORDED, ASKED = (1000, 2000, 4000), 4000, 6000
#: How often the machine may give a core to somebody else just then.
ROUNDS = 3


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """Give two hosts of a core each, which outweigh what else runs."""
    monkeypatch.delenv("TESTBED_MODEST", raising=False)
    made = Cluster(f"model-{os.getpid()}")
    made.up(2)
    yield made
    made.down()


def called(cluster: Cluster, folder: Path, *words: str) -> tuple[str, float]:
    """Run a command at the head; return what it prints and its time [s]."""
    environment = {**os.environ, **cluster.environment()}
    environment["PATH"] = f"{Path(OWN[0].launcher[0]).parent}:{environment['PATH']}"
    options = {"capture_output": True, "text": True, "env": environment}
    begin = time.monotonic()
    done = cluster.run("head", words, cwd=folder, **options)
    assert done.returncode == 0, done.stderr
    return str(done.stdout), time.monotonic() - begin


def test_a_new_size_on_a_busy_host_is_predicted(
    cluster: Cluster, tmp_path: Path
) -> None:
    skelgen = (sys.executable, "-m", "skelgen")

    def app(steps: int) -> tuple[str, ...]:
        launch = [OWN[0].launcher[0], "-hosts", "h1,h2", "-n", "2"]
        return *launch, "./app", "512", str(steps)

    source = str(ROOT / "examples/heat2d.c")
    line = [str(OWN[0].compiler), "-O2", source, "-o", tmp_path / "app", "-lm"]
    subprocess.run(line, check=True)
    rows = [f"{n},{called(cluster, tmp_path, *app(n))[1]}" for n in LEARNT]
    (tmp_path / "runs.csv").write_text("\n".join(["steps,time_s", *rows]) + "\n")
    for words in (
        ("record", "-o", "run", "--", *app(RECORDED)),
        ("build", "run", "--target-time", "0.7s", "-o", "skel"),
        ("calibrate", "skel", "--runs", "2"),
    ):
        called(cluster, tmp_path, *skelgen, *words)
    cluster.load("h2", 1)

    def answer(*words: str) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(
            called(cluster, tmp_path, *skelgen, *words)[0]
        )
        return made

    words = ("model", "predict", "runs.csv", "--at", f"steps={ASKED}", "--json")
    more = ("--skeleton", "skel", "--hosts", "h1,h2", "--budget", "6s")
    told = []
    for _ in range(ROUNDS):
        before = answer(*words, *more)
        _, truth_s = called(cluster, tmp_path, *app(ASKED))
        # What else runs changes what is free: from before to after the program.
        after = answer(*words, *more)
        for found in (before, after):
            assert found["load"]["source"] == "skeleton"
            assert found["load"]["slowdown"]["p50"] > 1.4
            assert found["p5"] < found["value"] < found["p95"]
        least, most = sorted((before["value"], after["value"]))
        told.append((least, truth_s, most))
        if 0.75 * least < truth_s < 1.25 * most:
            break
    else:
        pytest.fail(f"{rows} {told}")
    assert answer(*words)["value"] / truth_s < 0.75
