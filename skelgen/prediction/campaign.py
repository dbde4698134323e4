"""Run a skeleton on node sets until the times are known well enough."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

import numpy as np

from skelgen.launch.hosts import Host, place
from skelgen.prediction.predict import cores_of, measured, predict
from skelgen.prediction.thresholds import FEWEST_RUNS, LARGEST_OWN_PART
from skelgen.prediction.trials import NodeSet, TrialProgram, Trials
from skelgen.prediction.types import Failure, Prediction, TrialFacts
from skelgen.trust.errors import MethodErrors
from skelgen.trust.intervals import half_width


def placed(ranks: int, hosts: Sequence[Host]) -> tuple[Host, ...]:
    """Spread ranks over a node set; this machine, the empty set, takes them all.

    Raises
    ------
    NodesError
        When the set has fewer slots than ranks.
    """
    return place(ranks, hosts) if hosts else ()


def campaign(
    program: TrialProgram,
    node_sets: Sequence[NodeSet],
    trials: Trials,
    *,
    budget_s: float,
    interval_bound: float,
    errors: MethodErrors,
    generator: np.random.Generator,
) -> tuple[tuple[Prediction, ...], tuple[Failure, ...]]:
    """Measure and predict every node set, the fastest first.

    The sets take turns, so that a load that comes or goes meets all of them. Each
    runs at least three times, then until its interval is narrow enough or the time
    is over. A set that fails is left out and named; the others go on.

    Parameters
    ----------
    program : TrialProgram
    node_sets : sequence of NodeSet
        As `placed` returns them; an empty set is this machine.
    trials : Trials
        Makes the runs, and may have some already.
    budget_s : float
        Time after which no further run begins, beyond the first three [s].
    interval_bound : float
        Half width of the measured interval that is narrow enough [1].
    errors : MethodErrors
    generator : numpy.random.Generator

    Returns
    -------
    tuple of Prediction, tuple of Failure
    """
    sets = list(dict.fromkeys(node_sets))
    end_s = time.monotonic() + budget_s
    trials.progress.start("running the skeleton", FEWEST_RUNS * len(sets))
    waiting, count = sets, 0
    while waiting:
        count += 1
        trials.make(program, waiting, count)
        waiting = [
            hosts
            for hosts in waiting
            if hosts not in trials.failures
            and not _enough(
                program, trials.times(program, hosts), end_s, interval_bound, generator
            )
        ]
    trials.progress.finish()
    predictions = [
        predict(
            program.facts,
            trials.times(program, hosts),
            hosts=hosts,
            mpi=program.mpi,
            doubts=program.doubts,
            cores=cores_of(program.facts, trials.timed(program, hosts)),
            interval_bound=interval_bound,
            errors=errors,
            generator=generator,
        )
        for hosts in sets
        if hosts not in trials.failures
    ]
    predictions.sort(key=lambda prediction: prediction.time_s.p50)
    return tuple(predictions), tuple(trials.failures.values())


def _enough(
    program: TrialProgram,
    runs_s: Sequence[float],
    end_s: float,
    bound: float,
    generator: np.random.Generator,
) -> bool:
    """Say whether a set needs no further run, or the time is over."""
    if len(runs_s) < FEWEST_RUNS:
        return False
    over = time.monotonic() + statistics.median(runs_s) > end_s
    return over or narrow(program.facts, runs_s, bound, generator)


def narrow(
    facts: TrialFacts,
    runs_s: Sequence[float],
    bound: float,
    generator: np.random.Generator,
) -> bool:
    """Say whether the time of a set is known well enough.

    Its own times may be known well enough while the calibration is not; further runs
    would not help then.

    Parameters
    ----------
    facts : TrialFacts
    runs_s : sequence of float
        Times of the skeleton there [s].
    bound : float
        Half width of the interval that is narrow enough [1].
    generator : numpy.random.Generator
    """
    if len(runs_s) < FEWEST_RUNS:
        return False
    if half_width(runs_s, generator) <= LARGEST_OWN_PART * bound:
        return True
    return measured(facts, runs_s, generator).half_width <= bound
