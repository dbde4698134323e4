"""Ranks that deal out work are known from those that only receive from anybody."""

from __future__ import annotations

import numpy as np
import pytest

from skelgen.events.dealers import Dealer, dealers_of, turns_of
from tests import builders

TURNS = [1, 2, 2, 1, 2, 1, 1, 2]


def master(before: str, receive: str, turns: list[int] = TURNS) -> str:
    """Return a rank that answers workers in turn, and as many workers."""
    asked = [
        f"{line.format(w=w)}\n"
        for w in turns
        for line in (before, receive, "Send to={w} tag=1 bytes=4")
        if line
    ]
    each = "repeat {n} {{\nSend to=0 tag=2 bytes=8\nRecv from=0 tag=1 bytes=4\n}}\n"
    workers = [f"rank {w}\n{each.format(n=turns.count(w))}" for w in sorted(set(turns))]
    return f"rank 0\n{''.join(asked)}{''.join(workers)}"


@pytest.mark.parametrize(
    ("before", "receive"),
    [
        ("", "Recv from=*{w} tag=2 bytes=8"),
        ("Probe from=*{w} tag=2", "Recv from={w} tag=2 bytes=8"),
        ("Probe from=*{w} tag=2", "Recv from=*{w} tag=2 bytes=8"),
    ],
)
def test_a_rank_that_answers_whoever_comes_first_deals(before, receive) -> None:
    calls = builders.calls(master(before, receive))
    assert dealers_of(calls) == (Dealer(0, len(TURNS), 2),)


def posting(looks: str, turns: list[int] = TURNS) -> str:
    """Return a master that posts receives, and looks for one that is complete."""
    posts = "Irecv from={w} tag=2 bytes=8 as=r{w}"
    lines = [posts.format(w=w) for w in (1, 2)]
    for w in turns:
        lines += [f"{looks} of=r{w}", posts.format(w=w), f"Send to={w} tag=1 bytes=4"]
    text = "\n".join(["rank 0", *lines, "Waitall of=r1,r2"])
    sends = "Send to=0 tag=2 bytes=8\n"
    for w in (1, 2):
        own = f"{sends}Recv from=0 tag=1 bytes=4\n" * turns.count(w)
        text += f"\nrank {w}\n{own}{sends}"
    return text


@pytest.mark.parametrize(
    "looks", ["Waitany", "Waitsome", "Testany", "Testsome", "Test"]
)
def test_a_rank_that_waits_for_one_of_its_receives_deals(looks) -> None:
    assert dealers_of(builders.calls(posting(looks))) == (Dealer(0, len(TURNS), 2),)


def test_a_turn_is_a_question_and_all_up_to_the_next_one_with_that_partner() -> None:
    more = "Recv from={w} tag=3 bytes=80\nSend to={w} tag=1 bytes=4"
    text = master("", "Recv from=*{w} tag=2 bytes=8").replace(
        "Send to=0 tag=2 bytes=8", "Send to=0 tag=2 bytes=8\nSend to=0 tag=3 bytes=80"
    )
    for w in (1, 2):
        text = text.replace(f"Send to={w} tag=1 bytes=4", more.format(w=w))
    calls = builders.calls(text)
    call, turn = turns_of(calls, 0)
    assert call.tolist() == list(range(3 * len(TURNS)))
    assert turn.tolist() == [i // 3 for i in call]


def test_a_turn_does_not_have_what_others_say() -> None:
    calls = builders.calls(posting("Waitany"))
    call, turn = turns_of(calls, 0)
    assert sorted(call[turn == 0].tolist()) == [0, 4]  # its post and the answer
    # What is posted last is not looked for: it counts where it stands.
    assert np.bincount(turn).tolist() == [2] * (len(TURNS) - 2) + [3, 3]


def test_what_the_last_call_of_a_dealer_finds_has_a_turn() -> None:
    calls = builders.calls(posting("Waitany").replace("Waitall", "Waitsome"))
    call, turn = turns_of(calls, 0)
    assert call.max() < calls.first[1] - 1  # it only completes
    assert turn[call < 2].tolist() == [0, 1]


def test_results_need_no_answer() -> None:
    text = master("Recv from=*{w} tag=3 bytes=80", "Recv from=*{w} tag=2 bytes=8")
    text = text.replace("Send to=0 tag=2", "Send to=0 tag=3 bytes=80\nSend to=0 tag=2")
    assert dealers_of(builders.calls(text)) == (Dealer(0, 2 * len(TURNS), 2),)


def test_answers_of_several_messages_to_several_results_are_one_each() -> None:
    text = master("Recv from=*{w} tag=3 bytes=80", "Recv from=*{w} tag=2 bytes=8")
    text = text.replace("Send to=0 tag=2", "Send to=0 tag=3 bytes=80\nSend to=0 tag=2")
    for answer in ("Recv from=0", "Send to=1", "Send to=2"):
        line = f"{answer} tag=1 bytes=4\n"
        text = text.replace(line, 2 * line)
    assert dealers_of(builders.calls(text)) == (Dealer(0, 2 * len(TURNS), 2),)


@pytest.mark.parametrize(
    "text",
    [
        master("", "Recv from={w} tag=2 bytes=8"),  # it knows who comes
        master("", "Recv from=*{w} tag=2 bytes=8", [1] * 8),  # who else?
        master("", "Recv from=*{w} tag=2 bytes=8", [1, 2]),  # hands out once
        posting("Wait"),  # it knows for whom it waits
        """
        ranks 3
        rank *
          repeat 9 {
            Isend to=+1 tag=1 bytes=8 as=s
            Isend to=-1 tag=1 bytes=8 as=t
            Recv from=*+1 tag=1 bytes=8
            Recv from=*-1 tag=1 bytes=8
            Waitall of=s,t
          }
        """,
        """
        ranks 3
        rank *
          repeat 9 {
            Isend to=+1 tag=1 bytes=8 as=s
            Isend to=-1 tag=2 bytes=8 as=t
            Recv from=*+1 tag=2 bytes=8
            Recv from=*-1 tag=1 bytes=8
            Waitall of=s,t
          }
        """,
        """
        rank 0
          repeat 9 {
            Recv from=*1 tag=1 bytes=8
            Recv from=*2 tag=1 bytes=8
            Bcast root=0 bytes=8
          }
        rank 1,2
          repeat 9 {
            Send to=0 tag=1 bytes=8
            Bcast root=0 bytes=8
          }
        """,
    ],
    ids=["known", "one", "once", "named", "neighbours", "tags", "results"],
)
def test_others_do_not(text: str) -> None:
    assert dealers_of(builders.calls(text)) == ()


def test_the_first_of_several_dealers_is_rank_by_rank() -> None:
    own = "Recv from=*{a} tag=2 bytes=8\nSend to={a} tag=1 bytes=4\n"
    deal = "".join(own.format(a=a) for a in (2, 3, 3, 2, 2, 3))
    work = "repeat 3 {\nSend to=%d tag=2 bytes=8\nRecv from=%d tag=1 bytes=4\n}\n"
    both = work % (0, 0) + work % (1, 1)
    text = f"rank 0,1\n{deal}rank 2,3\n{both}"
    assert dealers_of(builders.calls(text)) == (Dealer(0, 6, 2), Dealer(1, 6, 2))
