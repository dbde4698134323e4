"""A skeleton sends in each call what the application sends."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from skelgen.pipeline.build import BuildOptions, build
from skelgen.pipeline.info import info
from skelgen.pipeline.record import record
from tests.mpis import FAMILIES, MPIS, TestMpi

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]

PROGRAM = Path(__file__).with_name("blocks.c")


def bytes_of_a_call(command: Sequence[str], folder: Path) -> dict[str, float]:
    """Record a program; return what a call of each function sends [bytes]."""
    record(command, folder, quiet_output=True)
    summary = info(folder).summary
    functions = summary.functions
    return {one.name: one.sent_bytes / one.calls for one in functions if one.calls}


@pytest.mark.parametrize("mpi", FAMILIES, ids=[mpi.name for mpi in FAMILIES])
def test_blocks_of_collectives_keep_their_size(mpi: TestMpi, tmp_path: Path) -> None:
    program, run, made = (tmp_path / name for name in ("blocks", "run", "skel"))
    compile_line = [str(mpi.compiler), str(PROGRAM), "-o", str(program)]
    subprocess.run(compile_line, check=True)
    launch = [*mpi.launcher, "-n", "3"]
    sent = bytes_of_a_call([*launch, str(program)], run)
    halved = BuildOptions(2.0, None, None, None, strict=False)
    build(run, made, options=halved)
    subprocess.run(["make", "-s", "-C", made, f"MPICC={mpi.compiler}"], check=True)
    own = bytes_of_a_call([*launch, str(made / "skeleton")], tmp_path / "own")
    # The report at the skeleton's end gathers and reduces a little as well.
    few = {name: own[name] for name in sent}
    assert few == pytest.approx(sent, rel=0.15)
    assert len([name for name in sent if sent[name]]) == 12
    text = (made / "skeleton.c").read_text()
    for name in ("Alltoallv", "Alltoallw"):  # in pieces, as the application's
        (call,) = re.findall(rf"MPI_{name}\([^;]*;", text)
        assert call.count("holes_8") == 2
