"""Every family of models: what it takes, what it gives, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.models.families import FAMILIES, FamilySettings
from skelgen.models.formulas import parse
from skelgen.models.runs import Meaning, ModelInput, RunTable, When, meaning_of, when_of
from tests.families import check_family, fitted

N, P = ModelInput("n"), ModelInput("ranks", Meaning.RANKS)
CPU = ModelInput("cpu", Meaning.CPU)


SIZES, RANKS = (100, 200, 300, 400, 600, 800, 1000), (1, 2, 4, 8, 16, 32, 64)


def table(function, sizes=SIZES, ranks=RANKS):
    """Return runs of all sizes on all numbers of ranks."""
    runs = [{"n": n, "ranks": p, "cpu": 1.0} for n in sizes for p in ranks]
    times = [function(run["n"], run["ranks"]) for run in runs]
    return RunTable.gather((N, P, CPU), runs, times)


ANY = table(lambda n, p: 1e-8 * n**3 / p + 1e-6 * n**2 + 1e-3 * np.log(2 * p))


LOADS = (CPU, ModelInput("bandwidth", Meaning.BANDWIDTH))


def loaded(function, sizes=SIZES, inputs=(N, *LOADS)):
    """Return runs of all sizes, each under three loads."""
    random = np.random.default_rng(3)
    runs = [
        {one.name: float(random.uniform(0.1, 1.0)) for one in inputs} | {"n": n}
        for n in sizes
        for _ in range(3)
    ]
    return RunTable.gather(inputs, runs, [function(**run) for run in runs])


UNDER_LOAD = loaded(lambda n, cpu, bandwidth: 1e-7 * n**3 / cpu + 1e-4 * n / bandwidth)


def said_for(family):
    """Return settings without which a family has nothing to fit."""
    if family.name == "template":
        return FamilySettings(template=parse("a*n^2 + b*n + c"))
    return FamilySettings()


#: Families that need runs under load.
LOADED = ("rational-small", "multivariate-1", "multivariate-2")


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_a_family_keeps_the_contract(family):
    runs = UNDER_LOAD if family.name in LOADED else ANY
    assert check_family(family, runs, said_for(family)) is not None
    assert family.assumes


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@settings(max_examples=10, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(1e-30, 1e30),
            st.sampled_from((1.0, 2.0, 16.0)),
            st.floats(0.01, 1.0),
            st.floats(1e-30, 1e30),
        ),
        min_size=1,
        max_size=20,
    ),
    st.booleans(),
)
def test_any_runs_give_numbers_or_one_clear_line(family, rows, parallel):
    runs = [
        {"n": n, "ranks": p, "cpu": a, "bandwidth": (0.3 + 7 * a) % 0.9 + 0.1}
        for n, p, a, _ in rows
    ]
    inputs = (N, P) if parallel else (N, *LOADS)
    table = RunTable.gather(inputs, runs, [t for *_, t in rows])
    check_family(family, table, said_for(family))


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_one_run_and_equal_runs_are_too_few(family):
    one = ANY.only([0])
    assert fitted(family, one) is None
    assert fitted(family, ANY.only([0, 0, 0])) is None


def test_power_finds_powers_again():
    runs = table(lambda n, p: 3e-6 * n**1.7 / p**0.8)
    found = FAMILIES["power"].fit(runs, FamilySettings())
    assert dict(found.coefficients)["n"] == pytest.approx(1.7, abs=0.01)
    assert found.at({"n": 1600.0, "ranks": 16.0}) == pytest.approx(
        3e-6 * 1600**1.7 / 16**0.8, rel=0.02
    )
    assert found.dropped == ("cpu",)
    assert found.text.startswith("3.0")


@pytest.mark.parametrize(
    ("run", "time_s", "said"),
    [
        ({"n": 1.0}, 1.0, "run 1 has no ranks"),
        ({"n": 0.0, "ranks": 1.0}, 1.0, "run 1: n is 0"),
        ({"n": float("nan"), "ranks": 1.0}, 1.0, "n is nan"),
        ({"n": 1e308, "ranks": 1.0}, 1.0, "n is 1e.308"),
        ({"n": 1.0, "ranks": 1.0}, 1e-320, "time is 9.99.*e-321"),
        ({"n": 1.0, "ranks": 1.0}, -1.0, "time is -1"),
        ({"n": 1.0, "ranks": 1.0, "cpu": 1.3}, 1.0, "cpu is 1.3; a part that is left"),
        ({"n": 1.0, "ranks": 1.0, "cpu": 0.0}, 1.0, "cpu is 0"),
    ],
)
def test_numbers_that_cannot_be_meant_are_refused(run, time_s, said):
    inputs = (N, P, CPU) if "cpu" in run else (N, P)
    with pytest.raises(InputError, match=said):
        RunTable.gather(inputs, [run], [time_s])


def test_inputs_are_known_by_their_names():
    assert meaning_of("ranks") is Meaning.RANKS
    assert meaning_of("P") is Meaning.RANKS
    assert meaning_of("steps") is Meaning.SIZE
    assert meaning_of("cpu_start") is meaning_of("cpu_average") is Meaning.CPU
    assert when_of("bandwidth_start") is When.START
    assert when_of("bandwidth") is when_of("cold_start") is When.AVERAGE
    assert meaning_of("cold_start") is Meaning.SIZE
    assert [one.name for one in ANY.varied] == ["n", "ranks"]
    assert ANY.of(Meaning.CPU) == (CPU,)
    assert [one.name for one in ANY.without("n").inputs] == ["ranks", "cpu"]
