"""Samples of series in their table, each with its checksum."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from typing import Any

from skelgen.store.database import Database, sound_in
from skelgen.store.lines import identity_of
from skelgen.store.rows import Series
from skelgen.store.values import TEXT, UnfitError, as_real, as_text

_pack = struct.Struct("<dd").pack
_crc32 = zlib.crc32
_NAMES = "SELECT DISTINCT host, quantity FROM samples ORDER BY host, quantity"
_THEIRS = "SELECT time, value, seal FROM samples WHERE host = ? AND quantity = ?"


def keep_samples(database: Database, series: Series) -> bool:
    """Add the samples that are not there yet; say whether there were any."""
    host, quantity = as_text(series.host), as_text(series.quantity)
    names = _seal_of_names(host, quantity)
    new = database.count_new(
        "INSERT INTO samples VALUES (?,?,?,?,?) ON CONFLICT DO NOTHING",
        [
            (host, quantity, time, as_real(value), _seal(names, time, value))
            for time, value in zip(series.times, series.values, strict=True)
        ],
    )
    return new > 0


def remove_series(database: Database, identities: set[str]) -> int:
    """Remove the series with these identities; return how many there were."""
    removed = 0
    for host, quantity in database.execute(_NAMES):
        with sound_in(database, "samples"):
            series = Series(TEXT.load(host), TEXT.load(quantity), (), ())
        if identity_of(series) in identities:
            database.execute(
                "DELETE FROM samples WHERE host = ? AND quantity = ?", (host, quantity)
            )
            removed += 1
    return removed


def seal_samples(database: Database) -> None:
    """Give samples of a store of version 1 their checksums."""
    for host, quantity in database.execute(_NAMES):
        names = _seal_of_names(host, quantity)
        database.executemany(
            "UPDATE samples SET seal = ? WHERE host = ? AND quantity = ? AND time = ?",
            [
                (_seal(names, time, value), host, quantity, time)
                for time, value, _ in database.execute(_THEIRS, (host, quantity))
                if _is_sample(time, value)
            ],
        )


def sample_problems(database: Database) -> Iterator[str]:
    """Give the series with samples that are not what their checksums say."""
    for host, quantity in database.execute(_NAMES):
        try:
            TEXT.load(host), TEXT.load(quantity)
        except UnfitError as error:
            yield f"table samples: the name of a series: {error.what}"
        names = _seal_of_names(host, quantity)
        kept = database.execute(_THEIRS, (host, quantity))
        wrong = sum(
            not _is_sample(time, value) or _seal(names, time, value) != seal
            for time, value, seal in kept
        )
        if wrong:
            yield (
                f"table samples, {quantity!s:.60} of {host!s:.60}: {wrong} of "
                f"{len(kept)} samples are not what their checksums say; restore a "
                "copy, or remove this series and add it again"
            )


def _seal_of_names(host: Any, quantity: Any) -> int:
    return _crc32(f"{host}\0{quantity}".encode("utf-8", "backslashreplace"))


def _seal(names: int, time: float, value: float | None) -> int:
    """Return the checksum of a sample; databases do not tell 0.0 from -0.0."""
    return _crc32(_pack(time + 0.0, math.nan if value is None else value + 0.0), names)


def _is_sample(time: Any, value: Any) -> bool:
    """Say whether these are finite numbers; a value need not be known."""
    return (
        isinstance(time, float)
        and math.isfinite(time)
        and (value is None or (isinstance(value, float) and math.isfinite(value)))
    )
