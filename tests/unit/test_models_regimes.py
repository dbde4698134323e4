"""Places where a program may change: between neighbouring values of an axis."""

from __future__ import annotations

import numpy as np
import pytest

from skelgen.models.regimes import RegimeStep, columns_of, since, steps_for
from skelgen.models.runs import ModelInput, RunTable, meaning_of


def table(**columns: list[float]) -> RunTable:
    inputs = tuple(ModelInput(name, meaning_of(name)) for name in columns)
    rows = [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]
    return RunTable.gather(inputs, rows, [1.0 + at for at in range(len(rows))])


def test_a_run_is_of_one_regime_or_half_between_both():
    step = RegimeStep("n", 100.0, 400.0)
    along = np.array([50.0, 100.0, 101.0, 399.0, 400.0, 900.0])
    assert step.of(along).tolist() == [1.0, 1.0, 0.5, 0.5, 0.0, 0.0]


def test_steps_lie_between_neighbours_and_with_one_value_in_the_middle():
    found = steps_for(table(n=[8.0, 1.0, 4.0, 2.0, 2.0, 16.0]))
    assert [(one.before, one.after) for one in found] == [
        (1.0, 2.0), (1.0, 4.0), (2.0, 4.0), (2.0, 8.0), (4.0, 8.0),
    ]  # fmt: skip
    assert {one.axis for one in found} == {"n"}


def test_three_values_show_no_change():
    assert steps_for(table(n=[1.0, 2.0, 4.0, 4.0, 4.0])) == ()
    assert columns_of((), table(n=[1.0, 2.0, 4.0])).shape == (0, 3)


def test_two_values_stay_behind_every_step_however_many_there_are():
    sizes = [float(n) for n in range(1, 41)]
    found = steps_for(table(n=sizes))
    assert len({one.before for one in found}) == 6
    assert min(one.before for one in found) == 1.0
    assert all(sum(n >= one.after for n in sizes) >= 2 for one in found)


def test_all_ranks_are_an_axis_where_nodes_and_ranks_on_them_vary():
    nodes = [1.0, 1.0, 2.0, 2.0, 4.0, 8.0]
    each = [1.0, 2.0, 1.0, 4.0, 4.0, 4.0]
    runs = table(nodes=nodes, ranks_per_node=each)
    step = next(one for one in steps_for(runs) if one.axis == "all ranks")
    (column,) = columns_of((step,), runs)
    packed = np.array(nodes) * np.array(each)
    assert column.tolist() == step.of(packed).tolist()
    assert {1.0, 0.0} <= set(column.tolist())


def test_columns_are_steps_at_the_runs_and_nobody_writes_them():
    runs = table(n=[1.0, 2.0, 4.0, 8.0, 16.0])
    steps = steps_for(runs)
    found = columns_of(steps, runs)
    assert found.tolist() == [one.of(runs.columns["n"]).tolist() for one in steps]
    with pytest.raises(ValueError, match="read-only"):
        found[0, 0] = 2.0


def test_the_runs_since_a_change_are_those_of_the_last_regime_with_their_values():
    runs = table(n=[16.0, 1.0, 8.0, 2.0, 4.0])
    last = since(runs, RegimeStep("n", 2.0, 8.0))
    assert last.columns["n"].tolist() == [16.0, 8.0]
    assert last.values.tolist() == [1.0, 3.0]
