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


def test_a_k_that_leaves_nothing_is_refused_with_the_number_of_calls() -> None:
    begun = draft(RING, 1000)
    with pytest.raises(UsageError, match=f"leaves no call of {len(begun.calls)}"):
        WholeEvents().rewrite(begun)
