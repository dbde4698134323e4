"""Learn the error of each method from predictions whose truth is known.

Errors of one application are alike: they have one sign, and one program in ten is far
worse than all others. What counts is therefore how many applications there are, not how
many cases, and nothing is assumed about the shape of the errors. The error is the
quantile that hierarchical conformal prediction gives: each application has the same
weight, and so has the one that nobody has seen yet, whose error may be anything. A new
application's interval then holds the truth with the wanted probability whatever the
distribution is, if applications are drawn alike.

References
----------
Lee, Barber and Willett 2023, Distribution-free inference with hierarchical data.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from skelgen.errors import InputError
from skelgen.trust.cases import Case
from skelgen.trust.errors import MethodError, MethodErrors
from skelgen.trust.thresholds import FEWEST_APPLICATIONS, INTERVAL_LEVEL

#: With fewer the quantile does not exist, and the error is a cautious guess.
ENOUGH = math.ceil(INTERVAL_LEVEL / (1 - INTERVAL_LEVEL) - 1e-9)

#: With fewer a family has no error of its own: its quantile would be the error of the
#: one application that is worst.
ENOUGH_OF_FAMILY = 2 * ENOUGH + 1

_Scores = Mapping[str, Sequence[float]]


def quantile(scores: _Scores, *, unseen: int) -> float:
    """Return the quantile of scores in which each application counts alike.

    Parameters
    ----------
    scores : mapping of str to sequence of float
        Of each application.
    unseen : int
        So many further applications have infinite scores.

    Examples
    --------
    >>> alike = {str(n): [float(n)] * (1 + n % 3) for n in range(1, 20)}
    >>> quantile(alike, unseen=0), quantile(alike, unseen=1)
    (18.0, 18.0)
    >>> quantile({"a": [1.0], "b": [2.0]}, unseen=1)
    inf
    """
    count = len(scores) + unseen
    weighted = sorted(
        (score, 1 / (count * len(own))) for own in scores.values() for score in own
    )
    reached = 0.0
    for score, weight in weighted:
        reached += weight
        if reached >= INTERVAL_LEVEL - 1e-9:
            return score
    return math.inf


def learn(cases: Sequence[Case], prior: MethodErrors | None = None) -> MethodErrors:
    """Learn the error of each method that at least three applications tell about.

    Parameters
    ----------
    cases : sequence of Case
    prior : MethodErrors, optional
        What a method with too few applications has at least; when not given, the
        quantile of all methods together.

    Raises
    ------
    InputError
        When no method has enough applications.
    """
    methods = _split(cases, lambda one: one.method)
    known = {
        m: own
        for m, own in methods.items()
        if _applications(own) >= FEWEST_APPLICATIONS
    }
    if not known:
        told = [f"{m} of {_applications(own)}" for m, own in methods.items()]
        raise InputError(
            f"read results of too few applications ({', '.join(told) or 'none'}), "
            f"expected at least {FEWEST_APPLICATIONS} of one method, and {ENOUGH} for "
            "an interval that is not widened; measure more applications"
        )
    pooled = _scores(cases, lambda one: f"{one.method} {one.application}")
    entries = []
    for method, own in known.items():
        least = quantile(pooled, unseen=1)
        if prior is not None:
            least = prior.of(method).half_width
        if not math.isfinite(least):
            least = 0.0
        families = _split(own, lambda one: one.family)
        entries.append(_learnt(method, own, least))
        entries += [
            replace(_learnt(method, its, least), family=family)
            for family, its in families.items()
            if family and _applications(its) >= ENOUGH_OF_FAMILY
        ]
        entries += _of_cores(method, own, least)
    return MethodErrors(tuple(entries))


def _split(cases: Iterable[Case], key: Callable[[Case], str]) -> dict[str, list[Case]]:
    parts: dict[str, list[Case]] = {}
    for one in cases:
        parts.setdefault(key(one), []).append(one)
    return parts


def _applications(cases: Iterable[Case]) -> int:
    return len({one.application for one in cases})


def _scores(
    cases: Iterable[Case], key: Callable[[Case], str]
) -> dict[str, list[float]]:
    parts = _split(cases, key)
    return {name: [one.excess() for one in own] for name, own in parts.items()}


def _half_width(scores: _Scores, least: float) -> float:
    """Return the error [1]; of too few applications the largest, or `least`."""
    if len(scores) >= ENOUGH:
        return quantile(scores, unseen=1)
    return max(chain([least], *scores.values()))


def _of_cores(method: str, cases: Sequence[Case], least: float) -> list[MethodError]:
    """Return the errors on shared cores, or on own ones, that are larger than of all.

    A smaller one is not used: what few applications say is no reason to be surer.
    """
    if _applications(cases) < ENOUGH:
        return []
    whole = _half_width(_scores(cases, lambda one: one.application), least)
    apart = _judged_apart(cases, least)
    found = []
    for cores in sorted({one.cores for one in cases}):
        same = _with_cores(cases, cores)
        if same and quantile(_scores(same, lambda o: o.application), unseen=1) > whole:
            error = _learnt(method, same, least, [p for p in apart if p[0] in same])
            found.append(replace(error, cores=cores))
    return found


def _with_cores(cases: Sequence[Case], cores: str) -> list[Case]:
    """Return the cases with such cores, if enough applications have some."""
    same = [one for one in cases if cores and one.cores == cores]
    return same if _applications(same) >= ENOUGH else []


def _learnt(
    method: str,
    cases: Sequence[Case],
    least: float,
    apart: Sequence[tuple[Case, bool]] = (),
) -> MethodError:
    """Learn an error; `apart` says of each case whether it was inside without it."""
    scores = _scores(cases, lambda one: one.application)
    held = _by_application(apart or _judged_apart(cases, least))
    shares = {name: statistics.fmean(own) for name, own in held.items()}
    worst = min(shares, key=lambda name: shares[name])
    parts = _split(cases, lambda one: one.application)
    centres = {
        name: statistics.median(one.log_error for one in own)
        for name, own in parts.items()
    }
    within = {
        name: [one.excess(centres[name]) for one in own] for name, own in parts.items()
    }
    return MethodError(
        method=method,
        family="",
        half_width=_half_width(scores, least),
        within=quantile(within, unseen=0),
        truth_over_predicted=math.exp(statistics.median(centres.values())),
        applications=len(scores),
        cases=len(cases),
        held=sum(map(sum, held.values())) / len(cases),
        least_held=shares[worst],
        least_application=worst,
        widened=len(scores) < ENOUGH,
    )


def half_width_without(
    cases: Sequence[Case], application: str, least: float = 0.0, cores: str = ""
) -> float:
    """Return the error of a method that the other applications give [1].

    Parameters
    ----------
    cases : sequence of Case
        Of one method.
    application : str
        Left out, if it is among them.
    least : float
        What few applications have at least [1].
    cores : str
        ``own`` or ``shared``, where the ranks of a prediction had such: the error there
        counts where it is larger.
    """
    others = [one for one in cases if one.application != application]
    half_width = _half_width(_scores(others, lambda one: one.application), least)
    if same := _with_cores(others, cores):
        there = _half_width(_scores(same, lambda one: one.application), least)
        return max(half_width, there)
    return half_width


def held_apart(cases: Sequence[Case], least: float = 0.0) -> dict[str, list[bool]]:
    """Say of each case whether its interval held the truth, learnt without it.

    Parameters
    ----------
    cases : sequence of Case
        Of one method.
    least : float
        What few applications have at least [1].

    Returns
    -------
    dict of str to list of bool
        For each application, with the error that the other applications give.
    """
    return _by_application(_judged_apart(cases, least))


def _judged_apart(cases: Sequence[Case], least: float) -> list[tuple[Case, bool]]:
    """Say of each case whether its interval held the truth, learnt without it."""
    kinds = {(one.application, one.cores) for one in cases}
    widths = {
        (name, cores): half_width_without(cases, name, least, cores)
        for name, cores in kinds
    }
    return [(one, one.excess() <= widths[one.application, one.cores]) for one in cases]


def _by_application(apart: Iterable[tuple[Case, bool]]) -> dict[str, list[bool]]:
    found: dict[str, list[bool]] = {}
    for one, held in apart:
        found.setdefault(one.application, []).append(held)
    return found
