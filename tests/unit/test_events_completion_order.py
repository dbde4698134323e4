"""Completions that were found by polling come in one order; nothing else changes."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.events import Calls, Events, function_info
from skelgen.events.completion_order import in_canonical_order
from skelgen.events.functions import CallKind
from skelgen.events.poll_pools import is_poll, users_of
from skelgen.events.types import MOVED
from skelgen.matching import match
from skelgen.skeleton.plan import plan
from skelgen.skeleton.proof.simulation import simulate
from tests.builders import events
from tests.polling_programs import polling_program
from tests.random_programs import random_program
from tests.skeletons import script
from tests.summaries import ages, build, described

polling = st.randoms(use_true_random=False).map(polling_program)


def anchors(calls: Calls) -> np.ndarray:
    """Return the calls that neither look for requests nor stand for such calls."""
    return np.flatnonzero(~is_poll(calls)[calls.shape])


def completions(calls: Calls) -> list[tuple[int, int]]:
    """Return, for each request in order of creation, how many anchors come before."""
    users, creators = users_of(calls)
    before = np.searchsorted(anchors(calls), users)
    return sorted(zip(creators.tolist(), before.tolist(), strict=True))


def number_among_creators(calls: Calls, creators: list[int]) -> list[int]:
    """Return the numbers of calls among those that create requests."""
    creates = [function_info(name).creates for name in calls.functions]
    known = np.flatnonzero(np.array(creates)[calls.shapes["function"]][calls.shape])
    return np.searchsorted(known, creators).tolist()


@settings(max_examples=20)
@given(polling)
def test_every_request_is_completed_once_after_its_post_and_no_earlier(
    before: Events,
) -> None:
    after = in_canonical_order(before)
    old, new = completions(before.calls), completions(after.calls)
    assert number_among_creators(before.calls, [one for one, _ in old]) == (
        number_among_creators(after.calls, [one for one, _ in new])
    )
    for (_, earlier), (_, later) in zip(old, new, strict=True):
        assert later >= earlier
    users, creators = users_of(after.calls)
    assert (users > creators).all()


@settings(max_examples=20)
@given(polling)
def test_all_other_calls_and_all_times_stay(before: Events) -> None:
    after = in_canonical_order(before)
    assert np.diff(after.calls.first).sum() == len(after.calls)
    old, new = anchors(before.calls), anchors(after.calls)
    for column in ("shape", "size_bytes"):
        assert np.array_equal(
            getattr(before.calls, column)[old], getattr(after.calls, column)[new]
        )
    assert np.array_equal(before.enter_ns[old], after.enter_ns[new])
    assert (after.compute_ns >= 0).all()
    for one, other in zip(
        pairwise(before.calls.first), pairwise(after.calls.first), strict=True
    ):
        spent, now = before.compute_ns[slice(*one)], after.compute_ns[slice(*other)]
        assert spent.sum() == now.sum()
        inside = (before.leave_ns - before.enter_ns)[slice(*one)].sum()
        assert inside == (after.leave_ns - after.enter_ns)[slice(*other)].sum()
        assert (np.diff(after.enter_ns[slice(*other)]) >= 0).all()


@settings(max_examples=20)
@given(polling)
def test_what_is_in_order_stays_as_it_is(before: Events) -> None:
    after = in_canonical_order(before)
    assert in_canonical_order(after) is after


@settings(max_examples=10)
@given(polling, st.sampled_from((1.01, 1.5, 2.0, 4.0)))
def test_programs_still_finish_with_rendezvous_sends(
    before: Events, factor: float
) -> None:
    after = in_canonical_order(before)
    assert match(after.calls).problems == ()
    made = script(plan(build(after).signature, factor))
    assert simulate(made, rendezvous=True).sound
    assert simulate(made, rendezvous=False).sound


@settings(max_examples=10)
@given(polling)
def test_computation_is_neither_lost_nor_made(before: Events) -> None:
    after = in_canonical_order(before)
    old, new = build(before).symbols, build(after).symbols
    spent = [one.compute_ns.sum() + one.tail_ns.sum() for one in (old, new)]
    assert spent[0] == pytest.approx(spent[1], rel=0.02, abs=20_000)


def test_a_sweep_folds_whatever_its_polls_found() -> None:
    rng = random.Random(7)
    text = ["ranks 2"]
    body: list[str] = []
    for _ in range(40):
        body += ["repeat 10 {", "Irecv from=0 tag=0 bytes=8 site=1", "}"]
        found = worked = 0
        while worked < 10:
            if found < 10 and (found == worked or rng.random() < 0.5):
                some = rng.randint(1, 10 - found)
                names = [str(10 - i) for i in range(found, found + some)]
                body.append(f"Testsome ages={','.join(names)} site=2")
                found += some
            body.append("200000 Send to=0 tag=1 bytes=8 site=3")
            worked += 1
    other = ["repeat 40 {", "repeat 10 {", "Isend to=1 tag=0 bytes=8", "}"]
    other += ["repeat 10 {", "Recv from=1 tag=1 bytes=8", "}"]
    other += ["Waitall ages=10,9,8,7,6,5,4,3,2,1", "}"]
    before = events("\n".join([*text, "rank 0", *other, "rank 1", *body]))
    after = in_canonical_order(before)
    least = [len(build(one).signature.groups[1].nest) for one in (before, after)]
    assert least[0] > 300
    assert least[1] <= 30


def test_a_completion_waits_where_the_latest_of_all_times_needed_it() -> None:
    # The first time both are found before the first send, the second time one by one.
    before = events(
        """
        ranks 2
        rank 0
          repeat 2 {
            Send to=1 bytes=8
            Send to=1 bytes=8
            Recv from=1 bytes=8
            Recv from=1 bytes=8
          }
        rank 1
          Irecv from=0 bytes=8 site=1
          Irecv from=0 bytes=8 site=1
          Testsome ages=2,1 site=2
          300000 Send to=0 bytes=8 site=3
          300000 Send to=0 bytes=8 site=3
          Irecv from=0 bytes=8 site=1
          Irecv from=0 bytes=8 site=1
          Testsome ages=2 site=2
          300000 Send to=0 bytes=8 site=3
          Testsome ages=1 site=2
          300000 Send to=0 bytes=8 site=3
        """
    )
    symbols = build(after := in_canonical_order(before)).symbols
    once = ["Irecv", "Irecv", "Waitsome", "Send", "Waitsome", "Send"]
    assert [
        name.replace("Waitall", "Waitsome") for name in described(symbols, after, 1)
    ] == once * 2
    assert ages(symbols, after, 1) == [[2], [1]] * 2


@pytest.mark.parametrize("seed", range(20))
def test_programs_that_do_not_poll_by_chance_are_the_same_object(seed: int) -> None:
    before = random_program(random.Random(seed))
    polls = is_poll(before.calls)[before.calls.shape]
    if not polls.any():
        assert in_canonical_order(before) is before


@pytest.mark.parametrize("seed", range(20))
def test_any_program_still_finishes(seed: int) -> None:
    after = in_canonical_order(random_program(random.Random(seed)))
    assert match(after.calls).problems == ()
    signature = build(after).signature
    if any(group.count.sum() for group in signature.groups):
        made = script(plan(signature, 1.01))
        assert simulate(made, rendezvous=True).sound


def test_polls_whose_find_moved_complete_nothing() -> None:
    after = in_canonical_order(polling_program(random.Random(3), rounds=20))
    moved = (after.calls.shapes["flags"] & MOVED) != 0
    assert moved.any()
    assert not after.calls.ages[moved[after.calls.shape]].any()
    kinds = [function_info(name).kind for name in after.calls.functions]
    completing = np.array(kinds)[after.calls.shapes["function"]] == CallKind.COMPLETE
    assert completing[moved].all()
