"""The work of a monitor: samples in time, what is kept, what it says of itself."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skelgen.errors import MachineError, UsageError
from skelgen.monitor.application_watch import Watcher
from skelgen.monitor.day_files import DayFile
from skelgen.monitor.records import SampleMark, columns_of, row_of
from skelgen.monitor.sensor import Sample, Sensing
from skelgen.monitor.status import Status, write_status
from skelgen.monitor.store_reader import Hander
from skelgen.monitor.thresholds import LATE_INTERVALS, LEAST_JUMP_S, LOOKS_AT_QUEUE

if TYPE_CHECKING:
    from skelgen.monitor.budget import Account

#: How often the status is written [s].
_STATUS_S = 60.0


@dataclass(slots=True)
class Tally:
    """What a monitor has done so far.

    Attributes
    ----------
    since : float
        Seconds since 1970 in UTC [s].
    began_s : float
        The same by a clock that does not jump [s].
    """

    since: float
    began_s: float
    samples: int = 0
    gap_s: float = 0.0
    last: float = math.nan
    last_s: float = math.nan
    said_s: float = -math.inf


class Monitor:
    """Takes samples and keeps them until it is told to end.

    Parameters
    ----------
    host : str
    folder : Path
        Of the host.
    interval_s : float
        Between samples [s].
    sensor : Sensor
    account : Account, optional
        Of probes of links.
    watcher : Watcher, optional
        Watches applications.
    hander : Hander, optional
        Has the store take runs that ended.
    wall, clock : callable
        Return seconds since 1970 in UTC, and a time that does not jump [s].
    """

    def __init__(
        self,
        host: str,
        folder: Path,
        interval_s: float,
        sensor: Sensing,
        *,
        account: Account | None = None,
        watcher: Watcher | None = None,
        hander: Hander | None = None,
        wall: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._watcher, self._hander = watcher, hander
        self._ended_at_sample = 0
        self._host, self._folder, self._interval_s = host, folder, interval_s
        self._sensor, self._wall, self._clock = sensor, wall, clock
        self._file, self._account = DayFile(folder, interval_s), account
        self._tally = Tally(wall(), clock())
        self._refused: set[str] = set()
        self._loaded_s = time.process_time()
        self._file.mark(SampleMark("begin", self._tally.since))
        self.say()

    def take(self) -> None:
        """Take a sample and keep it; where that cannot be, as on a full disk, go on.

        What was lost is a gap when it can be written again.
        """
        if self._watcher is not None:
            self._ended_at_sample = self._watcher.ended
        sample = self._sensor.sample()
        tally = self._tally
        with contextlib.suppress(MachineError, UsageError):
            self._keep(sample)
            if tally.samples == 1 or self._clock() - tally.said_s >= _STATUS_S:
                self.say()

    def _keep(self, sample: Sample) -> None:
        """Write a sample, with marks of what is strange about its time."""
        now, now_s, tally = self._wall(), self._clock(), self._tally
        before, before_s = (
            (tally.since, tally.began_s)
            if math.isnan(tally.last)
            else (tally.last, tally.last_s)
        )
        passed_s, missed_s = now_s - before_s, 0.0
        if (jump_s := now - before - passed_s) < -LEAST_JUMP_S:
            self._file.mark(SampleMark("back", now, length_s=-jump_s))
        elif (
            max(passed_s, now - before)
            > LATE_INTERVALS * self._interval_s + LEAST_JUMP_S
        ):
            missed_s = max(passed_s, now - before) - self._interval_s
            self._file.mark(SampleMark("gap", now, length_s=missed_s))
        row, refused = row_of(sample, now)
        for reason in refused:
            self._refuse(reason, now)
        self._file.add(row, columns_of(sample))
        tally.samples, tally.last, tally.last_s = tally.samples + 1, now, now_s
        tally.gap_s += missed_s

    def _refuse(self, reason: str, now: float) -> None:
        """Keep why a value was left out, once for each quantity and day at most."""
        quantity = f"{reason.split(maxsplit=1)[0]} {int(now // 86400)}"
        if quantity not in self._refused:
            self._refused.add(quantity)
            self._file.mark(SampleMark("refused", now, reason=reason))

    def say(self, *, running: bool = True) -> None:
        """Write how it does."""
        tally, now_s = self._tally, self._clock()
        tally.said_s = now_s
        passed_s = max(now_s - tally.began_s, 1e-3)
        status = Status(
            self._host,
            running,
            os.getpid(),
            tally.since,
            tally.last,
            tally.samples,
            self._interval_s,
            min((time.process_time() - self._loaded_s) / passed_s, 1.0),
            resident_bytes(),
            tally.gap_s,
            self._account.spent() if self._account else 0,
            self._account.limit_bytes if self._account else 0,
        )
        write_status(self._folder, status)

    def run(self, ends: Callable[[float], bool]) -> None:
        """Take samples until told to end.

        Parameters
        ----------
        ends : callable
            Waits for so long [s], or until told to end, and says which.
        """
        looks = max(1, min(LOOKS_AT_QUEUE, int(self._interval_s)))
        watches = self._watcher is not None and self._watcher.busy
        looks = looks if watches or self._sensor.must_look else 1
        next_s, at = self._clock(), 0
        while True:
            at, next_s = at + 1, next_s + self._interval_s / looks
            late_s = self._clock() - next_s
            if late_s > self._interval_s:
                next_s += late_s  # the node slept
            if ends(max(0.0, next_s - self._clock())):
                break
            if self._watcher is not None:
                self._watcher.look()
            if not at % looks:
                self.take()
                if self._hander is not None:  # with the load until their end
                    self._hander.step(self._ended_at_sample)
            elif self._sensor.must_look:
                self._sensor.look()
        self.end()

    def end(self) -> None:
        """Say that it ends, and close its file."""
        if self._watcher is not None:
            self._watcher.close()
            if self._watcher.ended > self._ended_at_sample:
                self.take()  # the load until the end of what was watched
        with contextlib.suppress(MachineError, UsageError):
            self._file.mark(SampleMark("end", self._wall()))
        self._file.close()
        with contextlib.suppress(MachineError, UsageError):
            self.say(running=False)


def resident_bytes() -> int:
    """Return the memory that this process has [bytes]."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0
