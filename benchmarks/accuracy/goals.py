"""What the accuracy run is to reach, and whether it does."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from benchmarks.accuracy.judge import Judgement, by_default
from benchmarks.accuracy.results import FITTED, PAPER, SKELETON

#: Skeletons of this and longer are judged together, those of the other alone [s].
LONG_S, SHORT_S = 1.0, 0.5
#: Applications that a memory hog slows by this and more feel it [1].
FELT = 1.05


def goals(found: Sequence[Judgement], sixth: Sequence[Judgement]) -> list[list[str]]:
    """Return a row for each goal: what, how much, what was measured, whether it is met.

    Parameters
    ----------
    found : sequence of Judgement
        Of scenarios 1 to 5.
    sixth : sequence of Judgement
        Of the sixth.
    """
    ours = by_default(found)
    long = _sizes(one for one in ours if one.length_s >= LONG_S)
    ninth = float(np.quantile(long, 0.9)) if long else None
    short = _sizes(one for one in ours if one.length_s == SHORT_S)
    held = [float(one.held) for one in ours if one.held is not None]
    shares = [
        statistics.fmean(o.held is True for o in ours if o.application == name)
        for name in dict.fromkeys(one.application for one in ours)
    ]
    fitted = _sizes(one for one in sixth if one.method == FITTED)
    return [
        _row("mean error, 1 s and more", "at most 3 %", _mean(long), most=0.03),
        _row("90th percentile of these", "at most 6 %", ninth, most=0.06),
        _row("mean error, 0.5 s", "at most 5 %", _mean(short), most=0.05),
        *(_better(ours, found, other) for other in (PAPER, "average", "small input")),
        _row(
            "90 % intervals with the truth inside",
            "85 to 95 %",
            _mean(held),
            least=0.85,
            most=0.95,
        ),
        _row(
            "the same, of the application where it is least",
            "at least 70 %",
            min(shares, default=None),
            least=0.7 - 1e-9,
        ),
        _row("mean error, sixth, fitted", "at most 10 %", _mean(fitted), most=0.1),
        _felt(sixth),
    ]


def answer(found: Iterable[Judgement]) -> str:
    """Return what a reader wants to know first, in two sentences.

    Parameters
    ----------
    found : iterable of Judgement
        Of scenarios 1 to 5.
    """
    ours = by_default(found)
    long = _sizes(one for one in ours if one.length_s >= LONG_S)
    if not long:
        return f"There are no predictions with skeletons of {LONG_S:g} s and more yet."
    names = {one.application for one in ours}
    return (
        f"**Skeletons of {LONG_S:g} s and more have a mean error of "
        f"{_percent(statistics.fmean(long))}.** "
        f"Of {len(long)} predictions, 90 % are within "
        f"{_percent(float(np.quantile(long, 0.9)))}; the largest error is "
        f"{_percent(max(long))} (applications: {len(names)})."
    )


def _sizes(found: Iterable[Judgement]) -> list[float]:
    return [abs(one.error) for one in found]


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _row(
    what: str,
    goal: str,
    value: float | None,
    *,
    least: float = 0.0,
    most: float = np.inf,
    written: Callable[[float], str] = _percent,
) -> list[str]:
    if value is None:
        return [what, goal, "-", "-"]
    return [what, goal, written(value), "yes" if least <= value <= most else "**no**"]


def _better(
    ours: Sequence[Judgement], found: Iterable[Judgement], other: str
) -> list[str]:
    """Compare ours with another method, in the cases that both have."""

    def case(one: Judgement) -> tuple[str, str, float]:
        return one.application, one.scenario, one.length_s if other == PAPER else 0.0

    theirs = {case(one): abs(one.error) for one in found if one.method == other}
    both = [one for one in ours if case(one) in theirs]
    goal = _mean([theirs[case(one)] for one in both])
    text = "" if goal is None else f": below {_percent(goal)}"
    what = "mean error, where both are known"
    return _row(what, f"better than {other}{text}", _mean(_sizes(both)), most=goal or 0)


def _felt(sixth: Iterable[Judgement]) -> list[str]:
    """Compare the fitted mix with arithmetic, where the memory hog is felt."""
    felt = [one for one in sixth if one.slowdown >= FELT]
    plain, fitted = (
        _mean(_sizes(one for one in felt if one.method == method))
        for method in (SKELETON, FITTED)
    )
    times = plain / fitted if plain is not None and fitted else None
    slowed = f"{100 * (FELT - 1):.0f} %"
    return _row(
        f"sixth, slowed by {slowed} and more: error of arithmetic / of fitted",
        "at least 3",
        times,
        least=3.0,
        written="{:.1f}".format,
    )
