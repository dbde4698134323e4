"""What one node saw of a run, in files: those that go on, and those that have ended.

A run on several nodes has a sighting on each; `skelgen monitor runs` joins them. One
that has ended is a line of ``runs.jsonl``: JSON, a tab and the CRC-32 of that JSON, as
lines of series. Those that go on are in ``open.json``, written anew now and then, so
that a monitor that is started again goes on with them.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from skelgen.monitor.folders import writing
from skelgen.monitor.status import plain

ENDED, OPEN = "runs.jsonl", "open.json"
#: In the folder of all monitors: runs that the store was given.
HANDED = "handed.jsonl"
#: Sightings that ended before so long are forgotten when a monitor starts [s].
KEPT_S = 400 * 86400.0
_VERSION = 1
#: Longest line, and longest file of sightings that go on [characters].
_MOST, _MOST_OPEN = 200_000, 20_000_000
#: Status of a run whose end no monitor saw: how long it took is not known.
UNSEEN = "unseen"


@dataclass(frozen=True, slots=True)
class Sighting:
    """What one node saw of a run of a watched application.

    Attributes
    ----------
    identity : str
        Of the sighting; no two share it.
    application, host : str
    began : float
        Of the first process here, seconds since 1970 in UTC [s].
    time_s : float
        Until the last process here ended [s].
    status : str
        ``ok``, ``exit 3``, ``signal 9``, ``unknown`` (nobody can say how it ended) or
        ``unseen`` (no monitor ran when it ended; the time is how long it was seen).
    key : str
        Of its launch, the same on all hosts; empty for processes without a launcher.
    size : int
        Ranks of the launch; 0 where nobody says it.
    ranks : tuple of int
        Those that ran here, as far as they are known.
    processes : int
        So many were here.
    costs : mapping of str to float
        ``cpu_s``, ``memory_bytes``, ``read_bytes``, ``written_bytes``.
    complete : bool
        Whether the processes could be looked at when they had ended: else what they
        used since the look before is missing in the costs.
    inputs : str
        As the user named them, ``n=2000,steps=100``.
    jobs : mapping of str to str
        Variables with the number of a batch job.
    program : str
        File that was executed.
    """

    identity: str
    application: str
    host: str
    began: float
    time_s: float
    status: str = "ok"
    key: str = ""
    size: int = 0
    ranks: tuple[int, ...] = ()
    processes: int = 1
    costs: Mapping[str, float] | None = None
    complete: bool = True
    inputs: str = ""
    jobs: Mapping[str, str] | None = None
    program: str = ""

    @property
    def end(self) -> float:
        """Return when it ended, seconds since 1970 in UTC [s]."""
        return self.began + self.time_s


class SightingError(ValueError):
    """What was read is no sighting; the message says why."""


def facts_of_sighting(sighting: Sighting) -> dict[str, Any]:
    """Return a sighting as JSON."""
    found: dict[str, Any] = plain(asdict(sighting))
    return found


def sighting_of(said: Mapping[str, Any]) -> Sighting:
    """Read a sighting from JSON.

    Raises
    ------
    SightingError
    """
    names = [one.name for one in fields(Sighting)]
    if not isinstance(said, dict) or not set(said) <= set(names):
        raise SightingError("it is no sighting of a run")
    try:
        sighting = Sighting(**{**said, "ranks": tuple(said.get("ranks", ()))})
        numbers = (
            sighting.began,
            sighting.time_s,
            sighting.size,
            sighting.processes,
            *sighting.ranks,
        )
        words = (
            sighting.identity,
            sighting.application,
            sighting.host,
            sighting.status,
            sighting.key,
        )
        costs, jobs = dict(sighting.costs or {}), dict(sighting.jobs or {})
        good = (
            all(map(_is_number, (*numbers, *costs.values())))
            and all(isinstance(one, str) for one in (*words, *costs, *jobs))
            and all(isinstance(one, str) for one in jobs.values())
            and isinstance(sighting.inputs, str)
            and isinstance(sighting.program, str)
            and min(sighting.time_s, sighting.size, sighting.processes) >= 0
        )
    except (TypeError, ValueError) as error:
        raise SightingError("a field of it is missing or wrong") from error
    if not good or not sighting.identity or not sighting.application:
        raise SightingError("a field of it is missing or wrong")
    return sighting


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 1e300 and math.isfinite(value)


def _sealed(said: Any) -> str:
    text = json.dumps(said, separators=(",", ":"), allow_nan=False)
    return f"{text}\t{zlib.crc32(text.encode()):08x}\n"


def _unsealed(line: str) -> Any:
    text, tab, checksum = line.rstrip("\n").rpartition("\t")
    if not tab or checksum != f"{zlib.crc32(text.encode(errors='replace')):08x}":
        raise SightingError("its checksum does not fit")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SightingError("it is no JSON") from error


def add_sighting(folder: Path, sighting: Sighting) -> None:
    """Add a sighting that has ended.

    Raises
    ------
    MachineError
        When it cannot be written.
    """
    path = folder / ENDED
    line = _sealed({"version": _VERSION, **facts_of_sighting(sighting)}).encode()
    with writing(path):
        handle = os.open(
            path,
            os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW,
            0o600,
        )
        with os.fdopen(handle, "r+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            # A line that was cut when its writer was killed, or the disk was full.
            cut = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
            written = b"\n" * cut + line
            if file.write(written) != len(written):
                raise OSError(28, os.strerror(28), str(path))


def ended_sightings(folder: Path) -> tuple[list[Sighting], list[str]]:
    """Return the sightings of a host that have ended, and a text for each bad line.

    Raises
    ------
    MachineError
        When they cannot be read.
    """
    found: dict[str, Sighting] = {}
    damaged = []
    path = folder / ENDED
    try:
        with writing(path), path.open(encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(iter(lambda: file.readline(_MOST), ""), 1):
                if line == "\n":
                    continue
                try:
                    said = _unsealed(line)
                    if not isinstance(said, dict) or said.pop("version", 0) != _VERSION:
                        raise SightingError(f"expected version {_VERSION}")
                    sighting = sighting_of(said)
                    found[sighting.identity] = sighting
                except SightingError as error:
                    damaged.append(f"{path} line {number}: {error}")
    except Exception as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return [], []
        raise
    return list(found.values()), damaged


def are_waiting(folder: Path) -> bool:
    """Say whether sightings of a host were written after runs were handed over last."""
    try:
        written = (folder / ENDED).stat().st_mtime
    except OSError:
        return False
    with contextlib.suppress(OSError):
        return written > (folder.parent / HANDED).stat().st_mtime
    return True


def forget_sightings(folder: Path, before: float) -> None:
    """Remove the sightings that ended before a time, seconds since 1970 in UTC [s]."""
    sightings, damaged = ended_sightings(folder)
    kept = [sighting for sighting in sightings if sighting.end >= before]
    if len(kept) < len(sightings) or damaged:
        _replace(
            folder / ENDED,
            (
                _sealed({"version": _VERSION, **facts_of_sighting(sighting)})
                for sighting in kept
            ),
        )


def write_open(folder: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    """Keep what goes on.

    Raises
    ------
    MachineError
        When it cannot be written.
    """
    path = folder / OPEN
    if not entries:
        with writing(path):
            path.unlink(missing_ok=True)
        return
    _replace(path, [_sealed({"version": _VERSION, "open": plain(list(entries))})])


def read_open(folder: Path) -> list[dict[str, Any]]:
    """Return what went on when a monitor ended; nothing where that is damaged."""
    with contextlib.suppress(OSError, SightingError):
        with (folder / OPEN).open(encoding="utf-8", errors="replace") as file:
            said = _unsealed(file.read(_MOST_OPEN))
        if isinstance(said, dict) and said.get("version") == _VERSION:
            return [one for one in said["open"] if isinstance(one, dict)]
    return []


def _replace(path: Path, lines: Iterable[str]) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with writing(path):
        handle = os.open(
            beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600
        )
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.writelines(lines)
        beside.replace(path)
