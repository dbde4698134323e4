"""Parts of a store for people who look around in it."""

from __future__ import annotations

from dataclasses import dataclass

from skelgen.documents.dates import moment_s
from skelgen.documents.numbers import NumberError, integer
from skelgen.documents.text_of_bytes import listed
from skelgen.errors import UsageError
from skelgen.pipeline.garbage_pause import uncollected
from skelgen.pipeline.known_systems import SystemRows
from skelgen.pipeline.store_facts import date_text
from skelgen.pipeline.store_record import past_predictions
from skelgen.store import (
    Condition,
    Run,
    StoredApplication,
    StoredPrediction,
    browsing,
    conditions_of,
    open_store,
)
from skelgen.store.browsing import RunOrder, chosen_runs, counts
from skelgen.store.track_record import TrackRecord, happened, records_by, track_records

#: Rows of a part, and the last part that is shown.
_PART, _LAST = 50, 10**7
#: Predictions that are compared with what happened in a picture.
_MOST_KNOWN = 200


@dataclass(frozen=True, slots=True)
class RunQuery:
    """Which runs are meant, as people type it.

    Attributes
    ----------
    application, system, host : str
        Empty: any.
    where : str
        Conditions with commas between them: ``n>=1000, ranks=8``.
    since, until : str
        Of the start; dates or seconds since 1970.
    order : str
        A column of `skelgen.store.browsing.ORDERS`; with ``-`` before it, descending.
    part : str
        Number of the part, from 1 on.
    """

    application: str = ""
    where: str = ""
    system: str = ""
    host: str = ""
    since: str = ""
    until: str = ""
    order: str = "-started"
    part: str = "1"


@dataclass(frozen=True, slots=True)
class RunsPart:
    """A part of the runs that were meant.

    Attributes
    ----------
    runs : tuple of Run
    total : int
        With all other parts.
    begin : int
        So many are before it.
    damaged : int
        Rows of this part that are damaged and left out.
    """

    runs: tuple[Run, ...]
    total: int
    begin: int
    damaged: int = 0


@dataclass(frozen=True, slots=True)
class StoreOverview:
    """What a store holds.

    Attributes
    ----------
    applications : tuple of StoredApplication
    counts : dict of str to int
        Rows by the word of their kind.
    """

    applications: tuple[StoredApplication, ...]
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class PredictionPart:
    """A part of the past predictions, the last first, and how good all of them were.

    Attributes
    ----------
    predictions : tuple of StoredPrediction
    total, begin : int
        All that were asked for, and those before this part.
    records : tuple of TrackRecord
        By method.
    applications, months : tuple of (str, TrackRecord)
        By application, and by month (UTC) in which they were made.
    methods : tuple of str
        To choose from.
    known : tuple of StoredPrediction
        The last ones whose run happened.
    """

    predictions: tuple[StoredPrediction, ...]
    total: int
    begin: int
    records: tuple[TrackRecord, ...]
    applications: tuple[tuple[str, TrackRecord], ...] = ()
    months: tuple[tuple[str, TrackRecord], ...] = ()
    methods: tuple[str, ...] = ()
    known: tuple[StoredPrediction, ...] = ()


@uncollected()
def browse_runs(place: str | None, query: RunQuery) -> RunsPart:
    """Return a part of the runs of a store.

    Raises
    ------
    UsageError
        When something that was typed is not what it should be.
    """
    where = query_conditions(query)
    begin = begin_of(query.part)
    order = RunOrder(query.order.removeprefix("-"), query.order.startswith("-"))
    with open_store(place, make=False) as store:
        store.faults = faults = list[str]()
        name = query.application or None
        runs, total = chosen_runs(
            store, name, where, order=order, begin=begin, most=_PART
        )
    return RunsPart(tuple(runs), total, begin, len(faults))


def query_conditions(query: RunQuery) -> list[Condition]:
    """Return what runs must have that are asked for.

    Raises
    ------
    UsageError
        When something that was typed is not what it should be.
    """
    found = [each for one in listed(query.where) for each in conditions_of(one)]
    for name, text in (("system", query.system), ("host", query.host)):
        found += [Condition(name, "=", text)] if text else []
    for text, operator in ((query.since, ">="), (query.until, "<=")):
        if text:
            try:
                found.append(Condition("started", operator, moment_s(text)))
            except NumberError as error:
                raise UsageError(str(error)) from error
    return found


def begin_of(part: str) -> int:
    """Return how many rows are before a part."""
    try:
        return (integer(part or "1", 1, _LAST) - 1) * _PART
    except NumberError as error:
        raise UsageError(f"the part of a list: {error}") from error


def before(part: RunsPart | PredictionPart) -> str:
    """Return the number of the part before one; empty where there is none."""
    return str(part.begin // _PART) if part.begin else ""


def after(part: RunsPart | PredictionPart) -> str:
    """Return the number of the part after one; empty where there is none."""
    more = part.begin + _PART < part.total
    return str(part.begin // _PART + 2) if more else ""


def part_text(part: PredictionPart) -> str:
    """Say which part it is."""
    last = part.begin + len(part.predictions)
    return f"{part.begin + 1} to {last} of {part.total}"


def measured_hosts(rows: SystemRows) -> list[tuple[str, str, float, int, int]]:
    """Return of each host its system, when it was measured, values and doubted ones."""
    found = []
    for host in rows.hosts:
        own = rows.of(host)
        found.append(
            (
                host,
                own.facts[-1].system,
                own.measured,
                len(own.rows),
                sum(map(bool, own.doubts)),
            )
        )
    return found


def stored_applications(place: str | None) -> tuple[StoredApplication, ...]:
    """Return the applications of a store with their runs."""
    with open_store(place, make=False) as store:
        return tuple(store.applications())


def application_names(place: str | None) -> tuple[str, ...]:
    """Return the names of the applications that a store has runs of."""
    with open_store(place, make=False) as store:
        return tuple(browsing.application_names(store))


def store_overview(place: str | None) -> StoreOverview:
    """Return what a store holds."""
    with open_store(place, make=False) as store:
        return StoreOverview(tuple(store.applications()), counts(store))


def browse_predictions(
    place: str | None,
    application: str = "",
    part: str = "1",
    *,
    method: str = "",
    verdict: str = "",
) -> PredictionPart:
    """Return a part of the past predictions of a store, with what happened.

    Parameters
    ----------
    place : str, optional
        Of the store.
    application, method, verdict : str
        Empty: any.
    part : str
        Number of the part, from 1 on.
    """
    begin = begin_of(part)
    every = past_predictions(place, application=application or None)
    found = [
        one
        for one in every
        if method in ("", one.method) and verdict in ("", one.verdict)
    ]
    return PredictionPart(
        predictions=tuple(found[::-1][begin : begin + _PART]),
        total=len(found),
        begin=begin,
        records=tuple(track_records(found)),
        applications=tuple(records_by(found, lambda one: one.application)),
        months=tuple(records_by(found, _month)),
        methods=tuple(sorted({one.method for one in every})),
        known=tuple([one for one in found if happened(one)][: -_MOST_KNOWN - 1 : -1]),
    )


def _month(one: StoredPrediction) -> str:
    """Return the month in which a prediction was made, in UTC."""
    return date_text(one.made)[:7] or "not known"
