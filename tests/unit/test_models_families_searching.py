"""The kernels of the search for sums find what their plain twins find."""

from __future__ import annotations

import numpy as np
import pytest

from skelgen.models import regimes
from skelgen.models.families.searching import Kinds, Sums, search
from skelgen.models.families.sum_refinement import TIMES, refined
from skelgen.models.families.terms import columns_of, terms_for
from skelgen.models.runs import Floats, RunTable, table_of
from skelgen.models.thresholds import LARGEST_LINEAR_MISS
from tests.twins.models_searching import near_themselves_plainly, search_plainly

LAWS = ("sizes", "sizes and ranks", "loads")


def runs_of(law: str, seed: int, count: int = 25) -> RunTable:
    """Draw runs whose times have a noise of 2 %."""
    random = np.random.default_rng(seed)
    n = random.choice([1000.0, 1500.0, 2200.0, 3300.0, 5000.0], count)
    rows = [{"n": one} for one in n.tolist()]
    times = 1e-9 * n**2.4 + 2e-6 * n
    if law != "sizes":
        ranks = random.choice([2.0, 4.0, 8.0, 16.0], count)
        rows = [{**row, "ranks": p} for row, p in zip(rows, ranks, strict=True)]
        times = times / ranks + 1e-3 * np.log(ranks)
    if law == "loads":
        cpu, bandwidth = random.uniform(0.2, 1.0, (2, count))
        rows = [
            {**row, "cpu": a, "bandwidth": b}
            for row, a, b in zip(rows, cpu, bandwidth, strict=True)
        ]
        times = times / cpu + 1e-8 * n**2 / bandwidth
    noisy = times * np.exp(0.02 * random.standard_normal(count))
    return table_of(rows, noisy.tolist())


def searched(runs: RunTable) -> tuple[Kinds, Floats, Floats, int]:
    """Return what a search is given for runs: kinds, columns, a target, steps."""
    terms, steps = terms_for(runs), regimes.steps_for(runs)
    own = columns_of(terms, runs.columns, len(runs)) / runs.values
    columns = np.concatenate([own, regimes.columns_of(steps, runs)])
    return Kinds.of(terms, len(steps)), columns, np.ones(len(runs)), len(steps)


def assert_same(found: Sums, plain: Sums) -> None:
    np.testing.assert_array_equal(found.sets, plain.sets)
    np.testing.assert_allclose(found.errors, plain.errors, rtol=1e-9)
    np.testing.assert_allclose(found.coefficients, plain.coefficients, rtol=1e-6)
    np.testing.assert_array_equal(found.costs, plain.costs)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("most", [1, 2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_the_kernel_finds_the_sets_of_its_twin(law: str, most: int, seed: int) -> None:
    kinds, columns, target, _ = searched(runs_of(law, seed))
    found = search(kinds, columns, target, most)
    assert len(found.sets) == (60 if most > 1 else len(found.sets)) > 0
    assert_same(found, search_plainly(kinds, columns, target, most))


def test_columns_that_are_the_same_are_never_in_one_set() -> None:
    kinds, columns, target, _ = searched(runs_of("sizes and ranks", 1))
    twice = np.concatenate([columns[:10], columns[:10]])
    ten = Kinds(*(np.tile(part[:10], 2) for part in parts(kinds)))
    found = search(ten, twice, target, 4)
    plain = search_plainly(ten, twice, target, 4)
    assert len(found.sets) > 20
    for chosen in found.sets:
        own = chosen[chosen >= 0] % 10
        assert len(np.unique(own)) == len(own)
    assert found.scores[0] == pytest.approx(plain.scores[0], rel=1e-9)


def test_columns_that_are_no_numbers_or_nothing_are_never_chosen() -> None:
    kinds, columns, target, _ = searched(runs_of("sizes and ranks", 2))
    damaged = columns.copy()
    damaged[3], damaged[7, 4], damaged[9, 0] = 0.0, np.nan, np.inf
    with np.errstate(all="ignore"):
        found = search(kinds, damaged, target, 4)
        assert_same(found, search_plainly(kinds, damaged, target, 4))
    assert not np.isin(found.sets, [3, 7, 9]).any()


def test_as_many_terms_as_runs_are_found_and_not_known() -> None:
    kinds, columns, target, _ = searched(runs_of("sizes and ranks", 3, count=2))
    found = search(kinds, columns, target, 2)
    plain = search_plainly(kinds, columns, target, 2)
    assert found.scores[0] == pytest.approx(plain.scores[0], rel=1e-9)
    assert (found.errors[(found.sets >= 0).sum(axis=1) > 1] > 1e8).all()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", range(4))
def test_sums_are_refined_as_by_the_twin(law: str, seed: int) -> None:
    runs = runs_of(law, seed)
    kinds, relative, target, steps = searched(runs)
    sums = search(kinds, relative, target, 4)
    columns = relative.copy()
    columns[: len(columns) - steps] *= runs.values
    weights = np.random.default_rng(seed).uniform(0.5, 1.0, len(runs))
    found = refined(sums, columns, runs.values, weights, steps)
    scores = {
        tuple(s): e for s, e in zip(found.sets.tolist(), found.errors, strict=True)
    }
    for size in (1, 2, 3, 4):
        own = sums.only(np.flatnonzero((sums.sets >= 0).sum(axis=1) == size))
        sets = own.sets[:, :size]
        _, errors = near_themselves_plainly(
            columns[sets],
            sets >= len(columns) - steps,
            own.coefficients[:, :size],
            runs.values,
            weights,
            times=TIMES,
            largest_miss=LARGEST_LINEAR_MISS,
        )
        for chosen, error, before in zip(own.sets, errors, own.errors, strict=True):
            now = scores[tuple(chosen.tolist())]
            assert now == pytest.approx(error, rel=1e-9) or now == before
    assert np.median(np.abs(found.errors / sums.errors - 1.0)) > 0.0


def test_sums_of_columns_that_are_nearly_the_same_are_refined_as_by_the_twin() -> None:
    runs = runs_of("sizes", 5)
    n = runs.columns["n"]
    columns = np.stack([n**2.4, n**2.4 * (1.0 + 1e-13 * n), n])
    sets = np.array([[0, 1, 2, -1]])
    start = np.array([[1e-9, 1e-9, 1e-6, 0.0]])
    sums = Sums(sets, start, np.array([1.0]), np.array([1.0]))
    weights = np.ones(len(runs))
    found = refined(sums, columns, runs.values, weights, 0)
    coefficients, errors = near_themselves_plainly(
        columns[sets[:, :3]],
        np.zeros((1, 3), bool),
        start[:, :3],
        runs.values,
        weights,
        times=TIMES,
        largest_miss=LARGEST_LINEAR_MISS,
    )
    assert found.errors[0] == pytest.approx(errors[0], rel=1e-6)
    np.testing.assert_allclose(found.coefficients[0, :3], coefficients[0], rtol=1e-6)


def parts(kinds: Kinds) -> tuple[Floats, ...]:
    """Return the arrays of kinds in their order."""
    return kinds.cost, kinds.growth, kinds.positive, kinds.messages, kinds.step
