"""Skeletons poll where the application polled, and sleep between polls as it did."""

from __future__ import annotations

from pathlib import Path

from skelgen.signature import store
from skelgen.skeleton.emit.skeleton_files import render
from skelgen.skeleton.plan import plan
from tests.plans import CALIBRATION
from tests.skeletons import signature

ASKS = """
ranks 2
rank 0
repeat 100 {
  3000000 Send to=1 tag=0 bytes=64
  10 Recv from=1 tag=0 bytes=64
}
rank 1
repeat 100 {
ASKING
}
"""
BY_TEST = """
  100 Irecv from=0 tag=0 bytes=64 as=r
  100 Test failed bytes=POLLS mpi=10
  GAP Test failed bytes=POLLS mpi=10
  GAP Test of=r mpi=10
  2000000 Send to=0 tag=0 bytes=64
"""
BY_TWO = """
  100 Irecv from=0 tag=0 bytes=64 as=r
  100 Isend to=0 tag=0 bytes=64 as=s
  100 Testall failed bytes=POLLS mpi=10
  GAP Testall failed bytes=POLLS mpi=10
  GAP Testall of=r,s mpi=10
"""
BY_PROBE = """
  100 Iprobe from=0 tag=0 failed bytes=POLLS mpi=10
  GAP Iprobe from=0 tag=0 mpi=10
  10 Recv from=0 tag=0 bytes=64 mpi=10
  2000000 Send to=0 tag=0 bytes=64
"""
NAPS = "10 sleep=500000"


def text_of(asking: str, gap: str, folder: Path, polls: int = 1) -> str:
    """Return the skeleton of a rank that asks for messages, from a stored signature."""
    lines = []
    for line in asking.replace("POLLS", str(polls)).splitlines():
        before, _, pause = gap.partition(" ")
        waits = f"{line.replace('GAP', before)} {pause}" if "GAP" in line else line
        lines.append(waits)
    made = signature(ASKS.replace("ASKING", "\n".join(lines)))
    store.save(made, folder / "signature.yaml")
    found, again = (
        render(plan(one, 10), calibration=CALIBRATION)["skeleton.c"]
        for one in (made, store.load(folder))
    )
    assert found == again
    return found


def test_a_rank_that_sleeps_between_its_tests(tmp_path: Path) -> None:
    text = text_of(BY_TEST, NAPS, tmp_path)
    assert "poll_for(&request[0], 500);" in text
    assert "nanosleep" in text
    assert "idle(" not in text  # nothing sleeps for a fixed time
    assert "MPI_Wait(&request" not in text


def test_a_rank_that_tests_again_at_once(tmp_path: Path) -> None:
    assert "poll_for(&request[0], 0);" in text_of(BY_TEST, "10", tmp_path, 500)


def test_a_rank_that_naps_once_in_a_while(tmp_path: Path) -> None:
    """It sleeps half of its wait, and asks often before that."""
    text = text_of(BY_TEST, NAPS, tmp_path, polls=5)
    assert "poll_for(&request[0], 100);" in text


def test_a_rank_that_asks_for_several_requests(tmp_path: Path) -> None:
    text = text_of(BY_TWO, NAPS, tmp_path)
    assert "poll_for_all(2, &request[0], 500);" in text


def test_a_rank_that_sleeps_until_there_is_a_message(tmp_path: Path) -> None:
    text = text_of(BY_PROBE, NAPS, tmp_path)
    asked, received = (
        text.index(word)
        for word in ("poll_for_message(peer(1), 0, world.comm", "Recv(")
    )
    assert asked < received


def test_a_rank_that_finds_at_once_what_it_asks_for(tmp_path: Path) -> None:
    """It would wait by asking again, not inside MPI."""
    first, second = (
        f"  {gap} Test failed bytes=POLLS mpi=10\n" for gap in (100, "GAP")
    )
    by_test = BY_TEST.replace(first, "").replace(second, "")
    assert "poll_for(&request[0], 0);" in text_of(by_test, "10", tmp_path)
    probe = BY_PROBE.replace(
        "  100 Iprobe from=0 tag=0 failed bytes=POLLS mpi=10\n", ""
    )
    for name in ("Iprobe", "Probe"):
        text = text_of(probe.replace("Iprobe", name), "10", tmp_path)
        assert "poll_for_message(peer(1), 0, world.comm, " in text


def test_one_look_before_some_waits_is_chance(tmp_path: Path) -> None:
    waits = BY_TEST.replace("Test of=r", "Wait of=r")
    waits = waits.replace("  GAP Test failed bytes=POLLS mpi=10\n", "")
    assert "poll_for(" in text_of(waits, "10", tmp_path)
    seldom = text_of(
        waits.replace("  100 Test failed bytes=POLLS mpi=10\n", ""), "10", tmp_path
    )
    assert "poll_for" not in seldom
    assert "MPI_Wait(&request" in seldom
