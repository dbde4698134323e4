"""From times to errors: what was predicted, what came, what simpler rules say."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.accuracy.results import (
    APPLICATION,
    FITTED,
    PAPER,
    SKELETON,
    SMALL,
    Results,
)
from skelgen.prediction.predict import MODEL_ERROR, scale, scaled, scaled_draws
from skelgen.trust.intervals import interval
from tests.testbed.scenarios import SCENARIOS

_REFERENCES = {
    name: one.reference.name
    for one in SCENARIOS
    for name in (one.name, one.reference.name)
}
_LARGEST_NEEDED = 4.0


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
        Whether the 90 % interval with MODEL_ERROR held the truth; None where there is
        no interval.
    needed : float or None
        The least model error with which the 90 % interval holds the truth [1]; None
        where there is no interval.
    """

    application: str
    scenario: str
    method: str
    length_s: float
    slowdown: float
    error: float
    held: bool | None = None
    needed: float | None = None

    @property
    def alone(self) -> bool:
        """Say whether the ranks were placed otherwise than in the paper's scenarios."""
        return reference(self.scenario) != reference("")


def reference(scenario: str) -> str:
    """Return the quiet scenario that one is compared with."""
    return _REFERENCES.get(scenario, SCENARIOS[0].name)


def slowdown(results: Results, name: str, scenario: str, what: str) -> float | None:
    """Return how much longer something takes in a scenario than when quiet [1]."""
    shared = results.runs(name, scenario, what, 0.0)
    quiet = results.runs(name, reference(scenario), what, 0.0)
    if not shared or not quiet:
        return None
    return statistics.median(shared) / statistics.median(quiet)


def judge(results: Results, generator: np.random.Generator) -> list[Judgement]:
    """Judge all predictions: of skeletons, and of what needs none."""
    found = []
    lengths = [length for length in results.names("length_s") if length]
    for name in results.names("application"):
        for scenario in results.names("scenario"):
            if scenario == reference(scenario):
                continue
            for method in (SKELETON, FITTED, PAPER):
                for length_s in lengths:
                    fields = name, scenario, method, length_s
                    if one := _skeleton(results, *fields, generator):
                        found.append(one)
    return found + _baselines(results)


def _skeleton(
    results: Results,
    name: str,
    scenario: str,
    method: str,
    length_s: float,
    generator: np.random.Generator,
) -> Judgement | None:
    """Judge what is predicted from the times there and those when quiet."""
    there = results.runs(name, scenario, method, length_s)
    here = results.runs(name, reference(scenario), method, length_s)
    truth = results.runs(name, scenario, APPLICATION, 0.0)
    quiet = results.runs(name, reference(scenario), APPLICATION, 0.0)
    if not (there and here and truth and quiet):
        return None
    measured_s = statistics.median(truth)
    both = statistics.median(quiet), statistics.median(here)
    part = results.found(name, scenario, method, length_s)[0].part
    ratio = both[0] / both[1]
    by = scale(ratio, 1 / part if part else ratio, method)
    predicted_s = float(scaled(statistics.median(there), *both, by))
    draws = np.log(scaled_draws(there, quiet, here, by, generator))
    normal = generator.standard_normal(len(draws))
    logs = math.log(measured_s), math.log(predicted_s)

    def holds(error: float) -> bool:
        band = interval(draws + error * normal, logs[1])
        return band.p5 <= logs[0] <= band.p95

    times = measured_s / both[0], predicted_s / measured_s - 1
    bounds = holds(MODEL_ERROR), _needed(holds)
    return Judgement(name, scenario, method, length_s, *times, *bounds)


def _needed(holds: Callable[[float], bool]) -> float:
    """Find the model error that just makes the interval reach the truth [1]."""
    low, high = 0.0, _LARGEST_NEEDED
    if holds(low):
        return low
    while high - low > 1e-5:
        between = (low + high) / 2
        low, high = (low, between) if holds(between) else (between, high)
    return high


def _baselines(results: Results) -> list[Judgement]:
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
            if truth is None or scenario == reference(scenario):
                continue
            others = [s for n, s in slow.items() if n != name and s is not None]
            guesses = {
                "average": statistics.fmean(others) if others else None,
                "small input": slowdown(results, name, scenario, SMALL),
            }
            for method, guess in guesses.items():
                if guess is not None:
                    error = guess / truth - 1
                    found.append(Judgement(name, scenario, method, 0.0, truth, error))
    return found
