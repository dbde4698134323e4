"""How well a ratio is known, and calibrations that end early or make turns again."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from skelgen.prediction.calibrate import calibrate
from skelgen.prediction.ratio_outlook import ratio_interval, ratio_outlook
from skelgen.prediction.set_runs import SetRuns
from skelgen.prediction.types import Timed
from tests.unit.test_prediction_campaign import folder, prepare

__all__ = ["folder"]

STEADY_S, NOISY_S = (20.0, 20.1, 19.9), (20.0, 26.0, 15.0)


def skeleton(*times_s: float) -> SetRuns:
    return SetRuns(tuple(Timed(time_s, took_s=1.0) for time_s in times_s))


def test_the_interval_of_a_ratio_is_that_of_both_times():
    steady = ratio_interval(STEADY_S, (2.0, 2.01, 1.99))
    noisy = ratio_interval(NOISY_S, (2.0, 2.01, 1.99))
    assert steady.p50 == noisy.p50 == 10.0
    assert steady.p5 < 10.0 < steady.p95
    assert noisy.half_width > 3 * steady.half_width


def test_runs_that_cannot_make_a_ratio_sure_are_hopeless():
    runs = skeleton(2.0, 2.4, 1.6)
    view = ratio_outlook(NOISY_S, runs, 0.05, optimistic=True)
    assert view.is_hopeless(3)
    assert not view.is_hopeless(500)
    further = ratio_outlook(NOISY_S, runs, 0.05).further_runs()
    assert further is not None
    assert further > 20
    assert ratio_outlook(STEADY_S, skeleton(2.0, 2.01, 1.99), 0.05).is_enough


def calibrated(folder: Path, whole_s, parts: list[Timed], **options):
    times, runs = itertools.cycle(whole_s), iter(parts)
    return calibrate(
        prepare(folder),
        lambda: Timed(next(times)),
        skeleton=lambda: next(runs),
        **options,
    )


@pytest.mark.parametrize(
    ("whole_s", "turns"), [(STEADY_S, 3), (NOISY_S, 3)], ids=["sure", "hopeless"]
)
def test_a_calibration_ends_early_when_more_turns_do_not_help(
    folder: Path, caplog, whole_s, turns
):
    known = calibrated(folder, whole_s, [Timed(2.0)] * 9, runs=9, bound=0.04)
    assert len(known.skeleton_runs_s) == len(known.application_runs_s) == turns
    told = "runs of each would make that 4 %" in caplog.text
    assert told is (whole_s == NOISY_S)


def test_without_a_bound_all_turns_are_made(folder: Path):
    assert (
        len(calibrated(folder, STEADY_S, [Timed(2.0)] * 9, runs=9).undisturbed_s) == 9
    )


def test_a_turn_with_a_disturbed_skeleton_is_made_again_and_does_not_count(
    folder: Path, caplog
):
    quiet, slow = Timed(2.0, computed_s=1.8), Timed(3.0, computed_s=2.8)
    known = calibrated(folder, STEADY_S, [quiet, slow, quiet, quiet], runs=3)
    assert known.skeleton_runs_s == (2.0, 3.0, 2.0, 2.0)
    assert known.disturbed == (1,)
    assert known.skeleton_computed_s == (1.8, 2.8, 1.8, 1.8)
    assert (known.skeleton_s, known.ratio) == (2.0, 10.0)
    assert "run 2 of 4 was disturbed: it computed 1.56 times as long" in caplog.text


def test_a_load_that_lasts_counts_in_a_calibration(folder: Path):
    quiet, slow = Timed(2.0, computed_s=1.8), Timed(3.0, computed_s=2.8)
    known = calibrated(folder, STEADY_S, [slow, slow, quiet, *[slow] * 9], runs=3)
    assert known.disturbed == ()
    assert known.skeleton_s == 3.0
