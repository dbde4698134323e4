"""Polls of a rank that works are computation; those of one that waits are not."""

from __future__ import annotations

import pytest

from tests.unit.test_symbols_times import inside, times_of

PARTNER = """
    rank 1
      Recv from=0 tag=2 bytes=8
      Send to=0 tag=1 bytes=8
"""


def test_polls_before_a_call_that_waits_for_nobody_are_computation() -> None:
    symbols = times_of(f"""
        rank 0
          5 Iprobe failed bytes=1 mpi=10
          20 Iprobe failed bytes=1 mpi=11
          30 Send to=1 tag=2 bytes=8 mpi=40
          50 Recv from=1 tag=1 bytes=8 mpi=12
        {PARTNER}
    """)
    assert inside(symbols, 4) == [5 + 10 + 20 + 11 + 30, 50]
    assert symbols.waiting_ns.tolist() == []


@pytest.mark.parametrize(
    "asked", ["Recv from=1 tag=1 bytes=8", "Wait of=r"], ids=["received", "completed"]
)
def test_polls_before_the_call_that_waits_are_waiting(asked: str) -> None:
    post = "Irecv from=1 tag=1 bytes=8 as=r" if "Wait" in asked else "Comm_rank"
    symbols = times_of(f"""
        rank 0
          1 {post}
          2 Send to=1 tag=2 bytes=8
          5 Iprobe failed bytes=1 mpi=10
          20 Iprobe failed bytes=1 mpi=11
          30 {asked} mpi=12
        {PARTNER}
    """)
    assert inside(symbols, 5)[-1] == 5 + 30
    assert symbols.waiting_ns.tolist() == [10 + 20 + 11]


@pytest.mark.parametrize("found", ["Probe site=2", "Iprobe site=1"])
def test_a_message_that_a_probe_found_was_waited_for(found: str) -> None:
    symbols = times_of(f"""
        rank 0
          1 Send to=1 tag=2 bytes=8
          5 Iprobe failed bytes=1 mpi=10 site=1
          20 {found} mpi=11
          30 Irecv from=1 tag=1 bytes=8 as=r
          40 Wait of=r mpi=12
        {PARTNER}
    """)
    assert inside(symbols, 5) == [1, 5 + 30, 40]
    assert symbols.waiting_ns.tolist() == [10 + 20 + 11]


def test_each_stretch_between_two_symbols_is_judged_on_its_own() -> None:
    symbols = times_of(f"""
        rank 0
          5 Iprobe failed bytes=1 mpi=10
          20 Isend to=1 tag=2 bytes=8 as=s
          30 Test mpi=11
          40 Wait of=s mpi=12
          50 Test mpi=13
          60 Irecv from=1 tag=1 bytes=8 as=r
          70 Test mpi=14
          80 Wait of=r
        {PARTNER}
    """)
    assert inside(symbols, 8) == [5 + 10 + 20, 30 + 40, 50 + 13 + 60, 70 + 80]
    assert symbols.waiting_ns.tolist() == [11, 14]


def test_what_polls_behind_the_last_symbol_were_for_is_not_known() -> None:
    symbols = times_of(f"""
        rank 0
          1 Send to=1 tag=2 bytes=8
          2 Recv from=1 tag=1 bytes=8
          5 Iprobe failed bytes=1 mpi=10
          tail 80
        {PARTNER}
    """)
    assert symbols.tail_ns.tolist() == [5 + 80, 0]
    assert [one.time_ns for one in symbols.lost] == [10]


def test_polls_with_work_between_them_are_computation() -> None:
    """Those of one that only waits are behind them, and it asks again at once."""
    symbols = times_of(f"""
        rank 0
          1 Irecv from=1 tag=1 bytes=8 as=r
          2 Send to=1 tag=2 bytes=8
          90000 Test failed amid_work bytes=20 mpi=10
          9999 Test failed bytes=3 mpi=30
          10000 Test of=r mpi=11
        {PARTNER}
    """)
    assert inside(symbols, 5) == [1, 2, 90000 + 10 + 9999 + 10000]
    assert symbols.waiting_ns.tolist() == [30]
    assert symbols.polls.tolist() == [4]


@pytest.mark.parametrize(
    ("poll_ns", "gap_ns", "works"),
    [
        (10, 9999, False),
        (10, 10_000, True),
        (2000, 19_999, False),
        (2000, 20_000, True),
    ],
)
def test_one_poll_amid_work_is_computation(poll_ns, gap_ns, works) -> None:
    """Work is at least 10 us, and ten times as long as the poll."""
    symbols = times_of(f"""
        rank 0
          1 Irecv from=1 tag=1 bytes=8 as=r
          2 Send to=1 tag=2 bytes=8
          3 Test failed bytes=1 mpi={poll_ns}
          {gap_ns} Test of=r mpi=11
        {PARTNER}
    """)
    computed = 3 + (poll_ns + gap_ns if works else 0)
    assert inside(symbols, 4) == [1, 2, computed]
    assert symbols.waiting_ns.sum() == (0 if works else poll_ns + gap_ns)
    assert symbols.polls.tolist() == [1 if works else 2]


#: After each step rank 0 asks for a message, and sends when its own one is gone.
ASKS_AFTER_EACH_STEP = """
    rank 0
      1 Irecv from=1 tag=1 bytes=8 as=r site=1
      1 Isend to=1 tag=2 bytes=8 as=s site=2
      5 Testany failed bytes={first} mpi=1000 site=3
      6 Test of=s mpi=7 site=4
      1 Isend to=1 tag=2 bytes=8 as=t site=2
      5 Testany failed bytes={second} mpi=300 site=3
      8 Testany of=r mpi=9 site=3
      1 Wait of=t site=5
    rank 1
      Recv from=0 tag=2 bytes=8
      Recv from=0 tag=2 bytes=8
      Send to=0 tag=1 bytes=8
"""


def test_what_is_found_at_the_first_time_of_asking_was_not_waited_for() -> None:
    symbols = times_of(ASKS_AFTER_EACH_STEP.format(first=30, second=40))
    assert symbols.waiting_ns.sum() == 300 + 8
    assert sum(inside(symbols, 8)) == 1 + 1 + 5 + 1000 + 6 + 1 + 5 + 1


def test_polls_of_a_place_are_what_most_of_them_are() -> None:
    symbols = times_of(ASKS_AFTER_EACH_STEP.format(first=40, second=30))
    assert symbols.waiting_ns.sum() == 0
    assert sum(inside(symbols, 8)) == 1 + 1 + 5 + 1000 + 6 + 1 + 5 + 300 + 8 + 1
