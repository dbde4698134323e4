"""Forecasts that were made and what happened: a file of sealed lines for each user."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skelgen import _paths
from skelgen.documents import json_field, sealed_json
from skelgen.documents.files import read_bytes
from skelgen.documents.system import system_error
from skelgen.errors import InputError, NoFileError
from skelgen.launch.folders import PRIVATE_FILE, private_folder

logger = logging.getLogger(__name__)

#: Size of the file before its older half is forgotten [bytes].
_MOST_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Kept:
    """A forecast that was made.

    Attributes
    ----------
    begin, horizon_s : float
        When the time that it is of begins, since 1970 in UTC, and how long it is [s].
    nodes : tuple of str
    quantity : str
        ``cpu`` or ``bandwidth``.
    covariate, method, expert : str
    p5, p50, p95 : float
    source : str
        File or store that the series came from; empty: the monitor.
    """

    begin: float
    horizon_s: float
    nodes: tuple[str, ...]
    quantity: str
    covariate: str
    method: str
    expert: str
    p5: float
    p50: float
    p95: float
    source: str

    @property
    def identity(self) -> str:
        """Return a word that no other forecast has."""
        text = sealed_json(asdict(self), indent=None)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class ForecastOutcome:
    """A forecast with what happened.

    Attributes
    ----------
    kept : Kept
    happened : float or None
        None while it is not known.
    """

    kept: Kept
    happened: float | None


@dataclass(frozen=True, slots=True)
class Score:
    """How good forecasts of one sort were.

    Attributes
    ----------
    method, quantity, covariate : str
    horizon_s : float
        [s]
    forecasts, happened : int
        That were made, and of which it is known what happened.
    median_error, p90_error : float
        Of the absolute errors; nan where nothing happened yet.
    inside : float
        Part of the truths inside the 90 % interval [0 to 1].
    """

    method: str
    quantity: str
    covariate: str
    horizon_s: float
    forecasts: int
    happened: int
    median_error: float
    p90_error: float
    inside: float


def place() -> Path:
    """Return the file of the user's forecasts."""
    return _paths.state() / "forecasts.jsonl"


def keep(forecasts: Iterable[Kept]) -> None:
    """Add forecasts to the file; when that cannot be written, only warn."""
    _append({"row": "forecast", **asdict(one)} for one in forecasts)


def keep_happened(known: Mapping[str, float]) -> None:
    """Add what happened, by the identity of forecasts."""
    _append(
        {"row": "happened", "forecast": identity, "value": value}
        for identity, value in known.items()
    )


def outcomes(most_lines: int | None = None) -> list[ForecastOutcome]:
    """Return forecasts, each once, the oldest first.

    Parameters
    ----------
    most_lines : int, optional
        Only of the last lines of the file; without it all.
    """
    made: dict[str, Kept] = {}
    known: dict[str, float] = {}
    wrong = 0
    lines = _lines()
    for line in lines if most_lines is None else lines[-most_lines:]:
        try:
            fields = json_field(line.decode(), place()).mapping(("row",), None)
            if fields["row"].text() == "happened":
                known[fields["forecast"].text()] = fields["value"].number()
            else:
                one = _kept(fields)
                made[one.identity] = one
        except (InputError, UnicodeDecodeError, KeyError):
            wrong += 1
    if wrong:
        logger.warning(
            "%s: %d lines are damaged and were left out; remove the file to begin anew",
            place(),
            wrong,
        )
    return [ForecastOutcome(one, known.get(identity)) for identity, one in made.items()]


def scores(found: Sequence[ForecastOutcome]) -> list[Score]:
    """Compare forecasts with what happened, by method, quantity and horizon."""
    by_key: dict[tuple[str, str, str, float], list[ForecastOutcome]] = {}
    for one in found:
        kept = one.kept
        key = (kept.method, kept.quantity, kept.covariate, kept.horizon_s)
        by_key.setdefault(key, []).append(one)
    return [_score(*key, own) for key, own in sorted(by_key.items())]


def _score(
    method: str,
    quantity: str,
    covariate: str,
    horizon_s: float,
    own: Sequence[ForecastOutcome],
) -> Score:
    pairs = [(one.kept, one.happened) for one in own if one.happened is not None]
    errors = [abs(kept.p50 - value) for kept, value in pairs]
    inside = [kept.p5 <= value <= kept.p95 for kept, value in pairs]
    nan = float("nan")
    median, p90 = np.quantile(errors, [0.5, 0.9]).tolist() if errors else (nan, nan)
    return Score(
        method,
        quantity,
        covariate,
        horizon_s,
        len(own),
        len(pairs),
        median,
        p90,
        sum(inside) / len(inside) if inside else nan,
    )


def _kept(fields: Mapping[str, Any]) -> Kept:
    return Kept(
        begin=fields["begin"].number(),
        horizon_s=fields["horizon_s"].positive(),
        nodes=fields["nodes"].texts(),
        quantity=fields["quantity"].text(),
        covariate=fields["covariate"].text(),
        method=fields["method"].text(),
        expert=fields["expert"].text(),
        p5=fields["p5"].number(),
        p50=fields["p50"].number(),
        p95=fields["p95"].number(),
        source=fields["source"].text(),
    )


def _lines() -> list[bytes]:
    """Return the complete lines of the file; none when there is no file."""
    try:
        return read_bytes(place(), most_bytes=4 * _MOST_BYTES).split(b"\n")[:-1]
    except NoFileError:
        return []


def _append(lines: Iterable[Mapping[str, Any]]) -> None:
    text = "".join(sealed_json(line, indent=None) for line in lines).encode()
    if not text:
        return
    try:
        with _opened() as file:
            size = os.fstat(file).st_size
            if size + len(text) > _MOST_BYTES:
                before = os.pread(file, size, size // 2).partition(b"\n")[2]
                os.ftruncate(file, 0)
                os.write(file, before)
            elif size and os.pread(file, 1, size - 1) != b"\n":
                text = b"\n" + text  # who wrote last was killed
            os.write(file, text)
    except OSError as error:
        logger.warning(
            "the forecast is not kept: %s", system_error(error, place(), writing=True)
        )


@contextlib.contextmanager
def _opened() -> Iterator[int]:
    """Open the file for its owner alone, and lock it."""
    private_folder(place().parent)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    file = os.open(place(), flags, PRIVATE_FILE)
    try:
        with contextlib.suppress(OSError):  # not every file system has locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)
