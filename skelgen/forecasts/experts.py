"""The experts: what each would have forecast at many moments of a history.

A position p in a history is the moment at which its cells 0 to p are known. Experts
look at nothing after it, so forecasts of the past ("postcasts") and of the future come
from the same lines. All are of the mean of the next cells, as many as the horizon.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skelgen.forecasts import autoregression, daily, windows
from skelgen.forecasts.smoothing import smoothed
from skelgen.forecasts.thresholds import (
    AUTOREGRESSION_ORDER,
    FEWEST_CELLS_OF_ORDER,
    TRIMMED_SHARE,
)
from skelgen.forecasts.types import Floats, Ints

#: Cells in a window.
WIDTHS = (5, 10, 20, 30, 50)
#: Gains of smoothing.
GAINS = (0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 0.9)
#: Windows for long horizons, in horizons.
HORIZONS = (0.5, 1.0, 2.0, 4.0)
#: The expert that is fitted to the horizon: the winner is averaged with it.
AVERAGED = "AR(1) of the horizon"

Named = Iterator[tuple[str, Floats]]


def published(values: Floats, positions: Ints, horizon: int) -> Named:
    """Yield the experts of NWS: a name and the forecast at each position.

    Parameters
    ----------
    values : (cells,) float64 array
    positions : (positions,) int64 array
        One after the other.
    horizon : int
        Cells.

    References
    ----------
    Wolski 1998, section 3; Yagnik 2006, section 3.
    """
    newest = values[positions]
    medians = [newest]
    for name, found in _common(values, positions, horizon):
        yield name, found
        if name.startswith("median of"):
            medians.append(found)
    own = np.arange(len(positions), dtype=np.int64)
    yield "adaptive median", windows.adaptive(newest, np.stack(medians), own)


def extended(
    values: Floats, positions: Ints, horizon: int, day: int | None = None
) -> Named:
    """Yield the experts of the default: those of NWS, and some for long horizons.

    Parameters
    ----------
    values, horizon
        As for `published`.
    positions : (positions,) int64 array
        Rising.
    day : int, optional
        Cells of a day, where there are days enough.
    """
    yield from _common(values, positions, horizon)
    total = windows.sums(values)
    for horizons in HORIZONS:
        width = max(round(horizons * horizon), 1)
        yield f"mean of {horizons:g} horizons", windows.means(total, positions, width)
    yield AVERAGED, autoregression.of_horizon(values, positions, horizon)
    if day is not None:
        yield "daily", daily.usual(values, positions, horizon, day)
        yield "daily and AR(1)", daily.usual_and_away(values, positions, horizon, day)


def _widths(positions: Ints) -> list[int]:
    """Return the windows that are full at the first position."""
    return [width for width in WIDTHS if width <= positions[0] + 1]


def _common(values: Floats, positions: Ints, horizon: int) -> Named:
    total, cells = windows.sums(values), np.arange(len(values))
    yield "last", values[positions]
    yield "mean", windows.means(total, positions, len(values))
    yield "median", windows.running_medians(values, positions)
    means = [values]
    for width in _widths(positions):
        means.append(windows.means(total, cells, width))
        yield f"mean of {width}", means[-1][positions]
        newest = windows.ordered(values, positions, width)
        yield f"median of {width}", windows.medians(newest)
        yield f"trimmed mean of {width}", windows.trimmed_means(newest, TRIMMED_SHARE)
    yield "adaptive mean", windows.adaptive(values, np.stack(means), positions)
    for gain in GAINS:
        yield f"smoothing {gain:g}", smoothed(values, gain)[positions]
    yield "AR(1)", autoregression.first_order(values, positions, horizon)
    if positions[0] >= FEWEST_CELLS_OF_ORDER:
        found = autoregression.higher_order(
            values, positions, horizon, AUTOREGRESSION_ORDER
        )
        yield f"AR({AUTOREGRESSION_ORDER})", found
