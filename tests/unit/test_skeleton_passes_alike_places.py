"""Long programs have one operation for calls that are alike."""

from __future__ import annotations

import random

import numpy as np
import pytest

from skelgen.loops import expand
from skelgen.skeleton.keep.expansion import expand as expanded
from skelgen.skeleton.keep.merged_leaves import merged_leaves
from skelgen.skeleton.passes import alike_places
from skelgen.skeleton.plan import plan
from skelgen.skeleton.quantities.series import series_sums
from skelgen.skeleton.types import Plan, Program
from tests.builders import events
from tests.random_programs import random_program
from tests.summaries import build


def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all programs be too long."""
    monkeypatch.setattr(alike_places, "MOST_PROGRAM_ITEMS", 0)
    monkeypatch.setattr(alike_places, "MOST_OPERATIONS", 0)


def symbols_of(program: Program) -> list[tuple[int, tuple[int, ...]]]:
    known = [(one.symbol, one.ages) for one in program.operations]
    return [known[number] for number in expand(program.nest).tolist()]


def computed_ns(made: Plan) -> float:
    total = 0.0
    for program in made.programs:
        total += float((program.tail_ns + program.head_ns).sum())
        for one in program.operations:
            values = one.compute_ns.values + one.idle_ns.values
            total += float(series_sums(values, one.occurrences).sum())
    return total


@pytest.mark.parametrize("seed", range(6))
def test_calls_their_order_and_all_computation_stay(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    signature = build(random_program(random.Random(seed), calls=300)).signature
    usual = plan(signature, 1.5)
    short(monkeypatch)
    merged = plan(signature, 1.5)
    assert merged.signature is signature
    assert list(map(symbols_of, merged.programs)) == list(
        map(symbols_of, usual.programs)
    )
    assert computed_ns(merged) == pytest.approx(computed_ns(usual), rel=1e-6)
    for program in merged.programs:
        kinds = [(one.symbol, one.ages) for one in program.operations]
        assert len(set(kinds)) == len(kinds)


def test_the_report_says_what_stands_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = """
    ranks 2
    rank *
    repeat 40 {
        1000 Allreduce bytes=8 op=1
        10 Barrier
        9000 Allreduce bytes=8 op=1
        10 Bcast root=0 bytes=8
    }
    """
    signature = build(events(text)).signature
    assert not any("no pattern" in one for one in plan(signature, 2).report.warnings)
    short(monkeypatch)
    warnings = plan(signature, 2).report.warnings
    (doubt,) = [one for one in warnings if "no pattern" in one]
    assert "4 places" in doubt
    assert "3 kinds" in doubt
    assert "40%" in doubt  # 4000 of 10020


@pytest.mark.parametrize("seed", range(6))
def test_the_first_leaf_of_a_symbol_stands_for_all(seed: int) -> None:
    signature = build(random_program(random.Random(seed), calls=300)).signature
    merged, place = merged_leaves(signature, expanded(signature, 0.5))
    first = 0
    for one, other in zip(signature.groups, merged.groups, strict=True):
        own = place[first : first + len(one.count)]
        first += len(one.count)
        symbol = one.nest.symbol[one.nest.body_items == 0]
        assert (symbol[own] == symbol).all()
        assert (own <= np.arange(len(own))).all()
        assert not other.count[own != np.arange(len(own))].any()
        assert other.count.sum() == one.count.sum()
        for name in ("mpi_ns", "idle_ns", "polls", "nap_ns", "size_steps"):
            sums = getattr(one, name).sum(axis=0), getattr(other, name).sum(axis=0)
            assert sums[0] == pytest.approx(sums[1])
        for name in ("compute_ns", "size_bytes"):
            given, found = getattr(one, name), getattr(other, name)
            assert found.total.sum(axis=0) == pytest.approx(given.total.sum(axis=0))
            assert found.histogram.sum() == given.histogram.sum()
            used = np.unique(own)
            assert (found.least[used] <= given.least[used]).all()
            known = ~np.isnan(found.samples[used])
            assert np.isin(found.samples[used][known], given.samples).all()
        calls = [int(runs[:, 1].sum()) for runs in one.peers]
        assert sum(int(runs[:, 1].sum()) for runs in other.peers) == sum(calls)


def test_a_run_without_computation_is_merged_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = """
    ranks 2
    rank *
    repeat 40 {
        Allreduce bytes=8 op=1
        Barrier
        Allreduce bytes=8 op=1
        Bcast root=0 bytes=8
    }
    """
    short(monkeypatch)
    warnings = plan(build(events(text)).signature, 2).report.warnings
    assert any("so 0% of the computation" in one for one in warnings)
