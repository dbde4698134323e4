"""A K-th of the whole events stays, or the plan says why nothing does."""

from __future__ import annotations

import numpy as np
import pytest

from skelgen.errors import UsageError
from skelgen.skeleton.passes.whole_events import WholeEvents
from tests.skeletons import draft

RING = """
ranks 3
rank *
  repeat 20 {
    1000 Send to=>1 tag=1 bytes=80
    Recv from=<1 tag=1 bytes=80
  }
"""


@pytest.mark.parametrize("factor", [2, 4, 10])
def test_a_kth_of_the_calls_stays_in_the_recorded_order(factor: int) -> None:
    found = draft(RING, factor, WholeEvents())
    assert len(found.strings.call) == len(found.calls) // factor
    assert found.fraction == pytest.approx(1 / factor)
    assert (np.diff(found.strings.call) > 0).all()


def test_one_whole_iteration_stays_where_k_is_above_its_number() -> None:
    found = draft(RING, 1000, WholeEvents())
    assert len(found.strings.call) == 4  # two messages
    assert found.divided
    assert found.fraction == pytest.approx(1 / 1000)


def test_calls_without_partners_are_refused_with_their_number() -> None:
    alone = "repeat 50 {\nAllreduce bytes=8 comm=self\n}"
    begun = draft(f"ranks 2\nrank *\n{alone}\nrank 0\nSend to=1 tag=1 bytes=8", 4)
    with pytest.raises(UsageError, match=r"no call of \d \(10\d more of the run's 101"):
        WholeEvents().rewrite(begun)
