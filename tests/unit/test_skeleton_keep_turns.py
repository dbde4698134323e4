"""Ranks that compute one after the other do so in the skeleton, too."""

from __future__ import annotations

import random

import numpy as np
import pytest

from skelgen.signature import Signature
from skelgen.skeleton.keep.division import KeptParts
from skelgen.skeleton.keep.turns import turns
from skelgen.skeleton.plan import plan
from tests.random_programs import random_program
from tests.skeletons import Parts, parts, signature

#: Both ranks in step for 8 ms; then rank 0 computes alone for 4 ms, then rank 1.
ALONE = """
rank 0
repeat 400 {{
    20000 Allreduce bytes=8 op=1
}}
{first} Bcast root=0 bytes={size}
{second} Bcast root=1 bytes={size} site=7
rank 1
repeat 400 {{
    20000 Allreduce bytes=8 op=1
}}
{second} Bcast root=0 bytes={size}
{first} Bcast root=1 bytes={size} site=7
"""
IN_TURN = ALONE.format(first=4_000_000, second=10, size=8)


def added(found: Parts, factor: float) -> np.ndarray:
    """Return the units that stay for the order of computations."""
    given = (found.signature, found.expansion, found.calls, found.units)
    return turns(*given, KeptParts(found.chosen, 1 / factor))


def functions(known: Signature, factor: float) -> set[str]:
    """Return the functions that a skeleton calls."""
    made = plan(known, factor)
    return {
        made.functions[made.symbols[operation.symbol]["function"]]
        for program in made.programs
        for operation in program.operations
    }


def test_a_rare_call_between_computations_in_turn_stays() -> None:
    known = signature(IN_TURN)
    assert added(parts(known, 10), 10).sum() == 2
    assert functions(known, 10) == {"MPI_Allreduce", "MPI_Bcast"}


@pytest.mark.parametrize(
    "text",
    [
        ALONE.format(first=4_000_000, second=4_000_000, size=8),
        ALONE.format(first=4_000_000, second=10, size=1_000_000),
        ALONE.format(first=20_000, second=10, size=8),
    ],
    ids=["at the same time", "many bytes", "little computation"],
)
def test_other_rare_calls_do_not_stay(text: str) -> None:
    assert not added(parts(text, 30), 30).any()


def test_computation_and_calls_otherwise_stay_as_they_were() -> None:
    made = plan(signature(IN_TURN), 10)
    assert not made.report.divided
    assert made.report.expected_s == pytest.approx(1.2e-3, rel=0.02)


@pytest.mark.parametrize("seed", range(8))
def test_one_unit_of_a_type_stays_that_could_stay_and_did_not(seed: int) -> None:
    found = parts(random_program(random.Random(seed)), 5)
    more = added(found, 5)
    types = found.units.type[more]
    assert len(np.unique(types)) == len(types)
    assert not found.units.broken[more].any()
    assert not np.isin(types, found.units.type[found.chosen]).any()


def test_ranks_that_were_alike_stay_alike() -> None:
    """Whether ranks compute for different times is seen of one pair of two only."""
    pair = """
rank {a}
repeat 400 {{
    20000 Allreduce bytes=8 op=1
}}
{time} Send to={b} tag=1 bytes=8 site=3
rank {b}
repeat 400 {{
    20000 Allreduce bytes=8 op=1
}}
Recv from={a} tag=1 bytes=8 site=4
"""
    text = pair.format(a=0, b=1, time=4_000_000) + pair.format(a=2, b=3, time=10)
    found = parts(text, 10)
    ranks = np.searchsorted(found.calls.first, found.units.anchor, side="right") - 1
    assert ranks[added(found, 10)].tolist() == [0, 2]
