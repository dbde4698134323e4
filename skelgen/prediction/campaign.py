"""Run a skeleton on node sets until the times are known well enough."""

from __future__ import annotations

import logging
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from skelgen.launch.hosts import Host, place
from skelgen.prediction.predict import cores_of, outlook, predict
from skelgen.prediction.thresholds import FEWEST_RUNS
from skelgen.prediction.trials import NodeSet, TrialProgram, Trials, name_of
from skelgen.prediction.types import Failure, Prediction
from skelgen.trust.errors import MethodErrors

logger = logging.getLogger(__name__)


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
    runs at least three times, and once more for each run that was disturbed; then until
    its interval is narrow enough, cannot become so in time, or the time is over. A set
    that fails is left out and named; the others go on.

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
    race = _Race(program, trials, trials.clock() + budget_s, interval_bound)
    trials.progress.start("running the skeleton", FEWEST_RUNS * len(sets))
    waiting, count = sets, 0
    while waiting:
        count += 1
        trials.make(program, waiting, count)
        waiting = [
            hosts
            for hosts in waiting
            if hosts not in trials.failures and not race.is_over(hosts)
        ]
        if len(waiting) > 1 and race.is_lost(waiting):
            break
    trials.progress.finish()
    predictions = [
        predict(
            program.facts,
            trials.runs_of(program, hosts),
            hosts=hosts,
            mpi=program.mpi,
            doubts=program.doubts,
            cores=cores_of(program.facts, trials.runs_of(program, hosts).runs),
            interval_bound=interval_bound,
            errors=errors,
            generator=generator,
            stopped=hosts in race.given_up,
        )
        for hosts in sets
        if hosts not in trials.failures
    ]
    predictions.sort(key=lambda prediction: prediction.time_s.p50)
    return tuple(predictions), tuple(trials.failures.values())


@dataclass(slots=True)
class _Race:
    """Says when a node set has run often enough.

    Attributes
    ----------
    program : TrialProgram
    trials : Trials
    end_s : float
        Time of their clock after which no further run begins [s].
    bound : float
        Half width of the interval that is narrow enough [1].
    given_up : set of NodeSet
        Those whose interval cannot become narrow enough in time.
    """

    program: TrialProgram
    trials: Trials
    end_s: float
    bound: float
    given_up: set[NodeSet] = field(default_factory=set)

    def is_over(self, hosts: NodeSet) -> bool:
        """Say whether a set needs no further run, or none would help in time."""
        facts, runs = self.program.facts, self.trials.runs_of(self.program, hosts)
        if len(runs) < FEWEST_RUNS:
            return False
        if statistics.median(runs.times_s) > self.left_s:
            return True
        view = outlook(facts, runs, self.bound)
        if view.is_enough:
            return True
        if not view.is_hopeless(self.left_s):
            return False
        self._give_up([hosts])
        return True

    def is_lost(self, waiting: Sequence[NodeSet]) -> bool:
        """Say whether no set can become known well enough while all take turns."""
        facts = self.program.facts
        runs = [self.trials.runs_of(self.program, hosts) for hosts in waiting]
        rounds = self.left_s / math.fsum(one.cost_s for one in runs)
        if not all(
            outlook(facts, one, self.bound).is_hopeless(rounds * one.cost_s)
            for one in runs
        ):
            return False
        self._give_up(waiting)
        return True

    @property
    def left_s(self) -> float:
        """Return for how long further runs may begin [s]."""
        return self.end_s - self.trials.clock()

    def _give_up(self, sets: Sequence[NodeSet]) -> None:
        self.given_up.update(sets)
        said = "no further runs on %s: %.0f s are too few to narrow the interval"
        for hosts in sets:
            logger.info(said, name_of(hosts), self.left_s)
