"""Read from a store what its predictions may be compared with, and compare them.

Only what pairing needs is read, of runs that some prediction may mean: a store of a
hundred thousand runs answers in a second.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from skelgen.store.database import Database, sound_in
from skelgen.store.kinds import kind_of
from skelgen.store.pairing import (
    WITHIN_S,
    comparable_inputs,
    paired,
    short_names,
)
from skelgen.store.rows import Inputs, Run, StoredPrediction
from skelgen.store.store import Store
from skelgen.store.values import REAL, TEXT, as_text

#: Runs that ended well, of an application, from a time to another.
_THEIRS = (
    "application = ? AND status = 'ok' "
    "AND COALESCE(started, added) >= ? AND COALESCE(started, added) <= ?"
)
#: The same, of those that do not say when they began.
_UNDATED = "application = ? AND status = 'ok' AND COALESCE(started, added) IS NULL"
_RUNS = (
    "SELECT identity, time_s, ranks, hosts, COALESCE(started, added) FROM runs "
    "WHERE {} ORDER BY COALESCE(started, added), identity"
)
_INPUTS = (
    "SELECT run, name, number, word FROM run_values WHERE kind = 'input' "
    "AND run IN (SELECT identity FROM runs WHERE {})"
)


def past_predictions(
    store: Store, application: str | None = None, *, within_s: float = WITHIN_S
) -> list[StoredPrediction]:
    """Return predictions in the order of time, with what happened where that is known.

    Parameters
    ----------
    store : Store
    application : str, optional
    within_s : float
        See `skelgen.store.pairing.paired` [s].
    """
    predictions = store.predictions(application)
    runs: list[Run] = []
    for name, those in _asked(predictions).items():
        first = min(one.made for one in those)
        last = max(one.made for one in those) + within_s
        theirs = as_text(name), first, last
        runs += _candidates(store, name, those, _THEIRS, theirs)
    return paired(predictions, runs, within_s=within_s)


def undated_runs(store: Store, predictions: Iterable[StoredPrediction]) -> list[Run]:
    """Return runs that could be the truth of a prediction, had they a start.

    A run from a table may have ended long before the prediction was made: to take it
    for what happened would flatter or blame a method for another day's load.

    Parameters
    ----------
    store : Store
    predictions : iterable of StoredPrediction
        Those with a truth ask for none.
    """
    return [
        run
        for name, those in _asked(predictions).items()
        for run in _candidates(store, name, those, _UNDATED, (as_text(name),))
    ]


def _asked(
    predictions: Iterable[StoredPrediction],
) -> dict[str, list[StoredPrediction]]:
    """Return predictions that lack a truth, by their application."""
    asked: dict[str, list[StoredPrediction]] = defaultdict(list)
    for one in predictions:
        if not one.truth and one.made == one.made:
            asked[one.application].append(one)
    return asked


def _candidates(
    store: Store,
    application: str,
    asked: Sequence[StoredPrediction],
    those: str,
    theirs: Sequence[Any],
) -> list[Run]:
    """Return runs of an application that some prediction may mean, by their start.

    Parameters
    ----------
    store : Store
    application : str
    asked : sequence of StoredPrediction
    those, theirs : str, sequence
        Condition on runs in SQL, and its parameters.
    """
    kinds = {(one.ranks, short_names(one.hosts)) for one in asked}
    database = store.current()
    hosts_of = _reader("hosts", database)
    with database.reading():
        rows = [
            (identity, time_s, ranks, hosts, started)
            for identity, time_s, ranks, text, started in database.execute(
                _RUNS.format(those), theirs
            )
            if not kinds.isdisjoint(_kinds(ranks, short_names(hosts := hosts_of(text))))
        ]
        inputs = _inputs(database, those, theirs) if rows else {}
    wanted = {comparable_inputs(one.inputs) for one in asked}
    with sound_in(database, "runs"):
        return [
            Run(
                application,
                REAL.load(time_s),
                ranks=ranks,
                inputs=its_inputs,
                hosts=hosts,
                started=REAL.load(started),
                identity=identity,
            )
            for identity, time_s, ranks, hosts, started in rows
            if comparable_inputs(its_inputs := inputs.get(identity, ())) in wanted
        ]


def _kinds(ranks: int, hosts: frozenset[str]) -> list[tuple[int, frozenset[str]]]:
    """Return what predictions may say that mean such a run; 0 and nothing: not said."""
    nowhere: frozenset[str] = frozenset()
    return [(ranks, hosts), (0, hosts), (ranks, nowhere), (0, nowhere)]


def _reader(name: str, database: Database) -> Callable[[str], tuple[str, ...]]:
    """Return what reads a column of runs; equal texts are read once."""
    (field,) = (one for one in kind_of(Run).fields if one.name == name)
    known: dict[str, tuple[str, ...]] = {}

    def read(text: str) -> tuple[str, ...]:
        if text not in known:
            with sound_in(database, f"runs, {name}"):
                known[text] = field.values.load(text)
        return known[text]

    return read


def _inputs(database: Database, those: str, theirs: Sequence[Any]) -> dict[str, Inputs]:
    """Return the inputs of runs by their identities."""
    found: dict[str, list[tuple[str, float | str]]] = defaultdict(list)
    with sound_in(database, "run_values"):
        for run, name, number, word in database.execute(_INPUTS.format(those), theirs):
            value = REAL.load(number) if word is None else TEXT.load(word)
            found[run].append((TEXT.load(name), value))
    return {run: tuple(sorted(pairs)) for run, pairs in found.items()}
