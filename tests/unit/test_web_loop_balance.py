"""Load imbalance of loops: strips and numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

from skelgen.web.loop_balance import STRIP_HEIGHT, BalanceView, balance_view
from skelgen.web.page import page_of
from skelgen.web.render import render_page
from skelgen.web.wait_states import computation_of_ranks
from tests.golden.rewrite import signature_of

#: An even loop, then one in which rank 1 computes three times as long; they end
#: with different calls.
TWO_LOOPS = """
ranks 2
rank 0
  repeat 10 {
    1000000 Allreduce bytes=8 op=1 mpi=100
  }
  repeat 20 {
    1000000 Barrier mpi=2000100
  }
  10 Send to=1 tag=1 bytes=8
rank 1
  repeat 10 {
    1000000 Allreduce bytes=8 op=1 mpi=100
  }
  repeat 20 {
    3000000 Barrier mpi=100
  }
  10 Recv from=0 tag=1 bytes=8
"""


def view_of(text: str) -> BalanceView:
    signature = signature_of(text, "made")
    found = balance_view(computation_of_ranks(signature), signature)
    assert found is not None
    return found


def test_each_loop_has_its_numbers_and_the_ranks_that_have_them() -> None:
    found = view_of(TWO_LOOPS)
    rows = {row.name: row for row in found.rows}
    assert list(rows) == ["whole run", "loop 2", "loop 1"]
    uneven = rows["loop 2"]
    assert (uneven.ratio, uneven.trips, uneven.share) == ("1.50", "20", "80.0 %")
    assert (uneven.least, uneven.mean) == ("20 ms (rank 0)", "40 ms")
    assert uneven.most == "60 ms (rank 1)"
    assert rows["loop 1"].ratio == "1.00"
    assert rows["whole run"].ratio == "1.40"


def test_loops_of_ranks_with_different_calls_count_as_one_with_a_note() -> None:
    signature = signature_of(TWO_LOOPS, "made")
    assert len(signature.groups) == 2
    assert view_of(TWO_LOOPS).joined
    assert "Loops of ranks with different calls" in render_page(page_of(signature))


def test_loops_inside_are_named_by_their_place() -> None:
    text = """
    ranks 2
    rank *
      repeat 5 {
        1000 Allreduce bytes=8 op=1
        repeat 3 {
          1000000 Barrier
        }
      }
    """
    names = [row.name for row in view_of(text).rows]
    assert names == ["whole run", "loop 1", "loop 1.1"]


def test_bars_are_as_high_as_their_ranks_compute() -> None:
    found = balance_view(np.array([1.0, 2.0, 4.0, 0.0]))
    assert found is not None
    (row,) = found.rows
    assert re.findall(r"M(\d) (\d+)h1v(\d+)", row.mean_path) == [
        ("0", "30", "10"),
        ("1", "20", "20"),
        ("2", "0", "40"),
    ]
    assert row.most_path == ""
    assert row.mean_line == pytest.approx(STRIP_HEIGHT * (1 - 1.75 / 4), abs=0.1)


def test_thousands_of_ranks_share_bars_and_the_slowest_stays_in_sight() -> None:
    computed_s = np.ones(4096)
    computed_s[77] = 5.0
    found = balance_view(computed_s)
    assert found is not None
    (row,) = found.rows
    assert (found.each, row.bars) == (32, 128)
    assert row.most == "5 s (rank 77)"
    assert re.findall(r"M(\d+) 0h", row.most_path) == ["2"]
    assert len(row.mean_path) + len(row.most_path) < 5000


def test_a_single_rank_and_ranks_that_compute_nothing_have_no_strip() -> None:
    assert balance_view(np.ones(1)) is None
    assert balance_view(np.zeros(4)) is None
