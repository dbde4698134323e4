"""A part of the runs of a store in any order, and how many rows it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from skelgen.errors import UsageError
from skelgen.store.conditions import Condition, clause
from skelgen.store.database import sound_in
from skelgen.store.kinds import kind_of
from skelgen.store.rows import Row, Run, Series
from skelgen.store.store import Store
from skelgen.store.tables import rows_of, table_of
from skelgen.store.values import TEXT

#: Columns that runs can be in the order of.
ORDERS = (*("started", "time_s", "ranks", "nodes", "application", "system", "status"),)
#: A list of more runs than this is not sorted to show its first ones.
_MANY = 5000


@dataclass(frozen=True, slots=True)
class RunOrder:
    """In which order runs are: by a column of `ORDERS`, unknown values last."""

    column: str = "started"
    descending: bool = True


def some_runs(
    store: Store,
    application: str | None = None,
    where: Sequence[Condition] = (),
    *,
    order: RunOrder,
    begin: int = 0,
    most: int = 50,
    total: int | None = None,
) -> list[Run]:
    """Return a part of the runs, without damaged ones when the store collects these.

    Parameters
    ----------
    store : Store
    application : str, optional
    where : sequence of Condition
        All of them hold.
    order : RunOrder
    begin, most : int
        So many are skipped, and so many are returned at most.
    total : int, optional
        Runs of which this holds, where that is known: few are sorted, of many the
        first are taken by an index.

    Raises
    ------
    UsageError
        When there is no such column or condition.
    """
    # Names first: what is apart from a run is then read of those few only.
    names = run_names(
        *(store, application, where),
        order=order,
        begin=begin,
        most=most,
        many=total is not None and total > _MANY,
    )
    return named_runs(store, names)


def chosen_runs(
    store: Store,
    application: str | None,
    where: Sequence[Condition],
    *,
    order: RunOrder,
    begin: int = 0,
    most: int = 50,
) -> tuple[list[Run], int]:
    """Return a part of the runs, see `some_runs`, and how many all parts have."""
    names: list[str] = []
    if any(one.name != "started" for one in where):
        names, total = _names_and_total(store, application, where, order, begin, most)
    if not names:  # by an index, or a part that nobody has
        total = store.count(application, where)
        found = some_runs(
            *(store, application, where),
            order=order,
            begin=begin,
            most=most,
            total=total,
        )
        return found, total
    return named_runs(store, names), total


def _names_and_total(
    store: Store,
    application: str | None,
    where: Sequence[Condition],
    order: RunOrder,
    begin: int,
    most: int,
) -> tuple[list[str], int]:
    """Return identities of a part of the runs, and how many all parts have.

    Conditions that no index answers are looked at once for both.
    """
    _check_order(order)
    sql, parameters = clause(application, where)
    found = store.current().execute(
        f"WITH chosen AS (SELECT identity, {order.column} FROM runs {sql}) "
        "SELECT identity, (SELECT COUNT(*) FROM chosen) FROM chosen "
        f"ORDER BY {_ordered(order, many=False)} LIMIT ? OFFSET ?",
        [*parameters, most, begin],
    )
    return [identity for identity, _ in found], int(found[0][1]) if found else 0


def run_names(
    store: Store,
    application: str | None = None,
    where: Sequence[Condition] = (),
    *,
    order: RunOrder,
    begin: int = 0,
    most: int = 10**9,
    many: bool = False,
) -> list[str]:
    """Return the identities of a part of the runs; see `some_runs`."""
    _check_order(order)
    sql, parameters = clause(application, where)
    found = store.current().execute(
        f"SELECT identity FROM runs {sql} ORDER BY {_ordered(order, many=many)} "
        "LIMIT ? OFFSET ?",
        [*parameters, most, begin],
    )
    return [identity for (identity,) in found]


def _check_order(order: RunOrder) -> None:
    if order.column not in ORDERS:
        raise UsageError(
            f"read the order {order.column[:40]!r}, expected one of {', '.join(ORDERS)}"
        )


def _ordered(order: RunOrder, *, many: bool) -> str:
    """Return an order in SQL; of many runs in the words of the index by their start."""
    if many and order == RunOrder():
        return "started DESC /* nulls last */, identity DESC"
    way = "DESC" if order.descending else "ASC"
    return f"{order.column} IS NULL, {order.column} {way}, identity {way}"


def named_runs(store: Store, names: Sequence[str]) -> list[Run]:
    """Return runs by their identities, in this order; what is not there is left out."""
    if not names:
        return []
    marks = ",".join("?" * len(names))
    where = f"WHERE identity IN ({marks})"
    kept = rows_of(store.current(), Run, where, names, store.faults)
    rows = {one.identity: one.row for one in kept}
    return [row for name in names if isinstance(row := rows.get(name), Run)]


def value_names(
    store: Store, application: str | None = None, where: Sequence[Condition] = ()
) -> list[tuple[str, str]]:
    """Return kind and name of all inputs, loads and costs that runs have.

    Kinds are ``inputs``, ``loads`` and ``costs``, as fields of a run are called.
    """
    sql, parameters = clause(application, where)
    chosen = f"WHERE run IN (SELECT identity FROM runs {sql})" if sql else ""
    database = store.current()
    found = database.execute(
        f"SELECT DISTINCT kind, name FROM run_values {chosen}", parameters
    )
    with sound_in(database, "run_values"):
        return sorted((f"{TEXT.load(kind)}s", TEXT.load(name)) for kind, name in found)


def application_names(store: Store) -> list[str]:
    """Return the names of all applications that there are runs of, without a count.

    Each is found after the one before it by an index: their runs are not looked at.
    """
    database = store.current()
    found = database.execute(
        "WITH RECURSIVE names(name) AS (SELECT MIN(application) FROM runs UNION ALL "
        "SELECT (SELECT MIN(application) FROM runs WHERE application > name) "
        "FROM names WHERE name IS NOT NULL) SELECT name FROM names "
        "WHERE name IS NOT NULL"
    )
    with sound_in(database, "runs"):
        return [TEXT.load(name) for (name,) in found]


def counts(store: Store) -> dict[str, int]:
    """Return the number of rows of each kind but series, by the kind's word."""
    database = store.current()
    kinds = [kind_of(type_) for type_ in get_args(Row) if type_ is not Series]
    return {
        kind.word: int(database.execute(f"SELECT COUNT(*) FROM {table_of(kind)}")[0][0])
        for kind in kinds
    }


def applications_with_kernels(store: Store) -> list[str]:
    """Return the applications of which kernels were measured, by name.

    As chains, as runs with an input ``kernels``, or as parts of runs.
    """
    found = store.current().execute(
        # Names first: a join would look at the values of each run, 20 times as slow.
        "SELECT application FROM couplings "
        "UNION SELECT application FROM runs WHERE identity IN "
        "(SELECT run FROM run_values WHERE name = ? AND kind = ?) "
        "UNION SELECT application FROM runs WHERE identity IN "
        "(SELECT run FROM parts WHERE kind = ?) ORDER BY 1",
        ["kernels", "input", "kernel"],
    )
    return [TEXT.load(name) for (name,) in found]
