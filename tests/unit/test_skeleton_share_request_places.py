"""Requests of skeletons: places that no two outstanding requests share."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.events.functions import CallKind
from skelgen.loops import Nest, fold
from skelgen.skeleton.share.request_places import (
    Lifetimes,
    RequestRole,
    lifetimes,
    places,
)
from tests.plans import Builder, Do, Loop

SEND = RequestRole(CallKind.ISEND, True, ())
RECEIVE = RequestRole(CallKind.IRECEIVE, True, (), receives=True)


def wait(*ages: int) -> RequestRole:
    return RequestRole(CallKind.COMPLETE, False, ages)


def nest_of(*items: Do | Loop) -> Nest:
    return Builder(1).program([0], *items).programs[0].nest


def test_requests_that_are_completed_in_each_trip_have_one_place() -> None:
    body = [Do("a"), Do("b"), Do("c")]
    found = lifetimes(nest_of(Loop(1000, body)), [RECEIVE, SEND, wait(2, 1)])
    assert found.spans == {0: 1, 1: 1}
    assert found.conflicts == {(0, 1)}
    assert found.references == {2: {((0, 0), (1, 0))}}
    assert not found.left


def test_a_loop_of_receives_needs_a_place_for_each_trip() -> None:
    nest = nest_of(Loop(5, [Loop(7, [Do("a")]), Do("b")]))
    found = lifetimes(nest, [RECEIVE, wait(*range(7, 0, -1))])
    assert found.spans == {0: 7}
    assert found.references[1] == {tuple((0, lag) for lag in range(6, -1, -1))}


def test_a_request_of_the_last_trip_keeps_its_place() -> None:
    nest = nest_of(Do("a"), Loop(50, [Do("b"), Do("c")]), Do("d"))
    found = lifetimes(nest, [SEND, RECEIVE, wait(2), wait(1)])
    assert found.spans == {0: 1, 1: 2}
    # First the send from before the loop, then the receive of the last trip.
    assert found.references[2] == {((0, 0),), ((1, 1),)}


def test_what_nothing_completes_is_left() -> None:
    found = lifetimes(nest_of(Do("a")), [SEND])
    assert found.left
    found = lifetimes(nest_of(Do("a")), [RequestRole(CallKind.SEND_INIT, True, ())])
    assert not found.left  # a persistent request is freed at the end


def test_persistent_requests_are_the_same_in_each_trip() -> None:
    init = RequestRole(CallKind.SEND_INIT, True, ())
    start = RequestRole(CallKind.START, False, (-1,))
    nest = nest_of(Do("a"), Loop(1000, [Do("b"), Do("c"), Do("d")]))
    found = lifetimes(nest, [init, start, RECEIVE, wait(-1, 1)])
    assert found.spans == {0: 1, 2: 1}
    assert found.conflicts == {(0, 2)}
    assert found.references == {1: {((0, 0),)}, 3: {((0, 0), (2, 0))}}
    assert not found.left


def test_trip_counts_that_change_are_followed_to_the_end() -> None:
    nest = nest_of(Loop(2, [Loop((1, 3), [Do("a")])]), Do("b"))
    found = lifetimes(nest, [RECEIVE, wait(4)])
    assert found.spans == {0: 4}


def test_long_loops_take_no_time() -> None:
    inner = Loop(10**9, [Do("a"), Do("b")])
    found = lifetimes(nest_of(Loop(10**9, [inner])), [SEND, wait(1)])
    assert found.spans == {0: 1}


def test_places_of_conflicting_needs_are_apart() -> None:
    found = places({0: 3, 1: 2, 2: 3, 3: 1}, {(0, 1), (1, 3), (0, 3)}, begin=10)
    assert found.first == {0: 10, 1: 13, 2: 10, 3: 15}
    assert found.cells == 16


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_no_outstanding_request_loses_its_place(rng: random.Random) -> None:
    roles, string = random_requests(rng)
    nest = fold(np.array(string, np.int32))
    found = lifetimes(nest, roles)
    slots = places(dict(found.spans), found.conflicts)
    completed = completed_at_last(roles, string)
    outstanding: dict[int, int] = {}
    own = [0] * len(roles)
    slot_of: list[int] = []
    for operation in string:
        role = roles[operation]
        done = [len(slot_of) - age for age in role.ages]
        if role.ages and len(found.references[operation]) == 1:
            told = stated(found, slots.first, own, operation)
            assert sorted(told) == sorted(slot_of[birth] for birth in done)
        for birth in done:
            assert outstanding.pop(slot_of[birth]) == birth
        if role.creates:
            turn = own[operation] % found.spans[operation]
            slot = slots.first[operation] + turn
            assert outstanding.get(slot) not in completed
            assert slot < slots.cells
            outstanding[slot] = len(slot_of)
            slot_of.append(slot)
            own[operation] += 1
    assert found.left == (len(completed) < len(slot_of))


@settings(max_examples=300, deadline=None)
@given(st.randoms(use_true_random=False))
def test_loops_have_the_lifetimes_of_their_calls_one_by_one(rng: random.Random) -> None:
    roles, string = random_requests(rng)
    assert lifetimes(fold(np.array(string, np.int32)), roles) == plain(roles, string)


def test_a_window_of_many_requests_has_one_place_for_each() -> None:
    many = 10_000
    body = [Do("b"), Do("c")]
    nest = nest_of(Loop(many, [Do("a")]), Loop(10**9, body), Do("d"))
    roles = [RECEIVE, RECEIVE, wait(many + 1), wait(*range(many, 0, -1))]
    found = lifetimes(nest, roles)
    assert found.spans == {0: many, 1: many + 1}
    assert found.conflicts == {(0, 1)}
    lags = {reference for (reference,) in found.references[2]}
    assert lags == {(0, lag) for lag in range(many)} | {(1, many)}
    assert found.references[3] == {tuple((1, lag) for lag in reversed(range(many)))}


def plain(roles: list[RequestRole], string: list[int]) -> Lifetimes:
    """Follow every request, call by call."""
    found = Lifetimes()
    oldest = max([0, *(age for role in roles for age in role.ages)])
    creator: list[tuple[int, int]] = []
    own = [0] * len(roles)
    alive: set[int] = set()
    for operation in string:
        role = roles[operation]
        done = [len(creator) - age for age in role.ages]
        if done:
            references = []
            for birth in done:
                by, number = creator[birth]
                lag = own[by] - number
                found.spans[by] = max(found.spans[by], lag + 1)
                references.append((by, lag) if birth in alive else None)
            found.references.setdefault(operation, set()).add(tuple(references))
            alive -= set(done)
        if role.creates:
            forgotten = {birth for birth in alive if birth < len(creator) - oldest}
            found.left |= bool(forgotten)
            alive -= forgotten
            others = {creator[birth][0] for birth in alive} - {operation}
            found.conflicts |= {(min(operation, o), max(operation, o)) for o in others}
            alive.add(len(creator))
            own[operation] += 1
            creator.append((operation, own[operation]))
            found.spans.setdefault(operation, 1)
    found.left |= bool(alive)
    return found


def completed_at_last(roles: list[RequestRole], string: list[int]) -> set[int]:
    """Return the requests that are completed some day."""
    created, completed = 0, set()
    for operation in string:
        completed |= {created - age for age in roles[operation].ages}
        created += roles[operation].creates
    return completed


def stated(
    found: Lifetimes, first: dict[int, int], own: list[int], operation: int
) -> Iterator[int]:
    """Yield the places that a completion refers to."""
    (references,) = found.references[operation]
    for reference in references:
        assert reference is not None
        creator, lag = reference
        turn = (own[creator] - 1 - lag) % found.spans[creator]
        yield first[creator] + turn


def random_requests(rng: random.Random) -> tuple[list[RequestRole], list[int]]:
    """Make a string of creations and completions, parts of it repeated."""
    roles: list[RequestRole] = [SEND, RECEIVE, SEND]
    string: list[int] = []
    outstanding: list[int] = []
    created = 0
    for _ in range(rng.randint(1, 8)):
        creators = [rng.randrange(3) for _ in range(rng.randint(1, 4))]
        kept = rng.sample(range(len(creators)), rng.randint(0, 1))
        ages = [len(creators) - i for i in range(len(creators)) if i not in kept]
        rng.shuffle(ages)
        for _ in range(rng.choice((1, 1, 3, 6))):
            string += creators
            created += len(creators)
            outstanding += [created - len(creators) + i for i in kept]
            if ages:
                roles.append(wait(*ages))
                same = [i for i, role in enumerate(roles) if role == roles[-1]]
                if same[0] < len(roles) - 1:
                    roles.pop()
                string.append(same[0])
        if outstanding and rng.random() < 0.7:
            roles.append(wait(*[created - birth for birth in outstanding]))
            string.append(len(roles) - 1)
            outstanding = []
    return roles, string
