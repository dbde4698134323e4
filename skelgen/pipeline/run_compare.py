"""Compare runs of a store with each other, for commands and for the server."""

from __future__ import annotations

import math
from collections.abc import Sequence

from skelgen.errors import InputError, UsageError
from skelgen.store import Run, Store, open_store
from skelgen.store.comparing import RunComparison, compared_runs, repeated_runs
from skelgen.store.row_search import find
from skelgen.units import format_seconds

#: So many runs are compared at once.
FEWEST, MOST = 2, 8


def compare_runs(place: str | None, identities: Sequence[str]) -> RunComparison:
    """Put runs of a store side by side.

    Parameters
    ----------
    place : str, optional
        Of the store.
    identities : sequence of str
        Or their beginnings.

    Raises
    ------
    UsageError
        When these are too few or too many, or one is not a run.
    InputError
        When one is not in the store.
    """
    names = list(dict.fromkeys(identities))
    if not FEWEST <= len(names) <= MOST:
        raise UsageError(
            f"read {len(names)} runs to compare, expected {FEWEST} to {MOST}; choose "
            "them in the list of runs"
        )
    with open_store(place, make=False) as store:
        runs = list(
            {run.identity: run for run in (_run(store, one) for one in names)}.values()
        )
        if len(runs) < FEWEST:
            raise UsageError(f"{names[0]} and the others are the same run; name two")
        store.faults = list[str]()
        return compared_runs(runs, repeated_runs(store, runs))


def _run(store: Store, identity: str) -> Run:
    try:
        _, row = find(store, identity)
    except InputError as error:
        if "no such row" not in str(error):
            raise
        raise InputError(
            f"the run {identity[:60]} is not in the store: it was removed, or never "
            "added; leave it out and compare the others"
        ) from error
    if not isinstance(row, Run):
        raise UsageError(f"{identity[:60]} is no run; only runs are compared")
    return row


def said_of_time(found: RunComparison) -> str:
    """Say in a sentence by how much the times differ, and whether that means much."""
    time = found.time
    if math.isnan(time.difference):
        return "The times of these runs cannot be compared."
    known = [one for one in time.values if 0 < one < math.inf]
    ends = f"{format_seconds(min(known))} to {format_seconds(max(known))}"
    factor = f"{ends}: a factor of {1 + time.difference:.3g}"
    if time.differs is None:
        return f"{factor}. {unknown_spread(found)}"
    usual = f"{time.spread:.1%} between runs of one configuration ({counts(found)})"
    if time.differs:
        return f"{factor}, more than the spread of {usual}."
    return f"{factor}, within the spread of {usual}."


def unknown_spread(found: RunComparison) -> str:
    """Say why nobody knows whether runs differ by more than their spread."""
    alone = "none of these configurations ran more than once"
    if len({id(one) for one in found.repeated}) < len(found.repeated):
        alone = "there are no two other runs of the same configuration"
    return (
        f"Whether that is more than runs differ anyway is not known: {alone}. Repeat "
        "one of them."
    )


def counts(found: RunComparison) -> str:
    """Say how many runs the spread is from."""
    sizes = {id(one): len(one.runs) for one in found.repeated if one.known}
    many = [f"{count}" for count in dict.fromkeys(sizes.values())]
    return f"of {' and '.join(many)} runs"
