"""Exponential smoothing with several gains."""

from __future__ import annotations

from skelgen.forecasts.types import Floats

#: What has faded to this share counts no more.
_NOTHING = 1e-17


def smoothed(values: Floats, gain: float) -> Floats:
    """Smooth a history: s(t) = s(t-1) + gain (x(t) - s(t-1)), from s(0) = x(0).

    The sum of the newest 2 n faded cells is that of the newest n and, faded by n more
    cells, that of the n before them: a history takes as many steps as its length has
    binary digits.

    Parameters
    ----------
    values : (cells,) float64 array
    gain : float
        [0 to 1]

    References
    ----------
    Wolski 1998, GRAD: stochastic gradient.
    """
    found = gain * values
    found[0] = values[0]
    width, faded = 1, 1.0 - gain
    while width < len(values) and faded > _NOTHING:
        earlier = faded * found[:-width]
        found[width:] += earlier
        width, faded = 2 * width, faded * faded
    return found
