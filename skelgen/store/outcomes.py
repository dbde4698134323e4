"""Read from a store what its predictions may be compared with, and compare them.

Only what pairing needs is read, of runs that some prediction may mean: a store of a
hundred thousand runs answers in a second.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

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

#: Application, identity, time, ranks, hosts and start of a run, as they are kept.
_Row: TypeAlias = tuple[Any, ...]
_Value = TypeVar("_Value")
#: Runs that ended well, of applications, each between two times.
_DATED = (
    "WITH asked(application, begins, ends) AS (VALUES {}) SELECT runs.application, "
    "identity, time_s, ranks, hosts, COALESCE(started, added) "
    "FROM asked CROSS JOIN runs WHERE runs.application = asked.application "
    "AND status = 'ok' AND COALESCE(started, added) >= begins "
    "AND COALESCE(started, added) <= ends"
)
#: The same, of those that do not say when they began.
_UNDATED = (
    "SELECT application, identity, time_s, ranks, hosts, COALESCE(started, added) "
    "FROM runs WHERE application IN ({}) AND status = 'ok' "
    "AND COALESCE(started, added) IS NULL"
)
_INPUTS = (
    "SELECT run, name, number, word FROM run_values WHERE kind = 'input' "
    "AND run IN ({})"
)
#: Times, applications or runs that one statement asks for.
_AT_ONCE = 300


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
    asked = _asked(predictions)
    with store.current().reading():
        runs = _candidates(store, asked, _dated(store, asked, within_s))
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
    asked = _asked(predictions)
    database = store.current()
    with database.reading():
        rows = [
            row
            for some in _parts([as_text(name) for name in asked])
            for row in database.execute(_UNDATED.format(_marks("?", some)), some)
        ]
        return _candidates(store, asked, sorted(rows, key=lambda row: str(row[1])))


def _asked(
    predictions: Iterable[StoredPrediction],
) -> dict[str, list[StoredPrediction]]:
    """Return predictions that lack a truth, by their application."""
    asked: dict[str, list[StoredPrediction]] = defaultdict(list)
    for one in predictions:
        if not one.truth and one.made == one.made:
            asked[one.application].append(one)
    return asked


def _dated(
    store: Store, asked: Mapping[str, Sequence[StoredPrediction]], within_s: float
) -> list[_Row]:
    """Return runs that begin soon enough after a prediction, by their start."""
    windows = [
        (as_text(name), *window)
        for name, those in asked.items()
        for window in _windows([one.made for one in those], within_s)
    ]
    if len(windows) > _AT_ONCE:  # one of each application is found sooner
        ends = {name: end for name, _, end in windows}
        begins = {name: begin for name, begin, _ in reversed(windows)}
        windows = [(name, begins[name], end) for name, end in ends.items()]
    database = store.current()
    rows: list[_Row] = []
    for some in _parts(windows):
        sql = _DATED.format(_marks("(?,?,?)", some))
        rows += database.execute(sql, [*itertools.chain(*some)])
    return sorted(rows, key=lambda row: (row[5], str(row[1])))


def _windows(made: Sequence[float], within_s: float) -> list[tuple[float, float]]:
    """Return the times after predictions; those that overlap are one.

    Examples
    --------
    >>> _windows([1.0, 50.0, 3.0], 10.0)
    [(1.0, 13.0), (50.0, 60.0)]
    """
    found: list[tuple[float, float]] = []
    for begin in sorted(made):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], begin + within_s
        else:
            found.append((begin, begin + within_s))
    return found


def _candidates(
    store: Store, asked: Mapping[str, Sequence[StoredPrediction]], rows: Iterable[_Row]
) -> list[Run]:
    """Return those runs that some prediction may mean, in the same order.

    Parameters
    ----------
    store : Store
    asked : mapping of str to sequence of StoredPrediction
        By application.
    rows : iterable of _Row
    """
    kinds = {
        as_text(name): {(one.ranks, short_names(one.hosts)) for one in those}
        for name, those in asked.items()
    }
    wanted = {
        name: {comparable_inputs(one.inputs) for one in those}
        for name, those in asked.items()
    }
    database = store.current()
    hosts_of = _reader("hosts", database)
    found = [
        (application, identity, time_s, ranks, hosts, started)
        for application, identity, time_s, ranks, text, started in rows
        if not kinds[application].isdisjoint(
            _kinds(ranks, short_names(hosts := hosts_of(text)))
        )
    ]
    inputs = _inputs(database, [row[1] for row in found])
    with sound_in(database, "runs"):
        return [
            Run(
                name,
                REAL.load(time_s),
                ranks=ranks,
                inputs=its_inputs,
                hosts=hosts,
                started=REAL.load(started),
                identity=identity,
            )
            for application, identity, time_s, ranks, hosts, started in found
            if comparable_inputs(its_inputs := inputs.get(identity, ()))
            in wanted[name := TEXT.load(application)]
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


def _inputs(database: Database, names: Sequence[str]) -> dict[str, Inputs]:
    """Return the inputs of runs by their identities."""
    found: dict[str, list[tuple[str, float | str]]] = defaultdict(list)
    with sound_in(database, "run_values"):
        for some in _parts(names):
            sql = _INPUTS.format(_marks("?", some))
            for run, name, number, word in database.execute(sql, some):
                value = REAL.load(number) if word is None else TEXT.load(word)
                found[run].append((TEXT.load(name), value))
    return {run: tuple(sorted(pairs)) for run, pairs in found.items()}


def _parts(values: Sequence[_Value]) -> Iterator[Sequence[_Value]]:
    """Give as many values at a time as one statement asks for."""
    for begin in range(0, len(values), _AT_ONCE):
        yield values[begin : begin + _AT_ONCE]


def _marks(mark: str, values: Sequence[Any]) -> str:
    return ",".join([mark] * len(values))
