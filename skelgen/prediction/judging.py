"""What a skeleton's times predict where the truth is known."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np

from skelgen.prediction.scaling import correction, scaled, scaled_draws
from skelgen.trust import Interval
from skelgen.trust.intervals import INTERVAL_SEED, interval


@dataclass(frozen=True, slots=True)
class ScenarioTimes:
    """Times of an application and its skeleton, quiet and in a scenario [s].

    Attributes
    ----------
    truth_s, there_s : tuple of float
        Of application and skeleton in the scenario.
    application_s, skeleton_s : tuple of float
        Of both when quiet.
    part : float
        Of the application's time that the skeleton was built to take; 0 when that is
        not known [1].
    """

    truth_s: tuple[float, ...]
    there_s: tuple[float, ...]
    application_s: tuple[float, ...]
    skeleton_s: tuple[float, ...]
    part: float = 0.0

    @property
    def complete(self) -> bool:
        """Say whether something can be predicted, and compared."""
        return all((self.truth_s, self.there_s, self.application_s, self.skeleton_s))


def judged(times: ScenarioTimes, method: str) -> Interval:
    """Predict the application's time with the interval of what was measured [s].

    Parameters
    ----------
    times : ScenarioTimes
    method : str
        Rules that the skeleton was planned by.
    """
    quiet = times.application_s, times.skeleton_s
    both = statistics.median(quiet[0]), statistics.median(quiet[1])
    ratio = both[0] / both[1]
    by = correction(ratio, 1 / times.part if times.part else ratio, method)
    predicted_s = float(scaled(statistics.median(times.there_s), *both, by))
    generator = np.random.default_rng(INTERVAL_SEED)
    draws = scaled_draws(times.there_s, *quiet, by, generator)
    return interval(draws, predicted_s)
