"""Ranks that answer whoever comes first do so in skeletons; nobody waits for ever."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from skelgen.loops import expand
from skelgen.skeleton.emit.skeleton_files import render
from skelgen.skeleton.plan import plan
from skelgen.skeleton.proof.simulation import simulate
from skelgen.skeleton.quantities.series import series_sums
from skelgen.skeleton.quantities.symbols import PlanSymbols
from skelgen.skeleton.task_farm.first_come import turns_of
from skelgen.skeleton.task_farm.joined_receives import JoinedReceives
from skelgen.skeleton.task_farm.turns import Turns, reordered
from skelgen.skeleton.types import Plan, Program, Serving, Turn
from tests.plans import CALIBRATION
from tests.skeletons import signature
from tests.turns import act

TWO = [1, 2, 2, 1, 2, 1, 1, 2, 2, 2] * 4
THREE = [1, 2, 3, 3, 1, 2, 2, 1, 3, 3, 2, 1] * 4
ASKED = ("50 Recv from=*{w} tag=2 bytes=8",)
PROBED = ("20 Probe from=*{w} tag=2", "30 Recv from={w} tag=2 bytes=8")
ANSWER = "30 Send to={w} tag=1 bytes=4"
WORK = ("900 Send to=0 tag=2 bytes=8", "Recv from=0 tag=1 bytes=4")


def master(
    *stretches: list[int],
    asked: tuple[str, ...] = ASKED,
    answer: tuple[str, ...] = (ANSWER,),
    work: tuple[str, ...] = WORK,
    between: str = "10 Barrier",
) -> str:
    """Return a rank that serves workers in these orders, and as many workers."""
    workers = sorted({w for turns in stretches for w in turns})
    lines = {rank: [f"rank {rank}"] for rank in [0, *workers]}
    for turns in stretches:
        for w in turns:
            lines[0] += [line.format(w=w) for line in (*asked, *answer)]
        for w in workers:
            lines[w] += [line.format(w=w) for line in work] * turns.count(w)
        for own in lines.values():
            own.append(between)
    return "\n".join(line for own in lines.values() for line in own)


#: Orders draw too many numbers for Hypothesis to choose each.
SEEDED = st.builds(random.Random, st.integers(0, 2**32 - 1))
#: A worker asks for more right after its result, or computes for long before.
HANDED_IN = "900 Send to=0 tag=3 bytes=80"
MORE = "1 Send to=0 tag=2 bytes=8"


def farm(rng: random.Random, workers: int, tasks: int, more: str = MORE) -> str:
    """Return a rank that takes results and requests as they come, and its workers."""
    lines = {rank: [f"rank {rank}"] for rank in range(workers + 1)}
    pending = {w: ["asks"] for w in range(1, workers + 1)}
    while pending:
        w = rng.choice(sorted(pending))
        if pending[w].pop(0) == "result":
            lines[0].append(f"20 Recv from=*{w} tag=3 bytes=80")
            lines[w].append(HANDED_IN)
            continue
        lines[0].append(f"20 Recv from=*{w} tag=2 bytes=8")
        lines[w].append(more)
        tasks -= 1
        tag = 1 if tasks >= 0 else 9
        answer = f"tag={tag} bytes={rng.randrange(100, 110)}"
        lines[0].append(f"5 Send to={w} {answer}")
        lines[w].append(f"Recv from=0 {answer}")
        if tag == 1:
            pending[w] = ["result", "asks"]
        else:
            del pending[w]
    return "\n".join(line for own in lines.values() for line in own)


def servings(made: Plan) -> list[Serving]:
    """Return whom the ranks of a plan serve."""
    every = [op.serving for program in made.served for op in program.operations]
    return list({id(one): one for one in every if one is not None}.values())


def found_turns(made: Plan) -> tuple[JoinedReceives, list[Turns]]:
    """Return a plan's programs, and the turns in them that may change places."""
    symbols = PlanSymbols(made.functions, made.symbols)
    ranks = range(made.signature.ranks)
    return turns_of(made.programs, symbols, made.signature.families, ranks)


def text_of(made: Plan) -> str:
    return render(made, calibration=CALIBRATION)["skeleton.c"]


