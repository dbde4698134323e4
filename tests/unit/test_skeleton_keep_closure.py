"""Kept calls are whole matched events with all their posts and completions."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.skeleton.keep.closure import close
from tests.random_programs import random_program
from tests.skeletons import flaws_of_kept_set, kept_functions, parts

NONBLOCKING = """
ranks 2
rank *
  repeat 12 {
    Irecv from=+1 tag=1 bytes=8 as=a site=1
    Irecv from=+1 tag=2 bytes=8 as=b site=2
    Isend to=+1 tag=1 bytes=8 as=c site=3
    Isend to=+1 tag=2 bytes=8 as=d site=4
    Waitall of=a,b,c,d site=5
  }
"""


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 10**9), st.sampled_from([1.05, 1.5, 2, 3, 5, 9, 20]))
def test_kept_sets_of_random_programs_are_whole(seed: int, factor: float) -> None:
    found = parts(random_program(random.Random(seed), calls=200), factor)
    assert flaws_of_kept_set(found) == []


def test_completions_keep_only_kept_requests() -> None:
    found = parts(NONBLOCKING, 2)
    chosen = found.chosen.copy()
    # Drop one message each way: half of each Waitall goes with them.
    function = found.calls.shape[found.units.anchor]
    chosen[np.isin(function, function[[1, 3]])] = False
    kept = close(found.calls, found.matching, found.units, chosen)
    assert np.diff(kept.age_first).max() == 2
    assert set(kept.ages.tolist()) == {1, 2}


def test_a_waitall_vanishes_with_its_last_request() -> None:
    found = parts(NONBLOCKING, 6)
    for rank in range(2):
        assert kept_functions(found, rank) == 2 * [
            "Irecv",
            "Irecv",
            "Isend",
            "Isend",
            "Waitall",
        ]


def test_a_persistent_request_stays_with_its_starts() -> None:
    found = parts(
        """
        ranks 2
        rank *
          Send_init to=+1 tag=1 bytes=8 as=s
          Recv_init from=+1 tag=1 bytes=8 as=r
          repeat 10 {
            Start of=r
            Start of=s
            Waitall of=r,s
          }
          Request_free of=s
          Request_free of=r
        """,
        5,
    )
    assert kept_functions(found, 0) == [
        "Send_init",
        "Recv_init",
        *["Start", "Start", "Waitall"] * 2,
        "Request_free",
        "Request_free",
    ]


def test_persistent_requests_without_kept_start_are_left_out() -> None:
    found = parts(
        """
        ranks 2
        rank *
          Send_init to=+1 tag=1 bytes=8 as=s
          Recv_init from=+1 tag=1 bytes=8 as=r
          Startall of=r,s
          Waitall of=r,s
          repeat 100 {
            Barrier
          }
          Request_free of=s
          Request_free of=r
        """,
        10,
    )
    assert set(kept_functions(found, 0)) == {"Barrier"}


def test_ages_count_kept_requests_only() -> None:
    found = parts(
        """
        ranks 2
        rank *
          repeat 40 {
            Irecv from=+1 tag=1 bytes=8 as=a site=1
            repeat 7 {
              Isend to=+1 tag=2 bytes=8 as=s site=2
              Recv from=+1 tag=2 bytes=8 site=3
              Wait of=s site=4
            }
            Send to=+1 tag=1 bytes=8 site=5
            Wait of=a site=6
          }
        """,
        40,
    )
    assert flaws_of_kept_set(found) == []
    assert kept_functions(found, 0).count("Irecv") == 1
