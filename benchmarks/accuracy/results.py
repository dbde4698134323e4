"""The file of results: one JSON line for each run, only ever appended to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

#: What was run: the application, its small input, a skeleton.
APPLICATION, SMALL, SKELETON = "application", "small", "skeleton"


@dataclass(frozen=True, slots=True)
class Key:
    """Which run a line tells of.

    Attributes
    ----------
    application, scenario, what : str
    length_s : float
        Wanted time of the skeleton, 0 where it is none [s].
    repeat : int
    """

    application: str
    scenario: str
    what: str
    length_s: float
    repeat: int


@dataclass(frozen=True, slots=True)
class Results:
    """What a file holds.

    Attributes
    ----------
    seconds : dict of Key to float
        Time of each run [s].
    provenance : tuple of dict
        Machine, MPI, limits and versions; one for each call of the program.
    """

    seconds: dict[Key, float]
    provenance: tuple[dict[str, Any], ...]

    def runs(self, *fields: Any) -> tuple[float, ...]:
        """Return the times of all repeats of application, scenario, what, length."""
        found = sorted(
            (key.repeat, seconds)
            for key, seconds in self.seconds.items()
            if (key.application, key.scenario, key.what, key.length_s) == fields
        )
        return tuple(seconds for _, seconds in found)

    def names(self, field: str) -> list[Any]:
        """Return what occurs in a field, in order of first appearance."""
        return list(dict.fromkeys(getattr(key, field) for key in self.seconds))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Read complete lines; the last one is half written after a crash."""
    if path.exists():
        for line in path.read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                yield json.loads(line)


def read(path: Path) -> Results:
    """Read a file of results; a missing one is empty."""
    seconds, provenance = {}, []
    for line in _lines(path):
        if "provenance" in line:
            provenance.append(line["provenance"])
        else:
            taken = line.pop("seconds")
            seconds[Key(**line)] = taken
    return Results(seconds, tuple(provenance))


class Log:
    """Appends to a file of results."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if (
            path.exists()
            and not path.read_bytes().endswith(b"\n")
            and path.stat().st_size
        ):
            whole = path.read_bytes().rpartition(b"\n")
            path.write_bytes(whole[0] + whole[1])
        self._file = path.open("a")

    def provenance(self, facts: dict[str, Any]) -> None:
        """Write down where and with what the following runs are made."""
        self._write({"provenance": facts})

    def run(self, key: Key, seconds: float) -> None:
        """Write down one run."""
        self._write({**asdict(key), "seconds": round(seconds, 6)})

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
