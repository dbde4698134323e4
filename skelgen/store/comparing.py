"""Runs side by side: what they took, and which of it differs by more than its spread.

The spread is that of runs of one configuration: by how much the longest is longer than
the shortest. It is measured, not assumed: where no configuration ran more than once,
nobody knows whether a difference means anything.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from skelgen.store.conditions import Condition
from skelgen.store.repeats import configuration_of
from skelgen.store.rows import Run
from skelgen.store.store import Store

#: Runs of a configuration that its spread is taken from, the last ones.
_MOST = 200
#: With fewer values there is no spread.
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class Repeated:
    """Runs of the same configuration as one that is compared.

    Attributes
    ----------
    runs : tuple of Run
        Without those that are compared where these are several; else with it.
    """

    runs: tuple[Run, ...]

    @property
    def known(self) -> bool:
        """Return whether there are enough for a spread."""
        return len(self.runs) >= _FEWEST


@dataclass(frozen=True, slots=True)
class ComparedQuantity:
    """A number of several runs.

    Attributes
    ----------
    name : str
    kind : str
        ``time``, a kind of parts such as ``phase``, ``load`` or ``cost``.
    unit : str
        ``s``, ``bytes`` or ``1``.
    values : tuple of float
        Of each run; nan where it does not have it.
    shares : tuple of float
        Of the run's time, where it is a part [0 to 1]; nan where that is not known.
    difference : float
        Largest / smallest - 1 [1]; nan where fewer than two are known and above 0.
    spread : float
        The same of runs of one configuration, the largest [1]; nan: not known.
    """

    name: str
    kind: str
    unit: str
    values: tuple[float, ...]
    shares: tuple[float, ...]
    difference: float
    spread: float

    @property
    def differs(self) -> bool | None:
        """Return whether the runs differ by more than the spread; None: not known."""
        if math.isnan(self.difference) or math.isnan(self.spread):
            return None
        return self.difference > self.spread


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Runs side by side.

    Attributes
    ----------
    runs : tuple of Run
    repeated : tuple of Repeated
        Of each run.
    quantities : tuple of ComparedQuantity
        The time first.
    """

    runs: tuple[Run, ...]
    repeated: tuple[Repeated, ...]
    quantities: tuple[ComparedQuantity, ...]

    @property
    def time(self) -> ComparedQuantity:
        """Return the whole time of the runs."""
        return self.quantities[0]

    @property
    def knows_spread(self) -> bool:
        """Return whether some configuration ran often enough."""
        return any(one.known for one in self.repeated)


def repeated_runs(store: Store, runs: Sequence[Run]) -> tuple[Repeated, ...]:
    """Return the runs of a store of the same configurations as some, which ended well.

    Parameters
    ----------
    store : Store
    runs : sequence of Run
        Those that are compared.
    """
    compared = {run.identity for run in runs}
    counts = Counter(map(configuration_of, runs))
    found: dict[Hashable, Repeated] = {}
    for run in runs:
        key = configuration_of(run)
        if key in found:
            continue
        same = [
            one
            for one in store.runs(run.application, _conditions(run), limit=_MOST)
            if configuration_of(one) == key and 0 < one.time_s < math.inf
        ]
        if counts[key] > 1:
            same = [one for one in same if one.identity not in compared]
        found[key] = Repeated(tuple(same))
    return tuple(found[configuration_of(run)] for run in runs)


def _conditions(run: Run) -> list[Condition]:
    """Return what narrows a search to the configuration of a run."""
    return [
        Condition("status", "=", "ok"),
        Condition("ranks", "=", float(run.ranks)),
        Condition("system", "=", run.system),
        Condition("executable", "=", run.executable),
        # Words may be numbers that somebody wrote in another way.
        *(
            Condition(f"input.{name}", "=", value)
            for name, value in run.inputs
            if not isinstance(value, str) and math.isfinite(value)
        ),
    ]


def compared_runs(runs: Sequence[Run], repeated: Sequence[Repeated]) -> RunComparison:
    """Compare runs: their time, then parts, loads and costs that at least one has.

    Parameters
    ----------
    runs : sequence of Run
    repeated : sequence of Repeated
        Of each run.
    """
    compared = tuple({id(one): one for one in repeated if one.known}.values())

    def of(name: str, kind: str, unit: str, read: _Read) -> ComparedQuantity:
        values = tuple(map(read, runs))
        spreads = [_difference(map(read, one.runs)) for one in compared]
        known = [one for one in spreads if not math.isnan(one)]
        return ComparedQuantity(
            name,
            kind,
            unit,
            values,
            tuple(_share(run, kind, name) for run in runs),
            _difference(values),
            max(known, default=math.nan),
        )

    found = [of("time", "time", "s", _time)]
    parts = dict.fromkeys((one.kind, one.name) for run in runs for one in run.parts)
    found += [of(name, kind, "s", _part(kind, name)) for kind, name in parts]
    loads = dict.fromkeys(name for run in runs for name, _ in run.loads)
    found += [of(name, "load", "1", _load(name)) for name in loads]
    costs = dict.fromkeys(name for run in runs for name, _ in run.costs)
    found += [of(name, "cost", _unit(name), _cost(name)) for name in costs]
    return RunComparison(tuple(runs), tuple(repeated), tuple(found))


_Read = Callable[[Run], float]


def _difference(values: Iterable[float]) -> float:
    known = [one for one in values if 0 < one < math.inf]
    if len(known) < _FEWEST:
        return math.nan
    return max(known) / min(known) - 1


def _time(run: Run) -> float:
    return run.time_s


def _part(kind: str, name: str) -> _Read:
    """Return what reads the whole time of a part [s]."""

    def read(run: Run) -> float:
        found = [
            one.time_s * one.weight
            for one in run.parts
            if (one.kind, one.name) == (kind, name)
        ]
        return math.fsum(found) if found else math.nan

    return read


def _share(run: Run, kind: str, name: str) -> float:
    found = [one.share for one in run.parts if (one.kind, one.name) == (kind, name)]
    return math.fsum(found) if any(found) else math.nan


def _load(name: str) -> _Read:
    return lambda run: dict(run.loads).get(name, math.nan)


def _cost(name: str) -> _Read:
    return lambda run: dict(run.costs).get(name, math.nan)


def _unit(name: str) -> str:
    if name.endswith("_bytes"):
        return "bytes"
    return "s" if name.endswith("_s") else "1"
