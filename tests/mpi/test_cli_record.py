"""Recording from the command line with real launchers."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from skelgen.launch.elf import mpi_library
from skelgen.launch.mpi import identify_compiler
from tests.mpis import FAMILIES, MPIS, TestMpi
from tests.processes import comes_true

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]

ROOT = Path(__file__).parents[2]
PROGRAM = """
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 10; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("hello from %s\\n", how);
	if (!strcmp(how, "fail"))
		exit(3);
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "wait")) {
		FILE *file = fopen(argv[2], "a");

		fclose(file);
		sleep(60);
	}
	MPI_Finalize();
	return 0;
}
"""


def skelgen(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "skelgen", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment(),
        timeout=300,
    )


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def command_lines() -> Iterator[bytes]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            yield path.read_bytes()


@pytest.fixture(params=FAMILIES, ids=[mpi.name for mpi in FAMILIES])
def mpi(request: pytest.FixtureRequest) -> TestMpi:
    return request.param


@pytest.fixture
def program(mpi: TestMpi, tmp_path: Path) -> Path:
    (tmp_path / "app.c").write_text(PROGRAM)
    path = tmp_path / "app"
    subprocess.run([mpi.compiler, "-o", path, tmp_path / "app.c"], check=True)
    return path


def test_a_run_is_recorded_and_described(mpi: TestMpi, program: Path):
    folder = program.parent
    words = ["record", "-o", "run", "--", *mpi.launcher, "-n", "2", str(program), "app"]
    done = skelgen(*words, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "hello from app" in done.stdout
    assert "ranks: 2" in done.stderr
    names = sorted(path.name for path in (folder / "run").iterdir())
    ranks = ["rank-000000.skt", "rank-000001.skt"]
    assert names == [".skelgen", "lines.json", *ranks, "run.json"]
    facts = json.loads((folder / "run/run.json").read_text())
    assert facts["command"] == words[4:]
    assert facts["exit_code"] == 0
    assert facts["folder"] == str(folder)
    assert facts["ranks"] == 2


def test_json_leaves_stdout_to_the_result(mpi: TestMpi, program: Path):
    words = ["record", "-o", "run", "--json", "--", *mpi.launcher, "-n", "2"]
    done = skelgen(*words, str(program), "app", folder=program.parent)
    found = json.loads(done.stdout)
    assert found["ranks"] == 2
    assert found["events"] >= 20
    assert "hello from app" in done.stderr


@pytest.mark.parametrize("how", ["fail", "kill"])
def test_a_failing_program_keeps_its_trace(mpi: TestMpi, program: Path, how):
    words = ["record", "-o", "run", "--json", "--", *mpi.launcher, "-n", "2"]
    done = skelgen(*words, str(program), how, folder=program.parent)
    assert done.returncode == 5
    assert json.loads(done.stdout)["events"] >= 20
    assert "skelgen: error: the application failed with exit code" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_killed_ranks_left_on_the_node_is_brought(
    mpi: TestMpi, program: Path, monkeypatch: pytest.MonkeyPatch
):
    node = program.parent / "node"
    monkeypatch.setenv("SKELGEN_TMPDIR", str(node))
    words = ["record", "-o", "run", "--json", "--", *mpi.launcher, "-n", "2"]
    done = skelgen(*words, str(program), "kill", folder=program.parent)
    assert done.returncode == 5
    assert json.loads(done.stdout)["events"] >= 20
    names = sorted(path.name for path in (program.parent / "run").glob("*.skt"))
    assert names == ["rank-000000.skt", "rank-000001.skt"]
    assert list(node.iterdir()) == []


def test_an_interrupted_run_keeps_its_trace_and_leaves_no_process(
    mpi: TestMpi, program: Path
):
    folder = program.parent
    words = ["record", "-o", "run", "--", *mpi.launcher, "-n", "2", str(program)]
    recording = subprocess.Popen(
        [sys.executable, "-m", "skelgen", *words, "wait", str(folder / "waits")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment(),
    )
    for _ in range(6000):
        if (folder / "waits").exists() or recording.poll() is not None:
            break
        time.sleep(0.02)
    recording.send_signal(signal.SIGINT)
    _, errors = recording.communicate()
    assert recording.returncode == 130, errors
    assert "the trace up to there is in run" in errors
    assert len(list((folder / "run").glob("*.skt"))) == 2
    name = str(program).encode()
    assert comes_true(lambda: not any(name in line for line in command_lines()))


def test_a_program_without_mpi_leaves_no_folder(mpi: TestMpi, tmp_path: Path):
    words = ["record", "-o", "run", "--", *mpi.launcher, "-n", "2", "hostname"]
    done = skelgen(*words, folder=tmp_path)
    assert done.returncode == 3
    assert "hostname made no MPI call" in done.stderr
    assert not (tmp_path / "run").exists()


def test_an_existing_folder_is_not_overwritten(mpi: TestMpi, program: Path):
    folder = program.parent
    (folder / "run").mkdir()
    (folder / "run/notes").write_text("mine")
    words = ["record", "-o", "run"]
    command = ["--", *mpi.launcher, "-n", "2", str(program)]
    refused = skelgen(*words, *command, folder=folder)
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    assert (folder / "run/notes").exists()
    refused = skelgen(*words, "--force", *command, folder=folder)
    assert refused.returncode == 2
    assert "run holds notes, which skelgen did not make" in refused.stderr
    (folder / "run/notes").unlink()
    assert skelgen(*words, *command, folder=folder).returncode == 0
    (folder / "run/rank-000009.skt").touch()
    assert skelgen(*words, "--force", *command, folder=folder).returncode == 0
    assert not (folder / "run/rank-000009.skt").exists()
    modes = {path.stat().st_mode & 0o777 for path in (folder / "run").iterdir()}
    assert ((folder / "run").stat().st_mode & 0o777, modes) == (0o700, {0o600})


def test_a_program_of_another_mpi_is_refused(mpi: TestMpi, program: Path):
    kind = identify_compiler(mpi.compiler)
    library = mpi_library(program)
    assert library is not None
    assert library.kind is kind
    others = [one for one in MPIS if identify_compiler(one.compiler) is not kind]
    if not others:
        pytest.skip("only one kind of MPI was found")
    words = ["record", "-o", "run", "--", *others[0].launcher, "-n", "2", str(program)]
    done = skelgen(*words, folder=program.parent)
    assert done.returncode == 4
    assert "is linked to" in done.stderr


def test_the_shim_can_be_preloaded_by_hand(mpi: TestMpi, program: Path):
    folder = program.parent
    found = skelgen("shim", "--mpirun", mpi.launcher[0], folder=folder)
    assert found.returncode == 0, found.stderr
    library = found.stdout.strip()
    variables = {"LD_PRELOAD": library, "SKELGEN_DIR": str(folder / "by-hand")}
    pairs = [f"{name}={value}" for name, value in variables.items()]
    done = mpi.run(2, "env", *pairs, str(program), "app")
    assert done.returncode == 0, done.stderr
    assert len(list((folder / "by-hand").glob("*.skt"))) == 2


def test_without_make_the_recorder_cannot_be_built(
    mpi: TestMpi, program: Path, monkeypatch
):
    tools = program.parent / "bin"
    tools.mkdir()
    for name in ("sh", "bash"):
        (tools / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(tools))
    done = skelgen("shim", "--mpirun", mpi.launcher[0], folder=program.parent)
    assert done.returncode == 4
    assert done.stderr.splitlines()[-1].startswith("skelgen: error: no make on PATH")
