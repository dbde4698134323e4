"""Identities of rows: the same however often the same row is read."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace

from skelgen.store.rows import Run

#: Digits of an identity; a million rows have one in common once in 10^7 stores.
DIGITS = 16
#: What says where a run was read, not which run it is.
_OUTSIDE = ("identity", "source")
_INSIDE = tuple(one.name for one in fields(Run) if one.name not in _OUTSIDE)


def identity_of(*values: object) -> str:
    """Return an identity that depends on these values.

    Parameters
    ----------
    *values : object
        Such as JSON takes.

    Examples
    --------
    >>> identity_of("run", 1.5) == identity_of("run", 1.5)
    True
    """
    text = json.dumps(values, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


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
    seen: Counter[str] = Counter()
    for run in runs:
        if run.identity:
            yield run
            continue
        where = name if math.isnan(run.started) else ""
        found = identity_of(where, *(_plain(run, field) for field in _INSIDE))
        seen[found] += 1
        if seen[found] > 1:
            found = identity_of(found, seen[found])
        yield replace(run, identity=found)


def _plain(run: Run, field: str) -> object:
    value = getattr(run, field)
    if field == "parts":
        return [
            (one.name, one.kind, one.time_s, one.weight, one.share) for one in value
        ]
    return value
