"""Programs that ask for their CPU time do so in the skeleton as far apart."""

from __future__ import annotations

import dataclasses

import pytest

from skelgen.reference.calibration import QueryGap
from skelgen.signature import Signature
from skelgen.skeleton.paper2005.plan import plan_2005
from skelgen.skeleton.plan import plan
from skelgen.skeleton.thresholds import SHORTEST_QUERY_GAP_US
from tests.skeletons import signature

RING = """
ranks 3
rank *
  repeat 20 {
    1000000 Send to=>1 tag=1 bytes=80
    Recv from=<1 tag=1 bytes=80
  }
"""


#: Bins of a recording.
LENGTHS = 16


def asking(queries: int, gaps: dict[int, int] | None = None) -> Signature:
    """Return a signature whose program asked, with gaps of some powers of two [us]."""
    counts = tuple((gaps or {}).get(power, 0) for power in range(LENGTHS))
    return dataclasses.replace(
        signature(RING), usage_queries=queries, usage_gaps=counts if gaps else ()
    )


def test_queries_of_an_older_recording_are_equally_far_apart() -> None:
    known = asking(600)
    (gap,) = plan(known, 2).query_gaps
    assert gap.length_us == pytest.approx(1e6 * known.computed_s / 600)
    assert gap.part == 1 and gap.asks


def test_gaps_have_the_lengths_of_the_application() -> None:
    known = asking(400, {7: 300, 11: 100})
    short, long = plan(known, 2).query_gaps
    assert (short.part, long.part) == (0.75, 0.25)
    assert short.asks and long.asks
    assert long.length_us == pytest.approx(16 * short.length_us)
    mean_us = 0.75 * short.length_us + 0.25 * long.length_us
    assert mean_us == pytest.approx(1e6 * known.computed_s / 400)


def test_queries_right_behind_another_are_left_out_but_not_their_time() -> None:
    known = asking(400, {1: 200, 7: 200})
    (gap,) = plan(known, 2).query_gaps
    assert gap.length_us == pytest.approx(1e6 * known.computed_s / 200)


def test_a_program_that_asks_without_an_end_asks_less_often_in_its_skeleton() -> None:
    gaps = plan(asking(100_000, {0: 99_000, 1: 1000_000}), 2).query_gaps
    assert gaps == (QueryGap(SHORTEST_QUERY_GAP_US, 1.0, asks=True),)


def test_long_times_without_queries_have_none() -> None:
    asks, silent = plan(asking(1000, {8: 1000, LENGTHS - 1: 50}), 2).query_gaps
    assert asks.asks and not silent.asks
    assert silent.part == pytest.approx(50 / 1050)
    assert silent.length_us == pytest.approx(2.0**14 / (0.75 * 2.0**8) * asks.length_us)


def test_a_program_that_asks_seldom_has_a_skeleton_that_does_not() -> None:
    seldom = int(99 * signature(RING).computed_s)
    assert seldom > 1
    assert plan(asking(seldom), 2).query_gaps == ()
    assert plan(asking(2 * seldom), 2).query_gaps
    assert plan(asking(2 * seldom, {1: seldom, 9: seldom}), 2).query_gaps == ()


def test_a_program_that_never_asks_has_a_skeleton_that_does_not() -> None:
    assert plan(signature(RING), 2).query_gaps == ()


def test_the_rules_of_2005_know_nothing_of_it() -> None:
    assert plan_2005(asking(600), 2).query_gaps == ()
