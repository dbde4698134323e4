"""Run the application until its phases have been measured, and stop it there.

Needs no privilege, works over any network and with any MPI.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from skelgen.errors import ApplicationError, NotBegunError
from skelgen.launch.interrupts import Interrupts
from skelgen.launch.process import NO_RESULT, Finished
from skelgen.launch.run_end import failure_of
from skelgen.phase_execution.interface import (
    Application,
    BackendProbe,
    Measured,
    WantedOccurrence,
)
from skelgen.phase_execution.marks import (
    STOP,
    RankTimes,
    check_functions,
    check_ranks,
    mean_s,
    named,
    probed,
    read_ranks,
    recorder_variables,
    timed,
    times_file,
    too_short,
    write_marks,
)
from skelgen.units import format_seconds

#: How often a run is asked whether it has ended, and its files whether ranks have [s].
_PAUSE_S, _LOOK_S = 0.01, 0.25
#: How long a launcher may take to end after all ranks have told their times, and how
#: much longer than to the place where it stops a run may take after the first rank is
#: there [s]. The shim ends a rank whose MPI does not end after 10 s.
_TO_END_S, _TO_FOLLOW_S = 15.0, 30.0


@dataclass(frozen=True, slots=True)
class Live:
    """Measures phases in passing."""

    name: ClassVar[str] = "live"

    def probe(self, application: Application) -> BackendProbe:
        """Say that it works: what it needs every recording needed."""
        return BackendProbe(True, f"runs {application.launch.program[0]} and stops it")

    def launch(
        self,
        application: Application,
        wanted: Sequence[WantedOccurrence],
        *,
        limit_s: float,
    ) -> LiveRun:
        """Start the application with the times of `wanted` to be taken."""
        return LiveRun(application, wanted, limit_s)


class LiveRun:
    """One execution; a `Session`, and a `skelgen.launch.host_runner.Running`.

    Parameters
    ----------
    application : Application
    wanted : sequence of WantedOccurrence
    limit_s : float
        Longest time of the whole [s].
    """

    def __init__(
        self,
        application: Application,
        wanted: Sequence[WantedOccurrence],
        limit_s: float,
    ) -> None:
        self._application, self._wanted = application, tuple(wanted)
        place = application.workspace
        if place is not None and not os.access(place, os.W_OK):
            place = None  # enough for ranks that are here
        self._folder = Path(tempfile.mkdtemp(prefix="skelgen-phases-", dir=place))
        self._ranks: list[RankTimes | None] = []
        self._done: Finished | None = None
        self._times: dict[tuple[int, int], Measured] = {}
        self._hung, self._partly = False, False
        self._begin_s = time.monotonic()
        self._told, self._changed_s, self._looked_s = 0, 0.0, 0.0
        with contextlib.ExitStack() as undo:
            undo.callback(shutil.rmtree, self._folder, ignore_errors=True)
            self._running = application.start(self._prepare(), limit_s=limit_s)
            undo.pop_all()

    def _prepare(self) -> dict[str, str]:
        """Write the marks; return the variables that make the shim follow them."""
        last = max(self._wanted, key=lambda one: int(one.end.sum())).end
        for rank in range(self._application.ranks):
            marks = [*timed(self._wanted, rank), *probed(self._wanted, rank)]
            marks.append((int(last[rank]), STOP))
            write_marks(self._folder, rank, marks)
        return recorder_variables(self._folder, self._application.launch)

    def poll(self) -> Finished | None:
        """Return how it ended, None while it runs."""
        if self._done is None:
            done = self._running.poll()
            if done is None and self._hangs():
                self._hung = True
                self._running.stop()
                done = self._running.poll()
            if done is not None:
                self._finish(done)
        return self._done

    def stop(self) -> None:
        """End it with all its ranks."""
        if self._done is None:
            self._running.stop()
            self.poll()
        shutil.rmtree(self._folder, ignore_errors=True)

    def wait(self) -> Finished:
        """Wait until it has ended; end it when skelgen is interrupted meanwhile."""
        with Interrupts() as interrupts:
            try:
                while (done := self.poll()) is None:
                    interrupts.pause(_PAUSE_S)
            finally:
                self.stop()
        return done

    def request(self, wanted: WantedOccurrence) -> None:
        """Wait until an occurrence was measured: all are, or none."""
        self.wait()
        if not self._times:
            self._times = {(one.phase, one.occurrence): one for one in self.measured()}

    def restore(self, wanted: WantedOccurrence) -> Measured:
        """Return what was measured in passing."""
        return self._times[wanted.phase, wanted.occurrence]

    @property
    def probes_s(self) -> tuple[tuple[float, ...], ...]:
        """Return how long probes took on each rank [s], once it has ended."""
        return tuple(one.probes_s for one in self._ranks if one is not None)

    def measured(self) -> tuple[Measured, ...]:
        """Return the times of all occurrences, once it has ended.

        The files of the ranks decide, not how the launcher ended: a program that was
        stopped may look like one that failed.

        Raises
        ------
        ApplicationError
            When a rank did not tell them all, or their number is another.
        """
        assert self._done is not None
        check_ranks(self._ranks, self._application.ranks)
        ranks = [one for one in self._ranks if one is not None]
        if len(ranks) < self._application.ranks:
            error = ApplicationError if self._done.begun else NotBegunError
            raise error(self._failure(self._done))
        found = [
            Measured(one.phase, one.occurrence, time_s)
            for one in self._wanted
            if (time_s := mean_s(ranks, one)) is not None
        ]
        if len(found) < len(self._wanted):
            place = self._application.place
            raise ApplicationError(too_short(ranks, self._wanted[-1], place))
        for one in self._wanted:
            check_functions(ranks, one)
        return tuple(found)

    def _hangs(self) -> bool:
        """Say whether ranks told their times and the run goes on all the same."""
        now_s = time.monotonic()
        if now_s - self._looked_s < _LOOK_S:
            return False
        self._looked_s = now_s
        # Listed: a file system of the network may go on saying for long that a file
        # that was asked for before does not exist.
        found = set(self._folder.iterdir())
        ranks = range(self._application.ranks)
        told = sum(times_file(self._folder, rank) in found for rank in ranks)
        if told != self._told:
            self._told, self._changed_s = told, now_s
        if told == self._application.ranks:
            return now_s - self._changed_s > _TO_END_S
        most_s = _TO_FOLLOW_S + self._changed_s - self._begin_s
        return told > 0 and now_s - self._changed_s > most_s

    def _finish(self, done: Finished) -> None:
        self._done = done
        self._ranks = read_ranks(self._folder, self._application.ranks)
        self._partly = any(self._folder.glob("*.times.part"))
        shutil.rmtree(self._folder, ignore_errors=True)

    def _failure(self, done: Finished) -> str:
        """Say why ranks did not tell their times."""
        name = Path(self._application.launch.program[0]).name
        who = named([rank for rank, one in enumerate(self._ranks) if one is None])
        if done.timed_out:
            return (
                f"{name} did not come to the end of its phases within "
                f"{format_seconds(done.time_s)} ({who}) and was ended; is the machine "
                "overloaded, or does the program need more input?"
            )
        if self._hung:
            return (
                f"{who} of {name} did not come to the place at which the others waited "
                "for the end: it does not do the same in every run (receives of any "
                "source?); predict with a skeleton instead: skelgen build RUN --scale K"
            )
        if done.exit_code == NO_RESULT:
            return f"{name} did not run: {done.errors}"
        if done.exit_code:
            return (
                f"{name} failed with exit code {done.exit_code} before its phases were "
                f"measured ({who}): {done.complaint}; is its "
                f"input in {self._application.place}?"
            )
        if (reason := failure_of(done)) is not None:
            return f"{name} {reason}"
        why = (
            f"the hosts do not share {self._folder.parent}, or the program calls no MPI"
        )
        if self._partly:
            why = f"they are not whole in {self._folder.parent}; is its disk full?"
        return f"{name} ended and {who} wrote no times: {why}"
