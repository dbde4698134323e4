"""What a family says of configurations that it has not seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.models.cross_validation import configurations, left_out
from skelgen.models.families import FAMILIES, FamilySettings
from skelgen.models.runs import ModelInput, RunTable, meaning_of

LINEAR = FAMILIES["linear"]


def table(rows, law):
    inputs = tuple(ModelInput(name, meaning_of(name)) for name in rows[0])
    return RunTable.gather(inputs, rows, [law(**row) for row in rows])


def sizes(*found):
    return [{"n": float(n)} for n in found]


def test_runs_of_one_configuration_differ_by_loads_only_and_the_largest_is_last():
    rows = [
        {"n": n, "cpu": load}
        for n, load in ((400.0, 1.0), (100.0, 0.5), (400.0, 0.5), (200.0, 1.0))
    ]
    runs = table(rows, lambda n, cpu: n / cpu)
    assert [list(one) for one in configurations(runs)] == [[1], [3], [0, 2]]


def test_each_run_is_predicted_without_the_runs_of_its_configuration():
    runs = table(sizes(1, 2, 3, 4, 4), lambda n: 10.0 if n == 4 else n)
    found = LINEAR.fit(runs, FamilySettings())
    said = left_out(LINEAR, found, runs)
    assert said[3] == said[4] == pytest.approx(4.0, rel=1e-3)  # 10 was not seen
    assert said[0] != pytest.approx(1.0, rel=0.05)  # that of others was


def test_what_the_other_runs_do_not_determine_is_not_known():
    runs = table(sizes(1, 2), lambda n: n)

    def refuses(runs, settings, *found):
        raise InputError("too few")

    family = replace(LINEAR, fit=refuses, again=None)
    assert np.isnan(left_out(family, None, runs)).all()
    assert np.isnan(left_out(replace(LINEAR, again=refuses), None, runs)).all()


def test_many_configurations_are_left_out_some_at_a_time_and_no_neighbours():
    runs = table(sizes(*range(1, 51)), lambda n: n)
    seen = []

    def fit(others, settings):
        seen.append(set(map(int, others.columns["n"])))
        return LINEAR.fit(others, settings)

    said = left_out(replace(LINEAR, fit=fit, again=None), None, runs)
    assert said == pytest.approx(runs.values, rel=1e-3)
    assert len(seen) == 20
    for one in seen:
        gone = sorted(set(range(1, 51)) - one)
        assert min(np.diff(gone)) == 20
