"""Computations between calls, told apart by the places that they lie between."""

from __future__ import annotations

import platform
from types import SimpleNamespace

import pytest

from skelgen.errors import UsageError
from skelgen.pipeline.gaps import check_here, gaps_of
from tests import builders

LOOP = """
rank *
  5 Barrier site=1
  repeat 3 {
    10 Allreduce bytes=8 op=1 site=2
    20 Barrier site=3 queued=7 sleep=2
  }
  30 Allreduce bytes=8 op=1 site=2
  40 Allreduce bytes=4096 op=1 site=2
"""


def test_computations_between_the_same_places_have_one_leaf():
    gaps = gaps_of(builders.events("ranks 2" + LOOP))
    first, second = gaps[: len(gaps) // 2], gaps[len(gaps) // 2 :]
    assert first["cpu_ns"].tolist() == [5, 10, 20, 10, 20, 10, 20, 30, 40]
    assert second["cpu_ns"].tolist() == first["cpu_ns"].tolist()
    setup, begin, solve, again, *_ = first["leaf"].tolist()
    # The first iteration comes from elsewhere; the last call behind the loop does not.
    assert first["leaf"].tolist() == [
        *(setup, begin, solve, again, solve, again, solve, again),
        first["leaf"][-1],
    ]
    assert len({*first["leaf"].tolist()}) == 5
    assert not set(first["leaf"].tolist()) & set(second["leaf"].tolist())


def test_a_computation_lasts_from_call_to_call_with_what_others_took():
    gaps = gaps_of(builders.events("ranks 2" + LOOP))
    lasted = (gaps["end_ns"] - gaps["begin_ns"]).tolist()
    assert lasted[: len(lasted) // 2] == [5, 10, 29, 10, 29, 10, 29, 30, 40]


def test_a_rank_without_calls_has_no_computations():
    gaps = gaps_of(builders.events("ranks 2\nrank 1\n 5 Comm_rank\n"))
    assert gaps["cpu_ns"].tolist() == [5]


def test_ranks_elsewhere_are_refused():
    def file_of(host: str) -> SimpleNamespace:
        return SimpleNamespace(header=SimpleNamespace(host=host))

    check_here([file_of(platform.node())])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="ranks ran on b, c, where nothing competes"):
        check_here([file_of(one) for one in ("c", "b")])  # type: ignore[misc]
