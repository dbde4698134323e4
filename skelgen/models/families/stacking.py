"""How much a power law counts next to normal forms: by what both miss.

Both are asked for runs that they have not seen: for some ahead of those seen (forward
chaining), and for some among them (K-fold). The weight of the power law is that of
least squares. Two things are known without any run, and count as if a few
configurations had been asked: a power law is off ahead, and so are normal forms after a
change of regime of which few configurations are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skelgen.models.runs import Floats
from skelgen.models.thresholds import (
    LARGEST_MISS_WITHOUT_HELP,
    POWER_LAW_DEVIATION,
    PRIOR_CONFIGURATIONS,
)

#: How far ahead it is judged: a logarithm of a factor.
_AHEAD = float(np.log(2.0))

#: Runs that either misses by more say nothing: it was asked beyond what it knows.
_FAR = 1.0


@dataclass(frozen=True, slots=True)
class Missed:
    """What both missed in one fold.

    Attributes
    ----------
    forms, power : (runs,) float64 array
        Logarithms of what they said over what was measured.
    places : int
        Configurations that were asked.
    """

    forms: Floats
    power: Floats
    places: int


def share_of_power(missed: Sequence[Missed], unsure: float) -> float:
    """Return the weight of the power law; the rest is that of normal forms.

    Parameters
    ----------
    missed : sequence of Missed
        Of each fold.
    unsure : float
        Deviation of normal forms for each factor e ahead, which no fold tested [1].

    Returns
    -------
    float
        From 0 to 1; 0 where normal forms miss next to nothing.

    Notes
    -----
    With f and p what forms and power missed, and weight w, together they missed
    (1 - w) f + w p. Its square is smallest for w = sum f (f - p) / sum (f - p)^2.
    """
    untested, bent = (unsure * _AHEAD) ** 2, (POWER_LAW_DEVIATION * _AHEAD) ** 2
    gained = PRIOR_CONFIGURATIONS * untested
    apart = PRIOR_CONFIGURATIONS * (untested + bent)
    if missed and all(
        np.abs(one.forms).max() < LARGEST_MISS_WITHOUT_HELP for one in missed
    ):
        return 0.0
    for fold in missed:
        near = (np.abs(fold.forms) < _FAR) & (np.abs(fold.power) < _FAR)
        if not near.any():
            continue
        forms, differ = fold.forms[near], (fold.forms - fold.power)[near]
        gained += fold.places * (float(np.mean(forms * differ)) + untested)
        apart += fold.places * (float(np.mean(differ**2)) + untested)
    return min(max(gained / apart, 0.0), 1.0)
