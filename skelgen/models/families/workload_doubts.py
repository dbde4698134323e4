"""What is wrong with a function of the workload: few runs, a knee, no sum that fits."""

from __future__ import annotations

import math

import numpy as np

from skelgen.models.families.candidates import CandidateSum, candidates
from skelgen.models.families.one_input_at_a_time import lines_of
from skelgen.models.formulas import to_text
from skelgen.models.runs import RunTable
from skelgen.models.thresholds import FEWEST_BESIDE_KNEE, KNEE_GAIN
from skelgen.trust import Doubt

#: Places that are tried for a knee.
_PLACES = 12


def misfits(
    runs: RunTable, chosen: CandidateSum, *, threshold: float
) -> tuple[Doubt, ...]:
    """Tell where and how much the chosen sum misses, and whether at a knee."""
    if chosen.error <= threshold:
        return ()
    knees = [
        found
        for name, line in lines_of(runs).items()
        if (found := knee(line, name, threshold=threshold)) is not None
    ]
    errors = np.abs(chosen.at(runs.columns) / runs.values - 1.0)
    worst = int(np.argmax(errors))
    at = ", ".join(f"{k}={v[worst]:g}" for k, v in runs.columns.items())
    told = f"the best function, {to_text(chosen.formula, digits=4)}, misses runs left "
    told += f"out by {chosen.error:.1%} (threshold {threshold:.1%}), {at} most"
    remedy = "add runs, on a quiet machine, or choose another family"
    return (*knees, Doubt("misfit", told, remedy))


def few(runs: RunTable) -> tuple[Doubt, ...]:
    """Tell when no error can be trusted, and inputs whose growth is not known."""
    doubts = []
    needed = 2 + 2 * len(runs.varied)
    if len(runs) < needed:
        told = f"{len(runs)} different runs; with fewer than {needed} the errors say "
        told += "little"
        doubts.append(Doubt("few-points", told, "record more"))
    for one in runs.varied:
        values = np.unique(runs.columns[one.name])
        if len(values) == 2 and not one.meaning.available:
            told = f"{one.name} has two values, {values[0]:g} and {values[1]:g}; any "
            told += "growth fits between them"
            doubts.append(Doubt("few-points", told, "record a third", one.name))
    return tuple(doubts)


def knee(runs: RunTable, name: str, *, threshold: float) -> Doubt | None:
    """Find the place where two pieces fit much better than one function.

    A cache that no longer holds the data, or another algorithm above some size. Each
    piece is a single term, judged at runs left out.

    Parameters
    ----------
    runs : RunTable
        Of which only the input of that name varies.
    name : str
    threshold : float
        Error above which a function does not fit [1].
    """
    line = runs.only(np.argsort(runs.columns[name]))
    n, count = line.columns[name], len(line)
    if count < 2 * FEWEST_BESIDE_KNEE:
        return None
    one = candidates(line)[0].error
    if one <= threshold:
        return None
    best, split = math.inf, 0
    places = np.arange(FEWEST_BESIDE_KNEE, count - FEWEST_BESIDE_KNEE + 1)
    if len(places) > _PLACES:
        places = places[np.linspace(0, len(places) - 1, _PLACES).astype(int)]
    for i in places:
        squares = [
            len(side) * candidates(side, most_terms=1)[0].error ** 2
            for side in (line.only(np.arange(i)), line.only(np.arange(i, count)))
        ]
        error = math.sqrt(sum(squares) / count)
        if error < best:
            best, split = error, int(i)
    if best > threshold or one < KNEE_GAIN * best:
        return None
    told = f"a knee or another algorithm between {name}={n[split - 1]:g} and "
    told += f"{n[split]:g}: one function has an error of {one:.1%}, one for "
    told += f"each side {best:.1%}"
    return Doubt("knee", told, "fit the side you need", name)
