"""The example of kernels: each runs alone, in pairs and in chains."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.models.kernels import KERNELS, Program, compiled
from benchmarks.models.kernels import chains as all_chains
from skelgen.errors import ApplicationError
from skelgen.models.coupling import couple
from tests.mpis import OWN
from tests.needs import needs_own

pytestmark = [pytest.mark.mpi, needs_own]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return compiled(tmp_path_factory.mktemp("kernels"), 2)


def square(program: Program, ranks: int, *words: str) -> str:
    done = OWN[0].run(ranks, str(program.binary), *words)
    assert done.returncode == 0, done.stderr
    found = re.search(r"square (\S+)", done.stdout)
    assert found
    return found[1]


@pytest.mark.parametrize("kernel", KERNELS)
def test_each_kernel_runs_alone_and_gives_the_same_on_any_ranks(
    program: Program, kernel: str
) -> None:
    whole = square(program, 1, "17", "5", "copy_faces", kernel, "add")
    assert square(program, 3, "17", "5", "copy_faces", kernel, "add") == whole
    assert float(whole) > 0


def test_the_loop_is_all_kernels_in_their_order(program: Program) -> None:
    whole = square(program, 2, "16", "7")
    assert square(program, 2, "16", "7", *KERNELS) == whole
    assert square(program, 2, "16", "7", *KERNELS[::-1]) != whole


def test_times_of_all_chains_become_the_weights_of_a_coupling(
    program: Program,
) -> None:
    alone = {one: program.seconds(16, 5, (one,)) for one in KERNELS}
    pairs = {one: program.seconds(16, 5, one) for one in all_chains() if len(one) == 2}
    assert all(time > 0 for time in (*alone.values(), *pairs.values()))
    assert couple(KERNELS, alone, pairs).time_s(alone) > 0


def test_a_kernel_that_there_is_not_is_told_with_those_that_there_are(
    program: Program,
) -> None:
    with pytest.raises(
        ApplicationError, match="no kernel w_solve; there are: copy_fac"
    ):
        program.seconds(16, 5, ("w_solve",))


def test_a_grid_of_fewer_planes_than_ranks_ends_at_once(
    program: Program, tmp_path: Path
) -> None:
    assert OWN[0].run(3, str(program.binary), "2", "5").returncode != 0