@pytest.mark.parametrize("turns", [TWO, THREE])
@pytest.mark.parametrize("asked", [ASKED, PROBED])
def test_each_partner_comes_as_often_as_in_the_recording(turns, asked) -> None:
    made = plan(signature(master(turns, asked=asked)), 1.001)
    (serving,) = servings(made)
    workers = sorted(set(turns))
    assert serving.shifts.tolist() == workers
    assert serving.due.tolist() == [[1, *(turns.count(w) for w in workers)]]


@pytest.mark.parametrize("asked", [ASKED, PROBED])
def test_all_turns_are_one_loop_with_the_same_computation(asked) -> None:
    made = plan(signature(master(TWO, asked=asked)), 1.001)
    recorded = next(one for one in made.programs if one.ranks == (0,))
    serving = next(one for one in made.served if one.ranks == (0,))
    assert computed_ns(serving) == pytest.approx(computed_ns(recorded), rel=1e-9)
    turn = [op for op in serving.operations if op.serving is not None]
    assert [op.turn for op in turn] == [Turn.OPENS, Turn.ANSWERS]
    assert [op.occurrences for op in turn] == [len(TWO)] * 2
    counted = np.bincount(expand(serving.nest))
    assert counted.tolist() == [op.occurrences for op in serving.operations]
    assert len(serving.nest) < len(recorded.nest)


def computed_ns(program: Program) -> float:
    return sum(
        float(series_sums(op.compute_ns.values, op.occurrences).sum())
        for op in program.operations
    )


def test_what_other_calls_divide_are_stretches_of_their_own() -> None:
    one, other = [1, 2, 1, 2, 1, 2], [2, 1, 1, 1]
    made = plan(signature(master(one, one, one, other)), 1.001)
    (serving,) = servings(made)
    assert serving.due.tolist() == [[3, 3, 3], [1, 3, 1]]


def test_the_text_receives_from_whoever_comes_first() -> None:
    text = text_of(plan(signature(master(TWO)), 1.001))
    assert "serve(&serving_" in text
    assert "MPI_Send(answer(&serving_0), 4, MPI_BYTE, served.rank, 0, world" in text
    assert "} while (told.again);" in text
    assert text_of(plan(signature(master(TWO)), 1.001)) == text


def test_a_program_without_dealers_has_nothing_of_it() -> None:
    made = plan(signature(master(TWO, asked=("Recv from={w} tag=2 bytes=8",))), 1.001)
    assert not made.served
    assert "serv" not in text_of(made).replace("observ", "")


def test_the_recorded_order_stays_where_nonblocking_calls_use_the_channel() -> None:
    work = ("Isend to=0 tag=2 bytes=8 as=s", WORK[1], "Wait of=s")
    made = plan(signature(master(TWO, work=work)), 1.001)
    assert not made.served
    assert made.report.dealers == (0,)


def test_partners_have_room_for_the_answers_of_others() -> None:
    lines = master(TWO).splitlines()
    second = lines.index("rank 2")
    text = "\n".join(
        line.replace("to=2 tag=1 bytes=4", "to=2 tag=1 bytes=4000")
        if i < second
        else line.replace("tag=1 bytes=4", "tag=1 bytes=4000")
        for i, line in enumerate(lines)
    )
    made = plan(signature(text), 1.001)
    assert servings(made)
    for program in made.served:
        for op in program.operations:
            if op.serving is None and op.receive_bytes.any():
                assert op.receive_bytes.tolist() == [4000] * len(program.ranks)


def test_a_master_of_masters_keeps_its_order_or_they_keep_theirs() -> None:
    """Rank 0 serves 1 and 2, rank 1 serves 3 and 4 before each of its questions."""
    turns = [1, 2, 2, 1] * 6
    below = [3, 4, 4, 3]
    lines = {rank: [f"rank {rank}"] for rank in range(5)}
    for w in turns:
        lines[0] += [ASKED[0].format(w=w), ANSWER.format(w=w)]
        if w == 1:
            for v in below:
                lines[1] += [
                    f"Recv from=*{v} tag=5 bytes=8",
                    f"Send to={v} tag=6 bytes=4",
                ]
                lines[v] += ["Send to=1 tag=5 bytes=8", "Recv from=1 tag=6 bytes=4"]
        lines[w] += list(WORK)
    made = plan(signature("\n".join(x for own in lines.values() for x in own)), 1.001)
    assert len(servings(made)) == 1
    assert made.report.dealers == (0, 1)


