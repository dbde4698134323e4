"""What a dealer finds complete at once is complete one by one, as it turns to it."""

from __future__ import annotations

import random

import pytest

from skelgen.events.creations import rows_of
from skelgen.events.dealt_completions import one_by_one
from skelgen.events.functions import CallKind, function_info
from skelgen.events.types import MOVED
from skelgen.matching import match
from tests.builders import events
from tests.random_programs import random_program

SEVERAL = """
rank 0
  Irecv from=1 tag=2 bytes=8 as=r1
  Irecv from=2 tag=2 bytes=8 as=r2
  repeat 4 {
    700 {looks} of=r2,r1 mpi=5000
    30 Irecv from=2 tag=2 bytes=8 as=r2
    10 Send to=2 tag=1 bytes=4
    20 Irecv from=1 tag=2 bytes=8 as=r1
    10 Send to=1 tag=1 bytes=4
  }
  Waitall of=r1,r2
rank 1,2
  repeat 4 {
    Send to=0 tag=2 bytes=8
    Recv from=0 tag=1 bytes=4
  }
  Send to=0 tag=2 bytes=8
"""


@pytest.mark.parametrize("looks", ["Waitsome", "Testsome"])
def test_each_request_stands_where_the_dealer_turns_to_it(looks: str) -> None:
    before = events(SEVERAL.replace("{looks}", looks))
    after = one_by_one(before)
    own = slice(2, 9)
    functions = after.calls.shapes["function"][after.calls.shape[own]]
    names = [after.calls.functions[number] for number in functions]
    turn = [f"MPI_{looks}", "MPI_Irecv", "MPI_Send"]
    assert names == [f"MPI_{looks}", *turn, *turn]
    calls = after.calls
    _, ages = rows_of(calls.age_first, calls.age_values, calls.ages[own])
    assert ages.tolist() == [1, 3]
    assert after.calls.shapes["flags"][after.calls.shape[2]] & MOVED
    assert one_by_one(after) is after


def test_times_and_messages_stay() -> None:
    before = events(SEVERAL.replace("{looks}", "Waitsome"))
    after = one_by_one(before)
    assert len(after.calls) == len(before.calls) + 8
    every = slice(None)
    assert after.compute_ns.sum() == before.compute_ns.sum()
    assert after.spent_ns(every).sum() == before.spent_ns(every).sum()
    assert match(after.calls).problems == ()
    assert len(match(after.calls).send_call) == len(match(before.calls).send_call)


def test_what_nobody_answers_is_complete_at_the_next_call() -> None:
    text = SEVERAL.replace("{looks}", "Waitsome").replace("Waitall", "Waitsome")
    before = events(text + "rank *\nBarrier\n")
    after = one_by_one(before)
    last = after.calls.shapes["function"][after.calls.shape[: after.calls.first[1]]][
        -3:
    ]
    names = [after.calls.functions[number] for number in last]
    assert names == ["MPI_Waitsome", "MPI_Waitsome", "MPI_Barrier"]


@pytest.mark.parametrize("seed", range(10))
def test_programs_without_dealers_are_the_same_object(seed: int) -> None:
    before = random_program(random.Random(seed))
    kinds = {function_info(name).kind for name in before.calls.functions}
    after = one_by_one(before)
    assert after is before or CallKind.COMPLETE in kinds
    assert match(after.calls).problems == match(before.calls).problems
