"""Programs that ask for their CPU time do so in the skeleton as often."""

from __future__ import annotations

import dataclasses

import pytest

from skelgen.skeleton.paper2005.plan import plan_2005
from skelgen.skeleton.plan import plan
from tests.skeletons import signature

RING = """
ranks 3
rank *
  repeat 20 {
    1000000 Send to=>1 tag=1 bytes=80
    Recv from=<1 tag=1 bytes=80
  }
"""


def test_a_second_of_computation_asks_as_often_as_the_application_did() -> None:
    known = signature(RING)
    asking = dataclasses.replace(known, usage_queries=600)
    expected = 600 / known.computed_s
    assert plan(asking, 2).queries_per_s == pytest.approx(expected)


def test_a_program_that_never_asks_has_a_skeleton_that_does_not() -> None:
    assert plan(signature(RING), 2).queries_per_s == 0


def test_the_rules_of_2005_know_nothing_of_it() -> None:
    asking = dataclasses.replace(signature(RING), usage_queries=600)
    assert plan_2005(asking, 2).queries_per_s == 0
