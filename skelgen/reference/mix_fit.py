"""Fit what computation consists of to how it slows down beside known competitors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from skelgen.reference.calibration import Mix
from skelgen.reference.competitors import Slowdown
from skelgen.reference.thresholds import (
    LEAST_EXCESS,
    LEAST_MIX_SHARE,
    MOST_MIXTURES,
    MOST_WORKING_SETS,
    SLOWDOWN_NOISE,
)

#: Working sets to choose from: within a core's own cache, about as large, within the
#: share of the last cache that neighbours leave us or not, as large as it, beyond it
#: [bytes].
WORKING_SETS = tuple(size << 19 for size in (1, 2, 4, 8, 24, 48, 96))


@dataclass(frozen=True, slots=True)
class Fit:
    """A mix, and how like the application it is.

    Attributes
    ----------
    mix : Mix
    wanted : tuple of float
        CPU time of the application's computation beside arithmetic and beside memory,
        over that on the quiet machine [1].
    got : tuple of float
        The same of the mixture [1].
    runs : int
        Of the application, for `wanted`; 0 in older files.
    uncertainty : float
        Standard error of `wanted` [1]; 0 in older files.
    """

    mix: Mix
    wanted: Slowdown
    got: Slowdown
    runs: int = 0
    uncertainty: float = 0.0

    @property
    def error(self) -> float:
        """Return how far it may be off beside the worse competitor [1].

        What is not known of the application counts as well.
        """
        return math.hypot(off(self.wanted, self.got), self.uncertainty)


def off(wanted: Slowdown, got: Slowdown) -> float:
    """Return the largest relative difference of slowdowns [1]."""
    return max(abs(g / w - 1) for g, w in zip(got, wanted, strict=True))


def fit(
    wanted: Slowdown,
    parts: Mapping[int, Sequence[Slowdown]],
    noise: float = SLOWDOWN_NOISE,
) -> Fit:
    """Choose shares and working set, as if shares of time slowed down on their own.

    Of mixes that cannot be told apart the one with the fewest parts is taken, and
    arithmetic alone before others: its speed does not depend on what else uses memory.

    Parameters
    ----------
    wanted : tuple of float
        Slowdowns of the application [1].
    parts : mapping
        For each working set [bytes], slowdowns of arithmetic, streaming and chasing.
    noise : float
        Differences that nothing tells apart [1].

    Examples
    --------
    >>> parts = {1 << 22: [(1.0, 1.0), (1.0, 1.5), (1.8, 3.0)]}
    >>> fit((1.0, 1.25), parts).mix.shares
    (0.5, 0.5, 0.0)
    """
    found = []
    for size_bytes, rows in parts.items():
        table = np.array(rows, dtype=float)
        for count in (1, 2, 3):
            for chosen in combinations(range(3), count):
                shares = _shares(np.array(wanted), table, chosen)
                if shares is not None:
                    got = tuple(float(value) for value in shares @ table)
                    mix = _mix(shares, size_bytes)
                    found.append((count, Fit(mix, wanted, (got[0], got[1]))))
    tolerated = noise + min(one.error for _, one in found)
    good = [(count, one) for count, one in found if one.error <= tolerated]
    return min(good, key=lambda one: (one[0], one[1].mix != Mix(), one[1].error))[1]


def _shares(
    wanted: NDArray[np.float64], table: NDArray[np.float64], chosen: tuple[int, ...]
) -> NDArray[np.float64] | None:
    """Return the best shares of the chosen parts; None when one of them has none."""
    shares = np.zeros(3)
    last, others = chosen[-1], list(chosen[:-1])
    # The last share is what the others leave: the sum is 1 by construction.
    above = (table[others] - table[last]) / wanted
    solved = np.linalg.lstsq(above.T, 1 - table[last] / wanted, rcond=None)[0]
    shares[others] = solved
    shares[last] = 1 - solved.sum()
    return shares if min(shares[list(chosen)]) >= LEAST_MIX_SHARE else None


def _mix(shares: NDArray[np.float64], size_bytes: int) -> Mix:
    streaming, chasing = (round(float(share), 3) for share in shares[1:])
    arithmetic = round(1 - streaming - chasing, 3)
    return Mix() if arithmetic == 1 else Mix(arithmetic, streaming, chasing, size_bytes)


def fit_measured(
    wanted: Slowdown,
    parts: Mapping[int, Sequence[Slowdown]],
    measure: Callable[[Mix], Slowdown],
) -> Fit:
    """Fit, measure the mixture itself, and correct by what was missed.

    The parts of a mixture share caches, so it slows down otherwise than the sum of
    its parts: what lies above 1 is scaled by as much as it was missed by. Where no
    mixture in the working set that seemed best is like the application, the next best
    is tried. Only what was measured counts as how like the application it is; where
    arithmetic alone is as like it, that is taken.

    Parameters
    ----------
    wanted, parts
        As for :func:`fit`.
    measure : callable
        Returns the slowdowns of a mixture.
    """
    trials = [Fit(Mix(), wanted, next(iter(parts.values()))[0])]
    left = dict(parts)
    for _ in range(MOST_WORKING_SETS):
        guess = fit(wanted, left)
        if guess.mix == Mix():
            break
        size_bytes = guess.mix.working_set_bytes
        trials += _corrected(guess, left.pop(size_bytes), measure)
        if not left or min(trial.error for trial in trials) <= SLOWDOWN_NOISE:
            break
    return min(trials, key=lambda trial: trial.error)


def _corrected(
    guess: Fit, parts: Sequence[Slowdown], measure: Callable[[Mix], Slowdown]
) -> list[Fit]:
    """Measure a mixture and better ones in its working set; return all of them."""
    wanted, size_bytes = guess.wanted, guess.mix.working_set_bytes
    trials: list[Fit] = []
    tried = {Mix()}
    while len(trials) < MOST_MIXTURES and guess.mix not in tried:
        tried.add(guess.mix)
        got = measure(guess.mix)
        trials.append(Fit(guess.mix, wanted, got))
        if trials[-1].error <= SLOWDOWN_NOISE:
            break
        gains = [_gain(*pair) for pair in zip(guess.got, got, strict=True)]
        first, second = (1 + (w - 1) * g for w, g in zip(wanted, gains, strict=True))
        noise = SLOWDOWN_NOISE * min(1.0, *gains)
        guess = fit((first, second), {size_bytes: parts}, noise)
    return trials


def _gain(expected: float, measured: float) -> float:
    """Return what slowdowns above 1 are to be aimed at by, to meet a wanted one [1]."""
    if min(expected, measured) < 1 + LEAST_EXCESS:
        return 1.0  # arithmetic: it tells nothing of the other parts
    return (expected - 1) / (measured - 1)
