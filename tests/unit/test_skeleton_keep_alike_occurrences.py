"""Occurrences are of one kind where the same call follows as much computation."""

from __future__ import annotations

import random

import numpy as np
import pytest

from skelgen.signature.leaves import leaf_symbols
from skelgen.skeleton.keep.alike_occurrences import alike_occurrences
from tests.builders import events
from tests.random_programs import random_program
from tests.summaries import build

THREE_COMPUTATIONS = """
ranks 2
rank *
repeat 40 {
    1000 Allreduce bytes=8 op=1
    10 Barrier
    9000 Allreduce bytes=8 op=1
    10 Bcast root=0 bytes=8
    1010 Allreduce bytes=8 op=1
    10 Reduce root=0 bytes=8 op=1
}
"""


def test_what_computes_as_long_is_of_one_kind() -> None:
    signature = build(events(THREE_COMPUTATIONS)).signature
    alike = alike_occurrences(signature, 100)
    (group,), (rows,), (kind,) = signature.groups, alike.occurrences, alike.kind
    symbol = leaf_symbols(group.nest)[rows.leaf]
    long = rows.computation(group)[0][:, 0] > 5000
    reductions = symbol == symbol[long][0]
    assert len(np.unique(kind[long])) == 1
    assert len(np.unique(kind[reductions & ~long])) == 1
    assert alike.kinds == 5
    assert alike.moved == pytest.approx(5 / 11040, rel=0.01)


def test_few_kinds_cost_more() -> None:
    signature = build(events(THREE_COMPUTATIONS)).signature
    alike = alike_occurrences(signature, 4)
    assert alike.kinds == 4
    mean = (1000 + 9000 + 1010) / 3
    assert alike.moved == pytest.approx((9000 - mean) / 11040, rel=0.01)


def test_occurrences_of_one_leaf_are_told_apart() -> None:
    text = "ranks 2\nrank *\n" + "\n".join(
        f"{time} Allreduce bytes=8 op=1\n{10 + time // 1000} Barrier"
        for time in (1000, 9000, 1000, 1000, 9000, 1000)
    )
    signature = build(events(text)).signature
    alike = alike_occurrences(signature, 100)
    (rows,), (kind,) = alike.occurrences, alike.kind
    assert rows.often.tolist() == [1] * 12
    # Two leaves, so each symbol has one kind only.
    assert len(signature.groups[0].count) == 2
    assert alike.kinds == 2
    assert len(np.unique(kind)) == 2
    assert alike.moved > 0.3


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("most", [0, 5, 20, 10_000])
def test_kinds_have_one_symbol_and_are_few_or_near(seed: int, most: int) -> None:
    signature = build(random_program(random.Random(seed), calls=300)).signature
    alike = alike_occurrences(signature, most)
    symbols = 0
    for group, rows, kind in zip(
        signature.groups, alike.occurrences, alike.kind, strict=True
    ):
        symbol = leaf_symbols(group.nest)
        symbols += len(np.unique(symbol))
        assert (symbol[kind] == symbol[rows.leaf]).all()
        assert rows.often.sum() == group.count.sum()
        assert (rows.often @ rows.computation(group)[0]) == pytest.approx(
            group.compute_ns.total.sum(axis=0)
        )
    assert symbols <= alike.kinds
    # A symbol has no more kinds than leaves, which may move more.
    assert alike.kinds <= max(symbols, most)


@pytest.mark.parametrize("seed", range(6))
def test_where_more_kinds_are_left_than_wanted_none_can_be_joined(seed: int) -> None:
    signature = build(random_program(random.Random(seed), calls=300)).signature
    least = alike_occurrences(signature, 0)
    more = alike_occurrences(signature, least.kinds - 1)
    assert more.kinds == least.kinds
    for kind, other in zip(more.kind, least.kind, strict=True):
        assert kind.tolist() == other.tolist()
