"""How well the ratio of application and skeleton is known, and what runs would tell."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np

from skelgen.prediction.scaling import quiet_draws
from skelgen.prediction.set_runs import SetRuns
from skelgen.prediction.stopping import Outlook, projected
from skelgen.trust import Interval
from skelgen.trust.intervals import INTERVAL_SEED, interval


def ratio_interval(
    application_runs_s: Sequence[float], skeleton_runs_s: Sequence[float]
) -> Interval:
    """Return the ratio of the medians [1] with its 90 % interval.

    Parameters
    ----------
    application_runs_s, skeleton_runs_s : sequence of float
        Times of both on the reference [s].
    """
    generator = np.random.default_rng(INTERVAL_SEED)
    above, below = quiet_draws(application_runs_s, skeleton_runs_s, generator)
    middle = statistics.median(application_runs_s) / statistics.median(skeleton_runs_s)
    return interval(above / below, middle)


def ratio_outlook(
    application_runs_s: Sequence[float],
    skeleton: SetRuns,
    bound: float,
    *,
    optimistic: bool = False,
) -> Outlook:
    """Return what the runs tell of the ratio, and what further runs of both would.

    Parameters
    ----------
    application_runs_s : sequence of float
        Times of the application [s]; one where it is not run.
    skeleton : SetRuns
        What each costs is what a turn of both costs.
    bound : float
        Half width of the interval that is narrow enough [1].
    optimistic : bool
        The application's runs to come differ as little as is likely.
    """
    made = SetRuns.of(application_runs_s)

    def is_narrow(runs: SetRuns) -> bool:
        whole_s = made.times_s
        if len(made) > 1 and len(runs) > len(skeleton):
            whole_s = projected(made, len(runs), optimistic=optimistic).times_s
        return ratio_interval(whole_s, runs.undisturbed_s).half_width <= bound

    return Outlook(skeleton, is_narrow)
