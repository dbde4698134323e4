"""Forecast the average load of nodes over the time that comes next."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skelgen.errors import InputError
from skelgen.forecasts.choosing import by_horizon, by_next_cell, joined
from skelgen.forecasts.intervals import interval
from skelgen.forecasts.resampling import (
    resampled,
    step_s,
    together,
    usable,
)
from skelgen.forecasts.thresholds import (
    FEWEST_CELLS,
    FEWEST_HORIZONS,
    LEAST_KNOWN_OF_HAPPENED,
    LEAST_KNOWN_OF_HISTORY,
    MOST_SAMPLES_MISSING,
)
from skelgen.forecasts.types import (
    Covariate,
    LoadForecast,
    LoadHistory,
    Method,
    Postcasts,
    Samples,
)
from skelgen.trust import Doubt
from skelgen.units import format_seconds

_DAY_S = 86_400.0


def forecast(
    series: Sequence[Samples],
    horizon_s: float,
    *,
    generator: np.random.Generator,
    method: Method = "default",
    covariate: Covariate = "avg-min",
    limits: tuple[float, float] = (0.0, 1.0),
) -> LoadForecast:
    """Forecast a quantity of nodes or links, averaged over what comes next.

    Parameters
    ----------
    series : sequence of Samples
        One for each node or link, at least one.
    horizon_s : float
        Length of the time that begins with the newest sample [s].
    generator : numpy.random.Generator
        For the block bootstrap.
    method : {"default", "nws"}
        Judge experts by the mean over the horizon, or by the next cell.
    covariate : {"avg-min", "min-avg"}
        Average over time of the minimum over nodes, or the minimum of averages.
    limits : (float, float)
        Smallest and largest value.

    Raises
    ------
    InputError
        When there is too little to forecast from.

    References
    ----------
    Yagnik 2006, section 3: min_avg_avail_cpu, forecast by NWS.
    """
    used = [usable(one, limits) for one in series]
    length_s = step_s(used, horizon_s)
    histories = resampled(used, length_s)
    whole = together(histories)
    if len(whole.values) < FEWEST_CELLS:
        raise InputError(
            f"the series hold {len(whole.values)} x {length_s:.3g} s, expected at "
            f"least {FEWEST_CELLS}; wait until the monitor has more samples"
        )
    apart = [whole] if covariate == "avg-min" else histories
    cells = max(round(horizon_s / length_s), 1)
    found = joined([_postcasts(one, cells, method) for one in apart])
    errors = np.abs(found.forecasts - found.truths)
    return LoadForecast(
        interval(found, cells, limits, generator, moved=method == "default"),
        found.expert,
        float(errors.mean()) if len(errors) else float("nan"),
        len(found.truths),
        covariate,
        max(float(one.times[-1]) for one in used),
        horizon_s,
        _doubts(whole, used, horizon_s),
    )


def _postcasts(history: LoadHistory, cells: int, method: Method) -> Postcasts:
    if method == "nws":
        return by_next_cell(history, cells)
    return by_horizon(history, cells, _DAY_S / history.step_s)


def happened(
    series: Sequence[Samples],
    begin_s: float,
    end_s: float,
    covariate: Covariate,
    limits: tuple[float, float],
) -> float:
    """Return what a forecast was of, once it happened.

    Parameters
    ----------
    series : sequence of Samples
    begin_s, end_s : float
        On the clock of the samples [s].
    covariate : {"avg-min", "min-avg"}
    limits : (float, float)

    Returns
    -------
    float
        Not a number while less than 80 % of the time are known.
    """
    used = [usable(one, limits) for one in series]
    if min(float(one.times[-1]) for one in used) < end_s:
        return float("nan")
    length_s = step_s(used, end_s - begin_s)
    cells = max(round((end_s - begin_s) / length_s), 1)
    histories = resampled(used, (end_s - begin_s) / cells, (begin_s, end_s))
    apart = [together(histories)] if covariate == "avg-min" else list(histories)
    if min(float(one.known.mean()) for one in apart) < LEAST_KNOWN_OF_HAPPENED:
        return float("nan")
    return min(float(one.values[one.known].mean()) for one in apart)


def _doubts(
    whole: LoadHistory, series: Sequence[Samples], horizon_s: float
) -> tuple[Doubt, ...]:
    """Say what the history lacks."""
    return (*_too_little(whole, horizon_s), *_too_vague(whole, series))


def _too_little(whole: LoadHistory, horizon_s: float) -> list[Doubt]:
    """Say how much of the history is missing."""
    found = []
    span_s = len(whole.values) * whole.step_s
    if span_s < FEWEST_HORIZONS * horizon_s:
        found.append(
            Doubt(
                "short-history",
                f"the history holds {span_s / horizon_s:.1f} times the horizon, "
                f"expected {FEWEST_HORIZONS:g}",
                "watch the nodes for longer, or ask for a shorter horizon",
            )
        )
    known = float(whole.known.mean())
    if known < LEAST_KNOWN_OF_HISTORY:
        found.append(
            Doubt(
                "gaps",
                f"only {known:.0%} of the history is known, "
                f"expected {LEAST_KNOWN_OF_HISTORY:.0%}",
                "keep the monitor running on all nodes",
            )
        )
    return found


def _too_vague(whole: LoadHistory, series: Sequence[Samples]) -> list[Doubt]:
    """Say which hosts tell less than they could."""
    found = []
    if estimated := [one for one in series if one.estimated]:
        found.append(
            Doubt(
                "estimated-load",
                f"the load of {estimated[0].host} was estimated from what "
                f"{estimated[0].estimated} measured, which knows no control groups, "
                "priorities or bound threads",
                "run skelgen monitor on the nodes",
            )
        )
    newest = min(series, key=lambda one: one.times[-1])
    behind_s = max(one.times[-1] for one in series) - newest.times[-1]
    if behind_s > MOST_SAMPLES_MISSING * whole.step_s:
        found.append(
            Doubt(
                "old-series",
                f"{newest.host} has no samples in the newest "
                f"{format_seconds(behind_s)}",
                "see that its monitor runs, and that its clock is right (NTP)",
            )
        )
    return found
