"""The simulator: kernel, twin, and what they find."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import SkelgenError
from skelgen.events import CallKind
from skelgen.skeleton.plan import plan
from skelgen.skeleton.proof.flaws import find_flaw
from skelgen.skeleton.proof.plain_simulation import simulate_plain
from skelgen.skeleton.proof.script import BUFFERED, SYNCHRONOUS, Script
from skelgen.skeleton.proof.simulation import simulate
from tests.random_programs import random_program
from tests.skeletons import script, signature


def make(
    ranks: list[list[tuple[object, ...]]], *, streams: tuple[tuple[int, ...], ...] = ()
) -> Script:
    """Make a script of (kind, and what the kind needs) for each step of each rank.

    Sends: partner, tag, bytes, mode; receives: partner, tag, capacity; Sendrecv:
    both after each other; collectives: stream, fit, bytes; others: ages.
    """
    channels: dict[tuple[int, int, int, int], int] = {}
    worlds = streams or (tuple(range(len(ranks))),)
    columns: dict[str, list[int]] = {
        name: []
        for name in ("kind", "mode", "send", "receive", "size", "capacity", "stream")
    }
    columns |= {"member": [], "fit": [], "created": []}
    ages: list[list[int]] = []
    first = [0]
    creating = (
        CallKind.ISEND,
        CallKind.IRECEIVE,
        CallKind.SEND_INIT,
        CallKind.RECEIVE_INIT,
    )
    starts = np.cumsum([0, *map(len, worlds)]).tolist()
    for rank, steps in enumerate(ranks):
        columns["created"].append(0)
        for kind, *given_ in steps:
            row = dict.fromkeys(columns, -1) | {"size": 0, "capacity": 0, "mode": 0}
            values: list[int] = [*given_]  # type: ignore[list-item]
            named: list[int] = []
            if kind in (
                CallKind.SEND,
                CallKind.ISEND,
                CallKind.SEND_INIT,
                CallKind.SENDRECV,
            ):
                to, tag, row["size"], *rest = values[:4]
                row["mode"] = rest[0] if rest else 0
                key = (0, rank, to, tag)
                row["send"] = channels.setdefault(key, len(channels))
                values = values[3:]
            if kind in (
                CallKind.RECEIVE,
                CallKind.IRECEIVE,
                CallKind.RECEIVE_INIT,
                CallKind.SENDRECV,
            ):
                source, tag, row["capacity"] = values
                key = (0, source, rank, tag)
                row["receive"] = channels.setdefault(key, len(channels))
            elif kind in (CallKind.COLLECTIVE, CallKind.ICOLLECTIVE):
                row["stream"], row["fit"], row["size"] = values
                own = worlds[row["stream"]].index(rank)
                row["member"] = starts[row["stream"]] + own
            elif kind in (CallKind.START, CallKind.COMPLETE, CallKind.RELEASE):
                named = values
            ages.append(named)
            row["kind"] = int(kind)  # type: ignore[call-overload]
            del row["created"]
            for name, value in row.items():
                columns[name].append(value)
            columns["created"][-1] += kind in (*creating, CallKind.ICOLLECTIVE)
        first.append(len(columns["kind"]))
    n = len(columns["kind"])
    each = np.arange(n + 1)
    return Script(
        first=np.array(first),
        row=np.arange(n, dtype=np.int32),
        kind=np.array(columns["kind"], np.uint8),
        mode=np.array(columns["mode"], np.uint8),
        partner_first=each,
        send_channel=np.array(columns["send"], np.int32),
        receive_channel=np.array(columns["receive"], np.int32),
        size_first=each,
        size_bytes=np.array(columns["size"]),
        occurrences=np.ones(n, np.int64),
        capacity_bytes=np.array(columns["capacity"]),
        age_first=np.cumsum([0, *map(len, ages)]),
        ages=np.array([age for row in ages for age in row], np.int64),
        stream=np.array(columns["stream"], np.int32),
        member=np.array(columns["member"], np.int32),
        fit=np.array(columns["fit"], np.int32),
        streams=worlds,
        request_first=np.cumsum([0, *columns["created"]]),
        channels=tuple(channels),
    )


def both(given_: Script, *, rendezvous: bool) -> object:
    """Run kernel and twin; they agree."""
    found = simulate(given_, rendezvous=rendezvous)
    assert found == simulate_plain(given_, rendezvous=rendezvous)
    return found


SEND, RECV, ISEND, IRECV = (
    CallKind.SEND,
    CallKind.RECEIVE,
    CallKind.ISEND,
    CallKind.IRECEIVE,
)
WAIT, MEET = CallKind.COMPLETE, CallKind.COLLECTIVE
EXCHANGE = [
    [(SEND, 1, 0, 8), (RECV, 1, 0, 8)],
    [(SEND, 0, 0, 8), (RECV, 0, 0, 8)],
]


def test_two_sends_against_each_other_stall_only_without_buffers() -> None:
    assert both(make(EXCHANGE), rendezvous=True).stalled
    assert both(make(EXCHANGE), rendezvous=False).sound


@pytest.mark.parametrize(
    ("mode", "rendezvous", "stalls"),
    [(SYNCHRONOUS, False, True), (BUFFERED, True, False)],
)
def test_send_modes_outrank_the_protocol(
    mode: int, rendezvous: bool, stalls: bool
) -> None:
    ranks = [[(*send, mode), receive] for send, receive in EXCHANGE]
    assert both(make(ranks), rendezvous=rendezvous).stalled == stalls


def test_a_posted_receive_lets_the_send_go() -> None:
    ranks = [
        [(IRECV, 1, 0, 8), (SEND, 1, 0, 8), (WAIT, 1)],
        [(IRECV, 0, 0, 8), (SEND, 0, 0, 8), (WAIT, 1)],
    ]
    assert both(make(ranks), rendezvous=True).sound


def test_a_message_longer_than_its_receive_is_found() -> None:
    ranks = [[(SEND, 1, 0, 9)], [(RECV, 0, 0, 8)]]
    assert both(make(ranks), rendezvous=True).truncated == 1


def test_messages_do_not_overtake_each_other() -> None:
    ranks = [[(ISEND, 1, 0, 9), (ISEND, 1, 0, 1)], [(RECV, 0, 0, 9), (RECV, 0, 0, 1)]]
    found = both(make(ranks), rendezvous=False)
    assert found.truncated == 0 and not found.stalled


def test_leftover_messages_and_receives_are_found() -> None:
    ranks = [[(ISEND, 1, 5, 9)], [(IRECV, 0, 6, 9)]]
    found = both(make(ranks), rendezvous=True)
    assert (found.unreceived, found.unsent) == (1, 1)


def test_collectives_wait_for_all_and_must_fit() -> None:
    assert both(make([[(MEET, 0, 1, 8)], [(MEET, 0, 1, 8)]]), rendezvous=True).sound
    assert both(
        make([[(MEET, 0, 1, 8)], [(MEET, 0, 2, 8)]]), rendezvous=True
    ).mismatched
    assert both(
        make([[(MEET, 0, 1, 8)], [(MEET, 0, 1, 9)]]), rendezvous=True
    ).mismatched
    assert both(make([[(MEET, 0, 1, 8)], []]), rendezvous=True).stalled


def test_nonblocking_collectives_complete_when_all_have_come() -> None:
    ranks = [
        [(CallKind.ICOLLECTIVE, 0, 1, 8), (RECV, 1, 0, 8), (WAIT, 1)],
        [(SEND, 0, 0, 8), (CallKind.ICOLLECTIVE, 0, 1, 8), (WAIT, 1)],
    ]
    assert both(make(ranks), rendezvous=True).sound


def test_persistent_requests_start_again_only_when_complete() -> None:
    sends = [
        (CallKind.SEND_INIT, 1, 0, 8),
        (CallKind.START, -1),
        (WAIT, -1),
        (CallKind.START, -1),
    ]
    receives = [(RECV, 0, 0, 8), (RECV, 0, 0, 8)]
    assert both(make([[*sends, (WAIT, -1)], receives]), rendezvous=True).sound
    early = [sends[0], sends[1], sends[3], (WAIT, -1)]
    assert both(make([early, receives]), rendezvous=True).misused == 1


def test_a_request_that_is_complete_cannot_be_completed_again() -> None:
    ranks = [[(ISEND, 1, 0, 8), (WAIT, 1), (WAIT, 1)], [(RECV, 0, 0, 8)]]
    assert both(make(ranks), rendezvous=True).misused == 1


def test_a_freed_send_still_arrives() -> None:
    ranks = [[(ISEND, 1, 0, 8), (CallKind.RELEASE, 1)], [(RECV, 0, 0, 8)]]
    assert both(make(ranks), rendezvous=True).sound


def test_sendrecv_sends_and_receives_at_once() -> None:
    ranks = [
        [(CallKind.SENDRECV, 1, 0, 8, 1, 0, 8)],
        [(CallKind.SENDRECV, 0, 0, 8, 0, 0, 8)],
    ]
    assert both(make(ranks), rendezvous=True).sound


def test_a_message_to_oneself_needs_a_posted_receive() -> None:
    assert both(make([[(SEND, 0, 0, 8), (RECV, 0, 0, 8)]]), rendezvous=True).stalled
    ranks = [[(IRECV, 0, 0, 8), (SEND, 0, 0, 8), (WAIT, 1)]]
    assert both(make(ranks), rendezvous=True).sound


def test_a_cycle_is_named_with_ranks_and_calls() -> None:
    names = ["Send", "Recv", "Send", "Recv"]
    flaw = find_flaw(make(EXCHANGE), names.__getitem__)
    assert flaw is not None and flaw.stalled and flaw.rendezvous
    assert "rank 0 in Send waits for rank 1" in flaw.message
    assert "rank 1 in Send waits for rank 0" in flaw.message
    assert sorted(flaw.sends) == [0, 2]


def test_a_rank_that_waits_for_a_finished_one_is_named() -> None:
    flaw = find_flaw(make([[(RECV, 1, 0, 8)], []]), ["Recv"].__getitem__)
    assert flaw is not None
    assert flaw.message == "rank 0 in Recv waits for rank 1"


def damaged(given_: Script, rng: random.Random) -> Script:
    """Leave out, swap or double some steps."""
    rows, first = [], [0]
    for rank in range(given_.ranks):
        own = given_.row[given_.first[rank] : given_.first[rank + 1]].tolist()
        if own and rng.random() < 0.7:
            i = rng.randrange(len(own))
            j = rng.randrange(len(own))
            own[i], own[j] = own[j], own[i]
        if own and rng.random() < 0.5:
            del own[rng.randrange(len(own))]
        rows += own
        first.append(len(rows))
    return dataclasses.replace(
        given_,
        row=np.array(rows, np.int32),
        first=np.array(first),
        capacity_bytes=given_.capacity_bytes - (rng.random() < 0.2),
    )


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**9))
def test_kernel_and_twin_agree_on_sound_and_damaged_skeletons(seed: int) -> None:
    rng = random.Random(seed)
    program = random_program(rng, calls=150)
    try:
        found = plan(signature(program), rng.choice([1.1, 2, 4]))
    except SkelgenError:
        return
    sound = script(found)
    for given_ in (sound, *(damaged(sound, rng) for _ in range(3))):
        for rendezvous in (True, False):
            assert simulate(given_, rendezvous=rendezvous) == simulate_plain(
                given_, rendezvous=rendezvous
            )
