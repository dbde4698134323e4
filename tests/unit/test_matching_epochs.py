"""Epochs of windows as whole matched events."""

from __future__ import annotations

import numpy as np

from skelgen.events import Calls
from skelgen.matching import match
from tests.builders import calls

FENCES = """
    ranks 2
    window w members=0,1
    rank *
      Win_fence comm=w:fence
      repeat 2 {
        Put to=+1 bytes=8 comm=w:fence
        Get to=+1 bytes=8 comm=w:fence
        Win_fence comm=w:fence
      }
"""


def events(some: Calls, rank: int) -> list[int]:
    """Return the event of each call of a rank."""
    matching = match(some)
    found: list[int] = matching.whole_event[
        some.first[rank] : some.first[rank + 1]
    ].tolist()
    return found


def test_an_operation_belongs_to_the_fence_that_ends_its_epoch() -> None:
    some = calls(FENCES)
    assert events(some, 0) == events(some, 1) == [0, 1, 1, 1, 2, 2, 2]


def test_an_operation_without_a_fence_behind_it_is_in_no_event() -> None:
    some = calls(FENCES + "\n Put to=+1 bytes=8 comm=w:fence")
    matching = match(some)
    assert events(some, 0)[-1] == -1
    assert len(matching.unmatched) == 2
    assert any("MPI_Put: 2 calls" in problem for problem in matching.problems)


def test_nobody_is_no_partner_in_an_epoch() -> None:
    some = calls(FENCES.replace("Get to=+1", "Get to=null"))
    assert events(some, 0) == [0, 1, -1, 1, 2, -1, 2]


def test_post_meets_start_and_complete_meets_wait() -> None:
    some = calls("""
        ranks 3
        window w members=0,1,2
        rank 0
          repeat 2 {
            Win_start partners=1,2 comm=w:pscw
            Put to=1 bytes=8 comm=w:pscw
            Win_complete partners=1,2 comm=w:pscw
          }
        rank 1,2
          repeat 2 {
            Win_post partners=0 comm=w:pscw
            Win_wait partners=0 comm=w:pscw
          }
    """)
    assert events(some, 0) == [0, 0, 0, 1, 1, 1]
    assert events(some, 1) == events(some, 2) == [0, 0, 1, 1]
    matching = match(some)
    pairs = np.stack([matching.send_call, matching.receive_call], axis=1).tolist()
    # Of each round: two Win_complete with their Win_wait, two Win_post with one start.
    assert pairs == [[2, 7], [2, 11], [5, 9], [5, 13], [6, 0], [8, 3], [10, 0], [12, 3]]
    assert not matching.message_bytes.any()


def test_a_post_that_nobody_starts_on_takes_its_wait_along() -> None:
    some = calls("""
        ranks 2
        window w members=0,1
        rank 0
          Barrier
        rank 1
          Win_post partners=0 comm=w:pscw
          Win_wait partners=0 comm=w:pscw
          Barrier
    """)
    assert events(some, 1)[:2] == [-1, -1]
    assert events(some, 0) == [0]


def test_a_locked_epoch_is_an_event_of_one_rank() -> None:
    some = calls("""
        ranks 2
        window w members=0,1
        rank *
          repeat 2 {
            Win_lock to=0 tag=1 comm=w:lock
            Win_lock to=1 tag=2 comm=w:lock
            Put to=1 bytes=8 comm=w:lock
            Win_unlock to=1 comm=w:lock
            Win_unlock to=0 comm=w:lock
          }
    """)
    assert events(some, 0) == [0] * 5 + [1] * 5
    assert events(some, 1) == [2] * 5 + [3] * 5


def test_in_an_epoch_that_lasts_each_call_stands_for_itself() -> None:
    some = calls("""
        ranks 2
        window w members=0,1
        rank *
          Put to=+1 bytes=8 comm=w:open
          Win_flush_all comm=w:open
          Barrier
    """)
    assert events(some, 0) == [0, 1, 2]
    assert events(some, 1) == [3, 4, 2]


def test_the_request_of_an_operation_is_completed_by_its_wait() -> None:
    some = calls("""
        ranks 2
        window w members=0,1
        rank *
          Rput to=+1 bytes=8 comm=w:open as=r
          Barrier
          Wait of=r
    """)
    assert match(some).collective_done.tolist() == [2, 1, -1, 5, 4, -1]


def test_a_persistent_request_between_does_not_count_for_an_operation() -> None:
    some = calls("""
        ranks 2
        window w members=0,1
        rank *
          Rput to=+1 bytes=8 comm=w:open as=r
          Send_init to=null tag=1 as=p
          Wait of=r
          Request_free of=p
    """)
    assert match(some).collective_done.tolist() == [2, -1, -1, -1, 6, -1, -1, -1]
