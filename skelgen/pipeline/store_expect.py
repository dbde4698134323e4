"""How long a configuration will take, from runs of it that the store has.

References
----------
WRF on multicore systems, 2010, III: the daemon *aprof* is asked how long a job takes.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from skelgen.errors import InputError, SkelgenError
from skelgen.monitor.folders import hosts as known
from skelgen.monitor.series import read_history
from skelgen.store import Condition, Inputs, Run, Store, open_store
from skelgen.store.pairing import comparable_inputs, same_hosts
from skelgen.store.repeats import repeats
from skelgen.trust import Doubt, Interval, too_wide
from skelgen.trust.intervals import interval, median_draws, relative_spread

#: Fewer runs say little of how much the next one differs.
_FEWEST = 3
#: Spread of one run where no repeats tell it [1]: a wide one, as those of runs on
#: different nodes (WRF on multicore systems, 2010, IV: over 15 %).
_UNKNOWN_SPREAD = 0.15
#: CPU that others left, by which runs may differ without doubt.
_LOAD = 0.1
#: Runs that are looked through for spread and neighbours, and neighbours that are told.
_MOST, _NEAREST = 1000, 3
#: A sample of a monitor says how it is now for so long [s].
_NOW_S = 120.0
_CPU = "cpu_avg_min"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A configuration that ran, near one that did not.

    Attributes
    ----------
    inputs : tuple of (str, float or str)
    ranks : int
    runs : int
        So many of it.
    time_s : float
        Their median [s].
    """

    inputs: Inputs
    ranks: int
    runs: int
    time_s: float


