"""A real program under mpirun becomes a run in the store when it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from skelgen.cli.main import run
from skelgen.monitor.folders import this_host
from skelgen.monitor.status import holder
from skelgen.store import Run, open_store
from tests.mpis import FAMILIES, MPIS, TestMpi
from tests.processes import comes_true

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]
#: Other tests run programs at the same time.
NAME = f"w{os.getpid()}"
#: Ranks that wait for a second and until a file is there, if they are given one, and
#: end with what they are asked to.
PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	sleep(1);
	while (argc > 2 && access(argv[2], F_OK))
		usleep(10000);
	MPI_Finalize();
	return argc > 1 ? atoi(argv[1]) : 0;
}
"""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for a monitor, which ends with the test, and a store."""
    monkeypatch.setenv("SKELGEN_MONITOR", str(tmp_path / "state"))
    monkeypatch.setenv("SKELGEN_STORE", str(tmp_path / "store.db"))
    monkeypatch.delenv("SKELGEN_INPUTS", raising=False)
    yield tmp_path / "state" / this_host()
    if pid := holder(tmp_path / "state" / this_host()):
        os.kill(pid, signal.SIGKILL)


def stored(tmp_path: Path) -> list[Run]:
    if not (tmp_path / "store.db").exists():
        return []
    with open_store(str(tmp_path / "store.db")) as store:
        return store.runs(NAME)


@pytest.mark.parametrize("mpi", FAMILIES, ids=[mpi.name for mpi in FAMILIES])
def test_a_program_under_mpirun_becomes_a_run_when_it_ends(
    mpi: TestMpi, state: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "waits.c").write_text(PROGRAM)
    program = tmp_path / NAME
    line = [str(mpi.compiler), str(tmp_path / "waits.c"), "-o", str(program)]
    subprocess.run(line, check=True)
    start = ["monitor", "start", "--interval", "0.2s", "--watch", NAME]
    assert run([*start, "--input", "n=7"]) == 0

    # The monitor itself hands the first run over; it is killed during the second.
    launch = [*mpi.launcher, "-n", "2", str(program)]
    began_s = time.monotonic()
    subprocess.run(launch, check=True, stdout=subprocess.DEVNULL)
    wall_s = time.monotonic() - began_s
    assert comes_true(lambda: len(stored(tmp_path)) == 1)

    ending = tmp_path / "ending"
    words = [*launch, "3", str(ending)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        assert comes_true((state / "open.json").exists)
        os.kill(holder(state), signal.SIGKILL)
        assert comes_true(lambda: not holder(state))
        assert run(start) == 0
        ending.touch()
        assert process.wait(60) == 3
    assert run(["monitor", "stop"]) == 0
    capsys.readouterr()
    assert run(["monitor", "runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["already"] == 2

    first, second = stored(tmp_path)
    # The kernel tells when a process began in ticks of 10 ms.
    assert first.status == "ok" and 1.0 <= first.time_s <= wall_s + 0.02
    assert first.inputs == (("n", 7.0),) and first.hosts == (this_host(),)
    costs = dict(first.costs)
    assert first.ranks == second.ranks == 2 and costs["memory_bytes"] > 1e6
    assert 0 <= costs["cpu_s"] < 2 * first.time_s
    assert second.time_s >= 1.0 and second.status in ("exit 3", "unknown")
