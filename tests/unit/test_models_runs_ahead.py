"""What lies ahead of what: the order of runs, folds of them, and cases beyond them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.models.runs import ModelInput, RunTable, meaning_of
from skelgen.models.runs_ahead import axes, beyond, folds, mixed_folds, order


def table(**columns: list[float]) -> RunTable:
    inputs = tuple(ModelInput(name, meaning_of(name)) for name in columns)
    rows = [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]
    return RunTable.gather(inputs, rows, [1.0] * len(rows))


SIZES = st.lists(st.integers(1, 10**6).map(float), min_size=1, max_size=12)


def test_larger_and_on_more_ranks_is_ahead_and_each_input_counts_alike():
    runs = table(n=[1e3, 1e3, 1e6, 1e6], ranks=[2.0, 4.0, 2.0, 4.0])
    far = order(runs)
    assert far[0] < far[1] < far[3]
    assert far[1] == pytest.approx(far[2])
    assert far.sum() == pytest.approx(0.0)


def test_an_input_that_does_not_vary_orders_nothing():
    assert order(table(n=[5.0, 5.0])).tolist() == [0.0, 0.0]


def test_nodes_and_ranks_on_each_are_an_axis_together():
    runs = table(nodes=[1.0, 2.0, 4.0], ranks_per_node=[4.0, 1.0, 2.0])
    assert axes(runs)["all ranks"].tolist() == [4.0, 2.0, 8.0]
    with pytest.raises(ValueError, match="read-only"):
        axes(runs)["nodes"][0] = 9.0


@given(SIZES)
def test_what_is_asked_for_lies_ahead_of_all_that_is_learnt_from(sizes):
    runs = table(n=sizes)
    for behind, rest in folds(runs):
        learnt, asked = runs.columns["n"][behind], runs.columns["n"][rest]
        assert learnt.max() < asked.min()
        assert len(np.unique(learnt)) >= 2
        assert sorted([*behind, *rest]) == list(range(len(sizes)))


def test_folds_learn_from_half_and_more_and_three_sizes_are_needed():
    runs = table(n=[float(2**k) for k in range(10)])
    assert [len(behind) for behind, _ in folds(runs)] == [5, 6, 8]
    assert len(list(folds(table(n=[1.0, 2.0, 4.0])))) == 1
    assert list(folds(table(n=[1.0, 2.0, 2.0, 1.0]))) == []


def test_mixed_folds_leave_each_run_out_once_and_equal_ones_together():
    runs = table(n=[1.0, 2.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    parts = list(mixed_folds(runs))
    assert sorted(int(i) for _, rest in parts for i in rest) == list(range(7))
    assert all(
        ({1, 2} <= set(rest)) != ({1, 2} <= set(behind)) for behind, rest in parts
    )
    assert list(mixed_folds(table(n=[1.0, 2.0, 4.0, 8.0, 16.0]))) == []


def test_beyond_is_0_inside_and_the_logarithm_of_the_factor_outside():
    runs = table(n=[10.0, 100.0], ranks=[2.0, 8.0])
    asked = {"n": np.array([10.0, 50.0, 200.0, 5.0, 200.0])}
    asked["ranks"] = np.array([2.0, 8.0, 4.0, 4.0, 24.0])
    both = math.hypot(math.log(2), math.log(3))
    wanted = [0.0, 0.0, math.log(2), math.log(2), both]
    assert beyond(runs, asked) == pytest.approx(wanted)


def test_all_ranks_lie_outside_though_nodes_and_ranks_on_each_do_not():
    runs = table(nodes=[32.0, 8.0], ranks_per_node=[1.0, 4.0])
    asked = {"nodes": np.array([32.0]), "ranks_per_node": np.array([4.0])}
    assert beyond(runs, asked) == pytest.approx([math.log(4)])
