"""A filled example of a store: runs of our examples, systems, loads, models."""

from __future__ import annotations

import gzip
import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from skelgen import _paths
from skelgen.errors import InputError
from skelgen.pipeline.garbage_pause import uncollected
from skelgen.store import Row, Series, open_store
from skelgen.store.formats.reading import read_own
from skelgen.store.formats.typed_values import TypedValues

#: Fields of rows that are moments, in seconds since 1970.
MOMENTS = ("started", "measured", "fitted", "made", "added")


@contextmanager
def demonstration_store() -> Iterator[str]:
    """Make a store with the example, in a folder of this user's that goes afterwards.

    Its newest row is of now, and all others keep their distance to it. Changes in it
    are allowed, and go with it.
    """
    with tempfile.TemporaryDirectory(prefix="skelgen-demo-") as folder:
        place = Path(folder, "store.db")
        fill(place, time.time())
        yield str(place)


@uncollected()
def fill(place: Path, now: float) -> None:
    """Put the rows of the example into a store, the newest at a moment [s]."""
    with open_store(str(place)) as store:
        added = store.add(moved_to(example_rows(), now))
    for refused in added.refused:
        raise InputError(f"the example: {refused.reason}; install skelgen again")


def example_rows() -> tuple[Row, ...]:
    """Return the rows of the example, with the moments at which they were measured.

    Raises
    ------
    InputError
        When the file that comes with skelgen is damaged.
    """
    path = _paths.demonstration()
    try:
        text = gzip.decompress(path.read_bytes()).decode()
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"{path}: {error}; install skelgen again") from error
    found = read_own(path, list(enumerate(text.splitlines(), start=1)), TypedValues())
    for refused in found.refused:
        raise InputError(f"{refused.reason}; install skelgen again")
    if not found.rows:
        raise InputError(f"{path}: holds no rows; install skelgen again")
    return tuple(found.rows)


def moved_to(rows: Sequence[Row], now: float) -> list[Row]:
    """Return rows as if the newest of them were of a moment [s]."""
    by_s = now - max(moment for row in rows for moment in _moments(row))
    return [_moved(row, by_s) for row in rows]


def _moments(row: Row) -> list[float]:
    found = [getattr(row, name) for name in _known(row)]
    return [*(one for one in found if math.isfinite(one)), *_times(row)[-1:]]


def _known(row: Row) -> list[str]:
    """Return the names of moments of a row: what a prediction has measured is none."""
    return [name for name in MOMENTS if isinstance(getattr(row, name, None), float)]


def _moved(row: Row, by_s: float) -> Row:
    if isinstance(row, Series):
        return replace(row, times=tuple(one + by_s for one in row.times))
    return replace(row, **{name: getattr(row, name) + by_s for name in _known(row)})


def _times(row: Row) -> tuple[float, ...]:
    return row.times if isinstance(row, Series) else ()
