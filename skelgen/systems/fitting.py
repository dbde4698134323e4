"""Fit times of messages over sizes: latency, bandwidth, eager limit and knees."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from skelgen.systems.cuts import best_cuts
from skelgen.systems.types import SizeLaw, Stretch

Floats: TypeAlias = NDArray[np.float64]

#: Points of a stretch, and stretches, at least and at most [1].
FEWEST_POINTS, MOST_STRETCHES = 3, 5
#: Repeated measurements differ at least by so much [1].
_LEAST_NOISE = 0.01
#: A point that is further off than this many times the noise counts as this far [1].
_FAR = 3.0
#: A further stretch must explain this much more, in logarithms of the number of points
#: for each of its three parameters.
_PRICE = 3.0
#: Times that jump by more between two stretches begin another protocol [1].
_JUMP = 0.1
#: Size does not matter: no machine sends faster [bytes/s].
_FASTEST = 1e15
#: Share of its first time that a line has there at least [1].
_LEAST_BEGIN = 0.2
_ROUNDS = 12


def fit_times(
    sizes_bytes: Sequence[int], times_s: Sequence[float], *, eager_bytes: int = 0
) -> SizeLaw:
    """Fit latency + size / bandwidth, in as few stretches as explain the times.

    Differences are relative, so that short messages count as much as long ones. One
    time that is far off moves nothing: it counts as at most `_FAR` times the noise.

    Parameters
    ----------
    sizes_bytes : sequence of int
        Rising [bytes].
    times_s : sequence of float
        Positive, as many [s].
    eager_bytes : int
        The eager limit, where it was found by a test; 0: by a jump of the times.

    Raises
    ------
    ValueError
        Without a point, or when sizes do not rise or times are not positive.

    Examples
    --------
    >>> sizes = [1 << n for n in range(22)]
    >>> law = fit_times(sizes, [2e-6 + size / 1e9 for size in sizes])
    >>> [round(law.latency_s * 1e6, 3), round(law.bandwidth_bytes_per_s / 1e9, 3)]
    [2.0, 1.0]

    References
    ----------
    Hockney, The communication challenge for MPP, 1994: t = t0 + n / r.
    """
    sizes, times = np.asarray(sizes_bytes, float), np.asarray(times_s, float)
    _check(sizes, times)
    if len(sizes) == 1:
        return SizeLaw((Stretch(0, float(times[0]), math.nan),), eager_bytes)
    noise = noise_of(sizes, times)
    if len(sizes) < 2 * FEWEST_POINTS:
        cuts = [0]
    else:
        price = 3 * _PRICE * math.log(len(sizes))
        costs = _costs(sizes, times, noise)
        cuts = best_cuts(costs, price, most=MOST_STRETCHES)
    lines = _lines(sizes, times, noise, cuts)
    cuts = _settled(sizes, times, lines, cuts)
    lines = _lines(sizes, times, noise, cuts)
    limit = eager_bytes or _jump(sizes, lines, cuts, noise)
    law = SizeLaw(tuple(_stretches(sizes, lines, cuts, limit)), limit)
    fitted = np.array([law.time_s(size) for size in sizes])
    error = float(np.median(np.abs(fitted / times - 1)))
    return SizeLaw(law.stretches, limit, error)


def noise_of(sizes: Floats, times: Floats) -> float:
    """Return by how much a time differs from the line through its neighbours [1].

    The median over the points: a knee, a jump or a disturbed time is only one.
    """
    if len(sizes) < 3:
        return _LEAST_NOISE
    span = sizes[2:] - sizes[:-2]
    share = (sizes[1:-1] - sizes[:-2]) / span
    between = times[:-2] + share * (times[2:] - times[:-2])
    off = np.abs(times[1:-1] - between) / times[1:-1]
    # 1.48: from the median to the standard deviation; 1.22: of three times.
    return max(_LEAST_NOISE, float(1.48 / 1.22 * np.median(off)))


def _check(sizes: Floats, times: Floats) -> None:
    if not len(sizes) or sizes.shape != times.shape:
        raise ValueError(f"read {len(sizes)} sizes and {len(times)} times")
    if not (np.all(np.isfinite(times)) and np.all(times > 0)):
        raise ValueError("times must be positive numbers")
    if sizes[0] < 0 or np.any(np.diff(sizes) <= 0):
        raise ValueError("sizes must rise from 0 or more")


def _masks(count: int) -> NDArray[np.bool_]:
    """Return for each first and last point which points are between them."""
    at = np.arange(count)
    first, last = at[:, None, None], at[None, :, None]
    return (at >= first) & (at <= last)


def _costs(sizes: Floats, times: Floats, noise: float) -> Floats:
    """Return for each first and last point what one line leaves unexplained [1].

    Shape (points, points); infinite where there are too few points for a line.
    """
    inside = _masks(len(sizes))
    latency, slope = _fitted(sizes, times, noise, inside)
    off = (latency[..., None] + slope[..., None] * sizes) / times - 1
    square = np.minimum((off / noise) ** 2, _FAR**2)
    costs: Floats = np.where(inside, square, 0.0).sum(axis=-1)
    costs[inside.sum(axis=-1) < FEWEST_POINTS] = np.inf
    return costs


def _fitted(
    sizes: Floats, times: Floats, noise: float, inside: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Fit one line to the points of each mask, with small weights for those far off.

    Returns
    -------
    latency, slope : ndarray
        Of the shape of the masks without their last axis [s, s/byte].
    """
    weights = np.where(inside, 1.0, 0.0)
    for _ in range(_ROUNDS):
        latency, slope = _line(sizes, times, weights)
        off = np.abs((latency[..., None] + slope[..., None] * sizes) / times - 1)
        # Least absolute differences first: they do not follow what is far off.
        weights = np.where(inside, noise / np.maximum(off, noise / 10), 0.0)
    near = inside & (off <= _FAR * noise)
    enough = near.sum(axis=-1) >= 2
    weights = np.where(enough[..., None], np.where(near, 1.0, 0.0), weights)
    return _line(sizes, times, weights)


