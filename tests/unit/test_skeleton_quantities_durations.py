"""Computation of a skeleton: how much, and how it is spread."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from skelgen.errors import UsageError
from skelgen.signature import Signature
from skelgen.skeleton.plan import plan
from skelgen.skeleton.quantities.series import (
    occurrences_of_columns,
    part,
    sampled,
    series_sums,
)
from skelgen.skeleton.types import Plan
from tests.random_programs import random_program
from tests.skeletons import signature


def compute_ns(made: Plan) -> np.ndarray:
    """Return the computation of every rank."""
    total = np.zeros(made.signature.ranks)
    for program in made.programs:
        own = program.tail_ns + program.head_ns
        for operation in program.operations:
            own += series_sums(operation.compute_ns.values, operation.occurrences)
        total[list(program.ranks)] = own
    return total


def application_ns(known: Signature) -> np.ndarray:
    total = np.zeros(known.ranks)
    for group in known.groups:
        total[list(group.ranks)] = group.compute_ns.total.sum(axis=0) + group.tail_ns
    return total


@pytest.mark.parametrize("factor", [1.01, 2, 3.7, 10])
def test_all_ranks_keep_the_same_fraction_of_their_computation(factor: float) -> None:
    compared = 0
    for seed in range(25):
        known = signature(random_program(random.Random(seed), calls=400))
        try:
            made = plan(known, factor)
        except UsageError:  # too short for this K
            assert factor > 3
            continue
        ratio = compute_ns(made) / application_ns(known)
        assert ratio == pytest.approx(np.full(known.ranks, ratio[0]))
        compared += 1
    assert compared >= 15


def test_computation_follows_the_calls_that_were_kept() -> None:
    # 23 / 4 = 5.75 calls of the only class: six are kept, 1.04 of what was asked for.
    known = signature("ranks 2\nrank *\nrepeat 23 {\n1000 Allreduce bytes=8 op=1\n}")
    made = plan(known, 4)
    assert made.programs[0].operations[0].occurrences == 6
    assert compute_ns(made) == pytest.approx([6000, 6000])


def test_a_rare_long_computation_is_divided() -> None:
    known = signature(
        """
        ranks 2
        rank *
          9000000 Bcast root=0 bytes=4 site=1
          repeat 1000 {
            1000 Barrier site=2
          }
        """
    )
    assert compute_ns(plan(known, 10)) == pytest.approx([1_000_000] * 2, rel=0.01)


def test_computation_before_calls_left_out_stays_in_its_place() -> None:
    known = signature(
        """
        ranks 2
        rank *
          500000 Bcast root=0 bytes=4 site=1
          repeat 1000 {
            1000 Barrier site=2
            1000 Allreduce bytes=8 op=1 site=3
          }
          700000 Bcast root=0 bytes=4000 site=4
          tail 300000
        """
    )
    made = plan(known, 100)
    barrier, allreduce = made.programs[0].operations
    fraction = 0.01
    assert series_sums(barrier.compute_ns.values, 10)[0] == pytest.approx(
        1_000_000 * fraction, rel=0.01
    )
    assert made.programs[0].head_ns[0] == pytest.approx(500_000 * fraction, rel=0.01)
    assert series_sums(allreduce.compute_ns.values, 10)[0] == pytest.approx(
        1_000_000 * fraction, rel=0.01
    )
    assert made.programs[0].tail_ns[0] == pytest.approx(1_000_000 * fraction, rel=0.01)


def test_computation_that_happened_once_is_not_spread_over_iterations() -> None:
    known = signature(
        """
        ranks 2
        rank *
          9000000 Alltoall bytes=400000 site=1
          repeat 5 {
            1000 Barrier site=2
          }
          Bcast root=0 bytes=4 site=3
          Bcast root=0 bytes=4 site=4
          repeat 100 {
            1000 Barrier site=5
          }
        """
    )
    operations = plan(known, 3).programs[0].operations
    assert [operation.occurrences for operation in operations] == [2, 1, 33]
    compute = [operation.compute_ns.values[0, 0] for operation in operations]
    assert compute[1] > 2_900_000
    assert max(compute[0], compute[2]) < 3000


def test_uneven_computation_stays_uneven_and_coupled_between_ranks() -> None:
    # In each iteration one rank, in turn, computes ten times longer.
    lines = [
        f"rank {rank}\n"
        + "\n".join(
            f"{100_000 if i % 4 == rank else 10_000} Allreduce bytes=8 op=1 site=1"
            for i in range(400)
        )
        for rank in range(4)
    ]
    made = plan(signature("\n".join(lines)), 10)
    values = made.programs[0].operations[0].compute_ns.values
    assert values.shape == (4, 16)
    assert (np.sort(values, axis=0)[-1] > 5 * np.sort(values, axis=0)[-2]).all()
    assert len(set(values.argmax(axis=0).tolist())) > 1


def test_even_computation_is_one_number() -> None:
    known = signature("ranks 2\nrank *\nrepeat 400 {\n5000 Barrier\n}")
    assert plan(known, 10).programs[0].operations[0].compute_ns.values.shape == (2, 1)


@pytest.mark.parametrize(("columns", "n"), [(1, 1), (3, 7), (16, 16), (16, 1000)])
def test_columns_are_taken_as_the_type_says(columns: int, n: int) -> None:
    taken = np.bincount([k * columns // n for k in range(n)], minlength=columns)
    assert occurrences_of_columns(columns, n).tolist() == taken.tolist()


def test_samples_are_taken_in_order() -> None:
    samples = np.array([[1.0, 2, 3, 4, 5, 6, np.nan], [2, 4, 6, 8, 10, 12, np.nan]])
    found = sampled(samples, 3)
    assert found is not None
    assert found.tolist() == [[2, 4, 6], [4, 8, 12]]
    assert sampled(np.full((2, 4), np.nan), 3) is None


def test_a_part_of_an_operation_keeps_partners_that_are_always_the_same() -> None:
    known = signature("ranks 2\nrank *\nrepeat 8 {\n5000 Barrier\n}")
    (whole,) = plan(known, 2).programs[0].operations
    whole = replace(whole, partners=(1,), peers=np.array([5, 6, 7, 8], np.int32))
    some = part(whole, np.array([1, 3]))
    assert (some.occurrences, some.partners) == (2, (1,))
    assert some.peers.tolist() == [6, 8]
