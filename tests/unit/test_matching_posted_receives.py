"""Receives that were posted early stand where they were complete, if that is safe."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.events import Calls
from skelgen.events.creations import Creations, rows_of
from skelgen.events.dealt_completions import one_by_one
from skelgen.events.poll_pools import users_of
from skelgen.events.types import WILDCARD_SOURCE
from skelgen.matching import match
from skelgen.matching.posted_receives import received_on_completion
from skelgen.skeleton.plan import plan
from skelgen.skeleton.proof.simulation import simulate
from skelgen.skeleton.types import Turn
from tests.builders import calls, events
from tests.skeletons import script, signature
from tests.unit.test_skeleton_task_farm_turns import everybody_finishes

#: What a worker does with the task of some number, and the master to take the result.
Work = Callable[[int, int], tuple[list[str], list[str]]]
RESULT = "900 Send to=0 tag=2 bytes=80"


def plain(w: int, i: int) -> tuple[list[str], list[str]]:
    return [RESULT], []


def with_data(w: int, i: int) -> tuple[list[str], list[str]]:
    return [RESULT, "Send to=0 tag=3 bytes=8000"], [f"Recv from={w} tag=3 bytes=8000"]


def that_does_not_wait(w: int, i: int) -> tuple[list[str], list[str]]:
    return ["900 Isend to=0 tag=2 bytes=80 as=s", "40 Wait of=s"], []


def data_first(w: int, i: int) -> tuple[list[str], list[str]]:
    """Send data behind the result, which the master takes before it."""
    return [RESULT, "Send to=0 tag=3 bytes=8000"], []


def that_talks_to_others(w: int, i: int) -> tuple[list[str], list[str]]:
    """Hand a result to the next worker before the answer is there."""
    return [RESULT, f"Isend to={3 - w} tag=9 bytes=8 as=t"], []


#: How a master finds that one of several requests is complete.
LOOKS = tuple(f"{name} of={{of}}" for name in ("Waitany", "Testany", "Test"))
SEVERAL = ("Waitsome of={of}", "Testsome of={of}")
HARMLESS = (plain, with_data, that_does_not_wait)


def farm(
    turn: Work,
    *,
    rng: random.Random,
    tasks: int = 12,
    workers: int = 2,
    looks: str = "Waitany of={of}",
    reposts_first: bool = True,
    stops: bool = True,
    end: str = "Barrier",
    at_once: int = 1,
) -> str:
    """Act out a master that posts a receive for each worker and answers who is ready.

    Parameters
    ----------
    turn : callable
    rng : random.Random
    tasks, workers : int
    looks : str
        How the master finds a result.
    reposts_first : bool
        Whether it posts the next receive before it answers.
    stops : bool
        Whether workers are told that it is over.
    end : str
        What all ranks do last.
    at_once : int
        Most results that the master finds at one time.
    """
    lines = {rank: [f"rank {rank}"] for rank in range(workers + 1)}
    task, posts = "Send to={w} tag=1 bytes=4", "Irecv from={w} tag=2 bytes=80 as=r{w}"
    left = dict.fromkeys(range(1, workers + 1), 0)

    def hands_out(w: int, number: int) -> None:
        two = [posts.format(w=w), "5 " + task.format(w=w)]
        lines[0].extend(two if reposts_first else reversed(two))
        lines[w].append("Recv from=0 tag=1 bytes=4")
        left[w] = number

    for w in left:
        hands_out(w, w)
    begun = len(left)
    while left:
        ready = rng.sample(sorted(left), min(rng.randint(1, at_once), len(left)))
        if turn is data_first:
            lines[0] += [f"Recv from={w} tag=3 bytes=8000" for w in ready]
        lines[0].append("20 " + looks.format(of=",".join(f"r{w}" for w in ready)))
        for w in ready:
            own, masters = turn(w, left.pop(w))
            lines[w] += own
            lines[0] += masters
            if begun < tasks:
                begun += 1
                hands_out(w, begun)
            elif stops:
                lines[0].append(task.format(w=w))
                lines[w].append("Recv from=0 tag=1 bytes=4")
    every = [*(line for own in lines.values() for line in own), "rank *", end]
    return "\n".join(every)


def names(some: Calls, rank: int) -> list[str]:
    """Return the functions that a rank calls, without ``MPI_``."""
    own = some.shape[some.first[rank] : some.first[rank + 1]]
    numbers = some.shapes["function"][own].tolist()
    return [some.functions[number].removeprefix("MPI_") for number in numbers]


def moved(some: Calls) -> int:
    """Return how many receives the master posted for later."""
    return names(received_on_completion(some), 0).count("Irecv (received later)")


def messages(some: Calls) -> list[tuple[int, int, int, int]]:
    """Return, by where they are sent: receiver, tag, capacity and place in its row."""
    found = match(some)
    assert found.problems == ()
    rows = some.shapes[some.shape[found.receive_call]]
    receiver = np.searchsorted(some.first, found.receive_call, side="right") - 1
    done = np.where(found.receive_done < 0, found.receive_call, found.receive_done)
    size = some.size_bytes[found.receive_call]
    columns = (found.send_call, receiver, rows["tag"], size, done)
    return sorted(zip(*(one.tolist() for one in columns), strict=True))


@pytest.mark.parametrize(
    "looks", ["Waitany of={of}", "Testany of={of}", "Test of={of}"]
)
@pytest.mark.parametrize("reposts_first", [True, False])
@pytest.mark.parametrize("turn", HARMLESS)
def test_a_master_receives_what_it_waited_for(turn, reposts_first, looks) -> None:
    text = farm(turn, rng=random.Random(1), looks=looks, reposts_first=reposts_first)
    before = calls(text)
    after = received_on_completion(before)
    kept = ("Send", "Recv", "Irecv (received later)", "Barrier")
    assert set(names(after, 0)) == set(kept)
    assert names(after, 1) == names(before, 1)
    assert messages(after) == messages(before)
    assert len(after) == len(before)
    row = after.shapes[after.shape[: after.first[1]]]
    anybody = (row["flags"] & WILDCARD_SOURCE) != 0
    assert anybody.sum() == 12  # what was received by a Recv of its own still is
    assert np.array_equal(anybody, np.array(names(before, 0)) == looks.split()[0])


@pytest.mark.parametrize(
    "changes",
    [
        {"turn": data_first},
        {"turn": that_talks_to_others},
        {"looks": "Wait of={of}"},  # it knows for whom it waits
        {"workers": 1},
    ],
)
def test_receives_stay_where_they_were_posted(changes) -> None:
    given = {"turn": plain, "rng": random.Random(1)} | changes
    turn = given.pop("turn")
    text = farm(turn, **given)
    for w in (1, 2) if turn is that_talks_to_others else ():
        heard = f"Recv from={3 - w} tag=9 bytes=8\n"
        text += f"\nrank {w}\n" + heard * text.count(f"Isend to={w} tag=9")
    before = calls(text)
    assert received_on_completion(before) is before


@pytest.mark.parametrize(
    ("stops", "end", "last"),
    [
        (True, "Barrier", 0),
        (False, "Barrier", 0),  # nobody leaves it before the master has come
        (False, "", 0),
        (False, "Reduce root=1 bytes=8 op=1", 2),  # workers leave it at once
        (False, "Bcast root=1 bytes=8", 2),
    ],
)
def test_results_behind_which_workers_are_free_stay(stops, end, last) -> None:
    text = farm(plain, rng=random.Random(2), stops=stops, end=end)
    assert moved(calls(text)) == 12 - last


def test_results_of_a_rank_that_are_found_out_of_order_stay() -> None:
    ahead = "\n".join(
        f"Irecv from={w} tag=2 bytes=80 as=r{w}{number}"
        for number in (0, 1)
        for w in (1, 2)
    )
    served = [(w, number) for number in (1, 0, 1) for w in (1, 2, 1, 2)]
    lines = [
        f"Waitany of=r{w}{number}\nSend to={w} tag=1 bytes=4\n"
        f"Irecv from={w} tag=2 bytes=80 as=r{w}{number}"
        for w, number in served
    ]
    worker = "Send to=0 tag=2 bytes=80\n" * 2
    worker += "Recv from=0 tag=1 bytes=4\nSend to=0 tag=2 bytes=80\n" * 6
    text = f"rank 0\n{ahead}\n" + "\n".join(lines)
    before = calls(f"{text}\nWaitall of=r10,r20,r11,r21\nrank 1,2\n{worker}")
    assert messages(received_on_completion(before)) == messages(before)
    assert moved(before) < len(served)


def test_other_requests_keep_their_names() -> None:
    text = farm(plain, rng=random.Random(3))
    begin = "rank 0\nIsend to=1 tag=7 bytes=8 as=x\nIsend to=2 tag=7 bytes=8 as=y"
    text = text.replace("rank 0", begin, 1) + "\nrank 0\nWaitall of=x,y\n"
    text += "rank 1,2\nRecv from=0 tag=7 bytes=8"
    before = calls(text)
    after = received_on_completion(before)
    assert moved(before) == 12
    user, creator = users_of(after)
    assert creator.tolist() == [0, 1]
    assert [names(after, 0)[at] for at in user] == ["Waitall", "Waitall"]
    _, age = rows_of(after.age_first, after.age_values, after.ages[user[:1]])
    assert age.tolist() == [2, 1]
    assert len(Creations.of(after).plain) == 2


workers_of_any_kind = st.randoms(use_true_random=False)


def farm_of_any_kind(rng: random.Random, ways: Sequence[Work], ends: str) -> str:
    """Return a farm whose workers hand in their results in different ways."""
    at_once = rng.randint(1, 3)

    def work(w: int, i: int) -> tuple[list[str], list[str]]:
        return rng.choice(ways)(w, i)

    return farm(
        work,
        rng=rng,
        tasks=rng.randint(8, 30),
        workers=rng.randint(2, 4),
        looks=rng.choice(LOOKS if at_once == 1 else SEVERAL),
        at_once=at_once,
        reposts_first=rng.random() < 0.5,
        stops=rng.random() < 0.5,
        end=rng.choice(ends.split(",")),
    )


@settings(max_examples=20)
@given(workers_of_any_kind)
def test_whatever_workers_do_all_finish_as_before(rng: random.Random) -> None:
    ends = ",Barrier,Allreduce bytes=8 op=1,Bcast bytes=8"
    before = one_by_one(events(farm_of_any_kind(rng, (*HARMLESS, plain), ends)))
    after = replace(before, calls=received_on_completion(before.calls))
    assert messages(after.calls) == messages(before.calls)
    for one in (before, after):
        made = script(plan(signature(one), 1.0001))
        assert simulate(made, rendezvous=True).sound
        assert simulate(made, rendezvous=False).sound


@settings(max_examples=20)
@given(workers_of_any_kind, st.sampled_from([1.0001, 2, 3.7]), st.booleans())
def test_whoever_is_quick_all_finish(rng, factor, rendezvous) -> None:
    text = farm_of_any_kind(rng, (plain, plain, with_data), ",Barrier")
    before = one_by_one(events(text))
    after = replace(before, calls=received_on_completion(before.calls))
    everybody_finishes(plan(signature(after), factor), rng, rendezvous=rendezvous)


def test_a_master_whose_receives_stay_is_named() -> None:
    before = events(farm(data_first, rng=random.Random(5), looks="Test of={of}"))
    after = replace(before, calls=received_on_completion(before.calls))
    looked = [name.replace("Test", "Waitany") for name in names(before.calls, 0)]
    assert names(after.calls, 0) == looked
    assert messages(after.calls) == messages(before.calls)
    assert plan(signature(after), 1.001).report.dealers == (0,)


@pytest.mark.parametrize("looks", [*LOOKS, *SEVERAL])
def test_the_loop_of_a_master_folds_and_workers_share_its_turns(looks) -> None:
    at_once = 3 if looks in SEVERAL else 1
    rng = random.Random(4)
    text = farm(plain, rng=rng, tasks=200, workers=3, looks=looks, at_once=at_once)
    before = one_by_one(events(text))
    after = replace(before, calls=received_on_completion(before.calls))
    known = signature(after)
    assert len(known.symbols) < len(signature(before).symbols)
    assert max(len(group.nest) for group in known.groups) < 20
    made = plan(known, 2.0)
    assert made.report.dealers == ()
    turns = {one.turn for program in made.served for one in program.operations}
    assert {Turn.ANSWERS, Turn.HEARS} <= turns