def _line(sizes: Floats, times: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Solve for latency and slope, of relative differences.

    A slope is never negative. A latency may be, as larger sizes can take longer for
    each byte; not so far that the first of the times would be none.
    """
    x = sizes / times
    one = 1 / times
    s11 = (weights * one * one).sum(-1)
    s12 = (weights * one * x).sum(-1)
    s22 = (weights * x * x).sum(-1)
    b1, b2 = (weights * one).sum(-1), (weights * x).sum(-1)
    first = np.argmax(weights > 0, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        determinant = s11 * s22 - s12 * s12
        fine = determinant > 1e-12 * s11 * s22
        latency = np.where(fine, (s22 * b1 - s12 * b2) / determinant, b1 / s11)
        slope = np.where(fine, (s11 * b2 - s12 * b1) / determinant, 0.0)
        begin = (latency + slope * sizes[first]) / times[first]
        flat, steep = fine & (slope < 0), fine & (begin < _LEAST_BEGIN)
        # Through the origin, but a message without a byte takes its time.
        least = np.where(sizes[first] == 0, _LEAST_BEGIN * times[first], 0.0)
        through = np.maximum((b2 - least * s12) / s22, 0.0)
        slope = np.where(steep, through, np.where(flat, 0.0, slope))
        latency = np.where(steep, least, np.where(flat, b1 / s11, latency))
    return np.nan_to_num(latency), np.nan_to_num(slope)


def _lines(
    sizes: Floats, times: Floats, noise: float, cuts: Sequence[int]
) -> list[tuple[float, float]]:
    """Fit latency [s] and slope [s/byte] of the stretches that begin there."""
    at = np.arange(len(sizes))
    ends = [*cuts[1:], len(sizes)]
    inside = np.array([(at >= a) & (at < b) for a, b in zip(cuts, ends, strict=True)])
    found = _fitted(sizes, times, noise, inside)
    return [
        (float(a), max(float(b), 1 / _FASTEST)) for a, b in zip(*found, strict=True)
    ]


def _settled(
    sizes: Floats,
    times: Floats,
    lines: Sequence[tuple[float, float]],
    cuts: Sequence[int],
) -> list[int]:
    """Give each point beside a cut to the line that it is nearer to."""
    settled, ends = list(cuts), [*cuts[1:], len(sizes)]

    def off(line: tuple[float, float], at: int) -> float:
        return float(abs((line[0] + line[1] * sizes[at]) / times[at] - 1))

    for number in range(1, len(cuts)):
        cut, (before, after) = cuts[number], lines[number - 1 : number + 1]
        while cut - settled[number - 1] > 2 and off(after, cut - 1) < off(
            before, cut - 1
        ):
            cut -= 1
        while ends[number] - cut > 2 and off(before, cut) < off(after, cut):
            cut += 1
        settled[number] = cut
    return settled


def _jump(
    sizes: Floats,
    lines: Sequence[tuple[float, float]],
    cuts: Sequence[int],
    noise: float,
) -> int:
    """Return the largest size before the first jump of the times; 0: there is none."""
    for (before, after), cut in zip(itertools.pairwise(lines), cuts[1:], strict=True):
        # Not only in the gap: the lines of a knee meet there or close to it.
        near = sizes[max(0, cut - 2) : cut + 1]
        left, right = before[0] + before[1] * near, after[0] + after[1] * near
        if np.all(right > left * (1 + max(_JUMP, _FAR * noise))):
            return int(sizes[cut - 1])
    return 0


def _stretches(
    sizes: Floats,
    lines: Sequence[tuple[float, float]],
    cuts: Sequence[int],
    limit: int,
) -> list[Stretch]:
    """Say from which size on each line holds: where it meets the one before."""
    found = []
    for number, ((latency, slope), cut) in enumerate(zip(lines, cuts, strict=True)):
        begin = 0
        if number:
            low, high = sizes[cut - 1], sizes[cut]
            before, slope_before = lines[number - 1]
            bend = slope_before - slope
            meets = (latency - before) / bend if bend else math.inf
            begin = math.ceil(meets) if low < meets <= high else int(high)
            if low <= limit < high and latency + slope * limit > 0:
                begin = limit + 1
        found.append(Stretch(begin, latency, 1 / slope))
    return found
