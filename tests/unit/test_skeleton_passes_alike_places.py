"""Long programs have one operation for calls that are alike."""

from __future__ import annotations

import random

import numpy as np
import pytest

from skelgen.loops import expand
from skelgen.signature import Signature
from skelgen.signature.leaves import leaf_symbols
from skelgen.skeleton.keep.alike_occurrences import alike_occurrences
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
    monkeypatch.setattr(alike_places, "MOST_KINDS", 0)


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


@pytest.mark.parametrize("most", [0, 10_000])
@pytest.mark.parametrize("seed", range(6))
def test_kinds_have_the_statistics_of_their_occurrences(seed: int, most: int) -> None:
    signature = build(random_program(random.Random(seed), calls=300)).signature
    expansion = expanded(signature, 0.5)
    alike = alike_occurrences(signature, most)
    merged, leaf = merged_leaves(signature, expansion, alike)
    for number, (one, other) in enumerate(
        zip(signature.groups, merged.groups, strict=True)
    ):
        rows = slice(expansion.first[number], expansion.first[number + 1])
        symbol = leaf_symbols(one.nest)
        assert (symbol[leaf[rows]] == symbol[expansion.leaf[rows]]).all()
        counted = np.bincount(leaf[rows], minlength=len(symbol))
        assert other.count.tolist() == counted.tolist()
        for name in ("mpi_ns", "idle_ns", "polls", "nap_ns", "size_steps"):
            sums = getattr(one, name).sum(axis=0), getattr(other, name).sum(axis=0)
            assert sums[0] == pytest.approx(sums[1])
        used = other.count > 0
        for name in ("compute_ns", "size_bytes"):
            given, found = getattr(one, name), getattr(other, name)
            assert found.total.sum(axis=0) == pytest.approx(given.total.sum(axis=0))
            assert found.squares.sum(axis=0) == pytest.approx(given.squares.sum(axis=0))
            assert (other.count[used] == found.histogram.sum(axis=2)[used].T).all()
            assert (found.histogram.sum(axis=0) == given.histogram.sum(axis=0)).all()
            mean = found.total[used] / other.count[used][:, np.newaxis]
            assert (found.least[used] <= mean * 1.000001).all()
            assert (found.most[used] >= mean * 0.999999).all()
            samples = found.samples[used]
            known = ~np.isnan(samples)
            assert known[:, :, 0].all()
            assert (samples <= found.most[used][..., np.newaxis])[known].all()
        calls = [int(runs[:, 1].sum()) for runs in one.peers]
        assert sum(int(runs[:, 1].sum()) for runs in other.peers) == sum(calls)


def irregular() -> Signature:
    """Return one whose calls follow no pattern, and whose ranks have other leaves.

    Rank 0 has some calls more. Iterations that compute long do so on both.
    """
    rng = random.Random(5)
    ranks = [["rank 0"], ["rank 1"]]
    for _ in range(300):
        long_ns = rng.choice((1000, 1000, rng.randrange(50_000, 200_000)))
        other = rng.choice(("Barrier", "Bcast root=0 bytes=8", "Reduce root=0 bytes=8"))
        for lines in ranks:
            own_ns = round(long_ns * rng.uniform(0.97, 1.03))
            lines += [f"{own_ns} Allreduce bytes=8 op=1", f"10 {other}"]
        if rng.random() < 0.4:
            ranks[0].append("10 Sendrecv to=0 from=0 tag=1 tag2=1 bytes=8")
    signature = build(events("\n".join(["ranks 2", *ranks[0], *ranks[1]]))).signature
    assert len(signature.groups) == 2
    return signature


def test_each_call_has_the_computation_of_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short(monkeypatch)
    monkeypatch.setattr(alike_places, "MOST_KINDS", 100)
    made = plan(irregular(), 3)
    zero, one = (steps(program) for program in made.programs)
    assert len(zero) == len(one) > 20
    apart = np.abs(np.array(zero) - one).sum() / sum(zero)
    assert apart < 0.1


def steps(program: Program) -> list[float]:
    """Return the computation before each Allreduce of a program."""
    met: dict[int, int] = {}
    found = []
    for number in expand(program.nest).tolist():
        one = program.operations[number]
        values = one.compute_ns.values[0]
        turn = met[number] = met.get(number, -1) + 1
        value = values[turn * len(values) // one.occurrences]
        if value > 100:
            found.append(float(value))
    return found


def test_a_list_that_would_be_too_long_has_one_kind_for_each_symbol(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    signature = irregular()
    short(monkeypatch)
    few = plan(signature, 3)
    monkeypatch.setattr(alike_places, "MOST_KINDS", 100)
    many = plan(signature, 3)
    monkeypatch.setattr(alike_places, "MOST_LISTED_ITEMS", 0)
    listed = plan(signature, 3)
    operations = [
        sum(len(program.operations) for program in made.programs)
        for made in (few, many, listed)
    ]
    assert operations[0] == operations[2] < operations[1]


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
    made = plan(build(events(text)).signature, 2)
    assert [len(program.operations) for program in made.programs] == [3]
    assert not any("no pattern" in one for one in made.report.warnings)
