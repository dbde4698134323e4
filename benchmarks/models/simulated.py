"""Every family on simulated runs: errors, intervals and times, as a table.

``python -m benchmarks.models simulated [--seeds 20] [--first 0] [--family NAME ...]``.
Seeds from 1000 on are for choosing rules; those below judge them.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.models.cases import Problem, problems
from skelgen.errors import InputError
from skelgen.models.families import FAMILIES
from skelgen.models.model import Model, fit_model, predict_with

#: The true law with the averages that were measured.
FLOOR = "floor"


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


def answer(problem: Problem, family: str) -> Answer | None:
    """Let a family learn and predict; None where it cannot."""
    if family == FLOOR:
        return Answer(tuple(np.abs(problem.floor / problem.asked.values - 1.0)))
    begin = time.process_time()
    try:
        model = fit_model(problem.learnt, family)
        return _asked(problem, model, time.process_time() - begin)
    except InputError:
        return None


def _asked(problem: Problem, model: Model, seconds: float) -> Answer:
    asked = problem.asked
    rows = [
        {name: float(column[i]) for name, column in asked.columns.items()}
        for i in range(len(asked))
    ]
    found = [predict_with(model, row) for row in rows]
    pairs = list(zip(found, asked.values, strict=True))
    return Answer(
        tuple(abs(one.interval.p50 / truth - 1.0) for one, truth in pairs),
        tuple(one.interval.p5 <= truth <= one.interval.p95 for one, truth in pairs),
        tuple(one.interval.half_width for one in found),
        tuple(bool(one.doubts) for one in found),
        seconds,
    )


def rows(
    families: Sequence[str], seeds: Sequence[int]
) -> Iterator[tuple[str, str, list[Answer | None]]]:
    """Yield case, family and an answer of each problem."""
    found: dict[tuple[str, str], list[Answer | None]] = defaultdict(list)
    for seed in seeds:
        for problem in problems(seed):
            for family in families:
                found[problem.name, family].append(answer(problem, family))
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
    if not known[0].inside:
        return text
    errors = np.concatenate([one.errors for one in known])
    doubted = np.concatenate([one.doubted for one in known])
    inside = np.concatenate([one.inside for one in known])
    half = np.median(np.concatenate([one.half_widths for one in known]))
    seconds = max(one.seconds for one in known)
    return (
        f"{text} {inside.mean():7.1%} {half:7.1%} {_share(doubted[errors > 0.2]):>11} "
        f"{_share(doubted[errors <= 0.2]):>12} {seconds:6.2f} {failed:6}"
    )


def _share(which: np.ndarray) -> str:
    return f"{which.mean():.0%}" if len(which) else "-"


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models simulated")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--family", action="append")
    options = parser.parse_args(arguments)
    families = options.family or [FLOOR, *FAMILIES]
    print(HEADER)
    seeds = range(options.first, options.first + options.seeds)
    for case, family, answers in rows(families, seeds):
        print(row(case, family, answers), flush=True)
