"""Tests are shared out so that no worker begins with all that is slow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import FIRST, in_order

UNIT = {Path(f"tests/unit/test_{n}.py"): 10 for n in range(30)}
MPI = {Path(f"tests/mpi/test_{n}.py"): 2 for n in range(30)}
SLOW = {Path(f"tests/mpi/{name}.py"): 3 for name in FIRST}
ALL = MPI | SLOW | UNIT


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 7])
def test_each_worker_gets_a_like_part(workers: int) -> None:
    order = in_order(ALL, workers)
    assert sorted(order) == sorted(ALL)
    size = len(order) // workers
    for worker in range(workers):
        part = order[worker * size : (worker + 1) * size]
        kinds = [sum(one in kind for one in part) for kind in (UNIT, MPI, SLOW)]
        for found, kind in zip(kinds, (UNIT, MPI, SLOW), strict=True):
            assert abs(found - len(kind) / workers) <= 3


def test_the_slowest_begin() -> None:
    assert [one.stem for one in in_order(ALL, 1)[: len(FIRST)]] == FIRST


def test_few_tests_keep_the_order_of_pytest() -> None:
    few = [Path("tests/unit/test_b.py"), Path("tests/unit/test_a.py")]
    assert in_order(dict.fromkeys(few, 1), 3) == few
