"""Skeletons by the rules of the 2005 paper, to the letter, or refused."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import InputError, UsageError
from skelgen.signature import Signature
from skelgen.skeleton.emit.skeleton_files import render
from skelgen.skeleton.methods import METHODS, planner
from skelgen.skeleton.paper2005.division import loop_shares
from skelgen.skeleton.paper2005.plan import plan_2005
from skelgen.skeleton.plan import plan
from skelgen.skeleton.proof.simulation import simulate
from skelgen.skeleton.quantities.series import series_sums
from skelgen.skeleton.types import Plan
from tests.plans import CALIBRATION
from tests.random_programs import random_program
from tests.skeletons import script, signature

RING = """
ranks 2
rank *
  9000 Bcast root=0 bytes=1000 site=1
  repeat 23 {
    5000 Irecv from=-1 tag=1 bytes=800 as=r site=2
    100 Send to=+1 tag=1 bytes=800 site=3
    30 Wait of=r site=4
  }
  tail 1000
"""
NESTED = """
ranks 2
rank *
  repeat 3 {
    repeat 12 {
      400 Allreduce bytes=8000 op=1 site=1
    }
    700 Barrier site=2
  }
"""


@dataclass(frozen=True)
class Kept:
    """An operation on rank 0: how often, with which bytes, after what computation."""

    function: str
    often: int
    size_bytes: float
    compute_ns: float


def kept(made: Plan) -> list[Kept]:
    """Return the operations of rank 0 that do something by themselves."""
    found = []
    for operation in made.programs[0].operations:
        name = made.functions[made.symbols["function"][operation.symbol]]
        size, compute = (
            float(series.values[0, 0])
            for series in (operation.size_bytes, operation.compute_ns)
        )
        found.append(
            Kept(name.removeprefix("MPI_"), operation.occurrences, size, compute)
        )
    return found


def compute_ns(made: Plan, rank: int) -> float:
    """Return all computation of a rank of a skeleton [ns]."""
    for program in made.programs:
        if rank in program.ranks:
            row = program.ranks.index(rank)
            return float(program.tail_ns[row]) + sum(
                float(series_sums(one.compute_ns.values, one.occurrences)[row])
                for one in program.operations
            )
    raise AssertionError(f"no program of rank {rank}")


def recorded_ns(known: Signature, rank: int) -> float:
    """Return all computation of a rank of the application [ns]."""
    (group,) = (group for group in known.groups if rank in group.ranks)
    row = group.ranks.index(rank)
    return float(group.compute_ns.total[:, row].sum() + group.tail_ns[row])


def test_iterations_are_divided_and_the_remainder_is_unrolled() -> None:
    assert loop_shares(7, 1 / 3) == {0: 1.0, 1: 1.0, 6: 1 / 3}
    assert loop_shares(2, 1 / 3) == {0: 1 / 3, 1: 1 / 3}
    assert loop_shares(4, 1.0) == dict.fromkeys(range(4), 1.0)
    assert loop_shares(4, 0.0) == {}


def test_calls_of_the_remainder_keep_a_part_of_their_bytes_and_computation() -> None:
    assert kept(plan_2005(signature(RING), 5)) == [
        Kept("Bcast", 1, 200, 9000 / 5),
        Kept("Irecv", 4, 800, 5000),
        Kept("Send", 4, 800, 100),
        Kept("Wait", 4, 0, 30),
        Kept("Irecv", 3, 160, 5000 / 5),
        Kept("Send", 3, 160, 100 / 5),
        Kept("Wait", 3, 0, 30 / 5),
    ]


def test_k_equal_calls_outside_reduced_loops_become_one_of_the_same_size() -> None:
    """Three iterations are unrolled; 2 + 2 + 2 inner ones remain, and 3 barriers."""
    assert kept(plan_2005(signature(NESTED), 5)) == [
        Kept("Allreduce", 6, 8000, 400),
        Kept("Allreduce", 1, 8000, 400),
        Kept("Barrier", 3, 0, 700 / 5),
        Kept("Allreduce", 1, 1600, 400 / 5),
    ]


def test_computation_becomes_its_average() -> None:
    text = "ranks 2\nrank *\n" + "".join(
        f"{work} Allreduce bytes=8 op=1 site=1\n" for work in (100, 900, 200, 800) * 5
    )
    assert kept(plan_2005(signature(text), 4)) == [Kept("Allreduce", 5, 8, 500)]


def test_what_persistent_requests_send_stays_whole() -> None:
    text = """
    ranks 2
    rank *
      Send_init to=+1 tag=1 bytes=800 as=s
      Recv_init from=-1 tag=1 bytes=800 as=r
      repeat 20 {
        Startall of=s,r
        Waitall of=s,r
      }
      Request_free of=s
      Request_free of=r
    """
    made = plan_2005(signature(text), 6)
    sizes = {one.function: one.size_bytes for one in kept(made)}
    assert sizes["Send_init"] == sizes["Recv_init"] == 800
    assert sum(one.often for one in kept(made) if one.function == "Startall") == 3 + 2


def test_equal_calls_at_different_places_of_the_program_are_equal() -> None:
    text = "ranks 2\nrank *\n" + "".join(
        f"{1000 * site} Allreduce bytes=80 op=1 site={site}\n" for site in (1, 2, 3)
    )
    assert kept(plan_2005(signature(text), 3)) == [Kept("Allreduce", 1, 80, 2000)]


def test_a_fractional_k_is_rounded() -> None:
    made = plan_2005(signature(RING), 4.7)
    assert made.scaling_factor == 5
    assert made.method == "paper2005"


@pytest.mark.parametrize("factor", [1.0, 1.4, float("nan"), 1e6])
def test_a_k_that_nothing_can_be_divided_by_is_refused(factor: float) -> None:
    with pytest.raises(UsageError):
        plan_2005(signature(RING), factor)


def test_an_unknown_method_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="whole-events or paper2005"):
        planner("paper2006")
    assert set(METHODS) == {"whole-events", "paper2005"}


def test_one_sided_communication_is_refused() -> None:
    text = """
    window w members=0,1
    rank *
      repeat 10 {
        Put to=+1 bytes=8 comm=w:fence
        Win_fence comm=w:fence
      }
    """
    with pytest.raises(InputError, match=r"one-sided communication \(MPI_"):
        plan_2005(signature(text), 2)


ONE_CLASS_AND_TWO = """
rank 0
  repeat 3 {
    700 Recv from=*1 tag=1 bytes=8 site=1
  }
  repeat 3 {
    700 Recv from=1 tag=1 bytes=8 site=2
  }
