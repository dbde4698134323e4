"""Plans: K, errors, the report, and the same plan from a stored signature."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import numpy as np
import pytest

from skelgen.errors import InputError, UsageError
from skelgen.loops import expand
from skelgen.signature import store
from skelgen.skeleton.plan import plan
from skelgen.skeleton.types import Plan
from tests.random_programs import random_program
from tests.skeletons import signature

STEPS = """
ranks 4
rank *
  30000 Bcast root=0 bytes=64 site=1
  repeat 20 {
    repeat 15 {
      8000 Irecv from=-1 tag=1 bytes=800 as=r site=2
      Send to=+1 tag=1 bytes=800 site=3
      500 Wait of=r site=4
    }
    2000 Allreduce bytes=8 op=1 site=5
  }
  tail 10000
"""


def as_values(made: Plan) -> list[object]:
    """Return all of a plan's programs as plain values."""
    return [
        (
            program.ranks,
            program.nest.body_items.tolist(),
            program.nest.symbol.tolist(),
            program.nest.trips.tolist(),
            program.tail_ns.tolist(),
            [
                (
                    operation.symbol,
                    operation.leaf,
                    operation.ages,
                    operation.occurrences,
                    operation.compute_ns.values.tolist(),
                    operation.size_bytes.values.tolist(),
                    operation.receive_bytes.tolist(),
                    operation.peers.tolist(),
                    operation.vectors.tolist(),
                )
                for operation in program.operations
            ],
        )
        for program in made.programs
    ]


def test_loops_stay_loops_and_ranks_share_a_program() -> None:
    made = plan(signature(STEPS), 5)
    assert [program.ranks for program in made.programs] == [(0, 1, 2, 3)]
    nest = made.programs[0].nest
    assert nest.trips.tolist() == [[4, 1], [15, 4]]
    assert len(made.programs[0].operations) == 4


def test_occurrences_count_the_nest() -> None:
    for seed in range(20):
        made = plan(signature(random_program(random.Random(seed))), 2)
        for program in made.programs:
            counted = np.bincount(
                expand(program.nest), minlength=len(program.operations)
            )
            stated = [operation.occurrences for operation in program.operations]
            assert counted.tolist() == stated


def test_every_rank_has_one_program() -> None:
    for seed in range(20):
        known = signature(random_program(random.Random(seed)))
        made = plan(known, 2)
        ranks = sorted(rank for program in made.programs for rank in program.ranks)
        assert ranks == list(range(known.ranks))


def test_a_stored_signature_gives_the_identical_plan(tmp_path: Path) -> None:
    for seed in range(15):
        known = signature(random_program(random.Random(seed), calls=250))
        if known.events < 150:
            continue
        store.save(known, tmp_path / f"{seed}.yaml")
        loaded = store.load(tmp_path / f"{seed}.yaml")
        for factor in (1.5, 4):
            one, other = plan(known, factor), plan(loaded, factor)
            assert as_values(one) == as_values(other)
            assert one.report == other.report


def test_planning_twice_gives_the_same_plan() -> None:
    known = signature(random_program(random.Random(5)))
    assert as_values(plan(known, 3)) == as_values(plan(known, 3))


def test_nearly_the_whole_application_is_kept_when_k_is_nearly_one() -> None:
    known = signature(STEPS)
    made = plan(known, 1.0001)
    assert made.report.fraction > 0.995
    assert made.report.expected_s == pytest.approx(known.application_s, rel=0.01)
    assert all(found.error < 0.005 for found in made.report.classes)


@pytest.mark.parametrize("factor", [1, 0.5, 0, -3, float("nan")])
def test_k_must_be_more_than_one(factor: float) -> None:
    with pytest.raises(UsageError, match="not more than 1"):
        plan(signature(STEPS), factor)


def test_k_beyond_what_calls_allow_names_the_largest_that_is_met() -> None:
    known = signature(STEPS)
    (text,) = [t for t in plan(known, 1e6).report.warnings if "is not met" in t]
    met = float(text.rpartition("take K <= ")[2])
    report = plan(known, 0.95 * met).report
    assert report.expected_s * 0.95 * met == pytest.approx(
        known.application_s, rel=0.105
    )


def test_hardly_any_calls_stay_where_computation_is_divided() -> None:
    known = signature(
        "ranks 2\nrank *\nBarrier\n9000000 Bcast root=0 bytes=64\ntail 1000000"
    )
    report = plan(known, 10).report
    assert report.expected_s == pytest.approx(known.application_s / 10, rel=0.01)
    assert "1/K of the computation" in report.divided


def test_a_run_without_communication_is_refused() -> None:
    with pytest.raises(InputError, match="no calls"):
        plan(signature("ranks 2\nrank *\nSend to=null tag=1 bytes=8"), 1.5)


def test_a_signature_whose_counts_were_edited_is_refused() -> None:
    known = signature(STEPS)
    group = dataclasses.replace(known.groups[0], count=known.groups[0].count + 1)
    with pytest.raises(InputError):
        plan(dataclasses.replace(known, groups=(group,)), 4)


def test_calls_that_no_longer_fit_each_other_are_refused_or_left_out() -> None:
    known = signature(STEPS)
    symbols = known.symbols.copy()
    sends = symbols["function"] == known.functions.index("MPI_Send")
    symbols["tag"][sends] += 1
    made = plan(dataclasses.replace(known, symbols=symbols), 4)
    assert any("without a partner" in reason for reason, _, _ in made.report.dropped)
    assert made.report.warnings


def test_partners_that_vary_are_those_of_the_kept_calls() -> None:
    rng = random.Random(1)
    order = [rng.randint(1, 3) for _ in range(300)]
    master = "\n".join(f"Recv from=*{worker} tag=1 bytes=8 site=1" for worker in order)
    workers = "\n".join(
        f"rank {worker}\nrepeat {order.count(worker)} {{\nSend to=0 tag=1 bytes=8\n}}"
        for worker in (1, 2, 3)
    )
    made = plan(signature(f"rank 0\n{master}\n{workers}"), 10)
    receive = made.programs[0].operations[0]
    assert len(receive.peers) == receive.occurrences == 30
    sent = {
        program.ranks[0]: program.operations[0].occurrences
        for program in made.programs[1:]
    }
    assert {w: receive.peers.tolist().count(w) for w in (1, 2, 3)} == sent
