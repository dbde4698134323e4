"""What fits keep, and what kernels find, never changes an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.models import speed
from benchmarks.models.cases import problems
from skelgen.models import regimes, runs, runs_ahead
from skelgen.models.families import (
    default,
    normal_form,
    power,
    sum_refinement,
    terms,
    workload_terms,
)
from skelgen.models.families.searching import Kinds, Sums
from skelgen.models.families.sum_refinement import TIMES
from skelgen.models.model import Model, fit_model, predict_with
from skelgen.models.parts import fit_parts
from skelgen.models.runs import Floats, RunTable, table_of
from skelgen.models.thresholds import LARGEST_LINEAR_MISS
from tests.twins import models_searching as twin

KEPT = (
    normal_form.normal_forms,
    terms._products,
    terms._usable,
    terms._remembered,
    power._found,
    runs_ahead._axes,
    runs_ahead._order,
    regimes._steps,
    regimes._columns,
    regimes._since,
    runs._varied,
    runs._different,
    default._count,
    workload_terms._functions_of,
    workload_terms._all_products,
    Kinds.of,
)


def forget() -> None:
    """Begin as a new process would."""
    for kept in KEPT:
        kept.cache_clear()  # type: ignore[attr-defined]


def near_themselves(
    sums: Sums, columns: Floats, values: Floats, weights: Floats, steps: int
) -> tuple[Floats, Floats]:
    """Do what the kernel does for sets of all sizes, by its twin."""
    found, errors = sums.coefficients.copy(), np.empty(len(sums.sets))
    sizes = (sums.sets >= 0).sum(axis=1)
    for size in np.unique(sizes):
        which = np.flatnonzero(sizes == size)
        sets = sums.sets[which, :size]
        own, errors[which] = twin.near_themselves_plainly(
            columns[sets],
            sets >= len(columns) - steps,
            sums.coefficients[which, :size],
            values,
            weights,
            times=TIMES,
            largest_miss=LARGEST_LINEAR_MISS,
        )
        found[which, :size] = own
    return found, errors


def answers(model: Model, asked: RunTable) -> Floats:
    """Return ends and middles of intervals: a (cases, 3) array."""
    rows = [
        {name: float(values[i]) for name, values in asked.columns.items()}
        for i in range(len(asked))
    ]
    each = [predict_with(model, row).interval for row in rows]
    return np.array([[one.p5, one.p50, one.p95] for one in each])


@pytest.mark.parametrize(
    ("case", "family"),
    [
        *((case, "default") for case in ("S1", "S2", "S3 processes, knee", "S5")),
        *((case, "normal-form") for case in ("S1", "S4")),
    ],
)
def test_a_model_is_the_same_with_the_twins_of_the_kernels(
    case: str, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = next(problems(4000, [case]))
    forget()
    quick = fit_model(problem.learnt, family)
    monkeypatch.setattr(normal_form, "search", twin.search_plainly)
    monkeypatch.setattr(sum_refinement, "_near_themselves", near_themselves)
    forget()
    slow = fit_model(problem.learnt, family)
    forget()
    assert quick.text == slow.text
    np.testing.assert_allclose(
        answers(quick, problem.asked), answers(slow, problem.asked), rtol=1e-9
    )


@pytest.mark.parametrize("inputs", ["sizes", "sizes and ranks", "sizes and loads"])
@pytest.mark.parametrize("family", ["default", "normal-form", "power", "workload"])
def test_phases_together_are_fitted_as_each_alone(family: str, inputs: str) -> None:
    whole, parts = speed.phases(6, inputs)
    forget()
    together = fit_parts(whole, parts, family)
    assert len(together.parts) == 6
    texts = {one.model.text for one in together.parts}
    assert len(texts) == 6
    for one in together.parts:
        forget()
        alone = fit_model(replace(whole, values=parts[one.name]), family)
        assert one.model == alone


def test_fits_of_the_same_inputs_share_their_terms_and_not_their_times() -> None:
    whole, parts = speed.phases(2, "sizes and ranks")
    forget()
    first, second = (
        normal_form.normal_forms(replace(whole, values=one)) for one in parts.values()
    )
    assert all(a is b for a, b in zip(first.terms, second.terms, strict=True))
    assert terms._usable.cache_info().misses == 1
    assert not np.array_equal(first.factors, second.factors)


def test_what_is_kept_cannot_be_written() -> None:
    whole, _ = speed.phases(1, "sizes and ranks")
    columns = terms.columns_of(terms.terms_for(whole), whole.columns, len(whole))
    with pytest.raises(ValueError, match="read-only"):
        columns[0, 0] = 2.0
    with pytest.raises(ValueError, match="read-only"):
        runs_ahead.order(whole)[0] = 2.0
    with pytest.raises(ValueError, match="read-only"):
        runs_ahead.axes(whole)["n"][0] = 2.0


def rows_of(values: Sequence[float]) -> RunTable:
    return table_of([{"n": one} for one in values], [1.0] * len(values))


def test_runs_are_equal_when_all_their_numbers_are() -> None:
    some, same, other = rows_of([1.0, 2.0]), rows_of([1.0, 2.0]), rows_of([1.0, 3.0])
    assert some == same
    assert hash(some) == hash(same)
    assert some != other
    assert some != replace(some, values=np.array([1.0, 2.0]))
    assert some != replace(some, unit="h")
    assert len({some, same, other}) == 2


@pytest.mark.parametrize(
    "case", ["100 phases x 25 runs, sizes, power", "prediction, S1"]
)
def test_the_benchmark_of_speed_measures_its_cases(case: str) -> None:
    found = [name for name in speed.CASES if case in name]
    assert len(found) == 1
    seconds, memory = speed.measured(found[0])
    assert seconds > 0.0
    assert memory > 10.0
