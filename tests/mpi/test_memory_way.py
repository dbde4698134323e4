"""The whole way of the memory: from a system's facts to a prediction and its truth."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mpis import OWN
from tests.needs import needs_own
from tests.processes import comes_true
from tests.testbed.cluster import HEAD, Cluster, lacking
from tests.testbed.law import read_log
from tests.testbed.weather import beside

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.root,
    pytest.mark.mpi,
    pytest.mark.skipif(bool(lacking()), reason=lacking()),
    needs_own,
]
HOSTS = ["--hosts", "h1,h2"]
#: Of the program: it must live longer than the monitor is away on a busy machine.
POINTS, STEPS = 600, 1500
INPUTS = ["--input", f"points={POINTS},steps={STEPS}"]
#: What a command about the memory answers.
Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    made = Cluster(f"way-{os.getpid()}")
    made.up(2)
    try:
        yield made
    finally:
        made.down()


@pytest.fixture
def settings(cluster: Cluster, tmp_path: Path) -> dict[str, str]:
    """Variables of a user with a store, at the head."""
    return {
        **os.environ,
        **cluster.environment(),
        "PATH": f"{OWN[0].compiler.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "SKELGEN_MONITOR": str(tmp_path / "monitors"),
        "SKELGEN_SSH": str(cluster.shell),
        "SKELGEN_STATE": str(tmp_path / "state"),
        "SKELGEN_STORE": str(tmp_path / "store.db"),
    }


@pytest.fixture
def ask(cluster: Cluster, settings: dict[str, str], tmp_path: Path) -> Ask:
    def asked(*words: str) -> dict[str, Any]:
        end = words.index("--") if "--" in words else len(words)
        words = (*words[:end], "--json", *words[end:])
        line = [sys.executable, "-m", "skelgen", *words]
        done = cluster.run(
            HEAD, line, env=settings, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        # Before it stands what the application printed.
        said: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
        return said

    return asked


@pytest.fixture
def launch(tmp_path: Path) -> list[str]:
    """Compile the example; return the command that runs it on both hosts."""
    source, program = ROOT / "examples/heat2d.c", tmp_path / "heat2d"
    line = [str(OWN[0].compiler), "-O2", str(source), "-o", str(program), "-lm"]
    subprocess.run(line, check=True)
    hosts = "-hosts" if len(OWN[0].launcher) == 1 else "--host"
    launcher = [OWN[0].launcher[0], hosts, "h1,h2", "-n", "2"]
    return [*launcher, str(program), str(POINTS), str(STEPS)]


def test_the_whole_way_from_a_systems_facts_to_what_happened(
    cluster: Cluster,
    settings: dict[str, str],
    ask: Ask,
    launch: list[str],
    tmp_path: Path,
) -> None:
    def runs() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = ask("store", "list", "--app", "heat2d")["runs"]
        return found

    def run_it() -> None:
        cluster.run(HEAD, launch, env=settings, cwd=tmp_path).check_returncode()

    ask("system", "measure", *HOSTS, "--budget", "1s", "--system", "pair")
    assert ask("system", "show", "h1")["facts"]
    ask("record", "-o", "run", "--", *launch)
    ask("build", "run", "--scale", "2", "-o", "skel")

    ask("monitor", "start", *HOSTS, "--interval", "0.2s", "--watch", "heat2d", *INPUTS)
    log = tmp_path / "weather.jsonl"
    with beside(cluster, log, "--seed", "1", "--for", "1h", "--hold", "0.5s,1.5s"):
        for count in (1, 2):
            run_it()
            assert comes_true(lambda count=count: len(runs()) == count)
        forecast = ask("forecast", "--nodes", "h1,h2", "--horizon", "2s")
        assert 0 <= forecast["cpu"]["p5"] <= forecast["cpu"]["p95"] <= 1
        words = ["--budget", "0.1s", "--app", "heat2d", *INPUTS]
        (predicted,) = ask("predict", "skel", *HOSTS, *words)["sets"]
        run_it()
        assert comes_true(lambda: len(runs()) == 3)
    ask("monitor", "stop", *HOSTS)
    assert {one.host for one in read_log(log).settings} == {"h1", "h2"}

    for one in runs():
        assert (one["ranks"], sorted(one["hosts"])) == (2, ["h1", "h2"])
        assert one["status"] == "ok"
        assert one["inputs"] == {"points": POINTS, "steps": STEPS}
        assert 0 < one["cpu_avg_min"] <= 1
    (of_loads,) = ask("forecast", "--record")["methods"]
    assert (of_loads["predictions"], of_loads["happened"]) == (1, 1)
    assert predicted["predicted_s"] > 0
    (of_times,) = ask("store", "record")["methods"]
    assert (of_times["method"], of_times["happened"]) == ("whole-events", 1)
