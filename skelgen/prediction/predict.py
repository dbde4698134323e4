"""Turn times of the skeleton into a time of the application, with a verdict."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events.thresholds import LOADED_SHARE
from skelgen.launch.hosts import Host
from skelgen.launch.mpi import kind_of, same_mpi
from skelgen.prediction.set_runs import SetRuns
from skelgen.prediction.stopping import Outlook, projected
from skelgen.prediction.thresholds import (
    FEWEST_RUNS,
    LARGEST_DRAWN_WIDTH_FACTOR,
    LARGEST_OWN_PART,
    MOST_FURTHER_RUNS,
)
from skelgen.prediction.types import Need, Prediction, Timed, TrialFacts
from skelgen.trust import Doubt, too_wide
from skelgen.trust.errors import MethodError, MethodErrors, error_draws
from skelgen.trust.intervals import INTERVAL_SEED, interval, whole_draws
from skelgen.trust.types import OWN_CORES, SHARED_CORES
from skelgen.units import format_seconds


def predict(
    facts: TrialFacts,
    runs: SetRuns,
    *,
    hosts: Sequence[Host],
    mpi: str,
    interval_bound: float,
    errors: MethodErrors,
    generator: np.random.Generator,
    doubts: Sequence[Doubt] = (),
    stopped: bool = False,
    cores: str = "",
) -> Prediction:
    """Predict the application's time from the skeleton's times on a node set.

    Parameters
    ----------
    facts : TrialFacts
    runs : SetRuns
        Of what ran on the node set.
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
    stopped : bool
        Whether runs ended because further ones could not narrow the interval in time.
    cores : str
        See :func:`cores_of`.

    References
    ----------
    Sodhi and Subhlok 2005, section IV: measured scaling ratio.
    """
    middle = _typical_s(facts, runs)
    draws = _measured_draws(facts, runs, generator)
    bound = LARGEST_DRAWN_WIDTH_FACTOR * interval_bound
    wide = too_wide(interval(draws, middle), facts.narrowing, bound=bound)
    need = _need(facts, runs, interval_bound, stopped=stopped) if wide else None
    if need is not None:
        wide = tuple(replace(one, remedy=str(need)) for one in wide)
    # As the ratio's, these errors are common to all node sets; no run makes them less.
    draws = draws * np.exp(facts.drift * generator.standard_normal(len(draws)))
    draws = draws * unmeasured_draws(facts, len(draws), generator)
    half_width = method_error(facts, mpi, errors, cores).half_width
    error = error_draws(half_width, len(draws), generator)
    return Prediction(
        tuple(hosts),
        runs.times_s,
        facts.ratio,
        interval(draws * error, middle),
        interval(draws, middle),
        (*doubts_of(facts, hosts=hosts, mpi=mpi), *doubts, *wide),
        calibration=facts.calibration,
        computed_s=runs.computed_s,
        planned_compute_s=facts.planned_compute_s,
        disturbed=runs.disturbed,
        need=need,
        notes=(*runs.notes(facts.planned_compute_s), *_dear(runs, middle)),
        typical_s=runs.typical_s,
        cores=cores,
    )


def _measured_draws(
    facts: TrialFacts, runs: SetRuns, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Draw the application's time [s], with what disturbed some of the runs."""
    return facts.draws(runs.undisturbed_s, generator, runs.longer(generator))


def _dear(runs: SetRuns, application_s: float) -> tuple[str, ...]:
    """Say that the runs took longer than the application does, where they did."""
    if runs.spent_s <= application_s:
        return ()
    took, once = format_seconds(runs.spent_s), format_seconds(application_s)
    return (f"the runs took {took}, one run of the application takes {once}",)


def outlook(facts: TrialFacts, runs: SetRuns, bound: float) -> Outlook:
    """Return what the runs of a set tell, and what further ones would.

    Its own times may be known well enough while the calibration is not; further runs
    would not help then. The draws are its own: whoever asks finds the same.

    Parameters
    ----------
    facts : TrialFacts
    runs : SetRuns
        Of the skeleton there.
    bound : float
        Half width of the interval that is narrow enough [1].
    """

    def is_narrow(runs: SetRuns) -> bool:
        generator = np.random.default_rng(INTERVAL_SEED)
        if runs.half_width(generator) <= LARGEST_OWN_PART * bound:
            return True
        return _half_width(facts, runs, generator) <= bound

    return Outlook(runs, is_narrow)


def _half_width(
    facts: TrialFacts, runs: SetRuns, generator: np.random.Generator
) -> float:
    """Return half the measured interval of the application's time [1]."""
    draws = _measured_draws(facts, runs, generator)
    return interval(draws, _typical_s(facts, runs)).half_width


def _need(
    facts: TrialFacts, runs: SetRuns, bound: float, *, stopped: bool
) -> Need | None:
    """Return what an interval takes that is narrow enough; None after too few runs."""
    if len(runs) < FEWEST_RUNS:
        return None
    view, application_s = outlook(facts, runs, bound), _typical_s(facts, runs)
    further = 0 if view.is_enough else view.further_runs()
    if further is None:
        most = MOST_FURTHER_RUNS
        cost_s = most * runs.cost_s
        return Need(most, cost_s, application_s, more=True, stopped=stopped)
    then = projected(runs, len(runs) + further)
    reached = _half_width(facts, then, np.random.default_rng(INTERVAL_SEED))
    if reached > LARGEST_DRAWN_WIDTH_FACTOR * bound:
        return Need(None, 0.0, application_s, stopped=stopped)
    return Need(further, further * runs.cost_s, application_s, stopped=stopped)


def _typical_s(facts: TrialFacts, runs: SetRuns) -> float:
    """Return the time of the application that runs stand for [s]."""
    return float(facts.application_time(runs.typical_s))


def cores_of(facts: TrialFacts, runs: Sequence[Timed]) -> str:
    """Return whether other processes had the cores of the ranks, too.

    Where they had, computation loses its caches, and what stands for it may not: the
    error of predictions is another one. Unless it was fitted, a skeleton that nobody
    says it of is taken to have shared its cores.

    Parameters
    ----------
    facts : TrialFacts
    runs : sequence of Timed
        On the node set.

    Returns
    -------
    str
        ``own`` or ``shared``; empty of fitted computation that did not have its cores
        alone, for no results are known of it.
    """
    waits = [one.queued_s / one.time_s for one in runs if one.queued_s is not None]
    if waits and statistics.median(waits) <= LOADED_SHARE:
        return OWN_CORES
    return "" if facts.fitted else SHARED_CORES


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
