"""Forecast how busy nodes and links will be: numbers in, a distribution out.

In: `Samples` of each node, at any times. Out: a `LoadForecast` of the average over the
time that comes next, with its 90 % interval, the expert who made it, and how far that
one was from the truth in the past. Nothing here knows a store or reads a clock.
Source: Wolski 1998 (NWS); Yagnik 2006, section 3.
"""

from skelgen.forecasts.forecasting import forecast, happened
from skelgen.forecasts.types import Covariate, LoadForecast, Method, Samples

__all__ = ["Covariate", "LoadForecast", "Method", "Samples", "forecast", "happened"]
