"""Work outside the requests: a few jobs at once, the others wait for their turn.

The files of `skelgen.server.jobs` are what counts: another server of the same user and
store sees these jobs, too, and goes on with those of a server that has ended.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from skelgen.errors import SkelgenError, UsageError
from skelgen.launch.bounded_command import (
    ONE_THREAD,
    BoundedEnd,
    Bounds,
    EndedBy,
    own_command,
    run_bounded,
)
from skelgen.launch.process import process_name
from skelgen.progress import LINES, read_progress
from skelgen.progress import VARIABLE as PROGRESS
from skelgen.server.jobs import Job, JobFolder, JobState, new_identity
from skelgen.store import place_of
from skelgen.store.location import STORE_VARIABLE as STORE
from skelgen.units import format_bytes, format_seconds

#: Jobs at once, those of one user that are not over, all that are not, and all kept.
AT_ONCE, _OF_ONE, _WAITING, _KEPT = 2, 4, 20, 100
#: A job that ended its server so often is not begun again.
_TRIES = 3
#: Time between two writings of progress, and for jobs to end with their server [s].
_APART_S, _ENDING_S = 0.5, 3.5
_SIGNALLED = 128


class TooManyJobsError(UsageError):
    """There are as many jobs as may be."""


class JobQueue:
    """The jobs of a store, and the threads that wait for their commands.

    Parameters
    ----------
    place : str, optional
        Of the store.
    bounds : Bounds
        Of each job.
    """

    def __init__(self, place: str | None, bounds: Bounds | None = None) -> None:
        self.folder = JobFolder(place)
        found = place_of(place)
        self._store = found.where if found.is_url else str(Path(found.where).absolute())
        self._bounds = bounds or Bounds()
        self._lock = threading.Lock()
        self._waiting: list[Job] = []
        self._running: dict[str, str] = {}
        self._threads: list[threading.Thread] = []
        self._ending = threading.Event()

    def add(self, words: Sequence[str], *, about: str, who: str, back: str = "") -> Job:
        """Let a command run when its turn comes.

        Parameters
        ----------
        words : sequence of str
            After ``skelgen``; values as ``--option=value``, so that none becomes an
            option.
        about, who, back : str
            As `Job` has them.

        Raises
        ------
        TooManyJobsError
        """
        self.folder.make()
        job = Job(
            *(new_identity(), about, tuple(words), who, time.time(), back),
            server=process_name(os.getpid()),
        )
        with self._lock:
            known = self.folder.all()
            _check_room(known, who)
            for old in [one for one in known if one.state.is_over][_KEPT - 1 :]:
                self.folder.remove(old.identity)
            self._begin(job)
        return job

    def cancel(self, job: Job) -> None:
        """End a job, or take it out of the queue."""
        if job.state.is_over:
            return
        self.folder.ask_to_end(job.identity)
        with self._lock:
            waiting = next((one for one in self._waiting if _same(one, job)), None)
            if waiting is not None:
                self._waiting.remove(waiting)
            elif job.identity in self._running or self.is_alive(job):
                return  # who runs it looks
            self._over(job, JobState.CANCELLED, "it was cancelled")

    def answer(self, job: Job) -> Mapping[str, Any] | None:
        """Return the answer of a job that is done."""
        return self.folder.answer(job.identity) if job.state is JobState.DONE else None

    def is_alive(self, job: Job) -> bool:
        """Say whether the server that has a job still runs."""
        return _is_named(job.server)

    def resume(self) -> None:
        """Go on with the jobs of servers that have ended: from their begin."""
        for job in reversed(self.folder.all()):
            if job.state.is_over or self.is_alive(job):
                continue
            _end_left(job)
            if self.folder.is_to_end(job.identity):
                self._over(job, JobState.CANCELLED, "it was cancelled")
            elif job.tries >= _TRIES:
                told = f"it was begun {job.tries} times, and its server ended each time"
                self._over(job, JobState.GONE, f"{told}; start it again")
            else:
                again = replace(job, server=process_name(os.getpid()), process="")
                with self._lock:
                    self._begin(replace(again, state=JobState.WAITING, progress=""))

    def stop(self) -> None:
        """End the commands that run, and keep their jobs for the next server."""
        self._ending.set()
        end_s = time.monotonic() + _ENDING_S
        for thread in list(self._threads):
            thread.join(max(end_s - time.monotonic(), 0.0))

    def _begin(self, job: Job) -> None:
        """Put a job at the end of the queue; the lock is ours."""
        self.folder.write(job)
        self._waiting.append(job)
        self._threads = [one for one in self._threads if one.is_alive()]
        if len(self._threads) < AT_ONCE:
            thread = threading.Thread(target=self._work, name="job", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _work(self) -> None:
        """Run jobs until none waits.

        A command ends with the thread that started it, so the thread waits for it.
        """
        while (job := self._next()) is not None:
            try:
                self._run(job)
            finally:
                with self._lock:
                    self._running.pop(job.identity, None)

    def _next(self) -> Job | None:
        """Take the job whose turn it is: users take turns."""
        with self._lock:
            if self._ending.is_set() or not self._waiting:
                self._threads.remove(threading.current_thread())
                return None
            busy = Counter(self._running.values())
            job = min(self._waiting, key=lambda one: busy[one.who])
            self._waiting.remove(job)
            self._running[job.identity] = job.who
            return job

    def _run(self, job: Job) -> None:
        """Run the command of a job to its end."""
        teller = _Teller(self.folder, job)
        try:
            end = run_bounded(
                own_command("skelgen", *job.words, "--json"),
                self._bounds,
                environment={STORE: self._store, PROGRESS: LINES, **ONE_THREAD},
                folder=self.folder.path,
                began=teller.began,
                said=teller.said,
                stop=lambda: self._is_to_end(job),
            )
            self._ended(teller.job, end)
        except (SkelgenError, OSError) as error:
            with contextlib.suppress(SkelgenError, OSError):  # a full disk, perhaps
                self._over(teller.job, JobState.FAILED, str(error))

    def _is_to_end(self, job: Job) -> bool:
        return self._ending.is_set() or self.folder.is_to_end(job.identity)

    def _ended(self, job: Job, end: BoundedEnd) -> None:
        """Keep how a command ended."""
        done = replace(job, exit_code=min(end.exit_code, 255))
        if end.ended_by is EndedBy.ITSELF and end.exit_code == 0:
            self.folder.keep_answer(job.identity, end.output)
            self._over(done, JobState.DONE, "")
        elif self.folder.is_to_end(job.identity):
            self._over(done, JobState.CANCELLED, "it was cancelled")
        elif end.ended_by is EndedBy.STOP:  # the server ends: the next one goes on
            waiting = replace(job, state=JobState.WAITING, process="", server="")
            self.folder.write(replace(waiting, tries=max(job.tries - 1, 0)))
        else:
            self._over(done, JobState.FAILED, _why(end, self._bounds))

    def _over(self, job: Job, state: JobState, said: str) -> None:
        """Keep that a job is over."""
        line = " ".join(said.split())[:1000]
        self.folder.write(
            replace(job, state=state, said=line, ended=time.time(), process="")
        )


class _Teller:
    """Keep how far a command is, now and then."""

    def __init__(self, folder: JobFolder, job: Job) -> None:
        self._folder = folder
        self._last_s = 0.0
        self.job = job

    def began(self, pid: int) -> None:
        """Keep that it runs, and as what: numbers of processes are used again."""
        self.job = replace(
            self.job,
            state=JobState.RUNNING,
            begun=time.time(),
            tries=self.job.tries + 1,
            process=process_name(pid),
        )
        self._folder.write(self.job)

    def said(self, line: str) -> None:
        """Keep what it says of its progress."""
        found = read_progress(line)
        if found is None:
            return
        self.job = replace(self.job, progress=found[0], share=found[1])
        if time.monotonic() - self._last_s >= _APART_S:
            self._last_s = time.monotonic()
            self._folder.write(self.job)


def _check_room(known: Sequence[Job], who: str) -> None:
    """Refuse a job where there are too many."""
    waiting = [one for one in known if not one.state.is_over]
    own = [one for one in waiting if one.who == who]
    if len(own) >= _OF_ONE:
        raise TooManyJobsError(
            f"{len(own)} jobs of yours are not over; wait for one, or cancel it at "
            "/jobs"
        )
    if len(waiting) >= _WAITING:
        raise TooManyJobsError(
            f"{len(waiting)} jobs wait already; try again when some are over"
        )


def _why(end: BoundedEnd, bounds: Bounds) -> str:
    """Say in a line why there is no answer."""
    if end.ended_by is EndedBy.TIME or end.exit_code == _SIGNALLED + signal.SIGXCPU:
        return (
            f"it took longer than {format_seconds(bounds.time_s)}; choose fewer runs "
            "or families, or use the command line"
        )
    if end.ended_by is EndedBy.OUTPUT:
        return (
            f"its answer is longer than {format_bytes(bounds.output_bytes)}; use the "
            "command line"
        )
    said = end.said
    if end.exit_code == 1:  # a traceback is for the developers of skelgen
        return f"this is a fault of skelgen ({said[:200]}); report it"
    return said or f"the command ended with exit code {end.exit_code}"


def _end_left(job: Job) -> None:
    """End the command of a server that has ended, if it is still that process."""
    if _is_named(job.process):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(int(job.process.partition(":")[0]), signal.SIGKILL)


def _is_named(name: str) -> bool:
    """Say whether a process still runs that once had this name."""
    number = name.partition(":")[0]
    return number.isdecimal() and len(number) < 12 and process_name(int(number)) == name


def _same(one: Job, other: Job) -> bool:
    return one.identity == other.identity
