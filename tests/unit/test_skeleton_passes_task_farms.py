"""Task farms are looked for where calls receive from any source."""

from __future__ import annotations

from skelgen.skeleton.passes.call_quantities import CallQuantities
from skelgen.skeleton.passes.finishing import Proof
from skelgen.skeleton.passes.task_farms import TaskFarms
from skelgen.skeleton.passes.whole_events import WholeEvents
from tests.skeletons import draft
from tests.unit.test_skeleton_task_farm_patterns import answer_of_a_byte, text_of

STEPS = (WholeEvents(), CallQuantities(), Proof())
FARM = text_of(answer_of_a_byte)
KNOWN = FARM.replace("from=*", "from=")


def test_a_program_without_receives_from_any_source_has_no_farm() -> None:
    assert TaskFarms().applies(draft(FARM, 2))
    assert not TaskFarms().applies(draft(KNOWN, 2))


def test_a_farm_is_written_otherwise_and_leaves_no_doubt() -> None:
    before = draft(FARM, 2, *STEPS)
    after = TaskFarms().rewrite(before)
    assert after.programs is before.programs
    assert after.served
    assert TaskFarms().doubts(after) == []


def test_a_farm_in_the_recorded_order_is_a_doubt() -> None:
    ordered = TaskFarms(in_recorded_order=True)
    after = ordered.rewrite(draft(FARM, 2, *STEPS))
    assert not after.served
    assert [one.rank for one in after.dealers] == [0]
    (doubt,) = ordered.doubts(after)
    assert "as often as in the recording" in doubt
