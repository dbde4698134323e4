"""Read from a store what its predictions may be compared with, and compare them.

Only what pairing needs is read, of runs that some prediction may mean: a store of a
hundred thousand runs answers in a second.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from skelgen.store.database import DamagedError, Database
from skelgen.store.kinds import kind_of
from skelgen.store.pairing import (
    WITHIN_S,
    comparable_inputs,
    paired,
    short_names,
)
from skelgen.store.rows import Inputs, Prediction, Run
from skelgen.store.store import Store
from skelgen.store.values import REAL, TEXT, UnfitError, as_text

#: Runs that ended well, of an application, from a time to another.
_THEIRS = (
    "application = ? AND status = 'ok' "
    "AND COALESCE(started, added) >= ? AND COALESCE(started, added) <= ?"
)
_RUNS = (
    "SELECT identity, time_s, ranks, hosts, COALESCE(started, added) FROM runs "
    f"WHERE {_THEIRS} ORDER BY COALESCE(started, added), identity"
)
_INPUTS = (
    "SELECT run, name, number, word FROM run_values WHERE kind = 'input' "
    f"AND run IN (SELECT identity FROM runs WHERE {_THEIRS})"
)


def past_predictions(
    store: Store, application: str | None = None, *, within_s: float = WITHIN_S
) -> list[Prediction]:
    """Return predictions in the order of time, with what happened where that is known.

    Parameters
    ----------
    store : Store
    application : str, optional
    within_s : float
        See `skelgen.store.pairing.paired` [s].
    """
    predictions = store.predictions(application)
    asked: dict[str, list[Prediction]] = defaultdict(list)
    for one in predictions:
        if not one.truth and one.made == one.made:
            asked[one.application].append(one)
    runs = [
        run
        for name, those in asked.items()
        for run in _candidates(store, name, those, within_s)
    ]
    return paired(predictions, runs, within_s=within_s)


def _candidates(
    store: Store, application: str, asked: Sequence[Prediction], within_s: float
) -> list[Run]:
    """Return runs of an application that some prediction may mean, by their start."""
    first = min(one.made for one in asked)
    last = max(one.made for one in asked) + within_s
    kinds = {(one.ranks, short_names(one.hosts)) for one in asked}
    database, theirs = store.current(), (as_text(application), first, last)
    hosts_of = _reader("hosts", database)
    with database.reading():
        rows = [
            (identity, time_s, ranks, hosts, started)
            for identity, time_s, ranks, text, started in database.execute(
                _RUNS, theirs
            )
            if not kinds.isdisjoint(_kinds(ranks, short_names(hosts := hosts_of(text))))
        ]
        inputs = _inputs(database, theirs) if rows else {}
    wanted = {comparable_inputs(one.inputs) for one in asked}
    return [
        Run(
            application,
            REAL.load(time_s),
            ranks=ranks,
            inputs=its_inputs,
            hosts=hosts,
            started=started,
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
            try:
                known[text] = field.values.load(text)
            except UnfitError as error:
                raise DamagedError(
                    f"{database.shown}: table runs, {name}: {error.what}; "
                    "skelgen store check names all damage"
                ) from None
        return known[text]

    return read


def _inputs(database: Database, theirs: Sequence[Any]) -> dict[str, Inputs]:
    """Return the inputs of runs by their identities."""
    found: dict[str, list[tuple[str, float | str]]] = defaultdict(list)
    for run, name, number, word in database.execute(_INPUTS, theirs):
        value = REAL.load(number) if word is None else TEXT.load(word)
        found[run].append((TEXT.load(name), value))
    return {run: tuple(sorted(pairs)) for run, pairs in found.items()}
