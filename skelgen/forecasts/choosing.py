"""Let every expert forecast the past, and choose the one that was best."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from skelgen.forecasts import experts
from skelgen.forecasts.thresholds import (
    FEWEST_DAYS_AVERAGED,
    FEWEST_DAYS_OF_DAILY,
    JUDGED_PARTS,
    LEAST_KNOWN_OF_HORIZON,
    MOST_POSTCASTS,
)
from skelgen.forecasts.types import Floats, Ints, LoadHistory, Postcasts, Truths
from skelgen.forecasts.windows import sums

#: Cells before the first moment.
_BEFORE = max(experts.WIDTHS)


def by_next_cell(history: LoadHistory, horizon: int) -> Postcasts:
    """Choose as NWS does: by the error of the next cell, over the whole history.

    What the winner says of the next cell is taken for the whole horizon, and compared
    with that.

    Parameters
    ----------
    history : LoadHistory
        Of at least 8 cells.
    horizon : int
        Cells.

    References
    ----------
    Wolski 1998, section 3: the smallest mean absolute postcast error wins.
    """
    cells = len(history.values)
    before, judged = _fitting(cells, horizon)
    positions = np.arange(before, cells, dtype=np.int64)
    values = history.values - history.values[0]
    names, forecasts = _asked(history, experts.published(values, positions, 1))
    truths, compared = _truths(history, positions[:-1], 1)
    best = int(_errors(forecasts[:, :-1], truths, compared).argmin())
    moments = _spread(before, cells, judged)
    truths, compared = _truths(history, moments, judged)
    return Postcasts(
        names[best],
        forecasts[best, moments - before][compared],
        truths[compared],
        float(forecasts[best, -1]),
        moments[compared],
        judged,
    )


def by_horizon(history: LoadHistory, horizon: int, day: float) -> Postcasts:
    """Choose by the error of the mean over the horizon, and average with AR(1).

    The average of the winner and the AR(1) of the horizon is taken where it was at
    least as good as the winner in the past.

    Parameters
    ----------
    history : LoadHistory
        Of at least 8 cells.
    horizon : int
        Cells; experts are judged over fewer where the history is shorter than four
        horizons.
    day : float
        Length of a day in cells.
    """
    cells = len(history.values)
    before, judged = _fitting(cells, horizon)
    is_daily = cells >= FEWEST_DAYS_OF_DAILY * day - 1.0 and round(day) > 1
    if is_daily:
        before = max(before, min(round(FEWEST_DAYS_AVERAGED * day), cells - judged - 2))
    moments = _spread(before, cells, judged)
    positions = np.append(moments, cells - 1)
    found = experts.extended(
        history.values - history.values[0],
        positions,
        judged,
        round(day) if is_daily else None,
    )
    names, forecasts = _asked(history, found)
    truths, compared = _truths(history, moments, judged)
    errors = _errors(forecasts[:, :-1], truths, compared)
    best, other = int(errors.argmin()), names.index(experts.AVERAGED)
    name, chosen = names[best], forecasts[best]
    both = (chosen + forecasts[other]) / 2
    error = float(_errors(both[None, :-1], truths, compared)[0])
    if other != best and error <= errors[best]:
        name, chosen = f"{name} and {experts.AVERAGED}", both
    return Postcasts(
        name,
        chosen[:-1][compared],
        truths[compared],
        float(chosen[-1]),
        moments[compared],
        judged,
    )


def _fitting(cells: int, horizon: int) -> tuple[int, int]:
    """Return the first moment, and the horizon that a history can judge."""
    before = min(_BEFORE, cells // JUDGED_PARTS)
    return before, min(horizon, max((cells - before) // JUDGED_PARTS, 1))


def _spread(before: int, cells: int, horizon: int) -> Ints:
    """Return moments of the past, evenly spread, whose horizons have passed."""
    count = min(cells - horizon - before, MOST_POSTCASTS)
    return np.linspace(before, cells - 1 - horizon, count).astype(np.int64)


def _asked(
    history: LoadHistory, found: Iterable[tuple[str, Floats]]
) -> tuple[tuple[str, ...], Floats]:
    """Return the names and the forecasts of all experts."""
    names, rows = zip(*found, strict=True)
    return names, np.stack(rows) + history.values[0]


def _errors(forecasts: Floats, truths: Floats, compared: Truths) -> Floats:
    """Return the mean absolute error of each expert, 0 where nothing is known."""
    if not compared.any():
        return np.zeros(len(forecasts))
    return np.asarray(np.abs(forecasts - truths)[:, compared].mean(axis=1))


def _truths(history: LoadHistory, moments: Ints, horizon: int) -> tuple[Floats, Truths]:
    """Return the means over the horizons after moments, and which are known enough."""
    known = sums(history.known.astype(float))
    origin = history.values[0]
    total = sums(np.where(history.known, history.values - origin, 0.0))
    ends = moments + 1 + horizon
    cells = known[ends] - known[moments + 1]
    means = (total[ends] - total[moments + 1]) / np.maximum(cells, 1.0) + origin
    return means, (cells >= LEAST_KNOWN_OF_HORIZON * horizon) & history.known[moments]


def joined(parts: list[Postcasts]) -> Postcasts:
    """Return the smallest of the nodes' means, for postcasts of the same moments."""
    first = parts[0]
    if len(parts) == 1:
        return first
    positions = first.positions
    for one in parts[1:]:
        positions = np.intersect1d(positions, one.positions)
    rows = [np.searchsorted(one.positions, positions) for one in parts]
    pairs = list(zip(parts, rows, strict=True))
    lowest = min(parts, key=lambda one: one.forecast)
    return Postcasts(
        lowest.expert,
        np.minimum.reduce([one.forecasts[row] for one, row in pairs]),
        np.minimum.reduce([one.truths[row] for one, row in pairs]),
        lowest.forecast,
        positions,
        first.cells,
    )
