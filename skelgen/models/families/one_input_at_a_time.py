"""Several inputs one at a time, as the thesis treats them.

Each input is fitted by the runs where only it varies. The function of all is the
product of these, each divided by its value where they meet.

References
----------
Martinez Canillas 2011, section 6.4.3 (Sweep3D-n and Sweep3D-i).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from skelgen.errors import InputError
from skelgen.models.families.candidates import CandidateSum
from skelgen.models.families.formula_parts import multiplied
from skelgen.models.formulas import evaluate
from skelgen.models.runs import RunTable
from skelgen.trust import Doubt

#: Terms that are a smaller part of the product are errors of rounding [1].
_NOTHING = 1e-12

#: Fits runs of which one input varies.
FitLine = Callable[[RunTable], tuple[tuple[CandidateSum, ...], tuple[Doubt, ...]]]


def multiply(
    runs: RunTable, fit_line: FitLine, *, threshold: float
) -> tuple[tuple[CandidateSum, ...], tuple[Doubt, ...]]:
    """Fit each input on its own and multiply the functions."""
    doubts: list[Doubt] = []
    parts = []
    for name, line in lines_of(runs).items():
        if len(line) < 2:
            raise InputError(
                f"{name} never varies alone in the {len(runs)} cases; record one that "
                "differs from another in it only, or fit jointly"
            )
        found, told = fit_line(line)
        parts.append(found[0])
        doubts += told
    where = _base(runs)
    base = {name: float(v[where]) for name, v in runs.columns.items()}
    product = _product(parts, base)
    error = math.sqrt(sum(part.error**2 for part in parts))
    off_a_line = _differences(runs)[where] > 1
    if off_a_line.any():
        errors = np.abs(product.at(runs.columns) / runs.values - 1.0)
        worst = float(errors[off_a_line].max())
        error = max(error, worst)
        if worst > threshold:
            text = "the product misses a case where several inputs vary by "
            text += f"{worst:.1%}: they do not act separately"
            doubts.append(Doubt("misfit", text, "fit jointly"))
    return (CandidateSum(product.terms, product.coefficients, error),), tuple(doubts)


def lines_of(runs: RunTable) -> dict[str, RunTable]:
    """Return for each input that varies the runs where only it does.

    All lines meet in the run with most others on its lines.
    """
    base = runs.at[_base(runs)]
    varied = {one.name for one in runs.varied}
    return {
        one.name: runs.only(np.all(np.delete(runs.at == base, i, axis=1), axis=1))
        for i, one in enumerate(runs.inputs)
        if one.name in varied
    }


def _differences(runs: RunTable) -> np.ndarray:
    """Return in how many inputs each run differs from each other."""
    return np.asarray(np.sum(runs.at[:, None] != runs.at[None, :], axis=2))


def _base(runs: RunTable) -> int:
    return int(np.argmax(np.sum(_differences(runs) == 1, axis=1)))


def _product(parts: Sequence[CandidateSum], base: dict[str, float]) -> CandidateSum:
    """Multiply sums of terms out: the product is a sum of products."""
    at_base = [float(part.at(base)) for part in parts]
    if min(at_base) <= 0.0:
        raise InputError(
            f"{min(at_base):g} at {base}, where the inputs meet: functions cannot be "
            "multiplied there; fit jointly"
        )
    scale = float(np.exp(np.mean(np.log(at_base)))) / math.prod(at_base)
    pairs = [list(zip(one.terms, one.coefficients, strict=True)) for one in parts]
    terms, coefficients, sizes = [], [], []
    for chosen in itertools.product(*pairs):
        terms.append(multiplied([term for term, _ in chosen]))
        coefficients.append(scale * math.prod(number for _, number in chosen))
        sizes.append(abs(float(evaluate(terms[-1], base)) * coefficients[-1]))
    kept = [i for i, size in enumerate(sizes) if size > _NOTHING * max(sizes)]
    return CandidateSum(
        tuple(terms[i] for i in kept), tuple(coefficients[i] for i in kept), 0.0
    )
