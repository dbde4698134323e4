"""The part of a call's time that may be its own; what is dropped with rare calls."""

from __future__ import annotations

import pytest

from skelgen.skeleton.plan import plan
from skelgen.skeleton.quantities.leaf_table import LeafTable, leaf_table
from skelgen.skeleton.thresholds import LONGEST_LATENCY_NS
from tests.skeletons import signature

#: Rank 1 computes 4 ms before its only message, for which rank 0 waits.
LATE = """
rank 0
repeat 400 {{
    20000 Allreduce bytes=8 op=1
}}
Irecv from=1 tag=1 bytes={size} as=r
{asks} Wait of=r mpi={waited}
rank 1
repeat 400 {{
    20000 Allreduce bytes=8 op=1
}}
4000000 Send to=0 tag=1 bytes={size}
"""
ASKED = "5 Test failed bytes=900 mpi=4000000 site=3\n"


def table_of(text: str) -> LeafTable:
    known = signature(text)
    return leaf_table(known, plan(known, 30).programs, 1 / 30)


def own_ns(table: LeafTable, name: str) -> float:
    """Return the own time of the calls of one label [ns]."""
    (one,) = [i for i, text in enumerate(table.labels) if text.startswith(name)]
    return float(table.own_ns[table.label == one].sum())


def test_a_call_that_was_asked_for_waited() -> None:
    table = table_of(LATE.format(size=100_000, asks=ASKED, waited=9))
    assert own_ns(table, "Wait") == LONGEST_LATENCY_NS
    assert table.mpi_ns.sum() >= 4_000_000


def test_what_is_not_known_may_be_the_calls_own() -> None:
    table = table_of(LATE.format(size=100_000, asks="", waited=4_000_000))
    assert own_ns(table, "Wait") == 4_000_000


@pytest.mark.parametrize(
    ("size", "own"), [(8, LONGEST_LATENCY_NS), (100_000, 4_000_000)]
)
def test_few_bytes_take_a_latency(size: int, own: int) -> None:
    text = LATE.replace("Irecv", "Recv").replace(" as=r", " mpi=4000000")
    text = text.replace("{asks} Wait of=r mpi={waited}\n", "")
    table = table_of(text.format(size=size))
    assert own_ns(table, "Recv") == own


def test_waiting_for_others_is_not_dropped() -> None:
    made = plan(signature(LATE.format(size=100_000, asks=ASKED, waited=9)), 30)
    assert made.report.dropped_share < 0.01
    made = plan(signature(LATE.format(size=100_000, asks="", waited=4_000_000)), 30)
    assert made.report.dropped_share > 0.1