orders = st.lists(st.integers(1, 4), min_size=2, max_size=14)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(orders, min_size=1, max_size=4),
    st.sampled_from([ASKED, PROBED]),
    st.integers(1, 3),
    st.sampled_from([1.001, 1.5, 3]),
    SEEDED,
)
def test_every_order_of_turns_finishes(stretches, asked, answers, factor, rng) -> None:
    stretches = [[*turns, 1, 2] for turns in stretches]
    text = master(
        *stretches,
        asked=asked,
        answer=(ANSWER,) * answers,
        work=(WORK[0], *(WORK[1],) * answers),
    )
    every_order_finishes(plan(signature(text), factor), rng)


@settings(max_examples=20, deadline=None)
@given(
    st.integers(2, 4),
    st.integers(0, 40),
    st.sampled_from([1.001, 1.5, 3]),
    SEEDED,
)
def test_every_order_of_results_and_requests_finishes(
    workers, tasks, factor, rng
) -> None:
    every_order_finishes(plan(signature(farm(rng, workers, tasks)), factor), rng)


def every_order_finishes(made: Plan, rng: random.Random) -> None:
    """Simulate a plan with the turns of each stretch in random orders."""
    whole, found = found_turns(made)
    for turns in found:
        ranks = whole.programs[turns.program].ranks
        for _ in range(3):
            order = np.arange(len(turns.peer))
            ends = np.flatnonzero(np.diff(turns.stretch)) + 1
            for begin, end in pairwise([0, *ends.tolist(), len(order)]):
                some = order[begin:end].tolist()
                rng.shuffle(some)
                order[begin:end] = some
            other = reordered(whole.script, turns, ranks, order)
            assert other is not None
            assert simulate(other, rendezvous=True).sound
            assert simulate(other, rendezvous=False).sound


def everybody_finishes(made: Plan, rng: random.Random, *, rendezvous: bool) -> None:
    """Act out what is written in random orders, with all messages."""
    assume(made.served)
    recorded = act(made, made.programs, rng, rendezvous=rendezvous)
    for _ in range(3):
        acted = act(made, made.served, rng, rendezvous=rendezvous)
        assert acted.finished
        assert acted.messages == recorded.messages


def test_a_partner_that_is_told_has_a_loop_of_its_turns() -> None:
    made = plan(signature(master(TWO, [1, 2], TWO)), 1.001)
    assert made.report.dealers == ()
    assert not any("whoever comes first" in text for text in made.report.warnings)
    for program in made.served:
        counted = np.bincount(expand(program.nest))
        assert counted.tolist() == [op.occurrences for op in program.operations]
        if program.ranks != (0,):
            turns = [op.turn for op in program.operations if op.turn]
            assert turns == [Turn.ASKS, Turn.HEARS]


@pytest.mark.parametrize(
    "text",
    [
        # What is received in pieces of one byte.
        master(TWO, work=(WORK[0], f"{WORK[1]} type=1 holes")),
        # What a worker does between its turns.
        master(TWO, work=(*WORK, "Send to=+2 tag=5 bytes=8"))
        + "".join(
            f"\nrank {w + 2}"
            + f"\nRecv from={w} tag=5 bytes=8" * TWO.count(w)
            + "\n10 Barrier"
            for w in (1, 2)
        ),
    ],
)
def test_partners_that_cannot_be_told_come_as_often_as_recorded(text) -> None:
    made = plan(signature(text), 1.001)
    (serving,) = servings(made)
    assert not serving.shared
    assert made.report.dealers == (0,)
    assert any("as often as in the recording" in x for x in made.report.warnings)
    assert "told" not in text_of(made)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(orders, min_size=1, max_size=4),
    st.sampled_from([ASKED, PROBED]),
    st.sampled_from([1, 4]),
    st.sampled_from([1.001, 1.5, 3]),
    st.booleans(),
    SEEDED,
)
def test_whoever_is_quick_all_finish(
    stretches, asked, answer_bytes, factor, rendezvous, rng
) -> None:
    stretches = [[*turns, 1, 2] for turns in stretches]
    answer = f"30 Send to={{w}} tag=1 bytes={answer_bytes}"
    text = master(*stretches, asked=asked, answer=(answer,))
    made = plan(signature(text), factor)
    everybody_finishes(made, rng, rendezvous=rendezvous)


