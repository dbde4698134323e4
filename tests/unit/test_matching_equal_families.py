"""Communicators of the same ranks are one, where all calls still meet as before."""

from __future__ import annotations

import logging
import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.shared.pipeline_traces import TRACES
from skelgen.events import Calls
from skelgen.matching import match
from skelgen.matching.equal_families import with_one_for_equal
from skelgen.matching.thresholds import MOST_EQUAL_FAMILIES
from skelgen.pipeline.compile import WantedSimilarity, signature_of_run
from skelgen.skeleton.plan import plan
from tests.builders import calls
from tests.trace_writer import RankWriter

MANY = MOST_EQUAL_FAMILIES + 4


def used(some: Calls) -> set[int]:
    """Return the communicators that calls use."""
    return set(some.shapes["communicator"][some.shape].tolist())


def joined(some: Calls) -> Calls:
    return with_one_for_equal(some, match(some))


def program(lines: dict[str, list[str]], names: list[str], ranks: int = 2) -> Calls:
    """Return the calls of ranks that have a communicator of all ranks for each name."""
    every = ",".join(map(str, range(ranks)))
    text = [f"ranks {ranks}", *(f"comm {name} members={every}" for name in names)]
    for rank, own in lines.items():
        text += [f"rank {rank}", *own]
    return calls("\n".join(text))


def reductions(count: int, seed: int = 1) -> tuple[list[str], list[str]]:
    names = [f"c{i}" for i in range(count)]
    drawn = random.Random(seed).choices(names, k=10 * count)
    return [f"Allreduce bytes=8 op=1 comm={name}" for name in names + drawn], names


def test_many_communicators_of_all_ranks_become_one() -> None:
    lines, names = reductions(MANY)
    some = program({"*": lines}, names)
    after = joined(some)
    assert len(used(some)) == MANY
    assert len(used(after)) == 1
    before, now = match(some), match(after)
    assert np.array_equal(before.whole_event, now.whole_event)
    assert after.communicators == some.communicators


def one_sided(way: str, count: int = MANY) -> Calls:
    """Return the calls of two ranks that put into windows, all of which are alike."""
    names = [f"w{i}" for i in range(count)]
    drawn = random.Random(1).choices(names, k=10 * count)
    text = ["ranks 2", *(f"window {name} members=0,1" for name in names), "rank *"]
    for name in names + drawn:
        text.append(f"Put to=+1 bytes=8 comm={name}:{way}")
        text.append(f"Win_flush_all comm={name}:{way}")
    return calls("\n".join(text))


def test_many_windows_whose_epochs_are_open_become_one() -> None:
    some = one_sided("open")
    assert len(used(some)) == MANY
    assert len(used(joined(some))) == 1


@pytest.mark.parametrize("way", ["fence", "pscw", "lock"])
def test_windows_with_epochs_of_their_own_stay_what_they_are(way: str) -> None:
    """An epoch of one would begin inside that of another."""
    some = one_sided(way)
    assert joined(some) is some


def test_a_few_communicators_stay_what_they_are() -> None:
    lines, names = reductions(MOST_EQUAL_FAMILIES)
    some = program({"*": lines}, names)
    assert joined(some) is some


def test_ranks_may_not_begin_in_different_order_what_belongs_together() -> None:
    """Allowed with several communicators, and with one it would be another program."""
    lines, names = reductions(MANY)
    two = [f"Iallreduce bytes=8 op=1 comm=c{i} as=r{i}" for i in (0, 1)]
    waits = ["Waitall of=r0,r1"]
    some = program(
        {"0": [*lines, *two, *waits], "1": [*lines, *two[::-1], *waits]}, names
    )
    assert joined(some) is some
    both = [*lines, *two, *waits]
    assert len(used(joined(program({"*": both}, names))) - {-1}) == 1


def test_messages_that_would_overtake_each_other_keep_their_communicators() -> None:
    lines, names = reductions(MANY)
    out = [
        "Isend to=1 tag=1 bytes=8 comm=c0 as=a",
        "Isend to=1 tag=1 bytes=80 comm=c1 as=b",
    ]
    into = ["Recv from=0 tag=1 bytes=80 comm=c1", "Recv from=0 tag=1 bytes=8 comm=c0"]
    crossed = {"0": [*lines, *out, "Waitall of=a,b"], "1": [*lines, *into]}
    some = program(crossed, names)
    assert not match(some).problems
    assert joined(some) is some
    straight = {"0": [*lines, *out, "Waitall of=a,b"], "1": [*lines, *into[::-1]]}
    assert len(used(joined(program(straight, names))) - {-1}) == 1


def test_where_a_receive_takes_what_comes_its_communicator_stays() -> None:
    lines, names = reductions(MANY)
    some = program(
        {
            "0": [*lines, "Send to=1 tag=1 bytes=8 comm=c3"],
            "1": [*lines, "Recv from=*0 tag=*1 bytes=8 comm=c3"],
        },
        names,
    )
    assert len(used(joined(some))) == 2


def test_communicators_of_other_ranks_stay_apart() -> None:
    lines, names = reductions(MANY)
    text = ["ranks 4", *(f"comm {name} members=0,1" for name in names)]
    text += [f"comm {name} members=2,3" for name in names]
    text += [f"comm x{name} members=3,2,1,0" for name in names]
    own = [line.replace("comm=", "comm=x") for line in lines]
    some = calls("\n".join([*text, "rank *", *lines, *own]))
    after = joined(some)
    assert len(used(some)) == 3 * MANY
    assert len(used(after)) == 3
    members = {after.communicators[i].members for i in used(after)}
    assert members == {(0, 1), (2, 3), (3, 2, 1, 0)}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_whatever_becomes_one_meets_as_before(seed: int) -> None:
    drawn = random.Random(seed)
    lines, names = reductions(MANY, seed)
    for _ in range(drawn.randint(0, 6)):
        place, name = drawn.randrange(len(lines)), drawn.choice(names)
        lines.insert(place, f"Bcast root=0 bytes=8 comm={name}")
    orders = {str(rank): list(lines) for rank in range(3)}
    for own in orders.values():
        tail = [f"Ibarrier comm={name} as={name}" for name in drawn.sample(names, 2)]
        own += [
            *sorted(tail),
            "Waitall of=" + ",".join(t.split("=")[-1] for t in sorted(tail)),
        ]
    some = program(orders, names, ranks=3)
    before, now = match(some), match(joined(some))
    assert np.array_equal(before.whole_event, now.whole_event)
    assert np.array_equal(before.unmatched, now.unmatched)


def test_a_thousand_communicators_fold_into_one_loop(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for rank in range(2):
        writer = RankWriter(rank, 2)
        writer.event("MPI_Init", 0, 1000)
        TRACES["communicators"](writer, 5000)
        writer.finish()
        writer.save(tmp_path)
    caplog.set_level(logging.INFO, "skelgen.matching.equal_families")
    signature = signature_of_run(tmp_path, WantedSimilarity(None, 10.0, None))
    found = r".* 9\d\d communicators and windows have the same ranks as others"
    assert re.match(found, caplog.text)
    assert len(signature.symbols) == 1
    assert all(len(group.nest) < 10 for group in signature.groups)
    assert sum(len(p.operations) for p in plan(signature, 10).programs) < 20
