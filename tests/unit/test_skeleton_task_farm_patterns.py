"""Farms of many kinds share their work; what is no farm keeps its order and a doubt."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from skelgen.skeleton.plan import plan
from skelgen.skeleton.types import Plan, Turn
from tests.skeletons import signature
from tests.turns import act

WORKERS, TASKS = 3, 60
#: What the master and a worker do in one turn: worker and number of the task.
Turns = Callable[[int, int], tuple[list[str], list[str]]]
ASKS, ASKED = "900 Send to=0 tag=2 bytes=8", "20 Recv from=*{w} tag=2 bytes=8"
TASK, SENT = "Recv from=0 tag=1 bytes=4", "5 Send to={w} tag=1 bytes=4"


def text_of(turn: Turns, *, between: str = "") -> str:
    """Return a master and workers that take turns at random."""
    rng = random.Random(3)
    lines = {rank: [f"rank {rank}"] for rank in range(WORKERS + 1)}
    for number in range(TASKS):
        w = rng.randint(1, WORKERS)
        master, worker = turn(w, number)
        lines[0] += [line.format(w=w) for line in master]
        lines[w] += worker
        if between and number % 20 == 19:
            for own in lines.values():
                own.append(between)
    for own in lines.values():
        own.append("10 Barrier")
    return "\n".join(line for own in lines.values() for line in own)


def tag_for_each_kind_of_task(w: int, i: int) -> tuple[list[str], list[str]]:
    tag = 10 + i % 3
    return (
        [ASKED, f"Send to={{w}} tag={tag} bytes=4"],
        [ASKS, f"Recv from=0 tag=*{tag} bytes=4"],
    )


def tag_for_each_kind_of_result(w: int, i: int) -> tuple[list[str], list[str]]:
    tag, task = 10 + (7 * i + w) % 5, 20 + i % 2
    return (
        [f"Recv from=*{{w}} tag=*{tag} bytes=8", f"Send to={{w}} tag={task} bytes=4"],
        [f"900 Send to=0 tag={tag} bytes=8", f"Recv from=0 tag=*{task} bytes=4"],
    )


def probed_tag_for_each_kind(w: int, i: int) -> tuple[list[str], list[str]]:
    master, worker = tag_for_each_kind_of_result(w, i)
    tag = 10 + (7 * i + w) % 5
    receive = f"Recv from={{w}} tag={tag} bytes=8"
    return [f"Probe from=*{{w}} tag=*{tag}", receive, master[1]], worker


def answer_in_two_messages(w: int, i: int) -> tuple[list[str], list[str]]:
    return (
        [ASKED, SENT, "Send to={w} tag=3 bytes=800"],
        [ASKS, TASK, "Recv from=0 tag=3 bytes=800"],
    )


def answer_with_an_empty_end(w: int, i: int) -> tuple[list[str], list[str]]:
    return (
        [ASKED, SENT, "Send to={w} tag=3 bytes=0"],
        [ASKS, TASK, "Recv from=0 tag=3 bytes=0"],
    )


def empty_answer(w: int, i: int) -> tuple[list[str], list[str]]:
    return (
        [ASKED, "Send to={w} tag=1 bytes=0"],
        [ASKS, "Recv from=0 tag=1 bytes=0"],
    )


def answer_of_a_byte(w: int, i: int) -> tuple[list[str], list[str]]:
    return (
        [ASKED, "Send to={w} tag=1 bytes=1"],
        [ASKS, "Recv from=0 tag=1 bytes=1"],
    )


def results_of_varying_size(w: int, i: int) -> tuple[list[str], list[str]]:
    size = f"bytes={8 + 4000 * (i % 7)}"
    return (
        [f"20 Recv from=*{{w}} tag=2 {size}", SENT],
        [f"900 Send to=0 tag=2 {size}", TASK],
    )


def result_behind_its_header(w: int, i: int) -> tuple[list[str], list[str]]:
    return (
        [ASKED, "Recv from={w} tag=3 bytes=800", SENT],
        [ASKS, "Send to=0 tag=3 bytes=800", TASK],
    )


def acknowledged_task(w: int, i: int) -> tuple[list[str], list[str]]:
    return (
        [ASKED, SENT, "Recv from={w} tag=4 bytes=8"],
        [ASKS, TASK, "Send to=0 tag=4 bytes=8"],
    )


def master_that_also_works(w: int, i: int) -> tuple[list[str], list[str]]:
    return [f"5000 {ASKED.split(' ', 1)[1]}", f"3000 {SENT.split(' ', 1)[1]}"], [
        ASKS,
        TASK,
    ]


def polling_master(w: int, i: int) -> tuple[list[str], list[str]]:
    looks = ["Iprobe from=* tag=* failed", "Iprobe from=*{w} tag=*2"]
    return [*looks, "Recv from={w} tag=2 bytes=8", SENT], [ASKS, TASK]


def matched_probe(w: int, i: int) -> tuple[list[str], list[str]]:
    return (
        ["Mprobe from=*{w} tag=*2", "Mrecv from={w} tag=2 bytes=8", SENT],
        [ASKS, TASK],
    )


def answer_that_does_not_wait(w: int, i: int) -> tuple[list[str], list[str]]:
    isend = "Isend to={w} tag=1 bytes=4 as=s"
    return [ASKED, isend, "Wait of=s"], [ASKS, TASK]


def worker_that_does_not_wait(w: int, i: int) -> tuple[list[str], list[str]]:
    isend, irecv = (
        "900 Isend to=0 tag=2 bytes=8 as=s",
        "Irecv from=0 tag=1 bytes=4 as=r",
    )
    return [ASKED, SENT], [isend, "Wait of=s", irecv, "Wait of=r"]


def worker_that_exchanges(w: int, i: int) -> tuple[list[str], list[str]]:
    return [ASKED, SENT], ["900 Sendrecv to=0 tag=2 bytes=8 from=0 tag2=1"]


def worker_that_looks_first(w: int, i: int) -> tuple[list[str], list[str]]:
    return [ASKED, SENT], [ASKS, "Probe from=0 tag=*1", TASK]


FARMS = [
    tag_for_each_kind_of_task,
    tag_for_each_kind_of_result,
    probed_tag_for_each_kind,
    answer_in_two_messages,
    answer_with_an_empty_end,
    empty_answer,
    answer_of_a_byte,
    results_of_varying_size,
    result_behind_its_header,
    acknowledged_task,
    master_that_also_works,
    polling_master,
    matched_probe,
    answer_that_does_not_wait,
    worker_that_does_not_wait,
    worker_that_exchanges,
    worker_that_looks_first,
]


def all_finish(made: Plan) -> None:
    """Act a plan out in random orders, with sends that wait and that do not."""
    for seed in range(6):
        rng = random.Random(seed)
        acted = act(made, made.served, rng, rendezvous=seed % 2 == 0)
        assert acted.finished


#: What is kept is chosen by kinds of calls, and these have many: a larger K may keep a
#: result and the answer to another one.
BY_RESULT = (tag_for_each_kind_of_result, probed_tag_for_each_kind)


@pytest.mark.parametrize("between", ["", "10 Barrier"], ids=["one", "stretches"])
@pytest.mark.parametrize(
    ("turn", "factor"),
    [(turn, 1.001) for turn in FARMS]
    + [(turn, 2) for turn in FARMS if turn not in BY_RESULT],
)
def test_a_farm_shares_its_work(turn: Turns, between: str, factor: float) -> None:
    made = plan(signature(text_of(turn, between=between)), factor)
    assert made.report.dealers == ()
    assert not any("whoever comes first" in text for text in made.report.warnings)
    for program in made.served:
        turns = {operation.turn for operation in program.operations}
        assert (Turn.ANSWERS if program.ranks == (0,) else Turn.HEARS) in turns
    all_finish(made)


@pytest.mark.parametrize("turn", [empty_answer, answer_of_a_byte])
def test_a_short_answer_gets_room_to_tell_at_both_ends(turn: Turns) -> None:
    made = plan(signature(text_of(turn)), 1.001)
    told = [
        operation
        for program in made.served
        for operation in program.operations
        if operation.turn in (Turn.ANSWERS, Turn.HEARS)
    ]
    assert {float(one.size_bytes.values.min()) for one in told} == {2.0}
    heard = [one for one in told if one.turn is Turn.HEARS]
    assert heard
    assert all((one.receive_bytes == 2).all() for one in heard)
    # The proof and the report are of what was recorded.
    sent = [one for program in made.programs for one in program.operations]
    assert min(float(one.size_bytes.values.min()) for one in sent) < 2


def test_the_message_with_room_tells_and_the_empty_one_stays_empty() -> None:
    made = plan(signature(text_of(answer_with_an_empty_end)), 1.001)
    (master,) = (one for one in made.served if one.ranks == (0,))
    turn = [one for one in master.operations if one.serving is not None]
    assert [one.turn for one in turn] == [Turn.OPENS, Turn.ANSWERS, Turn.GOES_ON]
    assert turn[2].size_bytes.values.max() == 0


def test_messages_of_turns_get_a_tag_that_no_other_call_has() -> None:
    made = plan(signature(text_of(tag_for_each_kind_of_result)), 1.001)
    known = {*made.signature.symbols["tag"].tolist()}
    tags = {
        operation.turn: int(made.symbols[operation.symbol]["tag"])
        for program in made.served
        for operation in program.operations
        if operation.turn
    }
    assert not known & {*tags.values()}
    assert tags[Turn.OPENS] == tags[Turn.ASKS] != tags[Turn.ANSWERS] == tags[Turn.HEARS]


def several_masters() -> str:
    """Return two masters with workers of their own."""
    rng = random.Random(5)
    lines = {rank: [f"rank {rank}"] for rank in range(6)}
    for _ in range(40):
        for master, workers in ((0, (2, 3)), (1, (4, 5))):
            w = rng.choice(workers)
            lines[master] += [ASKED.format(w=w), SENT.format(w=w)]
            lines[w] += [f"900 Send to={master} tag=2 bytes=8"]
            lines[w] += [f"Recv from={master} tag=1 bytes=4"]
    return "\n".join(line for own in lines.values() for line in own)


def test_several_masters_share_their_work_each() -> None:
    made = plan(signature(several_masters()), 1.001)
    assert made.report.dealers == ()
    all_finish(made)


def collected_elsewhere() -> str:
    """Return workers that hand in results to a rank that takes them as they come."""
    rng = random.Random(7)
    lines = {rank: [f"rank {rank}"] for rank in range(WORKERS + 2)}
    for _ in range(TASKS):
        w = rng.randint(1, WORKERS)
        lines[0] += [ASKED.format(w=w), SENT.format(w=w)]
        lines[w] += [ASKS, TASK, f"Send to={WORKERS + 1} tag=8 bytes=80"]
        lines[WORKERS + 1].append(f"Recv from=*{w} tag=8 bytes=80")
    return "\n".join(line for own in lines.values() for line in own)


def computing_while_it_sends(w: int, i: int) -> tuple[list[str], list[str]]:
    irecv = "Irecv from=0 tag=1 bytes=4 as=r"
    return [ASKED, SENT], ["Send to=0 tag=2 bytes=8", irecv, "900 Wait of=r"]


@pytest.mark.parametrize(
    "text",
    [collected_elsewhere(), text_of(computing_while_it_sends)],
    ids=["collector", "overlap"],
)
def test_what_is_not_recognised_keeps_the_recorded_order_and_a_doubt(text) -> None:
    made = plan(signature(text), 1.001)
    assert made.report.dealers == (0,)
    assert not made.served
    assert any("as often as in the recording" in one for one in made.report.warnings)
