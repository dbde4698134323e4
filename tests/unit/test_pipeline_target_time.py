"""A target time is met within 15 %, or refused with one that is."""

from __future__ import annotations

import re

import pytest

from skelgen.errors import UsageError
from skelgen.pipeline.target_time import plan_for_time
from skelgen.skeleton.plan import plan
from tests.skeletons import signature

FEW = """
ranks 2
rank *
  20000000 Barrier site=1
  repeat 6 {
    60000000 Alltoall bytes=100000 mpi=2000000 site=2
    40000000 Allreduce bytes=8 op=1 mpi=20000 site=3
  }
  tail 5000000
"""


@pytest.mark.parametrize("divisor", [1.7, 2.5, 10, 45, 300])
def test_few_long_iterations_meet_any_time(divisor: float) -> None:
    known = signature(FEW)
    target_s = known.application_s / divisor
    made = plan_for_time(lambda k: plan(known, k), divisor, target_s)
    assert made.report.expected_s == pytest.approx(target_s, rel=0.15)


def test_the_shortest_time_is_named_and_met() -> None:
    known = signature(FEW)

    def planned(target_s: float) -> float:
        factor = known.application_s / target_s
        made = plan_for_time(lambda k: plan(known, k), factor, target_s)
        return made.report.expected_s

    with pytest.raises(UsageError, match="the shortest skeleton takes") as refused:
        planned(20e-6)
    found = re.search(r"takes ([\d.]+) (ms|us)$", str(refused.value))
    assert found
    shortest_s = float(found[1]) * {"ms": 1e-3, "us": 1e-6}[found[2]]
    assert planned(1.01 * shortest_s) == pytest.approx(shortest_s, rel=0.17)