def test_messages_whose_partners_wait_for_each_other_are_not_reordered() -> None:
    """Worker 1 hears from worker 2, whom the master answered, before its own answer."""
    lines = {rank: [f"rank {rank}"] for rank in range(3)}
    for _ in range(10):
        for w in (2, 1):
            lines[0] += [ASKED[0].format(w=w), ANSWER.format(w=w)]
        lines[2] += [*WORK, "Send to=1 tag=9 bytes=8"]
        lines[1] += [WORK[0], "Recv from=2 tag=9 bytes=8", WORK[1]]
    made = plan(signature("\n".join(x for own in lines.values() for x in own)), 1.001)
    assert made.report.dealers == (0,)
    assert not made.served


def test_a_result_and_the_request_behind_it_are_one_turn() -> None:
    made = plan(signature(farm(random.Random(1), 3, 60)), 1.001)
    (serving,) = servings(made)
    assert serving.shared
    assert int(serving.due[:, 1:].sum()) > 50
    master = next(one for one in made.served if one.ranks == (0,))
    turn = [op.turn for op in master.operations if op.serving is not None]
    assert turn == [Turn.OPENS, Turn.GOES_ON, Turn.ANSWERS]
    recorded = next(one for one in made.programs if one.ranks == (0,))
    assert computed_ns(master) == pytest.approx(computed_ns(recorded), rel=1e-9)
    assert made.report.dealers == ()
    assert "8, MPI_BYTE, served.rank, 2, world.comm" in text_of(made)


def test_a_master_does_not_wait_where_work_lies_between_two_messages() -> None:
    text = farm(random.Random(1), 3, 60, more="400 Send to=0 tag=2 bytes=8")
    whole, _ = found_turns(plan(signature(text), 1.001))
    assert not whole.goes_on


@settings(max_examples=20, deadline=None)
@given(
    st.integers(2, 4),
    st.integers(0, 60),
    st.sampled_from([1.001, 1.5, 3]),
    st.booleans(),
    SEEDED,
)
def test_whoever_is_quick_all_hand_in_and_finish(
    workers, tasks, factor, rendezvous, rng
) -> None:
    made = plan(signature(farm(rng, workers, tasks)), factor)
    everybody_finishes(made, rng, rendezvous=rendezvous)


def rounds(rng: random.Random, workers: int) -> str:
    """Return workers that send to each other without a pattern, then to the master.

    All of it with the same call: it has many partners.
    """
    every = range(1, workers + 1)
    lines = {rank: [f"rank {rank}"] for rank in (0, *every)}
    for _ in range(6):
        for _ in range(rng.randrange(6)):
            one, other = rng.sample(every, 2)
            lines[one].append(f"20 Send to={other} tag=2 bytes=8")
            lines[other].append(f"Recv from={one} tag=2 bytes=8")
        turns = [rng.choice(every) for _ in range(rng.randrange(2, 12))]
        for w in [*turns, *every]:
            lines[0] += [ASKED[0].format(w=w), f"Send to={w} tag=2 bytes=8"]
            lines[w] += ["900 Send to=0 tag=2 bytes=8", "Recv from=0 tag=2 bytes=8"]
        for own in lines.values():
            own.append("Barrier")
    return "\n".join(line for own in lines.values() for line in own)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(2, 5),
    st.sampled_from([1.001, 1.5, 3]),
    st.booleans(),
    SEEDED,
)
def test_workers_that_talk_to_each_other_find_their_master(
    workers, factor, rendezvous, rng
) -> None:
    made = plan(signature(rounds(rng, workers)), factor)
    everybody_finishes(made, rng, rendezvous=rendezvous)


def test_workers_with_different_numbers_of_turns_have_short_tables() -> None:
    turns = [w for w in range(1, 10) for _ in range(w + 4)]
    random.Random(1).shuffle(turns)
    lines = master(turns).splitlines()
    varied = [
        line.replace("900", str(900 + 97 * (i % 11))) if "900" in line else line
        for i, line in enumerate(lines)
    ]
    text = text_of(plan(signature("\n".join(varied)), 1.001))
    assert "told.again" in text
    assert len(text) < 40_000
