"""The model of 2010: a product of sums of nodes, cores and what they share."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.models.families import FAMILIES, FamilySettings
from skelgen.models.runs import ModelInput as Input
from skelgen.models.runs import RunTable, meaning_of

FAMILY = FAMILIES["product-of-sums"]
#: Read and write bandwidth, network, platform contribution of four systems.
SYSTEMS = ((6.0, 4.0, 1.0, 1.2), (9.0, 3.0, 10.0, 2.1), (3.0, 5.0, 4.0, 0.7))
SYSTEMS += ((5.0, 8.0, 2.0, 1.6),)
FACTS = ("read_16mib", "write_16mib", "network_nominal", "platform_contribution")


def equation_2(row):
    nodes, cores = row["nodes"], row["ranks_per_node"]
    read, write, network, platform = (row[name] for name in FACTS)
    return (
        (3.0 - 0.2 * read / cores)
        * (2.0 - 0.1 * write / cores)
        * (0.05 + 8.0 / nodes)
        * (1.0 + 0.8 / cores)
        * (0.3 + 5.0 / (nodes * cores))
        * (1.5 - 0.05 * network / cores)
        * (0.2 + 1.0 / platform)
    )


def runs_of(truth, *, systems=SYSTEMS, inputs=("nodes", "ranks_per_node", *FACTS)):
    rows = [
        {"nodes": n, "ranks_per_node": k} | dict(zip(FACTS, facts, strict=True))
        for facts in systems
        for n, k in itertools.product((4, 8, 16, 32), (1, 2, 4))
    ]
    given = [Input(name, meaning_of(name)) for name in inputs]
    return RunTable.gather(given, rows, [truth(row) for row in rows])


def noisy(truth, seed=4):
    random = np.random.default_rng(seed)
    return lambda row: truth(row) * random.normal(1.0, 0.03)


def test_the_seven_factors_are_found_again():
    runs = runs_of(equation_2)
    found = FAMILY.fit(runs, FamilySettings())
    assert found.doubts == ()
    row = dict(zip(FACTS, (7.0, 6.0, 3.0, 1.0), strict=True))
    row |= {"nodes": 24.0, "ranks_per_node": 2.0}
    assert found.at(row) == pytest.approx(equation_2(row), rel=1e-5)
    values = dict(found.coefficients)
    for letter, ratio in (("C", 160.0), ("E", 5.0 / 0.3), ("G", 5.0)):
        assert values[f"{letter}_1"] / values[f"{letter}_0"] == pytest.approx(
            ratio, rel=1e-4
        )


def test_on_one_system_four_of_the_seven_cannot_be_separated():
    facts = dict(zip(FACTS, SYSTEMS[0], strict=True))
    runs = runs_of(equation_2, systems=SYSTEMS[:1], inputs=("nodes", "ranks_per_node"))
    found = FAMILY.fit(runs, FamilySettings(facts=facts))
    assert [one.code for one in found.doubts] == ["not-separable"]
    for name in ("memory read", "memory write", "cores per node", "network bandwidth"):
        assert name in found.doubts[0].text
    letters = {name[0] for name, _ in found.coefficients}
    assert not letters & set("ABDFG")
    assert found.at(runs.columns) == pytest.approx(runs.values, rel=1e-5)


def test_no_small_change_of_a_coefficient_makes_the_squares_smaller():
    runs = runs_of(
        noisy(lambda row: (0.1 + 8 / row["nodes"]) * (1 + 2 / row["ranks_per_node"])),
        systems=SYSTEMS[:1],
        inputs=("nodes", "ranks_per_node"),
    )
    found = FAMILY.fit(runs, FamilySettings())
    factor, (c0, c1), (d0, d1) = (
        found.coefficients[0][1],
        *(
            [value for name, value in found.coefficients if name.startswith(letter)]
            for letter in "CD"
        ),
    )
    nodes, cores = runs.at.T
    at = np.array([factor * c0, factor * c1, d0, d1])

    def slope(i):
        one, two = at[0] + at[1] / nodes, at[2] + at[3] / cores
        rest = one * two - runs.values
        parts = (two, two / nodes, one, one / cores)
        return rest @ parts[i] / np.linalg.norm(parts[i]) / np.linalg.norm(runs.values)

    assert found.at(runs.columns) == pytest.approx(
        (at[0] + at[1] / nodes) * (at[2] + at[3] / cores), rel=1e-12
    )
    for i in range(4):
        assert slope(i) == pytest.approx(0.0, abs=1e-7)


def test_one_factor_is_the_linear_solution():
    ranks = np.array([4.0, 9.0, 16.0, 25.0, 36.0])
    times = [10.0, 5.0, 3.5, 2.0, 1.9]
    runs = RunTable.gather(
        (Input("ranks", meaning_of("ranks")),), [{"ranks": p} for p in ranks], times
    )
    found = FAMILY.fit(runs, FamilySettings())
    slope, constant = np.polyfit(1 / ranks, times, 1)
    assert found.at({"ranks": 64.0}) == pytest.approx(constant + slope / 64, rel=1e-6)


def test_polynomials_of_any_degree_are_factors():
    rows = [{"n": n, "m": m} for n in range(1, 7) for m in range(1, 6)]
    times = [(2 + r["n"] ** 2) * (1 + 3 * r["m"] + r["m"] ** 2) for r in rows]
    runs = RunTable.gather((Input("n"), Input("m")), rows, times)
    found = FAMILY.fit(runs, FamilySettings(degree=2))
    assert found.at({"n": 10.0, "m": 9.0}) == pytest.approx(102 * 109, rel=1e-6)
    assert found.at(runs.columns) == pytest.approx(runs.values, rel=1e-9)


def test_the_clock_stands_for_the_platform_where_that_was_not_measured():
    rows = [
        {"nodes": n, "clock": c, "platform_contribution": c**2}
        for n in (2, 4, 8, 16)
        for c in (2.0, 2.4, 3.0)
    ]
    times = [(0.1 + 5 / r["nodes"]) * (0.2 + 3 / r["clock"]) for r in rows]
    nodes, clock, platform = (
        Input(name, meaning_of(name))
        for name in ("nodes", "clock", "platform_contribution")
    )
    found = FAMILY.fit(RunTable.gather((nodes, clock), rows, times), FamilySettings())
    at = {"nodes": 32.0, "clock": 3.6}
    truth = (0.1 + 5 / 32) * (0.2 + 3 / 3.6)
    assert found.at(at) == pytest.approx(truth, rel=1e-6)
    both = FAMILY.fit(
        RunTable.gather((nodes, clock, platform), rows, times), FamilySettings()
    )
    assert both.dropped == ("clock",)


def test_what_does_not_help_is_left_out_and_named():
    random = np.random.default_rng(7)
    rows = [
        {"nodes": n, "seed": random.uniform(1, 2)} for n in (2, 4, 8, 16) for _ in "abc"
    ]
    times = [(0.1 + 5 / r["nodes"]) * random.normal(1.0, 0.02) for r in rows]
    inputs = (Input("nodes", meaning_of("nodes")), Input("seed"))
    found = FAMILY.fit(RunTable.gather(inputs, rows, times), FamilySettings())
    assert found.dropped == ("seed",)
    assert "seed" in found.notes[0]


def test_runs_that_never_differ_are_refused():
    runs = runs_of(equation_2, systems=SYSTEMS[:1])
    with pytest.raises(InputError, match="none does"):
        FAMILY.fit(runs.only([0, 0, 0]), FamilySettings())
    with pytest.raises(InputError, match="coefficients"):
        FAMILY.fit(runs.only([0, 1, 3]), FamilySettings())
