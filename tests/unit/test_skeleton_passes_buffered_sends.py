"""Skeletons of applications that rely on buffered sends."""

from __future__ import annotations

import pytest

from skelgen.errors import InputError
from skelgen.skeleton.plan import plan
from skelgen.skeleton.proof.simulation import simulate
from skelgen.skeleton.thresholds import MOST_MENDING_ROUNDS
from skelgen.skeleton.types import Plan
from tests.skeletons import script, signature

HEAD_TO_HEAD = """
ranks 2
rank *
  repeat 40 {
    1000 Send to=+1 tag=1 bytes=80 site=1
    Recv from=+1 tag=1 bytes=80 site=2
    Allreduce bytes=8 op=1 site=3
  }
"""
WAITS_TOO_EARLY = """
ranks 3
rank *
  repeat 40 {
    Isend to=+1 tag=1 bytes=80 site=1 as=s
    Wait of=s site=2
    Recv from=-1 tag=1 bytes=80 site=3
  }
"""
# Behind the first call that can wait, the receive is not yet posted.
FREED = """
rank 0
  repeat 20 {
    Send to=1 tag=1 bytes=8 site=1
    Barrier site=2
    Allreduce bytes=8 op=1 site=3
  }
rank 1
  repeat 20 {
    Barrier site=2
    Allreduce bytes=8 op=1 site=3
    Recv from=0 tag=1 bytes=8 site=4
  }
"""
CANNOT_FINISH = """
rank 0
  repeat 20 {
    Ssend to=1 tag=1 bytes=8 site=1
    Recv from=1 tag=1 bytes=8 site=2
  }
rank 1
  repeat 20 {
    Ssend to=0 tag=1 bytes=8 site=1
    Recv from=0 tag=1 bytes=8 site=2
  }
"""


def functions(made: Plan, rank: int) -> list[str]:
    program = next(p for p in made.programs if rank in p.ranks)
    names = [made.symbols["function"][o.symbol] for o in program.operations]
    return [made.functions[name].removeprefix("MPI_") for name in names]


def is_sound(made: Plan) -> bool:
    given = script(made)
    return all(simulate(given, rendezvous=way).sound for way in (True, False))


def test_sends_against_each_other_become_nonblocking() -> None:
    made = plan(signature(HEAD_TO_HEAD), 4)
    assert functions(made, 0) == ["Isend", "Recv", "Wait", "Allreduce"]
    assert is_sound(made)
    assert any("relies on buffered sends" in text for text in made.report.warnings)


def test_mending_keeps_computation_and_sizes() -> None:
    made = plan(signature(HEAD_TO_HEAD), 4)
    send = made.programs[0].operations[0]
    assert send.compute_ns.values[0, 0] * send.occurrences == pytest.approx(10_000)
    assert send.size_bytes.values.tolist() == [[80.0]] * 2
    inserted = made.programs[0].operations[2]
    assert (inserted.leaf, inserted.group, inserted.ages) == (-1, -1, (1,))


def test_a_completion_that_comes_too_early_is_taken_from_its_request() -> None:
    made = plan(signature(WAITS_TOO_EARLY), 4)
    assert functions(made, 0) == ["Isend", "Request_free", "Recv"]
    assert is_sound(made)


def test_a_send_that_no_later_completion_saves_is_freed() -> None:
    made = plan(signature(FREED), 4)
    assert "Request_free" in functions(made, 0)
    assert is_sound(made)


def test_a_call_site_with_hundreds_of_leaves_is_mended_as_one() -> None:
    """An operation of its own in each exchange keeps them apart."""
    exchanges = "\n".join(
        f"""
        Send to=+1 tag=1 bytes=80 site=1
        Recv from=+1 tag=1 bytes=80 site=2
        Allreduce bytes=8 op={op} site=3
        """
        for op in range(1, 3 * MOST_MENDING_ROUNDS)
    )
    made = plan(signature(f"ranks 2\nrank *\nrepeat 2 {{\n{exchanges}\n}}"), 1.2)
    assert simulate(script(made), rendezvous=True).sound
    sends = [made.functions[one] for one in made.symbols["function"]]
    assert "MPI_Isend" in sends


def test_what_cannot_finish_is_refused_with_its_cycle() -> None:
    with pytest.raises(InputError) as caught:
        plan(signature(CANNOT_FINISH), 4)
    text = str(caught.value)
    assert "rank 0 in MPI_Ssend" in text and "rank 1 in MPI_Ssend" in text
    assert "\n" not in text


def test_symbols_of_the_signature_stay_first() -> None:
    known = signature(HEAD_TO_HEAD)
    made = plan(known, 4)
    assert made.functions[: len(known.functions)] == known.functions
    assert (made.symbols[: len(known.symbols)] == known.symbols).all()
