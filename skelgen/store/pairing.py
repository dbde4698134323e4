"""Which run was the truth of a prediction."""

from __future__ import annotations

import functools
import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from skelgen.store.rows import Inputs, Run, StoredPrediction

#: A prediction is about nodes as they are shared now: later runs say little of it [s].
WITHIN_S = 86_400.0

#: Digits in which two values of an input are compared.
_DIGITS = 12

_Key: TypeAlias = tuple[Hashable, ...]


def paired(
    predictions: Iterable[StoredPrediction],
    runs: Iterable[Run],
    *,
    within_s: float = WITHIN_S,
) -> list[StoredPrediction]:
    """Say of each prediction which run happened.

    It is the first comparable one that started after the prediction was made; one that
    somebody typed without its start counts from then. Runs are
    comparable that ended well, of the same application with the same inputs, on as many
    ranks, on the same set of hosts. What a prediction does not say (ranks, hosts)
    counts for nothing; what a run does not say cannot be compared. One run may be the
    truth of several predictions. A truth that is known already stays.

    Parameters
    ----------
    predictions : iterable of StoredPrediction
    runs : iterable of Run
        In any order.
    within_s : float
        Longest time from the prediction to the start of the run [s].

    Returns
    -------
    list of StoredPrediction
        In the order given; those without a truth as they were.
    """
    candidates = _Candidates([run for run in runs if _tells(run)])
    return [
        one if one.truth else _with_truth(one, candidates.first(one, within_s))
        for one in predictions
    ]


def _tells(run: Run) -> bool:
    """Say whether a run may be a truth: it ended well, and its times are known."""
    known = math.isfinite(_began(run)) and math.isfinite(run.time_s)
    return run.status == "ok" and known and run.time_s > 0


def _began(run: Run) -> float:
    """Return the start of a run, or at least when somebody typed it [s]."""
    return run.started if math.isfinite(run.started) else run.added


def _with_truth(prediction: StoredPrediction, run: Run | None) -> StoredPrediction:
    if run is None:
        return prediction
    return replace(prediction, truth=run.identity, truth_s=run.time_s)


@dataclass(slots=True)
class _RunsInOrder:
    """Runs that a kind of prediction cannot tell apart, by their start."""

    started: list[float]
    runs: list[Run]


class _Candidates:
    """Runs by what predictions say of them.

    Some predictions name no hosts or no ranks: each such kind has an index of its own.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = sorted(runs, key=_began)
        self._indexes: dict[tuple[bool, bool], dict[_Key, _RunsInOrder]] = {}

    def first(self, prediction: StoredPrediction, within_s: float) -> Run | None:
        """Return the first comparable run after a prediction."""
        kind = bool(prediction.ranks), bool(prediction.hosts)
        if kind not in self._indexes:
            self._indexes[kind] = self._index(*kind)
        those = self._indexes[kind].get(_key(prediction, *kind))
        for run in () if those is None else _between(those, prediction.made, within_s):
            if not prediction.hosts or same_hosts(prediction.hosts, run.hosts):
                return run
        return None

    def _index(self, ranks: bool, hosts: bool) -> dict[_Key, _RunsInOrder]:
        indexed: dict[_Key, _RunsInOrder] = defaultdict(lambda: _RunsInOrder([], []))
        for run in self._runs:
            those = indexed[_key(run, ranks, hosts)]
            those.started.append(_began(run))
            those.runs.append(run)
        return dict(indexed)


def _between(those: _RunsInOrder, made: float, within_s: float) -> Iterator[Run]:
    if not math.isfinite(made):
        return
    for at in range(bisect_left(those.started, made), len(those.runs)):
        if those.started[at] > made + within_s:
            return
        yield those.runs[at]


def _key(row: StoredPrediction | Run, ranks: bool, hosts: bool) -> _Key:
    return (
        row.application,
        comparable_inputs(row.inputs),
        row.ranks if ranks else None,
        short_names(row.hosts) if hosts else None,
    )


@functools.lru_cache(maxsize=4096)
def comparable_inputs(inputs: Inputs) -> Inputs:
    """Return inputs so that equal ones are equal however they were written.

    Examples
    --------
    >>> comparable_inputs((("n", "2e3"), ("mesh", "fine")))
    (('mesh', 'fine'), ('n', 2000.0))
    """
    return tuple(sorted((name, _value(value)) for name, value in inputs))


def _value(value: float | str) -> float | str:
    try:
        number = float(value)
    except ValueError:
        return value
    return float(f"{number:.{_DIGITS}g}") if math.isfinite(number) else str(value)


def same_hosts(these: Sequence[str], those: Sequence[str]) -> bool:
    """Say whether two lists name one set of hosts, with or without their domain.

    Examples
    --------
    >>> same_hosts(("n2", "n1"), ("n1.cluster", "N2.cluster"))
    True
    >>> same_hosts(("n1.here",), ("n1.there",))
    False
    """
    one, other = _by_short(these), _by_short(those)
    return one.keys() == other.keys() and all(
        _alike(name, other[short]) for short, name in one.items()
    )


@functools.lru_cache(maxsize=4096)
def short_names(hosts: tuple[str, ...]) -> frozenset[str]:
    """Return the names of hosts without their domains."""
    return frozenset(map(_short, hosts))


def _by_short(hosts: Iterable[str]) -> dict[str, str]:
    return {_short(name): name.lower() for name in hosts}


def _short(name: str) -> str:
    """Return a host's name without its domain; an address has none."""
    first, _, _ = name.lower().partition(".")
    return name.lower() if first.isdigit() or ":" in name else first


def _alike(one: str, other: str) -> bool:
    return one == other or not ("." in one and "." in other)
