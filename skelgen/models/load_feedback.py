"""A time that depends on the load over this time: both are changed until they agree."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from skelgen.models.model import ModelPrediction
from skelgen.models.thresholds import AGREEING_HORIZON, LAST_ROUNDS
from skelgen.trust import Doubt, Interval
from skelgen.units import format_seconds

#: Rounds after which time and horizon are not asked again: each takes a forecast.
_ROUNDS = 25


@dataclass(frozen=True, slots=True)
class Settled:
    """A prediction over its own horizon.

    Attributes
    ----------
    prediction : ModelPrediction
    horizon_s : float
        Over which the load was forecast [s].
    rounds : int
    """

    prediction: ModelPrediction
    horizon_s: float
    rounds: int


def settle(ask: Callable[[float], ModelPrediction], first_s: float) -> Settled:
    """Find the horizon that is as long as the time predicted with its load.

    The next horizon is the geometric mean of the last one and of its time: a forecast
    changes its expert at some horizons, and steps would follow it to and fro.

    Parameters
    ----------
    ask : callable
        Predicts with the load over a horizon [s].
    first_s : float
        Horizon to begin with [s].

    Returns
    -------
    Settled
        With the doubt ``load-not-settled`` and an interval around the last rounds
        where they never agreed.
    """
    horizon_s, rounds = first_s, []
    for number in range(1, _ROUNDS + 1):
        said = ask(horizon_s)
        rounds.append((horizon_s, said))
        time_s = said.interval.p50
        if max(time_s / horizon_s, horizon_s / time_s) <= AGREEING_HORIZON:
            return Settled(said, horizon_s, number)
        horizon_s = math.sqrt(horizon_s * time_s)
    return _unsettled(rounds[-LAST_ROUNDS:])


def _unsettled(rounds: Sequence[tuple[float, ModelPrediction]]) -> Settled:
    """Return the round that agrees best, as wide as all of them together."""
    horizon_s, said = min(
        rounds, key=lambda one: abs(math.log(one[1].interval.p50 / one[0]))
    )
    intervals = [one.interval for _, one in rounds]
    middles = [one.p50 for one in intervals]
    doubt = Doubt(
        "load-not-settled",
        f"the time changes with the horizon of the forecast, between "
        f"{format_seconds(min(middles))} and {format_seconds(max(middles))}",
        "give the load: --load cpu=0.5,bandwidth=0.8",
    )
    interval = Interval(
        min(one.p5 for one in intervals),
        said.interval.p50,
        max(one.p95 for one in intervals),
    )
    said = replace(said, interval=interval, doubts=(*said.doubts, doubt))
    return Settled(said, horizon_s, _ROUNDS)
