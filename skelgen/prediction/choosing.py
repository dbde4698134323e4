"""Order node sets by the application's predicted time, with few and short runs.

All sets run the shortest skeleton, the better half of them the next longer one,
and so on (successive halving); those that are left run the longest until the best is
known. References: Karnin, Koren and Somekh 2013, Almost Optimal Exploration.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skelgen.prediction.campaign import narrow
from skelgen.prediction.predict import (
    cores_of,
    method_error,
    predict,
    unmeasured_draws,
)
from skelgen.prediction.thresholds import (
    CLEAR_PROBABILITY,
    FEWEST_RUNS,
    FEWEST_SHORT_RUNS,
    LEAST_RUN_SPREAD,
    MOST_SETS_NOT_THINNED,
)
from skelgen.prediction.trials import NodeSet, TrialProgram, Trials
from skelgen.prediction.types import Candidate, Choice, Failure, TrialFacts
from skelgen.trust import Doubt
from skelgen.trust.errors import MethodErrors, error_draws
from skelgen.trust.intervals import interval, median_draws, relative_spread
from skelgen.units import format_seconds


@dataclass(frozen=True, slots=True)
class Contest:
    """Skeletons of one application, node sets, and the runs made so far.

    Attributes
    ----------
    programs : tuple of TrialProgram
        The shortest first.
    sets : tuple of NodeSet
        As `place` returns them, all different.
    trials : Trials
    interval_bound : float
        Half width of an interval that is narrow enough [1].
    errors : MethodErrors
    generator : numpy.random.Generator
    """

    programs: tuple[TrialProgram, ...]
    sets: tuple[NodeSet, ...]
    trials: Trials
    interval_bound: float
    errors: MethodErrors
    generator: np.random.Generator

    @property
    def planned_runs(self) -> int:
        """Return how many runs are likely: of all rounds, and the fewest of the last.

        Sets that fail and a budget that ends make fewer; noisy runs make more.
        """
        alive, runs = len(self.sets), 0
        for _ in self.programs[:-1]:
            if alive <= MOST_SETS_NOT_THINNED:
                break
            runs += FEWEST_SHORT_RUNS * alive
            alive = _kept(alive)
        return runs + FEWEST_RUNS * alive

    @property
    def made_runs(self) -> int:
        """Return how many runs were made, those of the call before too."""
        return sum(map(len, self.trials.runs.values()))

    def choose(self) -> Choice:
        """Run skeletons until the best set is known or the time is over."""
        alive = self._thinned()
        last, count = self.programs[-1], 0
        while not self.trials.over:
            alive = self._working(alive) or self._working(self.sets)
            if not (waiting := self._waiting(alive)):
                break
            count += 1
            self.trials.make(last, waiting, count)
        return self._choice()

    def standing(self) -> Choice:
        """Return how the sets stand after the runs so far.

        It draws for itself: what `choose` finds is the same whether somebody asks.
        """
        asked = replace(self, generator=np.random.default_rng(0))
        failures = tuple(self.trials.failures.values())
        return replace(asked._choice(), failures=failures)

    def _working(self, sets: Sequence[NodeSet]) -> list[NodeSet]:
        return [hosts for hosts in sets if self.trials.works(hosts)]

    def _thinned(self) -> list[NodeSet]:
        """Return the sets that are still good after all skeletons but the longest."""
        alive = list(self.sets)
        for program in self.programs[:-1]:
            if len(alive) <= MOST_SETS_NOT_THINNED:
                break
            self._try(program, alive)
            # The better of two: a burst that only one run met is not the set's.
            known = [
                (min(runs_s), number, hosts)
                for number, hosts in enumerate(self._working(alive))
                if (runs_s := self.trials.times(program, hosts))
            ]
            if self.trials.over:
                break
            alive = [hosts for _, _, hosts in sorted(known)[: _kept(len(known))]]
        return alive

    def _try(self, program: TrialProgram, sets: Sequence[NodeSet]) -> None:
        """Run a shorter skeleton once on each set; twice when there is time for it."""
        left_s = self.trials.left_s
        self.trials.make(program, sets, 1)
        if self.trials.left_s >= left_s * (1 - 1 / (2 * len(self.programs))):
            self.trials.make(program, sets, FEWEST_SHORT_RUNS)
        else:  # they were planned
            self.trials.progress.advance(len(self._working(sets)))

    def _waiting(self, alive: Sequence[NodeSet]) -> list[NodeSet]:
        """Return the sets that must run the longest skeleton again.

        Once one of them is very likely the best, only that one: its time is wanted.
        """
        last = self.programs[-1]
        open_ = [
            hosts
            for hosts in alive
            if not narrow(
                last.facts,
                self.trials.times(last, hosts),
                self.interval_bound,
                self.generator,
            )
        ]
        if not all(self.trials.times(last, hosts) for hosts in alive) or not alive:
            return open_
        chances = self._chances(alive)
        best = max(chances, key=lambda hosts: chances[hosts])
        return (
            [h for h in open_ if h == best]
            if chances[best] > CLEAR_PROBABILITY
            else open_
        )

    def _longest(self, hosts: NodeSet) -> TrialProgram | None:
        """Return the longest skeleton that ran on a set."""
        for program in reversed(self.programs):
            if self.trials.times(program, hosts):
                return program
        return None

    def _facts(self, program: TrialProgram) -> TrialFacts:
        """Return facts of a skeleton whose ratio fits that of the longest one.

        The sets on which both ran tell how much shorter the skeleton really is.
        """
        last, times = self.programs[-1], self.trials.times
        factors = [
            statistics.median(times(last, hosts))
            / statistics.median(times(program, hosts))
            for hosts in self.sets
            if times(last, hosts) and times(program, hosts)
        ]
        return (
            last.facts.shortened(statistics.median(factors))
            if factors
            else program.facts
        )

    def _chances(self, sets: Sequence[NodeSet]) -> dict[NodeSet, float]:
        """Return the probability of each set to be the best [1]."""
        first = np.argmin([self._drawn(hosts, within=True) for hosts in sets], axis=0)
        shares = np.bincount(first, minlength=len(sets)) / len(first)
        return dict(zip(sets, shares.tolist(), strict=True))

    def _drawn(self, hosts: NodeSet, *, within: bool) -> NDArray[np.float64]:
        """Draw the application's time on a set [s].

        The ratio's own uncertainty is common to all sets, so it does not count.

        Parameters
        ----------
        hosts : NodeSet
        within : bool
            Leave out the error that all sets have in common.
        """
        program = self._longest(hosts)
        assert program is not None
        runs_s = self.trials.times(program, hosts)
        if len(runs_s) < FEWEST_RUNS:  # their own spread says too little
            spread = self._spread() / math.sqrt(len(runs_s))
            runs_s = [statistics.median(runs_s)]
            draws = median_draws(runs_s, self.generator, spread=spread)
        else:
            draws = median_draws(runs_s, self.generator)
        facts = self._facts(program)
        half_width = method_error(facts, program.mpi, self.errors).within
        if not within:
            cores = cores_of(facts, self.trials.timed(program, hosts))
            half_width = method_error(facts, program.mpi, self.errors, cores).half_width
        error = error_draws(half_width, len(draws), self.generator)
        error *= unmeasured_draws(facts, len(draws), self.generator)
        return facts.application_time(draws) * error

    def _spread(self) -> float:
        """Return the spread of one run [1], from sets with several."""
        all_runs = self.trials.runs.values()
        spreads = [relative_spread([run.time_s for run in runs]) for runs in all_runs]
        known = [spread for spread in spreads if spread is not None]
        return max(LEAST_RUN_SPREAD, statistics.median(known) if known else 0.0)

    def _choice(self) -> Choice:
        """Order the sets: those that stayed longest first, then by their times."""
        measured = [h for h in self._working(self.sets) if self._longest(h) is not None]
        chances = self._chances(measured) if measured else {}
        found = [self._candidate(hosts, chances[hosts]) for hosts in measured]
        found.sort(key=lambda one: (-one.stage, one.prediction.time_s.p50))
        known = {*measured, *self.trials.failures}
        missed = tuple(
            Failure(hosts, "not measured: the budget was spent before")
            for hosts in self.sets
            if hosts not in known
        )
        return Choice(tuple(found), (*self.trials.failures.values(), *missed))

    def _candidate(self, hosts: NodeSet, chance: float) -> Candidate:
        program = self._longest(hosts)
        assert program is not None
        last = self.programs[-1]
        runs_s = self.trials.times(program, hosts)
        prediction = predict(
            self._facts(program),
            runs_s,
            hosts=hosts,
            mpi=program.mpi,
            doubts=program.doubts,
            interval_bound=self.interval_bound,
            errors=self.errors,
            generator=self.generator,
            cores=cores_of(program.facts, self.trials.timed(program, hosts)),
        )
        if program is not last or len(runs_s) < FEWEST_RUNS:
            runs = "1 run" if len(runs_s) == 1 else f"{len(runs_s)} runs"
            length = format_seconds(program.facts.expected_s)
            doubt = Doubt(
                "only-ordered",
                f"only ordered, by {runs} of a skeleton of {length}",
                "raise --budget, or predict it by itself",
            )
            time_s = interval(self._drawn(hosts, within=False), prediction.time_s.p50)
            prediction = replace(prediction, time_s=time_s, doubts=(doubt,))
        return Candidate(prediction, chance, self.programs.index(program))


def _kept(count: int) -> int:
    """Return how many of so many sets go on to a longer skeleton."""
    return max(MOST_SETS_NOT_THINNED, (count + 1) // 2)


def halvings(count: int) -> int:
    """Return how many skeletons shorter than the longest so many sets can use.

    Examples
    --------
    >>> [halvings(count) for count in (2, 3, 6, 100)]
    [0, 1, 2, 6]
    """
    return 0 if count <= MOST_SETS_NOT_THINNED else 1 + halvings(_kept(count))
