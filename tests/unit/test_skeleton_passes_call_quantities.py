"""Strings of calls become programs with bytes and computation."""

from __future__ import annotations

import pytest

from skelgen.skeleton.passes.call_quantities import CallQuantities
from skelgen.skeleton.passes.whole_events import WholeEvents
from tests.skeletons import draft

RING = """
ranks 3
rank *
  repeat 20 {
    1000 Send to=+1 tag=1 bytes=80
    Recv from=-1 tag=1 bytes=80
  }
"""


def test_nothing_is_assembled_before_calls_are_chosen() -> None:
    assert not CallQuantities().applies(draft(RING, 2))


def test_ranks_that_do_the_same_share_a_program_with_its_quantities() -> None:
    found = draft(RING, 2, WholeEvents(), CallQuantities())
    (program,) = found.programs
    assert program.ranks == (0, 1, 2)
    send, receive = program.operations
    assert (send.occurrences, receive.occurrences) == (10, 10)
    assert send.size_bytes.values.tolist() == [[80.0]] * 3
    assert receive.receive_bytes.tolist() == [80] * 3
    assert send.compute_ns.values.mean() == pytest.approx(1000)
    assert found.nodes is not None
    assert len(found.nodes) == 3 * 2
