"""What a page says of waiting and of uneven work."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skelgen.matching.waits import WaitKind, WaitState
from skelgen.signature import Signature
from skelgen.web.loop_tree import rows_of
from skelgen.web.wait_states import computation_of_ranks, waiting_of
from tests.golden.rewrite import signature_of

#: Rank 1 computes three times as long as rank 0.
UNEVEN = """
ranks 2
rank 0
  repeat 10 {
    1000000 Allreduce bytes=8 op=1 mpi=2000100
  }
rank 1
  repeat 10 {
    3000000 Allreduce bytes=8 op=1 mpi=100
  }
"""
EVEN = """
ranks 2
rank *
  repeat 10 {
    1000000 Allreduce bytes=8 op=1 mpi=2000000
  }
"""


def wait(signature: Signature, share: float, part: float, behind: int = 1) -> WaitState:
    time_s = share * signature.application_s * signature.ranks
    return WaitState(
        WaitKind.AT_COLLECTIVE, "MPI_Allreduce", 10, time_s, behind, part * time_s
    )


def test_the_computation_of_each_rank_is_its_own() -> None:
    found = computation_of_ranks(signature_of(UNEVEN, "uneven"))
    assert found.tolist() == pytest.approx([0.01, 0.03])


def test_the_rank_that_computes_most_is_named_with_the_imbalance() -> None:
    signature = signature_of(UNEVEN, "uneven")
    said = waiting_of(signature).balance
    assert "20 ms on average and 30 ms at most (rank 1): load imbalance 50.0%" in said
    assert "load imbalance 0.0%" in waiting_of(signature_of(EVEN, "even")).balance


def test_advice_names_call_share_and_the_rank_that_is_waited_for() -> None:
    signature = signature_of(UNEVEN, "uneven")
    said = waiting_of(signature, [wait(signature, 0.42, 0.9)]).advice
    assert said == (
        "42% of the time of all ranks is waiting in MPI_Allreduce (wait at "
        "collective), 90% of it behind rank 1, which computes 50% longer than the "
        "average."
    )


@pytest.mark.parametrize(
    ("text", "behind", "end"),
    [
        (UNEVEN, 0, "behind rank 0, which computes 50% less than the average."),
        (EVEN, 1, "computes about as long as the others do on average."),
        (EVEN, 99, "for different ranks in turn."),
    ],
)
def test_advice_says_what_that_rank_does(text: str, behind: int, end: str) -> None:
    signature = signature_of(text, "program")
    assert waiting_of(signature, [wait(signature, 0.4, 0.9, behind)]).advice.endswith(
        end
    )


def test_advice_blames_no_rank_where_none_is_late_most_of_the_time() -> None:
    signature = signature_of(EVEN, "even")
    said = waiting_of(signature, [wait(signature, 0.4, 0.4)]).advice
    assert said.endswith("for different ranks in turn.")


def test_little_waiting_has_no_advice_and_next_to_none_no_row() -> None:
    signature = signature_of(EVEN, "even")
    found = waiting_of(signature, [wait(signature, 0.04, 1), wait(signature, 1e-4, 1)])
    assert found.advice == ""
    assert [row.share for row in found.rows] == ["4.00 %"]


def test_a_single_rank_has_no_imbalance() -> None:
    signature = signature_of("ranks 1\nrank 0\n  1000 Barrier", "one")
    assert waiting_of(signature).balance == ""


def test_a_loop_of_several_ranks_tells_its_load_imbalance() -> None:
    signature = signature_of(UNEVEN, "uneven")
    (group,) = signature.groups
    (loop,) = [row for row in rows_of(signature, group) if row.children]
    assert loop.detail == "load imbalance 50%"
    alone = signature_of("ranks 1\nrank 0\n  repeat 9 {\n 1000 Barrier\n }", "one")
    (loop,) = [row for row in rows_of(alone, alone.groups[0]) if row.children]
    assert "imbalance" not in loop.detail


def test_waits_of_no_length_are_left_out() -> None:
    signature = signature_of(EVEN, "even")
    none = replace(wait(signature, 0.4, 1), time_s=0.0, behind_s=0.0)
    assert waiting_of(signature, [none]).rows == ()
