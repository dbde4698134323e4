"""Families and other tools answer the same questions in one way."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from benchmarks.models import law
from benchmarks.models.cases import Problem
from benchmarks.models.law import HISTORY_S, Before, Floats
from benchmarks.models.others import OTHERS, Worker
from skelgen.errors import InputError
from skelgen.forecasts import Samples, forecast
from skelgen.models.families import FamilySettings
from skelgen.models.model import fit_model, predict_with
from skelgen.models.runs import RunTable

#: The true law with the averages that were measured, or with those that were forecast.
FLOOR = "floor"

#: Horizons that are told apart differ by this factor; so many are tried.
_STEP, _TRIES = 1.1, 8


@dataclass(frozen=True, slots=True)
class Said:
    """An answer.

    Attributes
    ----------
    value : float
        [s]
    low, high : float or None
        Ends of the 90 % interval; None where there is none [s].
    doubted : bool or None
        None where there are no doubts.
    """

    value: float
    low: float | None = None
    high: float | None = None
    doubted: bool | None = None


Row = dict[str, float]
Ask = Callable[[Row], Said]


def learn(
    runs: RunTable,
    family: str,
    others: Worker | None,
    settings: FamilySettings | None = None,
) -> tuple[Ask, float]:
    """Let a family or another tool learn; return what can be asked, and its time [s].

    Raises
    ------
    InputError
        When it cannot learn from these runs.
    """
    if family in OTHERS:
        assert others is not None, "started where a family needs it"
        seconds = others.fit(runs, family)

        def ask_other(row: Row) -> Said:
            found = others.ask(row)
            return Said(found.p50, found.p5, found.p95)

        return ask_other, seconds
    begin = time.process_time()
    model = fit_model(runs, family, settings)

    def ask(row: Row) -> Said:
        found = predict_with(model, row)
        ends = found.interval
        return Said(ends.p50, ends.p5, ends.p95, doubted=bool(found.doubts))

    return ask, time.process_time() - begin


def measured(problem: Problem, ask: Ask) -> list[Said]:
    """Ask for all runs with the loads that were measured during them."""
    return [ask(row) for row in _rows(problem.asked)]


def forecasted(problem: Problem, ask: Ask) -> list[Said]:
    """Ask for all runs with loads that are forecast from the hour before each."""
    pairs = zip(_rows(problem.asked), problem.before, strict=True)
    return [_agreed(row, before, ask) for row, before in pairs]


def floor(problem: Problem, *, by_forecast: bool) -> list[Said]:
    """Return what the true law says."""
    if not by_forecast:
        return [Said(value) for value in problem.floor.tolist()]
    found = []
    for case, before in zip(problem.cases, problem.before, strict=True):

        def truth(row: Row, case: law.Case = case) -> Said:
            return Said(law.floor_s(case, (row["cpu"], row["bandwidth"])))

        found.append(_agreed({}, before, truth))
    return found


def _rows(runs: RunTable) -> list[Row]:
    columns = runs.columns.items()
    return [{name: float(v[i]) for name, v in columns} for i in range(len(runs))]


def _agreed(row: Row, before: Before | None, ask: Ask) -> Said:
    """Forecast for as long as the answer says, until both agree."""
    if before is None:
        raise InputError("nothing else ran there: there is no load to forecast")
    step, seen = _step(600.0), 0
    for _ in range(_TRIES):
        cpu, bandwidth = loads(before, _STEP**step)
        said = ask({**row, "cpu": cpu, "bandwidth": bandwidth})
        last, step = step, _step(said.value)
        if step in (last, seen):  # they agree, or take turns
            break
        seen = last
    return said


def _step(time_s: float) -> int:
    return round(math.log(min(max(time_s, 120.0), 1e5), _STEP))


@lru_cache(maxsize=4096)
def loads(before: Before, horizon_s: float) -> tuple[float, float]:
    """Forecast the averages over time of the smallest CPU and bandwidth."""
    found = []
    for kind, seen in (("node", before.nodes), ("link", before.links)):
        series = [
            Samples(f"{kind}{i}", before.times - HISTORY_S, column)
            for i, column in enumerate(_columns(seen))
        ]
        one = forecast(series, horizon_s, generator=np.random.default_rng(0))
        found.append(min(max(one.interval.p50, 0.01), 1.0))
    return found[0], found[1]


def _columns(seen: Floats) -> list[Floats]:
    return [np.ascontiguousarray(column) for column in seen.T]
