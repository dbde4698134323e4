"""Load forecasts: experts, choice, intervals, cells."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.forecasts import JUDGED, series
from skelgen.errors import InputError
from skelgen.forecasts import Samples, experts, forecast, happened
from skelgen.forecasts.autoregression import first_order, higher_order
from skelgen.forecasts.choosing import by_horizon, by_next_cell
from skelgen.forecasts.resampling import resampled, step_s, together, usable
from skelgen.forecasts.smoothing import smoothed
from skelgen.forecasts.types import LoadHistory
from skelgen.forecasts.windows import adaptive, running_medians

CPU = (0.0, 1.0)
MINUTE = 60.0
shares = st.lists(st.floats(0, 1), min_size=8, max_size=300)


def samples(values, host="n1", begin=1.7e9, step=MINUTE):
    values = np.asarray(values, float)
    return Samples(host, begin + step * np.arange(len(values)), values)


def found(series_, horizon_s=600.0, **options):
    if isinstance(series_, Samples):
        series_ = [series_]
    return forecast(series_, horizon_s, generator=np.random.default_rng(0), **options)


def codes(one):
    return {doubt.code for doubt in one.doubts}


def history(values):
    values = np.asarray(values, float)
    return LoadHistory(values, np.ones(len(values), bool), MINUTE)


# --- what comes out -----------------------------------------------------------------


@given(
    values=shares,
    horizon_s=st.floats(1, 1e5),
    method=st.sampled_from(["default", "nws"]),
    covariate=st.sampled_from(["avg-min", "min-avg"]),
)
@settings(deadline=None, max_examples=60)
def test_quantiles_are_in_order_and_within_the_limits(
    values, horizon_s, method, covariate
):
    both = [samples(values), samples(values[::-1], "n2")]
    one = found(both, horizon_s, method=method, covariate=covariate)
    ends = one.interval
    assert 0.0 <= ends.p5 <= ends.p50 <= ends.p95 <= 1.0
    assert math.isfinite(one.postcast_error)


@given(
    level=st.floats(0, 1),
    count=st.integers(8, 400),
    method=st.sampled_from(["default", "nws"]),
)
@settings(deadline=None, max_examples=40)
def test_a_constant_history_forecasts_the_constant(level, count, method):
    one = found(samples([level] * count), method=method)
    ends = one.interval
    assert ends.p5 == ends.p50 == ends.p95 == pytest.approx(level, abs=1e-15)
    assert one.postcast_error == 0.0


@given(values=shares, power=st.integers(-10, 30))
@settings(deadline=None, max_examples=40)
def test_another_unit_gives_the_same_forecast_in_it(values, power):
    rounded = np.round(np.array(values) * 1024) / 1024  # so that scaling is exact
    limits = (0.0, 1e12)
    one = found(samples(rounded), limits=limits)
    other = found(samples(rounded * 2.0**power), limits=limits)
    assert other.expert == one.expert
    assert other.interval.p50 == pytest.approx(one.interval.p50 * 2.0**power, rel=1e-9)


def test_the_smallest_average_is_above_the_average_of_the_smallest():
    rng = np.random.default_rng(1)
    both = [samples(rng.random(2000)), samples(rng.random(2000), "n2")]
    first = found(both, covariate="avg-min").interval.p50
    second = found(both, covariate="min-avg").interval.p50
    assert first == pytest.approx(1 / 3, abs=0.03)
    assert second > first + 0.05


def test_the_default_beats_the_choice_by_the_next_sample_over_an_hour():
    errors = {"default": 0.0, "nws": 0.0}
    for seed in range(8):
        values = series(JUDGED["held 3 to 8 min"], [seed, 77], 3060, MINUTE)
        truth = values[3000:].mean()
        for method in errors:
            one = found(samples(values[:3000]), 3600.0, method=method)
            errors[method] += abs(one.interval.p50 - truth)
    assert errors["nws"] > 1.5 * errors["default"]


def test_intervals_hold_about_nine_of_ten():
    held = 0
    for seed in range(60):
        values = series(JUDGED["AR .95"], [seed, 78], 2060, MINUTE)
        ends = found(samples(values[:2000]), 3600.0).interval
        held += ends.p5 <= values[2000:].mean() <= ends.p95
    assert 46 <= held <= 60


def test_a_daily_pattern_counts_from_a_week_on():
    day = np.where(np.arange(8 * 1440) % 1440 < 720, 0.2, 0.8)
    values = day + 0.02 * np.random.default_rng(1).standard_normal(len(day))
    whole = found(samples(values[: 7 * 1440 + 600]), 3 * 3600.0)
    assert "daily" in whole.expert
    assert whole.interval.p50 == pytest.approx((2 * 0.2 + 0.8) / 3, abs=0.03)
    assert "daily" not in found(samples(values[: 6 * 1440]), 3600.0).expert


def test_a_week_is_a_week_whatever_the_jitter_of_its_samples():
    times = 60.0 * np.arange(7 * 1440) + np.random.default_rng(1).random(7 * 1440)
    day = 0.5 + 0.4 * np.sin(2 * np.pi * times / 86400)
    one = forecast(
        [Samples("n1", times, day)], 10800.0, generator=np.random.default_rng(0)
    )
    assert "daily" in one.expert


# --- experts ------------------------------------------------------------------------


@given(seed=st.integers(0, 1000), horizon=st.integers(1, 40))
@settings(deadline=None, max_examples=20)
def test_no_expert_looks_at_what_comes_after(seed, horizon):
    rng = np.random.default_rng(seed)
    values = rng.random(400)
    positions = np.arange(100, 300, dtype=np.int64)
    changed = np.concatenate((values[:301], rng.random(99)))
    for (name, one), (_, other) in zip(
        experts.extended(values, positions, horizon, 30),
        experts.extended(changed, positions, horizon, 30),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9, err_msg=name)


def test_experts_say_what_their_names_say():
    values = np.random.default_rng(1).random(300)
    positions = np.arange(60, 300, dtype=np.int64)
    said = {name: row[-1] for name, row in experts.published(values, positions, 1)}
    assert said["last"] == values[-1]
    assert said["mean"] == pytest.approx(values.mean())
    assert said["median"] == pytest.approx(np.median(values))
    assert said["mean of 20"] == pytest.approx(values[-20:].mean())
    assert said["median of 5"] == pytest.approx(np.median(values[-5:]))
    assert said["median of 10"] == pytest.approx(np.median(values[-10:]))
    assert said["trimmed mean of 10"] == pytest.approx(
        np.sort(values[-10:])[3:7].mean()
    )


@pytest.mark.parametrize("gain", [0.01, 0.2, 0.9])
def test_smoothing_is_the_recursion(gain):
    values = np.random.default_rng(1).random(3000)
    level, levels = values[0], []
    for value in values:
        level += gain * (value - level)
        levels.append(level)
    np.testing.assert_allclose(smoothed(values, gain), levels, atol=1e-12)


def test_ar1_is_the_mean_of_its_steps():
    rng = np.random.default_rng(1)
    values = np.zeros(2000)
    for i in range(1, 2000):
        values[i] = 0.9 * values[i - 1] + rng.standard_normal()
    mean, last = values.mean(), values[-1]
    away = values - mean
    ratio = ((values[1:] * values[:-1]).mean() - mean**2) / (away**2).mean()
    steps = [mean + ratio**k * (last - mean) for k in range(1, 31)]
    at = np.array([1999])
    assert first_order(values, at, 30)[0] == pytest.approx(np.mean(steps))
    assert ratio == pytest.approx(0.9, abs=0.03)
    own = higher_order(values, at, 30, 8)[0]
    assert own == pytest.approx(np.mean(steps), abs=0.4)


def test_ar8_follows_a_wave_that_ar1_cannot():
    wave = np.sin(2 * np.pi * np.arange(1000) / 20)
    at = np.array([998])
    assert higher_order(wave, at, 1, 8)[0] == pytest.approx(wave[999], abs=0.05)
    assert abs(first_order(wave, at, 1)[0] - wave[999]) > 0.1


def test_the_running_median_is_that_of_all_cells_so_far():
    values = np.random.default_rng(1).random(200)
    at = np.array([20, 199])
    expected = [np.median(values[:21]), np.median(values)]
    np.testing.assert_allclose(running_medians(values, at), expected)


def test_an_adaptive_window_narrows_after_a_jump():
    values = np.concatenate((np.zeros(50), np.ones(50)))
    wide = np.array([values[max(0, i - 49) : i + 1].mean() for i in range(100)])
    both = np.stack([values, wide])
    assert adaptive(values, both, np.array([60]))[0] == 1.0


def test_nws_takes_the_expert_of_the_next_cell_and_the_default_that_of_the_horizon():
    rng = np.random.default_rng(1)
    values = np.repeat(rng.random(400), 5)
    assert by_next_cell(history(values), 60).expert in {"last", "smoothing 0.9"}
    assert by_horizon(history(values), 60, 1440.0).expert not in {"last"}


# --- samples and cells --------------------------------------------------------------


def test_a_cell_is_the_average_of_its_samples_by_time():
    one = Samples("n1", np.array([10.0, 20, 30, 60]), np.array([0.0, 0.2, 0.4, 1.0]))
    (cells,) = resampled([one], 30.0)
    np.testing.assert_allclose(cells.values, [0.2, 1.0])
    assert cells.known.all()


def test_a_gap_keeps_the_value_before_and_is_not_known():
    times = np.concatenate((np.arange(0, 600, 10.0), np.arange(1200, 1800, 10.0)))
    one = Samples("n1", times, np.where(times < 600, 0.2, 0.8))
    (cells,) = resampled([one], 60.0)
    unknown = cells.values[~cells.known]
    assert 8 <= len(unknown) <= 10
    assert np.all(unknown == 0.2)


def test_thinned_samples_stand_for_the_time_since_the_one_before():
    times = np.concatenate((np.arange(600, 6001, 600.0), np.arange(6010, 7001, 10.0)))
    (cells,) = resampled([Samples("n1", times, np.ones(len(times)))], 60.0)
    assert cells.known.all()


def test_the_smallest_node_is_known_where_all_are():
    first, second = history([0.5, 0.5, 0.5]), history([0.9, 0.1, 0.9])
    second = LoadHistory(second.values, np.array([True, True, False]), MINUTE)
    both = together([first, second])
    assert both.values.tolist() == [0.5, 0.1, 0.1]
    assert both.known.tolist() == [True, True, False]


def test_cells_are_whole_multiples_of_the_time_between_samples():
    assert step_s([samples(np.zeros(7 * 1440))], 3600.0) == MINUTE
    assert step_s([samples(np.zeros(35_000), step=10.0)], 3600.0) == 30.0
    assert step_s([samples(np.zeros(30_000), step=10.0)], 60.0) == 10.0


def test_samples_that_cannot_be_are_left_out(caplog):
    values = [0.5, math.nan, 1.3, 1.04, 0.6, -0.2, 0.5, math.inf, 0.5, 0.5]
    one = usable(samples(values), CPU)
    assert one.values.tolist() == [0.5, 1.0, 0.6, 0.5, 0.5, 0.5]
    assert "left out 4 of 10" in caplog.text


def test_samples_of_a_clock_that_jumped_back_are_put_in_order():
    times = np.array([0.0, 60, 120, 90, 120, 180])
    one = usable(Samples("n1", times, np.full(6, 0.5)), CPU)
    assert one.times.tolist() == [0, 60, 90, 120, 180]


@given(
    values=st.lists(
        st.one_of(st.floats(), st.floats(0, 1), st.just(math.nan)), max_size=60
    ),
    gaps=st.lists(st.one_of(st.floats(0, 1e4), st.floats()), min_size=60, max_size=60),
)
@settings(deadline=None, max_examples=100)
def test_any_samples_give_a_forecast_or_one_line(values, gaps):
    times = np.array(
        [
            1.7e9 + math.fsum(gaps[: i + 1])
            if all(map(math.isfinite, gaps[: i + 1]))
            else math.nan
            for i in range(len(values))
        ]
    )
    try:
        one = found(Samples("n1", times, np.array(values, float)))
    except InputError as error:
        assert "\n" not in str(error)
        return
    ends = one.interval
    assert 0.0 <= ends.p5 <= ends.p50 <= ends.p95 <= 1.0


def test_per_cent_are_refused():
    with pytest.raises(InputError, match="values from 0 to 1; one is 45"):
        found(samples([45.0] * 100))


def test_nodes_of_different_times_are_refused():
    later = samples([0.5] * 100, "n2", begin=1.8e9)
    with pytest.raises(InputError, match="n1 ends before that of n2 begins"):
        found([samples([0.5] * 100), later])


def test_too_few_samples_are_refused():
    with pytest.raises(InputError, match="expected at least 8"):
        found(samples([0.5] * 5))


# --- doubts and what happened -------------------------------------------------------


def test_a_short_history_a_gap_and_a_dead_node_are_doubts():
    rng = np.random.default_rng(1)
    assert not found(samples(rng.random(500))).doubts
    assert codes(found(samples(rng.random(50)))) == {"short-history"}
    whole = samples(rng.random(1000))
    kept = (np.arange(1000) < 200) | (np.arange(1000) > 600)
    assert codes(found(Samples("n1", whole.times[kept], whole.values[kept]))) == {
        "gaps"
    }
    dead = Samples("n2", whole.times[:900], whole.values[:900])
    assert codes(found([whole, dead])) == {"old-series"}


def test_errors_grow_with_the_root_of_a_horizon_that_cannot_be_judged():
    values = 0.5 + 0.01 * np.random.default_rng(1).standard_normal(100)
    once, twice = (found(samples(values), hours * 3600.0).interval for hours in (1, 2))
    ratio = (twice.p95 - twice.p5) / (once.p95 - once.p5)
    assert ratio == pytest.approx(math.sqrt(2.0))


def test_what_happened_is_known_once_the_time_is_over():
    values = np.concatenate((np.full(100, 0.5), np.full(60, 0.2), np.full(10, 0.9)))
    begin = 1.7e9 + 99 * MINUTE
    whole = [samples(values), samples(1.0 - values, "n2")]
    args = (begin, begin + 3600.0)
    assert happened(whole, *args, "avg-min", CPU) == pytest.approx(0.2)
    assert happened(whole, *args, "min-avg", CPU) == pytest.approx(0.2)
    early = [samples(values[:130])]
    assert math.isnan(happened(early, *args, "avg-min", CPU))
