"""Types of load forecasts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from skelgen.trust import Doubt, Interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Truths = NDArray[np.bool_]

#: How experts are judged, and how several nodes become one number.
Method = Literal["default", "nws"]
Covariate = Literal["avg-min", "min-avg"]


@dataclass(frozen=True, slots=True)
class Samples:
    """A quantity of one node or link as it was measured.

    Attributes
    ----------
    host : str
    times : (samples,) float64 array
        On any clock [s].
    values : (samples,) float64 array
        Each is the average since the sample before it.
    estimated : str
        The tool that the values were estimated from; empty: they were measured.
    """

    host: str
    times: Floats
    values: Floats
    estimated: str = ""


@dataclass(frozen=True, slots=True)
class LoadHistory:
    """A quantity in cells of equal length.

    Attributes
    ----------
    values : (cells,) float64 array
        Averages; a cell that is not known has the value of the one before it.
    known : (cells,) bool array
    step_s : float
        Length of a cell [s].
    """

    values: Floats
    known: Truths
    step_s: float


@dataclass(frozen=True, slots=True)
class Postcasts:
    """What an expert would have forecast in the past, what happened, and what comes.

    Attributes
    ----------
    expert : str
    forecasts, truths : (postcasts,) float64 array
        Means over the judged horizon.
    forecast : float
        Of what comes next.
    positions : (postcasts,) int64 array
        Last known cell of each.
    cells : int
        The judged horizon.
    """

    expert: str
    forecasts: Floats
    truths: Floats
    forecast: float
    positions: Ints
    cells: int


@dataclass(frozen=True, slots=True)
class LoadForecast:
    """A quantity, averaged over the time that comes next.

    Attributes
    ----------
    interval : Interval
        Forecast with its 90 % interval.
    expert : str
        Who made it.
    postcast_error : float
        Mean absolute error of the expert in the past.
    postcasts : int
        So often it was compared with what happened.
    covariate : str
    begin_s, horizon_s : float
        When the time begins, which is the newest sample, and its length [s].
    doubts : tuple of Doubt
        Why it should not be trusted; empty when it can be.
    """

    interval: Interval
    expert: str
    postcast_error: float
    postcasts: int
    covariate: Covariate
    begin_s: float
    horizon_s: float
    doubts: tuple[Doubt, ...]
