"""Programs, arguments and folders with names that are not UTF-8."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from skelgen.phases import store as phase_store
from skelgen.signature import store
from tests.mpis import MPIS

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]

ROOT = Path(__file__).parents[2]
NAME, ARGUMENT, FOLDER = b"caf\xe9", b"\xff-\xe2\x82\xac", b"skel-\xfc"
#: Writes down the bytes of its argument; computes and sends for a while.
PROGRAM = """
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	volatile double sum = 0;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 200; i++) {
		for (int j = 0; j < 200000; j++)
			sum += j;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (!rank) {
		FILE *file = fopen("arguments", "a");

		fprintf(file, "%s\\n", argv[1]);
		fclose(file);
	}
	MPI_Finalize();
	return 0;
}
"""


def skelgen(*words: bytes, folder: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [os.fsencode(sys.executable), b"-m", b"skelgen", *words],
        capture_output=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        timeout=300,
    )


def test_a_run_with_any_name_is_built_and_calibrated_with_the_same_bytes(
    tmp_path: Path,
) -> None:
    mpi = MPIS[0]
    (tmp_path / "app.c").write_text(PROGRAM)
    compile_it = [os.fsencode(mpi.compiler), b"-O0", b"-o", NAME, b"app.c"]
    subprocess.run(compile_it, check=True, cwd=tmp_path)
    launch = [*map(os.fsencode, mpi.launcher), b"-n", b"2", b"./" + NAME, ARGUMENT]
    for words in (
        (b"record", b"-o", b"run", b"--", *launch),
        (b"build", b"run", b"--scale", b"5", b"-o", FOLDER),
        (b"calibrate", FOLDER, b"--runs", b"1", b"--force"),
    ):
        done = skelgen(*words, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "arguments").read_bytes() == 2 * (ARGUMENT + b"\n")
    told = json.loads((tmp_path / os.fsdecode(FOLDER) / "skeleton.json").read_text())
    signature = store.load(tmp_path / os.fsdecode(FOLDER))
    phases = phase_store.load(tmp_path / os.fsdecode(FOLDER))
    for command in (
        told["command"],
        signature.provenance.command,
        phases.provenance.command,
    ):
        assert [os.fsencode(word) for word in command][-2:] == [b"./" + NAME, ARGUMENT]
