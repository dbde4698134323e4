"""Order node sets by the application's predicted time, with few and short runs.

All sets run the shortest skeleton, the better half of them the next longer one,
and so on (successive halving); those that are left run the longest until the best is
known. References: Karnin, Koren and Somekh 2013, Almost Optimal Exploration.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from skelgen.prediction.predict import (
    cores_of,
    method_error,
    outlook,
    predict,
    unmeasured_draws,
)
from skelgen.prediction.set_runs import SetRuns
from skelgen.prediction.stopping import Outlook, projected
from skelgen.prediction.thresholds import (
    CLEAR_PROBABILITY,
    FEWEST_RUNS,
    FEWEST_SHORT_RUNS,
    LEAST_RUN_SPREAD,
    MOST_FURTHER_RUNS,
    MOST_SETS_NOT_THINNED,
)
from skelgen.prediction.trials import NodeSet, TrialProgram, Trials
from skelgen.prediction.types import Candidate, Choice, Failure, TrialFacts
from skelgen.trust import Doubt
from skelgen.trust.errors import MethodErrors, error_draws
from skelgen.trust.intervals import (
    INTERVAL_SEED,
    interval,
    median_draws,
    relative_spread,
)
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
    given_up : set of NodeSet
        Those whose interval cannot become narrow enough in time.
    """

    programs: tuple[TrialProgram, ...]
    sets: tuple[NodeSet, ...]
    trials: Trials
    interval_bound: float
    errors: MethodErrors
    generator: np.random.Generator
    given_up: set[NodeSet] = field(default_factory=set)

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
        None where no interval can become narrow enough in time, and the best not clear.
        """
        last = self.programs[-1]
        open_ = [hosts for hosts in alive if not self._outlook(hosts).is_enough]
        if not all(self.trials.times(last, hosts) for hosts in alive) or not alive:
            return open_
        chances = self._chances(alive)
        best = max(chances, key=lambda hosts: chances[hosts])
        clear = chances[best] > CLEAR_PROBABILITY
        wanted = [hosts for hosts in open_ if hosts == best] if clear else open_
        views = {hosts: self._outlook(hosts) for hosts in wanted}
        rounds = self._rounds_left([view.runs for view in views.values()])
        hopeless = {
            hosts
            for hosts, view in views.items()
            if view.is_hopeless(rounds * view.runs.cost_s)
        }
        if len(hopeless) < len(wanted) or not wanted:
            return wanted
        if not clear and self._may_be_clear(alive, open_):
            return wanted
        self.given_up.update(hopeless)
        return []

    def _outlook(self, hosts: NodeSet) -> Outlook:
        """Return what runs of the longest skeleton on a set tell and would tell."""
        last = self.programs[-1]
        return outlook(
            last.facts, self.trials.runs_of(last, hosts), self.interval_bound
        )

    def _rounds_left(self, sets: Sequence[SetRuns]) -> float:
        """Return how often sets can run again in turns, in what time is left [1]."""
        cost_s = math.fsum(runs.cost_s for runs in sets)
        at_once = min(self.trials.parallel, len(sets))
        return self.trials.left_s * at_once / cost_s if sets else 0.0

    def _may_be_clear(self, alive: Sequence[NodeSet], open_: Sequence[NodeSet]) -> bool:
        """Say whether the best can be known in time, where runs differ little."""
        last = self.programs[-1]
        runs = {hosts: self.trials.runs_of(last, hosts) for hosts in alive}
        rounds = self._rounds_left([runs[hosts] for hosts in open_])
        if rounds > MOST_FURTHER_RUNS:
            return True
        then = {
            hosts: projected(
                runs[hosts], len(runs[hosts]) + int(rounds), optimistic=True
            )
            for hosts in open_
        }
        generator = np.random.default_rng(INTERVAL_SEED)
        asked = replace(self, generator=generator)
        return max(asked._chances(alive, then).values()) > CLEAR_PROBABILITY

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

    def _chances(
        self, sets: Sequence[NodeSet], then: Mapping[NodeSet, SetRuns] | None = None
    ) -> dict[NodeSet, float]:
        """Return the probability of each set to be the best [1].

        Parameters
        ----------
        sets : sequence of NodeSet
        then : mapping of NodeSet to SetRuns, optional
            What takes the place of the runs that were made.
        """
        drawn = [self._drawn(one, within=True, then=then) for one in sets]
        first = np.argmin(drawn, axis=0)
        shares = np.bincount(first, minlength=len(sets)) / len(first)
        return dict(zip(sets, shares.tolist(), strict=True))

    def _drawn(
        self,
        hosts: NodeSet,
        *,
        within: bool,
        then: Mapping[NodeSet, SetRuns] | None = None,
    ) -> NDArray[np.float64]:
        """Draw the application's time on a set [s].

        The ratio's own uncertainty is common to all sets, so it does not count.

        Parameters
        ----------
        hosts : NodeSet
        within : bool
            Leave out the error that all sets have in common.
        then : mapping of NodeSet to SetRuns, optional
            What takes the place of the runs that were made.
        """
        program = self._longest(hosts)
        assert program is not None
        runs = (then or {}).get(hosts) or self.trials.runs_of(program, hosts)
        if len(runs) < FEWEST_RUNS:  # their own spread says too little
            spread = self._spread() / math.sqrt(len(runs))
            middle_s = statistics.median(runs.times_s)
            draws = median_draws([middle_s], self.generator, spread=spread)
        else:
            draws = median_draws(runs.undisturbed_s, self.generator)
            draws = draws * runs.longer(self.generator)
        facts = self._facts(program)
        half_width = method_error(facts, program.mpi, self.errors).within
        if not within:
            cores = cores_of(facts, self.trials.runs_of(program, hosts).runs)
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
        known = self.trials.runs_of(program, hosts)
        prediction = predict(
            self._facts(program),
            known,
            hosts=hosts,
            mpi=program.mpi,
            doubts=program.doubts,
            interval_bound=self.interval_bound,
            errors=self.errors,
            generator=self.generator,
            stopped=hosts in self.given_up,
            cores=cores_of(program.facts, known.runs),
        )
        if program is not last or len(known) < FEWEST_RUNS:
            runs = "1 run" if len(known) == 1 else f"{len(known)} runs"
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