@dataclass(frozen=True, slots=True)
class Expected:
    """How long a configuration will take.

    Attributes
    ----------
    application : str
    time_s : Interval or None
        Of the next run [s]; None where it never ran.
    runs : tuple of Run
        Those it follows from.
    doubts : tuple of Doubt
    nearest : tuple of Neighbour
        Where it never ran, the nearest first.
    """

    application: str
    time_s: Interval | None
    runs: tuple[Run, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    nearest: tuple[Neighbour, ...] = ()


def expected(
    place: str | None,
    application: str,
    inputs: Inputs = (),
    ranks: int = 0,
    hosts: Sequence[str] = (),
    system: str = "",
) -> Expected:
    """Say how long the next run of a configuration takes.

    Parameters
    ----------
    place : str, optional
        Of the store; see `skelgen.store.place_of`.
    application : str
    inputs : tuple of (str, float or str)
        What is not named may be anything.
    ranks : int
        0: any.
    hosts : sequence of str
        Runs on exactly these go before others.
    system : str
        Only runs on it count; empty: any.

    Raises
    ------
    InputError
        When there is no run of this application, or no store.
    """
    where = [Condition(f"input.{name}", "=", value) for name, value in inputs]
    where += [Condition("ranks", "=", float(ranks))] if ranks else []
    on = [Condition("system", "=", system)] if system else []
    with open_store(place, make=False) as store:
        good = [run for run in store.runs(application, [*where, *on]) if _tells(run)]
        runs, doubts = _chosen(good, hosts)
        if not runs:
            return _unknown(store, application, inputs, ranks)
        others = store.runs(application, on, limit=_MOST) if len(runs) < _FEWEST else []
    interval = _interval(runs, others)
    named = {name for name, _ in inputs}
    doubts += [*_few(runs), *_unlike(runs, named, ranks), *_loads(runs, hosts)]
    if len(runs) >= _FEWEST:
        remedy = "repeat it in one job on the same nodes: skelgen store list --repeats"
        doubts += too_wide(interval, remedy)
    return Expected(application, interval, tuple(runs), tuple(doubts))


def _tells(run: Run) -> bool:
    return run.status in ("ok", "unknown") and 0 < run.time_s < math.inf


def _chosen(runs: Sequence[Run], hosts: Sequence[str]) -> tuple[list[Run], list[Doubt]]:
    """Return the runs that say most of the next one, and what they lack."""
    doubts = []
    chosen = [run for run in runs if run.status == "ok"]
    if not chosen and runs:
        chosen = list(runs)
        doubts.append(
            Doubt(
                "status-unknown",
                "nobody saw how these runs ended, successful ones are expected",
                "time one yourself: skelgen time",
            )
        )
    if hosts and chosen:
        here = [run for run in chosen if same_hosts(run.hosts, hosts)]
        if not here:
            doubts.append(
                Doubt(
                    "other-hosts",
                    "these runs were on other hosts than "
                    f"{','.join(hosts)[:60]}, where none was",
                    "run it there once, or predict it: skelgen predict",
                )
            )
        chosen = here or chosen
    return chosen, doubts


def _interval(runs: Sequence[Run], others: Sequence[Run]) -> Interval:
    """Return the 90 % interval of the next run: of the median, and of one around it."""
    times_s = [run.time_s for run in runs]
    spread = relative_spread(times_s)
    if len(times_s) < _FEWEST:
        measured = [[r.time_s for r in one.runs] for one in repeats(others)]
        known = relative_spread(*(of_one for of_one in measured if len(of_one) > 1))
        spread = max(
            one
            for one in (spread, _UNKNOWN_SPREAD if known is None else known)
            if one is not None
        )
    generator = np.random.default_rng(0)
    draws = median_draws(times_s, generator, spread=spread, worth=1)
    draws = draws * np.exp((spread or 0.0) * generator.standard_normal(draws.size))
    return interval(draws, statistics.median(times_s))


def _few(runs: Sequence[Run]) -> Iterator[Doubt]:
    if len(runs) < _FEWEST:
        many = "one run" if len(runs) == 1 else f"{len(runs)} runs"
        yield Doubt(
            "few-runs",
            f"only {many} of this configuration, at least {_FEWEST} show how much "
            "runs differ",
            "run it again; the spread of other configurations counts until then",
        )


def _unlike(runs: Sequence[Run], named: set[str], ranks: int) -> Iterator[Doubt]:
    """Yield by what the runs differ that was not asked for."""
    differ = {
        name
        for run in runs
        for name, value in set(comparable_inputs(run.inputs))
        ^ set(comparable_inputs(runs[0].inputs))
        if name not in named
    }
    if differ:
        some = ", ".join(sorted(differ))[:100]
        yield Doubt(
            "other-inputs",
            f"these runs have different inputs: {some}",
            "name all with --input",
        )
    if not ranks and len(found := {run.ranks for run in runs}) > 1:
        some = ", ".join(map(str, sorted(found)))[:100]
        yield Doubt(
            "other-ranks", f"these runs have different ranks: {some}", "give --ranks"
        )
    if len({run.executable for run in runs if run.executable}) > 1:
        yield Doubt(
            "other-executable",
            "these runs are of different builds of the program",
            "remove old ones from the store: skelgen store remove",
        )


def _loads(runs: Sequence[Run], hosts: Sequence[str]) -> Iterator[Doubt]:
    """Yield by what the loads during these runs differ, from each other and now."""
    known = [dict(run.loads)[_CPU] for run in runs if _CPU in dict(run.loads)]
    if not known:
        return
    if max(known) - min(known) > _LOAD:
        yield Doubt(
            "loads-differ",
            f"others left these runs {min(known):.2f} to {max(known):.2f} of a core, "
            f"at most {_LOAD:g} apart is trusted",
            "runs under one load say more",
        )
    now = _cpu_now(hosts or runs[-1].hosts)
    usual = statistics.median(known)
    if math.isfinite(now) and abs(now - usual) > _LOAD:
        yield Doubt(
            "other-loads",
            f"others leave {now:.2f} of a core now, {usual:.2f} during these runs",
            "see what is to come: skelgen forecast",
        )


def _cpu_now(hosts: Sequence[str]) -> float:
    """Return what nodes have left now, the least of them; nan where nobody knows it."""
    now = time.time()
    values = []
    try:
        if not hosts or not set(hosts) <= set(known()):
            return math.nan
        for host in hosts:
            curve = read_history(host, now - _NOW_S, math.inf).curves.get("cpu")
            values.append(curve.values[-1] if curve else math.nan)
    except SkelgenError:
        return math.nan
    return min(values) if all(map(math.isfinite, values)) else math.nan


def _unknown(store: Store, application: str, inputs: Inputs, ranks: int) -> Expected:
    """Say that a configuration never ran, and which ones did."""
    found = repeats(store.runs(application, limit=_MOST))
    if not found:
        known = ", ".join(one.name for one in store.applications()[:10])
        raise InputError(
            f"no run of {application[:60]!r} that ended well is in the store; it has: "
            f"{known[:200] or 'none'}; add one: skelgen time, skelgen store add"
        )
    near = sorted(
        (
            Neighbour(one.runs[0].inputs, one.runs[0].ranks, len(one.runs), one.time_s)
            for one in found
        ),
        key=lambda one: _distance(one, dict(inputs), ranks),
    )
    return Expected(application, None, nearest=tuple(near[:_NEAREST]))


def _distance(one: Neighbour, inputs: dict[str, float | str], ranks: int) -> float:
    """Return how far a configuration is from what was asked for, in powers of e."""
    there = dict(one.inputs)
    pairs = [(there.get(name), value) for name, value in inputs.items()]
    pairs += [(float(one.ranks), float(ranks))] if ranks else []
    return math.fsum(_step(a, b) for a, b in pairs)


def _step(one: float | str | None, other: float | str) -> float:
    if one == other:
        return 0.0
    if isinstance(one, float) and isinstance(other, float) and min(one, other) > 0:
        return abs(math.log(one / other))
    return 10.0
