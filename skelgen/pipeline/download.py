"""Rows of a store as files that the command line takes: whole, or a part at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from skelgen.errors import InputError
from skelgen.models.model_file import model_facts
from skelgen.pipeline.browsing import RunQuery, query_conditions
from skelgen.pipeline.model_keep import kept_model
from skelgen.pipeline.store import store_show
from skelgen.pipeline.store_record import past_predictions
from skelgen.store import Run, StoredModel, open_store
from skelgen.store.browsing import RunOrder, named_runs, run_names, value_names
from skelgen.store.formats.csv_text import CsvLayout, csv_head, csv_lines
from skelgen.store.kinds import kinds
from skelgen.store.lines import to_line
from skelgen.store.tables import known

#: Rows that are in memory at a time.
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class DownloadedRow:
    """A row as it is given away.

    Attributes
    ----------
    identity : str
    line : dict
        As `skelgen store export` writes it.
    model : dict or None
        The file of a model, as `skelgen model fit` writes it.
    page : dict or None
        The row of what the page of a recorded run shows.
    """

    identity: str
    line: dict[str, Any]
    model: dict[str, Any] | None = None
    page: dict[str, Any] | None = None


def kept_row(place: str | None, identity: str) -> DownloadedRow:
    """Return a row by its identity or the beginning of it, or a model by its name.

    Raises
    ------
    InputError
        When there is none, or several.
    """
    try:
        whole, row = store_show(place, identity)
    except InputError:
        named = kept_model(place, identity)
        whole, row = store_show(place, named.identity)
    if isinstance(row, Run):
        return DownloadedRow(whole, to_line(row), page=_page_line(place, whole))
    if not isinstance(row, StoredModel):
        return DownloadedRow(whole, to_line(row))
    kept = kept_model(place, whole)
    return DownloadedRow(whole, to_line(row), model_facts(kept.model))


def _page_line(place: str | None, run: str) -> dict[str, Any] | None:
    """Return the row of what the page of a run shows; a damaged one is left out."""
    with open_store(place, make=False) as store:
        store.faults = []
        return next((to_line(one) for one in store.recordings([run])), None)


def known_identities(place: str | None, identities: Sequence[str]) -> set[str]:
    """Return those of the identities that a store has."""
    found: set[str] = set()
    with open_store(place, make=False) as store:
        database = store.current()
        for kind in kinds().values():
            found |= known(database, kind, identities)
    return found


def run_lines(place: str | None, query: RunQuery) -> Iterator[bytes]:
    """Return the runs that are asked for as lines of an export, a part at a time.

    Raises
    ------
    UsageError
        Before the first part, when something that was typed is not what it should be.
    """
    names = _names(place, query)

    def parts() -> Iterator[bytes]:
        for runs in _batches(place, names):
            yield "".join(
                f"{json.dumps(to_line(one), allow_nan=False)}\n" for one in runs
            ).encode("ascii")

    return parts()


def run_table(place: str | None, query: RunQuery) -> Iterator[bytes]:
    """Return the runs that are asked for as CSV, a part at a time; see `run_lines`.

    It has a column for each field and for each input, load and cost of any of them.
    """
    names = _names(place, query)
    layout = CsvLayout.of(_value_names(place, query))
    head = csv_head(layout)

    def parts() -> Iterator[bytes]:
        yield head.encode("utf-8", "replace")
        for runs in _batches(place, names):
            yield csv_lines(runs, layout).encode("utf-8", "replace")

    return parts()


def prediction_lines(place: str | None, application: str) -> Iterator[bytes]:
    """Return predictions with what happened as lines of an export."""
    found = past_predictions(place, application=application or None)

    def parts() -> Iterator[bytes]:
        for begin in range(0, len(found), _AT_ONCE):
            yield "".join(
                f"{json.dumps(to_line(one), allow_nan=False)}\n"
                for one in found[begin : begin + _AT_ONCE]
            ).encode("ascii")

    return parts()


def _names(place: str | None, query: RunQuery) -> list[str]:
    """Return the identities of the runs that are asked for, in their order."""
    order = RunOrder(query.order.removeprefix("-"), query.order.startswith("-"))
    where = query_conditions(query)
    with open_store(place, make=False) as store:
        return run_names(store, query.application or None, where, order=order)


def _value_names(place: str | None, query: RunQuery) -> list[tuple[str, str]]:
    with open_store(place, make=False) as store:
        return value_names(store, query.application or None, query_conditions(query))


def _batches(place: str | None, names: Sequence[str]) -> Iterator[list[Run]]:
    """Yield runs, a few at a time; those that were removed meanwhile are left out.

    Each part opens the store anew: it may be asked for by another thread.
    """
    for begin in range(0, len(names), _AT_ONCE):
        with open_store(place, make=False) as store:
            store.faults = []
            yield named_runs(store, names[begin : begin + _AT_ONCE])
