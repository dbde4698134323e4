"""Identities of rows: the same however often the same row is read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, fields
from math import isnan
from operator import attrgetter
from typing import Any

from skelgen.store.rows import Run

#: Digits of an identity; a million rows have one in common once in 10^7 stores.
DIGITS = 16
_encode = json.JSONEncoder(
    separators=(",", ":"), default=astuple, check_circular=False
).encode
#: Returns the values of the fields of a run, in their order.
values_of: Callable[[Run], tuple[Any, ...]] = attrgetter(
    *(one.name for one in fields(Run))
)
#: Places of what says where a run was read, not which run it is, of its start, and of
#: who added it, which is no part of its identity either.
_SOURCE, _IDENTITY, _STARTED, _AUTHOR = (
    [one.name for one in fields(Run)].index(name)
    for name in ("source", "identity", "started", "author")
)


def identity_of(*values: object) -> str:
    """Return an identity that depends on these values.

    Parameters
    ----------
    *values : object
        Such as JSON takes, and dataclasses.

    Examples
    --------
    >>> identity_of("run", 1.5) == identity_of("run", 1.5)
    True
    """
    return hashlib.sha256(_encode(values).encode()).hexdigest()[:DIGITS]


def identified(runs: Iterable[Run], name: str) -> Iterator[Run]:
    """Give runs of one file their identities; those that have one keep it.

    A run whose start is known is the same wherever it is read. Without a start, equal
    rows of one file are repeats, and rows of two files are two runs.

    Parameters
    ----------
    runs : iterable of Run
    name : str
        Of the file, without its folder.
    """
    return identified_values(map(values_of, runs), name)


def identified_values(rows: Iterable[Sequence[Any]], name: str) -> Iterator[Run]:
    """Give runs from the values of their fields; see `identified`.

    Parameters
    ----------
    rows : iterable of sequence
        In the order of the fields of `Run`.
    name : str
        Of the file, without its folder.
    """
    seen: dict[str, int] = {}
    for row in rows:
        if row[_IDENTITY]:
            yield Run(*row)
            continue
        values = [*row]
        values[_SOURCE] = ""
        told = values[:_AUTHOR] + values[_AUTHOR + 1 :]
        found = identity_of(name if isnan(row[_STARTED]) else "", told)
        times = seen[found] = seen.get(found, 0) + 1
        values[_SOURCE] = row[_SOURCE]
        values[_IDENTITY] = found if times == 1 else identity_of(found, times)
        yield Run(*values)
