"""From times to errors: what was predicted, what came, what simpler rules say."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from benchmarks.accuracy.results import (
    APPLICATION,
    FITTED,
    METHODS,
    PAPER,
    SKELETON,
    SMALL,
    TOUCHED,
    Results,
)
from skelgen._paths import method_errors
from skelgen.prediction.judging import ScenarioTimes, judged
from skelgen.prediction.known_cases import cores_in
from skelgen.trust.cases import Case
from skelgen.trust.learning import half_width_without
from skelgen.trust.store import load
from skelgen.trust.types import PAPER_2005, WHOLE_EVENTS
from tests.testbed.scenarios import SCENARIOS

_REFERENCES = {
    name: one.reference.name
    for one in SCENARIOS
    for name in (one.name, one.reference.name)
}
#: As errors know the methods.
_METHODS = {
    **dict.fromkeys((SKELETON, FITTED, TOUCHED), WHOLE_EVENTS),
    PAPER: PAPER_2005,
}


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
    case : Case or None
        What was predicted from the times of a skeleton; None of other methods.
    held : bool or None
        Whether the 90 % interval held the truth, with the error of the method that the
        other applications give; None where there is no interval.
    """

    application: str
    scenario: str
    method: str
    length_s: float
    slowdown: float
    error: float
    case: Case | None = None
    held: bool | None = None

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


def judge(results: Results, *, took_part: bool = True) -> list[Judgement]:
    """Judge all predictions: of skeletons, and of what needs none.

    Parameters
    ----------
    results : Results
    took_part : bool
        Whether the errors that come with skelgen were learnt from these applications.
    """
    found = []
    lengths = [length for length in results.names("length_s") if length]
    for name in results.names("application"):
        for scenario in results.names("scenario"):
            if scenario == reference(scenario):
                continue
            for method in METHODS:
                for length_s in lengths:
                    fields = name, scenario, method, length_s
                    if one := _skeleton(results, *fields):
                        found.append(one)
    return _with_intervals(found, took_part) + _baselines(results)


def default_method(found: Iterable[Judgement]) -> str:
    """Return the method of skeletons as `build` makes them by default.

    Where those were not measured, of skeletons that compute arithmetic.
    """
    return TOUCHED if any(one.method == TOUCHED for one in found) else SKELETON


def by_default(found: Iterable[Judgement]) -> list[Judgement]:
    """Return predictions of skeletons as `build` makes them by default."""
    known = list(found)
    method = default_method(known)
    return [one for one in known if one.method == method]


def cases(found: Iterable[Judgement], method: str) -> list[Case]:
    """Return the cases of a method in scenarios 1 to 5."""
    return [
        one.case
        for one in found
        if one.case is not None and one.method == method and not one.alone
    ]


def _with_intervals(found: Sequence[Judgement], took_part: bool) -> list[Judgement]:
    """Judge intervals with the error that the other applications give.

    Of few others it is at least the one that comes with skelgen; of applications that
    took no part in that one it is just this.
    """
    known = {name: cases(found, name) for name in (SKELETON, TOUCHED, PAPER)}
    shipped, _ = load(method_errors())
    judged = []
    for one in found:
        assert one.case is not None
        cores = "" if one.method == FITTED else one.case.cores
        half_width = shipped.of(one.case.method, cores=cores).half_width
        if took_part:
            others = known.get(one.method, known[SKELETON])
            half_width = half_width_without(others, one.application, half_width, cores)
        judged.append(replace(one, held=one.case.excess() <= half_width))
    return judged


def _skeleton(
    results: Results,
    name: str,
    scenario: str,
    method: str,
    length_s: float,
) -> Judgement | None:
    """Judge what is predicted from the times there and those when quiet."""
    quiet = reference(scenario)
    times = ScenarioTimes(
        truth_s=results.runs(name, scenario, APPLICATION, 0.0),
        there_s=results.runs(name, scenario, method, length_s),
        application_s=results.runs(name, quiet, APPLICATION, 0.0),
        skeleton_s=results.runs(name, quiet, method, length_s),
    )
    if not times.complete:
        return None
    part = results.found(name, scenario, method, length_s)[0].part
    known = _METHODS[method]
    told = judged(replace(times, part=part), known)
    truth_s = statistics.median(times.truth_s)
    cores = cores_in(scenario)
    case = Case(known, name, "", told.p50, truth_s, told.p5, told.p95, cores)
    slow = truth_s / statistics.median(times.application_s)
    error = told.p50 / truth_s - 1
    return Judgement(name, scenario, method, length_s, slow, error, case)


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