rank 1
  repeat 6 {
    700 Send to=0 tag=1 bytes=8 site=3
  }
"""


def test_ranks_that_do_not_fit_each_other_any_more_are_refused() -> None:
    """Of six sends 1 + 2 remain, but of three receives of either kind all."""
    with pytest.raises(
        InputError, match="--method paper2005 gives no skeleton"
    ) as told:
        plan_2005(signature(ONE_CLASS_AND_TWO), 4)
    assert "\n" not in str(told.value)
    assert plan(signature(ONE_CLASS_AND_TWO), 4).report.fraction < 0.5


@given(
    st.integers(0, 2**32), st.sampled_from([2, 3, 4, 7, 15]), st.sampled_from([1, 4])
)
@settings(max_examples=25, deadline=None)
def test_it_is_refused_or_it_finishes_and_keeps_a_kth_of_the_computation(
    seed: int, factor: int, standard: int
) -> None:
    program = random_program(random.Random(seed), calls=150, standard=standard)
    known = signature(program)
    try:
        made = plan_2005(known, factor)
    except (InputError, UsageError) as refusal:
        assert "\n" not in str(refusal)
        return
    given_script = script(made)
    assert simulate(given_script, rendezvous=True).sound
    assert simulate(given_script, rendezvous=False).sound
    for rank in range(known.ranks):
        target = recorded_ns(known, rank) / factor
        assert compute_ns(made, rank) == pytest.approx(target, rel=1e-9, abs=1e-3)
    again = render(plan_2005(known, factor), calibration=CALIBRATION)
    assert again == render(made, calibration=CALIBRATION)
    try:
        assert plan(known, factor).report.fraction > 0
    except UsageError as nothing:  # so few calls that whole events leave none
        assert "leaves no call" in str(nothing)
