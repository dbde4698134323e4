"""Turn times of the skeleton into a time of the application, with a verdict."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skelgen.events.thresholds import LOADED_SHARE
from skelgen.launch.hosts import Host
from skelgen.launch.mpi import kind_of, same_mpi
from skelgen.prediction.thresholds import LARGEST_DRAWN_WIDTH_FACTOR
from skelgen.prediction.types import Prediction, Timed, TrialFacts
from skelgen.trust import Doubt, Interval, too_wide
from skelgen.trust.errors import MethodError, MethodErrors, error_draws
from skelgen.trust.intervals import (
    interval,
    whole_draws,
)
from skelgen.trust.types import OWN_CORES, SHARED_CORES


def predict(
    facts: TrialFacts,
    runs_s: Sequence[float],
    *,
    hosts: Sequence[Host],
    mpi: str,
    interval_bound: float,
    errors: MethodErrors,
    generator: np.random.Generator,
    doubts: Sequence[Doubt] = (),
    cores: str = "",
) -> Prediction:
    """Predict the application's time from the skeleton's times on a node set.

    Parameters
    ----------
    facts : TrialFacts
    runs_s : sequence of float
        Times of what ran on the node set [s].
    hosts : sequence of Host
        The node set; empty for this machine.
    mpi : str
        MPI that ran the skeleton there.
    interval_bound : float
        Largest half width of the interval that is trusted [1].
    errors : MethodErrors
    generator : numpy.random.Generator
    doubts : sequence of Doubt
        Further ones.
    cores : str
        See :func:`cores_of`.

    References
    ----------
    Sodhi and Subhlok 2005, section IV: measured scaling ratio.
    """
    middle = float(facts.application_time(statistics.median(runs_s)))
    draws = facts.draws(runs_s, generator)
    wide = too_wide(
        interval(draws, middle),
        facts.narrowing,
        bound=LARGEST_DRAWN_WIDTH_FACTOR * interval_bound,
    )
    # As the ratio's, these errors are common to all node sets; no run makes them less.
    draws = draws * np.exp(facts.drift * generator.standard_normal(len(draws)))
    draws = draws * unmeasured_draws(facts, len(draws), generator)
    half_width = method_error(facts, mpi, errors, cores).half_width
    error = error_draws(half_width, len(draws), generator)
    return Prediction(
        tuple(hosts),
        tuple(runs_s),
        facts.ratio,
        interval(draws * error, middle),
        interval(draws, middle),
        (*doubts_of(facts, hosts=hosts, mpi=mpi), *doubts, *wide),
        calibration=facts.calibration,
        cores=cores,
    )


def measured(
    facts: TrialFacts, runs_s: Sequence[float], generator: np.random.Generator
) -> Interval:
    """Return the predicted time [s] with the part of its interval that was measured."""
    middle = float(facts.application_time(statistics.median(runs_s)))
    return interval(facts.draws(runs_s, generator), middle)


def cores_of(facts: TrialFacts, runs: Sequence[Timed]) -> str:
    """Return whether other processes had the cores of the ranks, too.

    Where they had, computation loses its caches, and arithmetic that stands for it does
    not: the error of predictions is another one. Arithmetic that nobody says it of is
    taken to have shared its cores.

    Parameters
    ----------
    facts : TrialFacts
    runs : sequence of Timed
        On the node set.

    Returns
    -------
    str
        ``own`` or ``shared``; empty of other computation that did not have its cores
        alone, for no results are known of it.
    """
    waits = [one.queued_s / one.time_s for one in runs if one.queued_s is not None]
    if waits and statistics.median(waits) <= LOADED_SHARE:
        return OWN_CORES
    return SHARED_CORES if facts.arithmetic else ""


def method_error(
    facts: TrialFacts, mpi: str, errors: MethodErrors, cores: str = ""
) -> MethodError:
    """Return the error of what predicts, for programs of this MPI on such cores."""
    return errors.of(facts.method, kind_of(mpi).title, cores)


def unmeasured_draws(
    facts: TrialFacts, count: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Draw the whole time over what it would be if all parts were measured [1]."""
    share = facts.unmeasured_share
    return whole_draws(min(share, 1.0), generator) if share else np.ones(count)


def doubts_of(
    facts: TrialFacts, *, hosts: Sequence[Host], mpi: str
) -> tuple[Doubt, ...]:
    """Return why a prediction should not be trusted, before anything is measured."""
    doubts = [*facts.doubts(mpi)]
    if facts.mpi and not same_mpi(facts.mpi, mpi):
        text = f"recorded with {facts.mpi}, run with {mpi}"
        doubts.append(Doubt("other-mpi", text, "record it with the MPI that runs it"))
    recorded, now = max(len(facts.ranks_per_host), 1), max(len(hosts), 1)
    if recorded != now:
        text = f"recorded on {_hosts(recorded)}, run on {_hosts(now)}"
        doubts.append(Doubt("other-hosts", text, "record it on as many hosts"))
    return tuple(doubts)


def _hosts(count: int) -> str:
    return "1 host" if count == 1 else f"{count} hosts"
