"""A monitor's files: one for each host and day, thinned as they age.

Lines are only ever added to the file of the day. A file that is thinned is written anew
beside its place and renamed, so that who reads it sees the old one or the new one.
"""

from __future__ import annotations

import calendar
import contextlib
import errno
import os
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from skelgen.monitor.folders import make_private, writing
from skelgen.monitor.records import LineError, SampleMark, SampleRow, read_line, text_of

_NAME = re.compile(r"(\d{4}-\d{2}-\d{2})\.jsonl")
#: Most that a file may hold; then its older samples are joined [bytes].
_MOST_BYTES = 1_000_000
#: From so many days on samples are joined to means of so many seconds.
_AGES = ((2, 60.0), (14, 600.0))
#: Files of so many days ago are removed.
_KEPT_DAYS = 400
_DAY_S = 86400


def day_of(when: float) -> str:
    """Return the day in UTC, as files are named.

    Examples
    --------
    >>> day_of(1.7e9)
    '2023-11-14'
    """
    return time.strftime("%Y-%m-%d", time.gmtime(when))


def days(folder: Path) -> list[str]:
    """Return the days of which there are files, in order."""
    try:
        found = [_NAME.fullmatch(one.name) for one in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(match[1] for match in found if match)


class DayFile:
    """Adds lines to the file of the day.

    Parameters
    ----------
    folder : Path
        Of the host.
    interval_s : float
        Between samples [s].
    most_bytes : int
        Of a file.
    """

    def __init__(
        self, folder: Path, interval_s: float, most_bytes: int = _MOST_BYTES
    ) -> None:
        self._folder, self._interval_s = make_private(folder), interval_s
        self._most, self._day = most_bytes, ""
        self._cut = False  # the last line may have been written in part
        self._file: IO[bytes] | None = None
        self._columns: tuple[str, ...] = ()

    def add(self, row: SampleRow, columns: Sequence[str]) -> None:
        """Add a sample; a mark before it says when columns change, or the day."""
        self._turn(row.time)
        if tuple(columns) != self._columns:
            self._columns = tuple(columns)
            self._write(
                SampleMark("columns", row.time, self._columns, self._interval_s)
            )
        self._write(row)

    def mark(self, mark: SampleMark) -> None:
        """Add a mark."""
        self._turn(mark.time)
        self._write(mark)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _turn(self, when: float) -> None:
        """Open the file of the day; when it is another one, thin the older files."""
        if (day := day_of(when)) == self._day and self._file is not None:
            return
        self.close()
        path = self._folder / f"{day}.jsonl"
        with writing(path):
            handle = os.open(
                path,
                os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW,
                0o600,
            )
            self._file = os.fdopen(handle, "ab", buffering=0)
            _end_line(path, self._file)
        self._day, self._columns = day, ()
        age(self._folder, day)

    def _write(self, what: SampleRow | SampleMark) -> None:
        path = self._folder / f"{self._day}.jsonl"
        assert self._file is not None
        with writing(path):
            # All at once: whoever reads meanwhile, or ends us, finds whole lines.
            line = text_of(what, self._columns).encode()
            line, self._cut = b"\n" * self._cut + line, True
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            self._cut = False
            if self._file.tell() > self._most:
                self._shrink(path)

    def _shrink(self, path: Path) -> None:
        """Join the samples of a full file: neighbours, until half of it is free."""
        self.close()
        step_s = 2 * self._interval_s
        while path.stat().st_size > self._most / 2 and step_s < _DAY_S:
            thin(path, step_s)
            step_s *= 2
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        self._file = os.fdopen(handle, "ab", buffering=0)
        self._columns = ()


def _end_line(path: Path, file: IO[bytes]) -> None:
    """End a line that was cut when its writer was killed."""
    with path.open("rb") as before:
        size = before.seek(0, os.SEEK_END)
        if size and before.seek(size - 1) >= 0 and before.read(1) != b"\n":
            file.write(b"\n")


def age(folder: Path, today: str) -> None:
    """Thin files of past days, and remove those that are too old."""
    now = _day_s(today)
    for day in days(folder):
        if (then := _day_s(day)) is None or now is None:
            continue
        old, path = (now - then) / _DAY_S, folder / f"{day}.jsonl"
        if old > _KEPT_DAYS:
            with contextlib.suppress(OSError):
                path.unlink()
            continue
        with contextlib.suppress(OSError):
            written = (path.stat().st_mtime - then) / _DAY_S
            steps = [step_s for least, step_s in _AGES if old >= least > written]
            if steps:
                thin(path, steps[-1])


def _day_s(day: str) -> float | None:
    """Return when a day began [s], None for a name that is no day."""
    try:
        return float(calendar.timegm(time.strptime(day, "%Y-%m-%d")))
    except (ValueError, OverflowError):
        return None


def thin(path: Path, step_s: float) -> None:
    """Join the samples of a file to means over at least so long [s].

    Marks stay. A file that would not change is not written.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    kept = "".join(_joined(text.splitlines(), step_s))
    if kept == text:
        return
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(
        beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600
    )
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(kept)
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def _joined(lines: Iterable[str], step_s: float) -> Iterable[str]:
    """Yield the lines of a thinner file; what is damaged is left out."""
    columns: tuple[str, ...] = ()
    waiting: list[SampleRow] = []
    for line in lines:
        try:
            what = read_line(line, columns)
        except LineError:
            continue
        if isinstance(what, SampleMark):
            yield from _mean(waiting, columns)
            waiting = []
            columns = what.columns if what.kind == "columns" else columns
            yield text_of(what)
            continue
        if waiting and what.time // step_s != waiting[-1].time // step_s:
            yield from _mean(waiting, columns)
            waiting = []
        waiting.append(what)
    yield from _mean(waiting, columns)


def _mean(rows: Sequence[SampleRow], columns: Sequence[str]) -> Iterable[str]:
    """Yield the line of the mean of samples, none for none."""
    if not rows:
        return
    values = []
    for at in range(len(columns)):
        known = [(row.values[at], row.count) for row in rows]
        pairs = [(value, count) for value, count in known if value is not None]
        count = sum(count for _, count in pairs)
        values.append(sum(v * c for v, c in pairs) / count if count else None)
    mean = replace(rows[-1], values=tuple(values), count=sum(row.count for row in rows))
    yield text_of(mean, columns)
