"""Samples at any times become cells of equal length.

The rule: a sample is the average since the sample before it, but for no longer than
three times what is usual between the samples around it. A cell is the average of what
samples say of it, weighted by time. A cell of which samples cover less than half is not
known; it keeps the value of the cell before it and is not compared with forecasts.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from skelgen.errors import InputError
from skelgen.forecasts.thresholds import (
    CELLS_PER_HISTORY,
    CELLS_PER_HORIZON,
    INTERVALS_AROUND,
    LARGEST_EXCESS,
    LEAST_COVERED,
    LONGEST_SAMPLE_SPAN,
    MOST_CELLS,
)
from skelgen.forecasts.types import Floats, LoadHistory, Samples
from skelgen.forecasts.windows import sums

logger = logging.getLogger(__name__)

#: Times and values are smaller: sums of so large ones are exact no more.
_LARGEST = 1e15


def usable(samples: Samples, limits: tuple[float, float]) -> Samples:
    """Return the samples in the order of time, without those that cannot be.

    Parameters
    ----------
    samples : Samples
    limits : (float, float)
        Smallest and largest value. What lies outside by up to 5 % of the range is
        taken as the limit; what lies outside by more is left out, as is what is not
        a number.

    Raises
    ------
    InputError
        When less than half can be used.
    """
    low, high = limits
    times, values = samples.times, samples.values
    margin = LARGEST_EXCESS * (high - low) if np.isfinite(high - low) else 0.0
    fits = (np.abs(times) < _LARGEST) & (np.abs(values) < _LARGEST)
    fits[fits] = (values[fits] >= low - margin) & (values[fits] <= high + margin)
    count = int(fits.sum())
    if 2 * count < len(times) or not count:
        wrong = ""
        if count < len(times):
            wrong = f"; one is {values[~fits][0]:g} at the time {times[~fits][0]:g}"
        raise InputError(
            f"{samples.host}: {count} of {len(times)} samples can be used, expected "
            f"most, with times in seconds and values from {low:g} to {high:g}{wrong}; "
            "mend the file, or give another"
        )
    if count < len(times):
        logger.warning(
            "%s: left out %d of %d samples: not a number, or not from %g to %g",
            *(samples.host, len(times) - count, len(times), low, high),
        )
    if back := int((np.diff(times[fits]) < 0.0).sum()):
        logger.warning(
            "%s: times go back in %d places, as clocks that are set do; samples are "
            "taken in the order of their times, the first of each time",
            *(samples.host, back),
        )
    order = np.argsort(times[fits], kind="stable")
    times, values = times[fits][order], np.clip(values[fits][order], low, high)
    new = np.append(True, np.diff(times) > 0.0)
    return Samples(samples.host, times[new], values[new], samples.estimated)


def step_s(series: Sequence[Samples], horizon_s: float) -> float:
    """Return the length of a cell [s].

    It is the usual time between samples, or a multiple of it where ten such cells
    still fit into the horizon and 10,000 into the history.
    """
    usual = max(float(np.median(_intervals(one.times))) for one in series)
    span_s = max(one.times[-1] for one in series) - min(one.times[0] for one in series)
    longest = min(horizon_s / CELLS_PER_HORIZON, float(span_s) / CELLS_PER_HISTORY)
    return usual * max(int(longest / usual), 1)


def resampled(
    series: Sequence[Samples],
    length_s: float,
    between: tuple[float, float] | None = None,
) -> tuple[LoadHistory, ...]:
    """Put series on the same cells.

    Parameters
    ----------
    series : sequence of Samples
        Usable ones.
    length_s : float
        Of a cell [s].
    between : (float, float), optional
        Where the cells begin and end [s]; without it they begin when all series have
        begun, and end with the newest sample.

    Raises
    ------
    InputError
        When the series have no time in common.
    """
    first, end = between or _common(series)
    cells = min(int((end - first) / length_s + 1e-6), MOST_CELLS)
    edges = end - length_s * np.arange(cells, -1, -1.0)
    return tuple(_cells(one, edges, length_s) for one in series)


def _common(series: Sequence[Samples]) -> tuple[float, float]:
    """Return when all series have begun, and the newest sample of any [s]."""
    latest = max(series, key=lambda one: _starts(one.times)[0])
    earliest = min(series, key=lambda one: one.times[-1])
    first = float(_starts(latest.times)[0])
    if earliest.times[-1] <= first:
        raise InputError(
            f"the series of {earliest.host} ends before that of {latest.host} begins; "
            "give nodes that were watched at the same time, or set their clocks right "
            "(NTP)"
        )
    return first, max(float(one.times[-1]) for one in series)


def together(histories: Sequence[LoadHistory]) -> LoadHistory:
    """Return the smallest value of all in each cell, known where all are."""
    first = histories[0]
    if len(histories) == 1:
        return first
    known = np.logical_and.reduce([one.known for one in histories])
    values = np.minimum.reduce([one.values for one in histories])
    return LoadHistory(_held(values, known), known, first.step_s)


def _cells(samples: Samples, edges: Floats, length_s: float) -> LoadHistory:
    """Average a series over cells between edges."""
    origin = samples.values[0]  # so that equal values are exactly equal cells
    starts = _starts(samples.times)
    covers = samples.times - starts
    integral = sums((samples.values - origin) * covers)
    covered = sums(covers)
    knots = np.stack((starts, samples.times), axis=1).ravel()

    def at_edges(total: Floats) -> Floats:
        ends = np.stack((total[:-1], total[1:]), axis=1).ravel()
        return np.diff(np.interp(edges, knots, ends))

    there = at_edges(covered)
    known = there >= LEAST_COVERED * length_s
    values = np.divide(at_edges(integral), there, out=np.zeros_like(there), where=known)
    return LoadHistory(_held(values + origin, known), known, length_s)


def _held(values: Floats, known: np.ndarray) -> Floats:
    """Let cells that are not known keep the value before, the first ones the first."""
    if known.all() or not known.any():
        return values
    newest = np.where(known, np.arange(len(known)), -1)
    newest = np.maximum.accumulate(newest)
    newest[newest < 0] = int(np.argmax(known))
    return np.asarray(values[newest])


def _intervals(times: Floats) -> Floats:
    """Return the time since the sample before; the first one is like the second [s]."""
    if len(times) < 2:
        return np.ones(1)
    between = np.diff(times)
    return np.concatenate((between[:1], between))


def _starts(times: Floats) -> Floats:
    """Return from when on each sample counts [s]."""
    between = _intervals(times)
    around = np.pad(between, INTERVALS_AROUND // 2, mode="edge")
    usual = np.median(sliding_window_view(around, INTERVALS_AROUND), axis=1)
    return np.asarray(times - np.minimum(between, LONGEST_SAMPLE_SPAN * usual))
