"""Runs side by side: what differs by more than runs of one configuration do."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from skelgen.errors import UsageError
from skelgen.store import Run, RunPart, conditions_of, open_store
from skelgen.store.comparing import compared_runs, repeated_runs


def a_run(identity: str, time_s: float, n: float = 1.0, **others) -> Run:
    parts = (RunPart("solve", "phase", time_s / 20, 10.0, 0.5),)
    return Run(
        "heat", time_s, ranks=2, inputs=(("n", n),), parts=parts, identity=identity,
        **others,
    )  # fmt: skip


@pytest.fixture
def store(tmp_path):
    with open_store(str(tmp_path / "store.db")) as found:
        yield found


def compare(store, *runs: Run):
    store.add(runs)
    return compared_runs(runs, repeated_runs(store, runs))


def test_a_difference_beyond_the_spread_of_repeats_counts(store):
    store.add([a_run("a1", 1.0), a_run("a2", 1.1)])
    found = compare(store, a_run("a1", 1.0), a_run("b", 1.3, 2.0))
    assert found.time.difference == pytest.approx(0.3)
    assert found.time.spread == pytest.approx(0.1)
    assert found.time.differs is True


def test_a_difference_within_the_spread_of_either_does_not_count(store):
    store.add([a_run("b2", 1.6, 2.0), a_run("a2", 1.01)])
    found = compare(store, a_run("a1", 1.0), a_run("b", 1.3, 2.0))
    assert found.time.spread == pytest.approx(1.6 / 1.3 - 1)
    assert found.time.differs is True
    again = compare(store, a_run("a1", 1.0), replace(a_run("c", 1.2, 2.0)))
    assert again.time.spread == pytest.approx(1.6 / 1.2 - 1)
    assert again.time.differs is False


def test_without_repeats_nobody_knows(store):
    found = compare(store, a_run("a", 1.0), a_run("b", 5.0, 2.0))
    assert math.isnan(found.time.spread)
    assert found.time.differs is None
    assert not found.knows_spread


def test_two_runs_of_one_configuration_do_not_judge_themselves(store):
    found = compare(store, a_run("a", 1.0), a_run("b", 5.0))
    assert found.time.differs is None
    store.add([a_run("c", 1.0), a_run("d", 1.02)])
    found = compare(store, a_run("a", 1.0), a_run("b", 5.0))
    assert [len(one.runs) for one in found.repeated] == [2, 2]
    assert found.time.spread == pytest.approx(0.02)
    assert found.time.differs is True


def test_runs_that_failed_or_are_of_another_build_are_no_repeats(store):
    store.add([a_run("f", 9.0, status="exit 3"), a_run("g", 9.0, executable="other")])
    found = compare(store, a_run("a", 1.0), a_run("b", 1.3, 2.0))
    assert [len(one.runs) for one in found.repeated] == [1, 1]


def test_parts_loads_and_costs_are_compared_where_runs_have_them(store):
    one = replace(
        a_run("a", 1.0), loads=(("cpu_avg_min", 1.0),), costs=(("cpu_s", 2.0),)
    )
    other = replace(a_run("b", 2.0, 2.0), parts=(RunPart("io", "function", 0.1, 3.0),))
    found = compare(store, one, other)
    by_name = {(each.kind, each.name): each for each in found.quantities}
    assert set(by_name) == {
        ("time", "time"), ("phase", "solve"), ("function", "io"),
        ("load", "cpu_avg_min"), ("cost", "cpu_s"),
    }  # fmt: skip
    solve, io = by_name["phase", "solve"], by_name["function", "io"]
    assert solve.values[0] == pytest.approx(0.5)
    assert math.isnan(solve.values[1])
    assert solve.shares[0] == 0.5
    assert io.values[1] == pytest.approx(0.3)
    assert io.differs is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("n=1000:2000", [("n", ">=", 1000.0), ("n", "<=", 2000.0)]),
        (" n = -1.5 : 2e3 ", [("n", ">=", -1.5), ("n", "<=", 2000.0)]),
        ("n=5:", [("n", ">=", 5.0)]),
        ("time=:2", [("time_s", "<=", 2.0)]),
        ("when==12:30", [("when", "=", "12:30")]),
        ("mesh=a:b", [("mesh", "=", "a:b")]),
        ("x=:", [("x", "=", ":")]),
        ("n>=5", [("n", ">=", 5.0)]),
    ],
)
def test_a_range_is_two_conditions(text, said):
    assert [(one.name, one.operator, one.value) for one in conditions_of(text)] == said


def test_a_range_that_is_empty_is_refused():
    with pytest.raises(UsageError, match="the smaller end first"):
        conditions_of("n=2000:1000")
