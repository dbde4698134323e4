"""Read the series of monitors back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from skelgen.errors import InputError
from skelgen.monitor.averages import Curve
from skelgen.monitor.day_files import day_of, days
from skelgen.monitor.folders import host_folder
from skelgen.monitor.records import (
    MOST_CHARACTERS,
    LineError,
    SampleMark,
    read_line,
    wrong,
)

#: Later than any file [s].
_LAST_S = 2e11


@dataclass(frozen=True, slots=True)
class HostHistory:
    """What the files of a host say.

    Attributes
    ----------
    host : str
    curves : dict of str to Curve
        By quantity.
    marks : tuple of SampleMark
        Restarts, gaps, jumps of the clock, what was refused.
    damaged : tuple of str
        A text for each line that cannot be used.
    """

    host: str
    curves: dict[str, Curve]
    marks: tuple[SampleMark, ...] = ()
    damaged: tuple[str, ...] = ()


@dataclass(slots=True)
class _Reader:
    """Puts lines together; of times that come twice the later line counts."""

    begin: float
    end: float
    points: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    marks: list[SampleMark] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    columns: tuple[str, ...] = ()
    last: float = -math.inf

    def read(self, path: Path, lines: Iterable[str]) -> None:
        self.columns = ()
        for number, line in enumerate(lines, start=1):
            try:
                what = read_line(line, self.columns)
            except LineError as error:
                if line:
                    self.damaged.append(f"{path} line {number}: {error}")
                continue
            if isinstance(what, SampleMark):
                if what.kind == "columns":
                    self.columns = what.columns
                elif self.begin <= what.time <= self.end:
                    self.marks.append(what)
                continue
            if what.time <= self.last:
                self._back_to(what.time)
            self.last = what.time
            if self.begin <= what.time <= self.end:
                for at, value in enumerate(what.values):
                    if value is not None:
                        points = self.points.setdefault(self.columns[at], [])
                        points.append((what.time, value))

    def _back_to(self, time: float) -> None:
        """Forget what a clock wrote that was ahead."""
        for points in self.points.values():
            while points and points[-1][0] >= time:
                points.pop()


def read_history(
    host: str,
    begin: float = -math.inf,
    end: float = math.inf,
    *,
    within: Path | None = None,
) -> HostHistory:
    """Read what a monitor kept of a host.

    Parameters
    ----------
    host : str
    begin, end : float
        Seconds since 1970 in UTC; both belong to it [s].
    within : Path, optional
        Folder of all monitors.

    Raises
    ------
    InputError
        When there is nothing of this host, or it cannot be read.
    """
    folder = host_folder(host, within)
    found = read_folder(host, folder, begin, end)
    if found is None:
        raise InputError(
            f"{folder}: no series of {host}; start its monitor: skelgen monitor start "
            f"--hosts {host}"
        )
    return found


def read_folder(
    name: str, folder: Path, begin: float, end: float
) -> HostHistory | None:
    """Read what a folder has of a host or link, None where it has no files.

    Raises
    ------
    InputError
        When it cannot be read.
    """
    try:
        known = days(folder)
    except OSError as error:
        raise _unreadable(folder, error) from error
    if not known:
        return None
    reader = _Reader(begin, end)
    for day in _chosen(known, begin, end):
        path = folder / f"{day}.jsonl"
        reader.read(path, _lines(path))
    curves = {
        name: Curve([t for t, _ in points], [v for _, v in points])
        for name, points in reader.points.items()
    }
    return HostHistory(name, curves, tuple(reader.marks), tuple(reader.damaged))


def _chosen(known: Sequence[str], begin: float, end: float) -> list[str]:
    """Return the days that overlap a time."""
    first, last = (day_of(min(max(when, 0.0), _LAST_S)) for when in (begin, end))
    return [day for day in known if first <= day <= last]


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
            while line := file.readline(MOST_CHARACTERS):
                yield line.rstrip("\n")
    except FileNotFoundError:
        return  # it became too old meanwhile
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(place: Path, error: OSError) -> InputError:
    return InputError(
        f"{place} cannot be read: {error.strerror or error}; change its permissions"
    )


def facts_of(history: HostHistory, quantities: Sequence[str] = ()) -> dict[str, Any]:
    """Return a history as JSON; all quantities when none is named."""
    wanted = quantities or sorted(history.curves)
    return {
        "host": history.host,
        "curves": {
            name: (list(curve.times), list(curve.values))
            for name in wanted
            if (curve := history.curves.get(name))
        },
        "marks": [asdict(mark) for mark in history.marks],
        "damaged": list(history.damaged),
    }


def history_of(host: str, facts: Mapping[str, Any]) -> HostHistory:
    """Read a history from JSON that a host sent.

    Raises
    ------
    KeyError, TypeError, ValueError
        When it is none.
    """
    curves = {}
    for name, (times, values) in dict(facts["curves"]).items():
        if len(times) != len(values) or not times:
            raise ValueError(name)
        for value in values:
            if reason := wrong(str(name), float(value)):
                raise ValueError(reason)
        rising = [float(time) for time in times]
        if any(later <= earlier for earlier, later in pairwise(rising)):
            raise ValueError("times that do not rise")
        curves[str(name)] = Curve(rising, [float(value) for value in values])
    marks = [
        SampleMark(
            str(one["kind"]),
            float(one["time"]),
            length_s=math.nan if one["length_s"] is None else float(one["length_s"]),
            reason=str(one["reason"]),
        )
        for one in facts["marks"]
    ]
    return HostHistory(host, curves, tuple(marks), tuple(map(str, facts["damaged"])))
