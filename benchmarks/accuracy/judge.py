"""From times to errors: what was predicted, what came, what simpler rules say."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np

from benchmarks.accuracy.results import APPLICATION, SKELETON, SMALL, Results
from skelgen.prediction.intervals import interval, median_draws
from skelgen.prediction.predict import MODEL_ERROR

QUIET = "quiet"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One prediction beside the truth.

    Attributes
    ----------
    application, scenario, method : str
    length_s : float
        Wanted time of the skeleton, 0 for other methods [s].
    slowdown : float
        Measured time over quiet time [1].
    error : float
        Predicted over measured time, less 1 [1].
    held : bool or None
        Whether the 90 % interval held the truth; None where there is none.
    """

    application: str
    scenario: str
    method: str
    length_s: float
    slowdown: float
    error: float
    held: bool | None


def _median(results: Results, *fields: object) -> float | None:
    runs = results.runs(*fields)
    return statistics.median(runs) if runs else None


def slowdown(results: Results, name: str, scenario: str, what: str) -> float | None:
    """Return how much longer something takes in a scenario than when quiet [1]."""
    shared = _median(results, name, scenario, what, 0.0)
    quiet = _median(results, name, QUIET, what, 0.0)
    return None if shared is None or quiet is None else shared / quiet


def skeletons(results: Results, generator: np.random.Generator) -> list[Judgement]:
    """Judge predictions of skeletons: time x measured ratio."""
    found = []
    lengths = [length for length in results.names("length_s") if length]
    for name in results.names("application"):
        for scenario in results.names("scenario"):
            for length_s in lengths:
                one = _skeleton(results, name, scenario, length_s, generator)
                if one and scenario != QUIET:
                    found.append(one)
    return found


def _skeleton(
    results: Results,
    name: str,
    scenario: str,
    length_s: float,
    generator: np.random.Generator,
) -> Judgement | None:
    there = results.runs(name, scenario, SKELETON, length_s)
    here = results.runs(name, QUIET, SKELETON, length_s)
    truth = results.runs(name, scenario, APPLICATION, 0.0)
    quiet = results.runs(name, QUIET, APPLICATION, 0.0)
    if not (there and here and truth and quiet):
        return None
    measured_s = statistics.median(truth)
    ratio = statistics.median(quiet) / statistics.median(here)
    predicted_s = statistics.median(there) * ratio
    draws = median_draws(there, generator) * median_draws(quiet, generator)
    draws /= median_draws(here, generator)
    draws *= np.exp(MODEL_ERROR * generator.standard_normal(len(draws)))
    band = interval(draws, predicted_s)
    return Judgement(
        name,
        scenario,
        "skeleton",
        length_s,
        measured_s / statistics.median(quiet),
        predicted_s / measured_s - 1,
        band.p5 <= measured_s <= band.p95,
    )


def baselines(results: Results) -> list[Judgement]:
    """Judge what one says without a skeleton.

    ``average``: the mean slowdown of the other applications. ``small input``: the
    slowdown of the application's own small input.

    References
    ----------
    Sodhi and Subhlok 2005, section V: average and class S prediction.
    """
    found = []
    names = results.names("application")
    for scenario in results.names("scenario"):
        slow = {n: slowdown(results, n, scenario, APPLICATION) for n in names}
        for name in names:
            truth = slow[name]
            if truth is None or scenario == QUIET:
                continue
            others = [s for n, s in slow.items() if n != name and s is not None]
            guesses = {
                "average": statistics.fmean(others) if others else None,
                "small input": slowdown(results, name, scenario, SMALL),
            }
            for method, guess in guesses.items():
                if guess is not None:
                    error = guess / truth - 1
                    one = Judgement(name, scenario, method, 0.0, truth, error, None)
                    found.append(one)
    return found
