"""Blocks that are too large for holes between them are sent from one piece."""

from __future__ import annotations

from skelgen.events.types import HOLES
from skelgen.skeleton.plan import plan
from skelgen.skeleton.types import Plan
from tests.skeletons import signature


def exchanged(block: int) -> Plan:
    """Plan two ranks that gather blocks of some size from memory with holes."""
    blocks = f"sends={block},{block} receives={block},{block}"
    text = f"""
    ranks 2
    rank *
      repeat 8 {{
        1000 Alltoallv {blocks} type=8 holes
        1000 Allreduce bytes=8 op=1
      }}
    """
    return plan(signature(text), 2)


def with_holes(made: Plan) -> set[bool]:
    """Return whether calls with blocks have holes between them."""
    return {
        bool(made.symbols[operation.symbol]["flags"] & HOLES)
        for program in made.programs
        for operation in program.operations
        if operation.vectors.any()
    }


def doubts(made: Plan) -> list[str]:
    return [one for one in made.report.warnings if "gathered" in one]


def test_blocks_that_fit_keep_their_holes() -> None:
    made = exchanged(800)
    assert with_holes(made) == {True}
    assert doubts(made) == []


def test_larger_ones_lose_them_and_the_plan_says_so() -> None:
    made = exchanged(2**30)
    assert with_holes(made) == {False}
    assert len(doubts(made)) == 1
    assert (made.signature.symbols["flags"] & HOLES).any()
