"""Every family on simulated runs: errors, intervals and times, as a table.

``python -m benchmarks.models simulated [--seeds 20] [--first 0] [--family NAME ...]
[--case S1 ...] [--loads forecast]``. Seeds from 1000 on are for choosing rules; those
below judge them. Other tools are asked by name (`benchmarks.models.others`): ``--family
extra-p --family gaussian-process``. With loads that are forecast the hour before each
run is known, not the run.
"""

from __future__ import annotations

import argparse
import contextlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.models import asking
from benchmarks.models.asking import FLOOR, Said
from benchmarks.models.cases import Problem, problems
from benchmarks.models.others import OTHERS, Worker, worker
from skelgen.errors import InputError
from skelgen.models.families import FAMILIES


@dataclass(frozen=True, slots=True)
class Answer:
    """What a family made of a problem.

    Attributes
    ----------
    errors : tuple of float
        Relative, of each run that was asked [1].
    inside, half_widths : tuple of float
        Of the 90 % intervals; empty where there are none [1].
    doubted : tuple of bool
    seconds : float
    """

    errors: tuple[float, ...]
    inside: tuple[bool, ...] = ()
    half_widths: tuple[float, ...] = ()
    doubted: tuple[bool, ...] = ()
    seconds: float = 0.0


def answer(
    problem: Problem, family: str, others: Worker | None, *, by_forecast: bool
) -> Answer | None:
    """Let a family learn and predict; None where it cannot."""
    try:
        if family == FLOOR:
            found = asking.floor(problem, by_forecast=by_forecast)
            return _judged(problem, found, 0.0)
        ask, seconds = asking.learn(problem.learnt, family, others)
        ask_all = asking.forecasted if by_forecast else asking.measured
        return _judged(problem, ask_all(problem, ask), seconds)
    except InputError:
        return None


def _judged(problem: Problem, found: Sequence[Said], seconds: float) -> Answer:
    pairs = list(zip(found, problem.asked.values.tolist(), strict=True))
    ends = [
        (one, truth, one.low, one.high)
        for one, truth in pairs
        if one.low is not None and one.high is not None
    ]
    return Answer(
        tuple(abs(one.value / truth - 1.0) for one, truth in pairs),
        tuple(low <= truth <= high for _, truth, low, high in ends),
        tuple((high - low) / 2 / one.value for one, _, low, high in ends),
        tuple(one.doubted for one in found if one.doubted is not None),
        seconds,
    )


def rows(
    families: Sequence[str],
    seeds: Sequence[int],
    cases: Sequence[str] = (),
    *,
    by_forecast: bool = False,
) -> Iterator[tuple[str, str, list[Answer | None]]]:
    """Yield case, family and an answer of each problem."""
    found: dict[tuple[str, str], list[Answer | None]] = defaultdict(list)
    needed = set(families) & set(OTHERS)
    with worker() if needed else contextlib.nullcontext() as others:
        for seed in seeds:
            for problem in problems(seed, cases):
                if by_forecast and not any(problem.before):
                    continue
                for family in families:
                    one = answer(problem, family, others, by_forecast=by_forecast)
                    found[problem.name, family].append(one)
    for (case, family), answers in sorted(found.items(), key=lambda one: one[0][0]):
        yield case, family, answers


HEADER = (
    f"{'case':30} {'family':16} {'median':>7} {'p90':>7} {'worst':>7} {'inside':>7} "
    f"{'half':>7} {'bad doubted':>11} {'good doubted':>12} {'s':>6} {'failed':>6}"
)


def row(case: str, family: str, answers: list[Answer | None]) -> str:
    """Write a row of the table: medians over problems of medians over runs."""
    known = [one for one in answers if one is not None]
    begin = f"{case:30} {family:16}"
    failed = len(answers) - len(known)
    if not known:
        return f"{begin} {'-':>7} {'cannot':>7}{'':59} {failed:6}"
    medians = np.array([np.median(one.errors) for one in known])
    text = f"{begin} {np.median(medians):7.1%} {np.quantile(medians, 0.9):7.1%} "
    text += f"{medians.max():7.1%}"
    return f"{text} {_intervals(known)} {max(o.seconds for o in known):6.2f} {failed:6}"


def _intervals(known: Sequence[Answer]) -> str:
    """Write what intervals and doubts are worth, where there are any."""
    inside = np.concatenate([one.inside for one in known])
    if not len(inside):
        return f"{'-':>7} {'-':>7} {'-':>11} {'-':>12}"
    half = np.median(np.concatenate([one.half_widths for one in known]))
    text = f"{inside.mean():7.1%} {half:7.1%}"
    doubted = np.concatenate([one.doubted for one in known])
    if not len(doubted):
        return f"{text} {'-':>11} {'-':>12}"
    errors = np.concatenate([one.errors for one in known])
    bad, good = doubted[errors > 0.2], doubted[errors <= 0.2]
    return f"{text} {_share(bad):>11} {_share(good):>12}"


def _share(which: np.ndarray) -> str:
    return f"{which.mean():.0%}" if len(which) else "-"


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models simulated")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    known = [FLOOR, *FAMILIES, *OTHERS]
    parser.add_argument("--family", action="append", choices=known, metavar="NAME")
    parser.add_argument("--case", action="append", help="begin of its name, such as S1")
    parser.add_argument("--loads", choices=("measured", "forecast"), default="measured")
    options = parser.parse_args(arguments)
    families = options.family or [FLOOR, *FAMILIES]
    seeds = range(options.first, options.first + options.seeds)
    forecast = options.loads == "forecast"
    print(HEADER)
    found = rows(families, seeds, options.case or (), by_forecast=forecast)
    for case, family, answers in found:
        print(row(case, family, answers), flush=True)
