"""Calls at several places of a text: each has its own part of sizes and durations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.loops import Nest, fold, positions
from skelgen.skeleton.share.call_steps import CallStep, join_step
from skelgen.skeleton.share.divided_calls import apart
from skelgen.skeleton.share.repeats import RepeatedItems
from tests.plans import Builder, Do, Loop


def step(sizes: list[int], gaps: list[int], occurrences: int) -> CallStep:
    do = Do("MPI_Bcast", size=[sizes], us=[gaps], peer=0)
    made = Builder(1).program([0], Loop(occurrences, [do])).plan()
    return join_step(made, made.programs[0].operations, [0], [True])


def replayed(nest: Nest, steps: list[CallStep]) -> list[tuple[int, float]]:
    """Return size and duration of each call, as the C program counts them."""
    leaves = nest.symbol[nest.body_items == 0]
    done = [0] * len(steps)
    found = []
    for number in leaves[positions(nest)].tolist():
        one, k = steps[number], done[number]
        sizes, gaps = one.size_bytes[0], one.compute_us[0]
        found.append(
            (
                int(sizes[k * len(sizes) // one.occurrences]),
                float(gaps[k * len(gaps) // one.occurrences]),
            )
        )
        done[number] += 1
    assert done == [one.occurrences for one in steps]
    return found


@settings(deadline=None, max_examples=200)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=30), st.integers(1, 5))
def test_calls_keep_their_sizes_and_the_sum_of_durations(
    body: list[int], trips: int
) -> None:
    string = np.array(body * trips + body[: len(body) // 2], np.int32)
    _, string = np.unique(string, return_inverse=True)
    counts = np.bincount(string)
    steps = [
        step(
            [1000 * (k % 7) + s for k in range(min(n, 9))],
            [100 * (k % 5) + s for k in range(min(n, 6))],
            int(n),
        )
        for s, n in enumerate(counts)
    ]
    nest = fold(string.astype(np.int32))
    (divided,), parts = apart([nest], steps, [])
    got, wanted = replayed(divided, parts), replayed(nest, steps)
    assert [size for size, _ in got] == [size for size, _ in wanted]
    assert sum(gap for _, gap in got) == pytest.approx(sum(gap for _, gap in wanted))
    leaves = divided.symbol[divided.body_items == 0].tolist()
    assert sorted(leaves) == list(range(len(leaves)))  # no call is at two places


def test_stretches_that_are_one_function_remain_one_call() -> None:
    nest = Nest(
        np.array([0, 0, 0], np.int32),
        np.array([0, 0, 0], np.int32),
        np.array([0, 0, 0, 0], np.int64),
        np.zeros((0, 2), np.int64),
    )
    (divided,), parts = apart(
        [nest], [step([10, 20, 90], [1], 3)], [RepeatedItems(((0,), (1,)))]
    )
    assert divided.symbol.tolist() == [0, 0, 1]
    assert [part.size_bytes.tolist() for part in parts] == [[[10, 20]], [[90]]]
    assert [part.occurrences for part in parts] == [2, 1]
