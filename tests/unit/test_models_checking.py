"""Is a model good enough, and what to add where it is not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.models.advice import goes_with, neighbour, repeat, rounded
from skelgen.models.checking import check_model
from skelgen.models.cross_validation import configurations, left_out
from skelgen.models.families import FAMILIES, FamilySettings
from skelgen.models.runs import ModelInput, RunTable, meaning_of

RANDOM = np.random.default_rng(3)


def table(rows, law):
    inputs = tuple(ModelInput(name, meaning_of(name)) for name in rows[0])
    return RunTable.gather(inputs, rows, [law(**row) for row in rows])


def grid(sizes=(1000, 2000, 4000, 8000), ranks=(2, 4, 8)):
    return [{"n": float(n), "ranks": float(p)} for n in sizes for p in ranks]


def cubic(n, ranks=1.0):
    return 1e-9 * n**3 / ranks + 1e-3


def test_a_model_that_says_all_has_no_configuration_that_is_off():
    found = check_model(table(grid(), cubic), 0.05)
    assert len(found.configurations) == 12
    assert found.off == ()
    assert found.doubts == ()


def test_the_configuration_that_is_off_comes_first_with_what_to_add():
    def law(n, ranks):
        return cubic(n, ranks) * (1.5 if (n, ranks) == (2000.0, 4.0) else 1.0)

    found = check_model(table(grid(), law), 0.1)
    worst = found.off[0]
    assert dict(worst.at) == {"n": 2000.0, "ranks": 4.0}
    assert worst.error == pytest.approx(-1 / 3, abs=0.05)
    assert worst.advice.kind == "neighbour"
    assert [one.code for one in found.doubts] == ["goal-missed"]


def test_runs_of_one_configuration_that_differ_are_to_be_repeated():
    rows = [*grid(), {"n": 2000.0, "ranks": 4.0}]
    runs = table(rows, cubic)
    values = runs.values.copy()
    values[-1] *= 2.2
    runs = RunTable.gather(runs.inputs, rows, values.tolist())
    worst = check_model(runs, 0.1).off[0]
    assert worst.runs == 2
    assert worst.spread == pytest.approx(1.2, abs=0.2)
    assert worst.advice.kind == "repeat"
    assert worst.advice.run == (("n", 2000.0), ("ranks", 4.0))


def test_a_configuration_without_which_there_is_no_model_is_off():
    rows = [{"n": 1000.0}, {"n": 2000.0}]
    found = check_model(table(rows, lambda n: n), 0.1)
    assert len(found.off) == 2
    assert all(math.isnan(one.error) for one in found.off)


def test_one_run_is_refused():
    with pytest.raises(InputError):
        check_model(table([{"n": 1000.0}], lambda n: n), 0.1)


def test_an_input_that_errors_go_with_is_named():
    rows = grid()
    steps = RANDOM.uniform(1.0, 2.0, len(rows))
    runs = table(rows, cubic)
    runs = RunTable.gather(runs.inputs, rows, (runs.values * steps).tolist())
    (told,) = check_model(runs, 0.1, "power", {"steps": steps}).advice
    assert told.kind == "input"
    assert "steps" in told.text


def test_what_is_left_out_is_not_seen():
    runs = table(grid(), cubic)
    power = FAMILIES["power"]
    found = power.fit(runs, FamilySettings())
    before = left_out(power, found, runs)
    values = runs.values.copy()
    values[5] *= 10.0
    changed = RunTable.gather(runs.inputs, grid(), values.tolist())
    after = left_out(power, power.fit(changed, FamilySettings()), changed)
    assert after[5] == pytest.approx(before[5], rel=1e-6)


def test_repeats_are_one_configuration_whatever_their_loads():
    rows = [{"n": 5.0, "cpu": 0.5}, {"n": 5.0, "cpu": 0.9}, {"n": 6.0, "cpu": 1.0}]
    groups = configurations(table(rows, lambda n, cpu: n / cpu))
    assert [group.tolist() for group in groups] == [[0, 1], [2]]


def test_a_neighbour_lies_in_the_widest_gap_and_is_a_number_that_people_type():
    runs = table([{"n": float(n)} for n in (1000, 1200, 7100)], lambda n: n)
    assert dict(neighbour(runs, {"n": 1200.0}).run) == {"n": 2900.0}
    powers = table([{"ranks": float(p)} for p in (2, 4, 32)], lambda ranks: ranks)
    assert dict(neighbour(powers, {"ranks": 32.0}).run)["ranks"] in (8.0, 16.0)
    close = table([{"n": 100.0}, {"n": 101.0}], lambda n: n)
    assert neighbour(close, {"n": 100.0}).kind == "repeat"
    assert rounded(0.01234, whole=False) == pytest.approx(0.0123)


def test_errors_that_go_with_nothing_name_nothing():
    noise = np.random.default_rng(1).normal(size=20)
    other = np.random.default_rng(2).normal(size=20)
    assert goes_with(noise, {"m": other}) == ("", 0.0)
    assert goes_with(noise, {"m": noise})[0] == "m"
    assert goes_with(noise[:4], {"m": noise[:4]}) == ("", 0.0)
    assert goes_with(noise, {"m": np.ones(20)}) == ("", 0.0)


def test_a_repeat_says_by_how_much_runs_differ():
    assert (
        repeat({"n": 8000.0}, 3, 0.25).text == "its 3 runs differ by 25%: repeat n=8000"
    )
