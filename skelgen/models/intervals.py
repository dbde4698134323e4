"""How far off a model may be: from runs ahead of those that it had seen.

A model is fitted to the runs behind, as in `skelgen.models.runs_ahead`, and asked for
those ahead. Each miss is compared with a scale made of the noise of the runs, of what
the formulas that fit about as well differ by, and of how far ahead the run is. The 90th
percentile of these ratios is the factor of later intervals (conformal prediction with a
scale; Lei et al. 2018, section 5.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from skelgen.errors import InputError
from skelgen.models import runs_ahead
from skelgen.models.families.contract import FamilySettings, FittedFormula, ModelFamily
from skelgen.models.families.weighing import falling_power
from skelgen.models.formulas import Expression, evaluate
from skelgen.models.formulas.expression import Values
from skelgen.models.runs import Floats, RunTable
from skelgen.models.thresholds import (
    DISAGREEMENT_FACTOR,
    FEWEST_PLACES_OF_FOLD,
    LARGEST_FALL_OF_NOISE,
    LEAST_DEVIATION_OF_ANSWERS,
    LEAST_INTERVAL_FACTOR,
    NORMAL_FACTOR_RUNS,
    UNSEEN_DEVIATION,
)

#: Of a normal distribution: from a deviation to half of a 90 % interval.
NORMAL = 1.65

#: No logarithm of a time is larger.
_LARGEST_LOG = 500.0


@dataclass(frozen=True, slots=True)
class Scale:
    """What half of an interval is made of.

    Attributes
    ----------
    noise : float
        Deviation of a run of middle length from the formula: of logarithms [1].
    terms : int
        Coefficients of the formula.
    runs : int
    factor : float
        From the scale to half of a 90 % interval [1].
    tested : float
        How far ahead runs were when the factor was found: a logarithm of a factor.
    ahead : float
        Deviation for each factor e ahead, besides what any fit has [1].
    falls, middle : float
        The power by which noise falls with the value, and the logarithm of the value
        where it is `noise`.
    smallest : float
        Error at the runs on the smallest ranks, which speedups compare with: root mean
        square of logarithms, 0 where ranks are no input [1].
    """

    noise: float
    terms: int
    runs: int
    factor: float = NORMAL
    tested: float = 0.0
    ahead: float = 0.0
    falls: float = 0.0
    middle: float = 0.0
    smallest: float = 0.0

    def at(self, value: Floats, disagreement: Floats, beyond: Floats) -> Floats:
        """Return the scale: a deviation of logarithms.

        Parameters
        ----------
        value : (cases,) float64 array
            What the formula says.
        disagreement, beyond : (cases,) float64 array
            As `disagreement` and `ahead.beyond` give them.
        """
        with np.errstate(all="ignore"):
            longer = np.clip(np.log(value) - self.middle, 0.0, LARGEST_FALL_OF_NOISE)
        own = self.noise**2 * (1 + self.terms / self.runs)
        noise = own * np.exp(-2.0 * self.falls * np.nan_to_num(longer))
        far = (UNSEEN_DEVIATION**2 + self.ahead**2) * beyond**2
        return np.asarray(
            np.sqrt(
                noise
                + (DISAGREEMENT_FACTOR * disagreement) ** 2
                + far
                + LEAST_DEVIATION_OF_ANSWERS**2
            )
        )


def disagreement(
    alternatives: Sequence[tuple[float, Expression]], value: Floats, values: Values
) -> Floats:
    """Return by how much formulas differ from a value: a deviation of logarithms."""
    counted = [one for one in alternatives if one[0] > 0.0]
    if not counted:  # what is as good as impossible differs by nothing
        return np.zeros(np.shape(value))
    said = [
        np.broadcast_to(evaluate(one, values), np.shape(value)) for _, one in counted
    ]
    shares = np.array([share for share, _ in counted])
    with np.errstate(all="ignore"):
        gaps = np.log(np.stack(said) / value)
        gaps = np.where(np.isfinite(gaps), gaps, np.inf) ** 2
        return np.asarray(np.sqrt(np.tensordot(shares, gaps, 1)))


def scale_of(
    family: ModelFamily, settings: FamilySettings, runs: RunTable, found: FittedFormula
) -> Scale:
    """Find the scale of a fitted formula.

    Parameters
    ----------
    family : ModelFamily
    settings : FamilySettings
    runs : RunTable
        Those that count.
    found : FittedFormula
        Fitted to them.
    """
    scale = _noise(runs, found)
    ratios: list[Floats] = []
    tested = 0.0
    for learnt, asked, fitted in _folds(family, settings, runs, found):
        value = fitted.at(asked.columns)
        with np.errstate(all="ignore"):
            misses = np.abs(np.log(value / asked.values))
        beyond = runs_ahead.beyond(learnt, asked.columns)
        wide = _noise(learnt, fitted).at(
            value, disagreement(fitted.alternatives, value, asked.columns), beyond
        )
        ratios.append(np.nan_to_num(misses / wide, nan=np.inf))
        tested = max(tested, float(beyond.max()))
    if not ratios:
        return scale
    return replace(scale, factor=_factor(np.concatenate(ratios)), tested=tested)


def error_at_smallest(runs: RunTable, found: FittedFormula) -> float:
    """Return the error at the runs on the smallest ranks: see `Scale`.

    Families that look ahead fit these runs least.
    """
    parallel = [one.name for one in runs.varied if one.meaning.parallel]
    if not parallel:
        return 0.0
    columns = runs.columns
    small = np.all([columns[one] == columns[one].min() for one in parallel], axis=0)
    misses = _misses(runs, found)
    return float(np.sqrt(np.mean((misses[small] if small.any() else misses) ** 2)))


def _factor(ratios: Floats) -> float:
    """Return the 90th percentile, as sure as there are runs."""
    bounded = np.clip(ratios, 0.0, 1e3)
    found = max(float(np.quantile(bounded, 0.9)), 0.1)
    weight = len(ratios) / (len(ratios) + NORMAL_FACTOR_RUNS)
    mixed = weight * np.log(found) + (1 - weight) * np.log(NORMAL)
    return max(float(np.exp(mixed)), LEAST_INTERVAL_FACTOR * NORMAL)


def _misses(runs: RunTable, found: FittedFormula) -> Floats:
    with np.errstate(all="ignore"):
        misses = np.abs(np.log(found.at(runs.columns) / runs.values))
    return np.nan_to_num(misses, nan=10.0, posinf=10.0)


def _noise(runs: RunTable, found: FittedFormula) -> Scale:
    misses = _misses(runs, found)
    times = np.log(runs.values)
    with np.errstate(all="ignore"):
        fitted = np.log(found.at(runs.columns))
    known = np.isfinite(fitted) & (np.abs(fitted) < _LARGEST_LOG)
    times = np.where(known, fitted, times)
    return Scale(
        1.4826 * float(np.median(misses)),
        max(len(found.coefficients), 1),
        len(runs),
        ahead=found.ahead,
        falls=falling_power(misses, times),
        middle=float(np.median(times)),
    )


def _folds(
    family: ModelFamily, settings: FamilySettings, runs: RunTable, found: FittedFormula
) -> Iterator[tuple[RunTable, RunTable, FittedFormula]]:
    """Yield runs behind, runs ahead, and the formula of the runs behind."""
    far = np.round(runs_ahead.order(runs), 9)
    for behind, rest in runs_ahead.folds(runs):
        learnt = runs.only(behind)
        places = len(np.unique(far[behind]))
        if len(learnt.varied) < len(runs.varied) or places < FEWEST_PLACES_OF_FOLD:
            continue
        try:
            if family.again is not None:
                fitted = family.again(learnt, settings, found)
            else:
                fitted = family.fit(learnt, settings)
        except InputError:
            continue
        yield learnt, runs.only(rest), fitted
