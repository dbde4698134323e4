"""Programs are simulated; those that do not finish are refused."""

from __future__ import annotations

import pytest

from skelgen.errors import InputError
from skelgen.skeleton.passes.call_quantities import CallQuantities
from skelgen.skeleton.passes.finishing import Proof, Refusal
from skelgen.skeleton.passes.whole_events import WholeEvents
from tests.skeletons import draft

STEPS = (WholeEvents(), CallQuantities(), Proof())
HEAD_TO_HEAD = """
ranks 2
rank *
  repeat 10 {
    1000 Ssend to=+1 tag=1 bytes=80
    Recv from=+1 tag=1 bytes=80
  }
"""
IN_TURN = """
rank 0
  repeat 10 {
    1000 Ssend to=1 tag=1 bytes=80
    Recv from=1 tag=1 bytes=80
  }
rank 1
  repeat 10 {
    1000 Recv from=0 tag=1 bytes=80
    Ssend to=0 tag=1 bytes=80
  }
"""


def test_programs_that_finish_have_no_flaw() -> None:
    found = draft(IN_TURN, 2, *STEPS)
    assert found.flaw is None
    assert not Refusal().applies(found)


def test_ranks_that_wait_for_each_other_are_named_and_refused() -> None:
    found = draft(HEAD_TO_HEAD, 2, *STEPS)
    assert found.flaw is not None
    assert found.flaw.stalled
    assert "rank 0 in MPI_Ssend with rank 1 waits for rank 1" in found.flaw.message
    assert Refusal().applies(found)
    with pytest.raises(InputError, match="cannot finish without buffers"):
        Refusal().rewrite(found)
