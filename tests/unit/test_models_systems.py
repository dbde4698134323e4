"""A model of other systems, scaled to a few runs on one."""

from __future__ import annotations

import numpy as np
import pytest

from skelgen.models.model import predict_with
from skelgen.models.runs import table_of
from skelgen.models.systems import carry

PLACES = [
    {"n": n, "ranks": p}
    for n in (1000.0, 1500.0, 2000.0, 3000.0, 4000.0)
    for p in (2.0, 4.0, 8.0, 16.0)
]
FEW = [
    {"n": 1000.0, "ranks": 2.0},
    {"n": 2000.0, "ranks": 8.0},
    {"n": 3000.0, "ranks": 4.0},
]
ASKED = [{"n": 2000.0, "ranks": 16.0}, {"n": 6000.0, "ranks": 32.0}]
NOISE = 0.03


def power_law(n, ranks, slower=1.0):
    return slower * 1e-8 * n**2.5 / ranks**0.8


def two_parts(n, ranks, compute=1.0, messages=1.0):
    return compute * 1e-9 * n**3 / ranks + messages * 2e-7 * n**2 / ranks**0.5


def table(law, places, generator, noise=NOISE):
    lots = generator.lognormal(0.0, noise, len(places))
    return table_of(
        places, [law(**one) * lot for one, lot in zip(places, lots, strict=True)]
    )


def codes(found):
    return {one.code for one in found.model.doubts}


def test_three_noisy_runs_recover_the_factor_and_intervals_hold_in_about_90_percent():
    factors, known, inside = [], [], []
    for seed in range(100):
        lots = np.random.default_rng(seed)
        other = table(power_law, PLACES, lots)
        few = table(lambda n, ranks: power_law(n, ranks, 1.7), FEW, lots)
        found = carry({"old": other}, few, "power", "new")
        factors.append(found.factor.p50)
        known.append(found.factor.p5 <= 1.7 <= found.factor.p95)
        for at in ASKED:
            truth = power_law(**at, slower=1.7) * lots.lognormal(0.0, NOISE)
            said = predict_with(found.model, at).interval
            inside.append(said.p5 <= truth <= said.p95)
        assert not codes(found) & {"few-runs", "few-points"}
    assert np.median(factors) == pytest.approx(1.7, rel=0.01)
    assert np.abs(np.log(np.array(factors) / 1.7)).max() < 0.1
    assert 0.8 <= np.mean(known) <= 0.97
    assert 0.85 <= np.mean(inside) <= 0.98


def test_a_system_with_the_same_network_lies_within_the_interval():
    inside = []
    for seed in range(12):
        lots = np.random.default_rng(seed)
        other = table(two_parts, PLACES, lots)
        few = table(lambda n, ranks: two_parts(n, ranks, 1.7, 1.0), FEW[:1], lots)
        found = carry({"old": other}, few, "normal-form", "new")
        for at in ASKED:
            said = predict_with(found.model, at).interval
            inside.append(said.p5 <= two_parts(**at, compute=1.7) <= said.p95)
        assert "few-runs" in codes(found)
    assert np.mean(inside) >= 0.9


def test_more_runs_make_the_interval_narrower():
    lots = np.random.default_rng(7)
    other = table(two_parts, PLACES, lots)
    slow = [{"n": n, "ranks": p} for n in (1000.0, 4000.0) for p in (2.0, 16.0)]
    widths = []
    for places in (slow[:1], slow[:2], slow):
        few = table(lambda n, ranks: 1.7 * two_parts(n, ranks), places, lots, 0.01)
        found = carry({"old": other}, few, "normal-form", "new")
        widths.append(predict_with(found.model, ASKED[1]).interval.half_width)
    assert widths[0] > widths[1] > widths[2]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_one_or_two_runs_are_doubted(count):
    lots = np.random.default_rng(1)
    few = table(lambda n, ranks: power_law(n, ranks, 1.7), FEW[:count], lots)
    found = carry({"old": table(power_law, PLACES, lots)}, few, "power", "new")
    assert ("few-runs" in codes(found)) == (count < 3)
    assert found.runs == count
    assert found.others == (("old", 20),)


def test_several_other_systems_are_put_together_by_what_each_is_slower():
    lots = np.random.default_rng(2)
    fast = table(lambda n, ranks: power_law(n, ranks, 0.2), PLACES[:8], lots)
    slow = table(lambda n, ranks: power_law(n, ranks, 5.0), PLACES, lots)
    few = table(power_law, FEW, lots)
    found = carry({"fast": fast, "slow": slow}, few, "power", "new")
    assert found.others == (("slow", 20), ("fast", 8))
    assert found.factor.p50 == pytest.approx(0.2, rel=0.1)
    said = predict_with(found.model, ASKED[0]).interval
    assert said.p5 < power_law(**ASKED[0]) < said.p95
    assert any("slow (20 runs), fast (8 runs)" in one for one in found.model.notes)


def test_runs_without_noise_give_the_factor_exactly():
    lots = np.random.default_rng(0)
    other = table(power_law, PLACES, lots, 0.0)
    few = table(lambda n, ranks: power_law(n, ranks, 1.7), FEW, lots, 0.0)
    found = carry({"old": other}, few, "power", "new")
    assert found.factor.p50 == pytest.approx(1.7, rel=0.01)
    shares = [share for share, _ in found.model.alternatives]
    assert sum(shares) == pytest.approx(1.0)
