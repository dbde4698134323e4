"""Run programs as jobs of a batch system: submit, ask, read what came out.

A job leaves its output and, last of all, its exit code as files in a folder that its
hosts share with this machine, so its end is seen without a word from the system, and
no accounting is needed. The system is asked at growing intervals what becomes of a
job that has not ended. A job is submitted again only when none of its name is there,
and whichever of two begins first is the only one that does anything.
"""

from __future__ import annotations

import logging
import shlex
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from skelgen.errors import MachineError
from skelgen.launch.batch_folder import last_line, new_script, result_in
from skelgen.launch.batch_systems import (
    BatchJob,
    BatchJobState,
    BatchPhase,
    BatchSystem,
)
from skelgen.launch.host_runner import LocalRunner
from skelgen.launch.hosts import Host
from skelgen.launch.launchers import Launcher
from skelgen.launch.process import NO_RESULT, Finished, Started
from skelgen.units import format_seconds

logger = logging.getLogger(__name__)

#: How often a folder is looked into, and the system is asked: first and at most [s].
_LOOK_S, _FIRST_S, _MOST_S, _GROWTH = 0.1, 0.5, 15.0, 1.5
#: A command of a batch system may take so long, and the system be silent [s].
_COMMAND_S, SILENCE_S = 30.0, 60.0
#: Files of another machine may be seen so much later [s].
_FILES_S = 15.0
#: A job that was cancelled may take so long to be gone [s]: Slurm gives programs 30 s.
_GONE_S = 60.0


@dataclass(slots=True)
class Patience:
    """How long a batch system may take, and how long it has been silent.

    Attributes
    ----------
    queue_s : float
        Longest time a job may wait for its hosts [s].
    silence_s : float
        Longest time the system may give no answer [s].
    files_s : float
        Longest time until files of an ended job are seen here [s].
    silent_since : float or None
        Shared by all jobs: when one has waited in vain, the next need not [s].
    """

    queue_s: float
    silence_s: float = SILENCE_S
    files_s: float = field(default_factory=lambda: _FILES_S)
    silent_since: float | None = None


@dataclass(frozen=True, slots=True)
class BatchRunner:
    """A `Runner` that submits a job for each run.

    Attributes
    ----------
    system : BatchSystem
    launcher : Launcher
        What starts the ranks inside the job.
    folder : Path
        Holds a folder for each job; on a disk that hosts and this machine share.
    patience : Patience
    clock : callable
        Returns a time [s].
    """

    system: BatchSystem
    launcher: Launcher
    folder: Path
    patience: Patience
    clock: Callable[[], float] = field(default=time.monotonic)

    def start(
        self,
        program: Sequence[str],
        *,
        ranks: int,
        hosts: Sequence[Host],
        environment: Mapping[str, str],
        limit_s: float | None,
    ) -> BatchRun:
        """Submit a job that runs a program; see `Runner`."""
        command = LocalRunner(self.launcher).arguments(
            program, ranks=ranks, hosts=hosts, environment=environment
        )
        script = self._new_script(command, environment)
        job = BatchJob(script, script.with_name("log"), ranks, tuple(hosts), limit_s)
        return BatchRun(self.system, job, command, self.patience, self.clock)

    def _new_script(
        self, command: Sequence[str], environment: Mapping[str, str]
    ) -> Path:
        try:
            return new_script(self.folder, command, environment)
        except OSError as error:
            raise MachineError(
                f"cannot write into {self.folder}: {error.strerror}; jobs of "
                f"{self.system.title} leave their output there"
            ) from error


class BatchRun:
    """A job of one run, from its submission to its end."""

    def __init__(
        self,
        system: BatchSystem,
        job: BatchJob,
        command: Sequence[str],
        patience: Patience,
        clock: Callable[[], float],
    ) -> None:
        self._system, self._job, self._command = system, job, tuple(command)
        self._patience, self._clock = patience, clock
        self._number = ""
        self._unanswered = False  # a submission: there may be a job without a number
        self._search = False  # ask for that next
        self._asking: Started | None = None
        self._finished: Finished | None = None
        self._given_up: Finished | None = None  # told when the cancelled job is gone
        self._gone_by = 0.0
        self._state = BatchJobState(BatchPhase.WAITING, "not yet submitted")
        self._since = self._began = clock()  # in this phase; the run itself
        self._next_look = self._next_question = 0.0
        self._interval = _FIRST_S

    def poll(self) -> Finished | None:
        """Return how it ended, None while it waits or runs; see `Running`."""
        if self._finished is not None:
            return self._finished
        now = self._clock()
        if self._given_up is None and now >= self._next_look:
            self._next_look = now + _LOOK_S
            self._look(now)
        if self._finished is None and self._asking is not None:
            self._listen(now)
        elif self._finished is None and now >= self._next_question:
            self._interval = min(self._interval * _GROWTH, _MOST_S)
            self._next_question = now + self._interval
            self._ask()
        if self._finished is None:
            self._judge(now)
        return self._finished

    def _look(self, now: float) -> None:
        """Take the result when it is there."""
        if (left := result_in(self._job.script.parent)) is not None:
            time_s, code = now - self._began, left.exit_code
            self._patience.silent_since = None  # whatever it did, it began this job
            self._end(Finished(self._command, code, time_s, left.output, left.errors))

    def _ask(self) -> None:
        if self._number:
            words = self._system.question(self._number)
        elif self._search:
            words = self._system.search(self._job.name)
        else:
            words = self._system.submission(self._job)
        self._asking = Started(words, timeout_s=_COMMAND_S)

    def _listen(self, now: float) -> None:
        """Take the answer of the system when it is there."""
        if self._asking is None or (done := self._asking.poll()) is None:
            return
        self._asking = None
        silent = done.timed_out or self._system.silence.search(done.errors) is not None
        if not self._number:
            self._take_number(now, done, silent=silent)
            return
        state = self._system.state(done.output)
        if self._system.unknown.search(done.errors):
            state = BatchJobState(BatchPhase.ENDED, "it is not in the queue any more")
        if state is None and (silent or done.exit_code):
            self._mark_silence(now, done)
            return
        self._patience.silent_since = None
        if state is not None:
            if state.phase is BatchPhase.WAITING and self._waits_in_vain():
                state = replace(state, phase=BatchPhase.NEVER)
            self._enter(now, state)

    def _waits_in_vain(self) -> bool:
        """Say whether a host of the job has failed.

        Hosts of which a system has just begun to hear are waited for.
        """
        return any(map(self._system.failed.match, self._host_states().values()))

    def _mark_silence(self, now: float, done: Finished) -> None:
        """Take down that the system does not answer, or only complains."""
        title, complaint = self._system.title, done.complaint
        if self._patience.silent_since is None:
            self._patience.silent_since = now
            logger.warning("%s does not answer, asking again: %s", title, complaint)
        silence_s = self._patience.silence_s
        if now - self._patience.silent_since >= silence_s and self._given_up is None:
            silent = format_seconds(silence_s)
            reason = f"{title} has not answered for {silent}: {complaint}"
            self._fail(reason, cancel=True, begun=False)

    def _take_number(self, now: float, done: Finished, *, silent: bool) -> None:
        """Take the number of the job, from its submission or the search for it."""
        search, self._search = self._search, False
        if not (numbers := self._system.numbers(done.output)):
            if silent or (search and done.exit_code):
                self._search = self._unanswered = True
                self._mark_silence(now, done)
            elif search:  # none is there
                self._next_question = now
            else:
                self._patience.silent_since = None
                self._fail(f"{self._system.title} refused the job: {done.complaint}")
            return
        self._number, self._patience.silent_since = numbers[-1], None
        logger.info("%s on %s", self._title, ",".join(self._job.names) or "any host")
        self._since, self._interval = now, _FIRST_S
        self._enter(now, BatchJobState(BatchPhase.WAITING))

    @property
    def _title(self) -> str:
        return f"{self._system.title} job {self._number}"

    def _enter(self, now: float, state: BatchJobState) -> None:
        if state.phase is not self._state.phase:
            self._since, self._interval = now, _FIRST_S
            if state.phase is BatchPhase.RUNNING:
                self._began = now
        self._state = state

    def _judge(self, now: float) -> None:
        """End what has waited or run for too long, or has left no result."""
        if self._given_up is not None:
            self._await_end(now, self._given_up)
            return
        state, passed_s = self._state, now - self._since
        reason = f" ({state.reason})" if state.reason else ""
        limit_s = self._job.limit_s
        match state.phase:
            case BatchPhase.NEVER:
                self._fail(f"{self._title} can never run{reason}", cancel=True)
            case BatchPhase.WAITING if (
                self._number and passed_s > self._patience.queue_s
            ):
                self._fail(
                    f"{self._title} still waited after "
                    f"{format_seconds(self._patience.queue_s)}"
                    f"{reason} and was cancelled; raise --queue-limit to wait longer",
                    cancel=True,
                    begun=False,
                )
            case BatchPhase.RUNNING if limit_s is not None and passed_s > limit_s:
                self._fail(f"{self._title} took too long", cancel=True, late=True)
            case BatchPhase.BROKEN:
                self._look(now)
                if self._finished is None:
                    why = f"{self._title} was ended from outside{reason}"
                    self._fail(why, late=state.timed_out)
            case BatchPhase.ENDED if self._unanswered:
                # Perhaps it ended at once because the other one had begun.
                self._number, self._search, self._unanswered = "", True, False
                self._enter(now, BatchJobState(BatchPhase.WAITING))
            case BatchPhase.ENDED if passed_s > self._patience.files_s:
                folder = self._job.script.parent
                self._fail(
                    f"{self._title} ended without a result{reason}: "
                    f"{last_line(self._job.log)}expected it in {folder}, which must "
                    "be on a disk that the hosts share with this machine",
                    late=state.timed_out,
                )

    def _await_end(self, now: float, failed: Finished) -> None:
        """End a job that was cancelled when it is gone, or has had its time."""
        gone = self._state.phase in (BatchPhase.ENDED, BatchPhase.BROKEN)
        if not gone and now >= self._gone_by:
            logger.warning("%s was cancelled and still runs", self._title)
        if gone or now >= self._gone_by:
            self._end(failed)

    def _fail(
        self,
        reason: str,
        *,
        cancel: bool = False,
        late: bool = False,
        begun: bool = True,
    ) -> None:
        """Give up the job: at once, or when it is gone from its hosts."""
        now = self._clock()
        parts = [reason, *(self._cancel() if cancel else ())]
        left = len(parts) > 1
        if not late:
            parts += self._troubled_hosts()
        time_s, told = now - self._began, "; ".join(parts)
        failed = Finished(self._command, NO_RESULT, time_s, "", told, late, begun)
        if left or not (cancel and self._number):
            self._end(failed)
            return
        self._given_up, self._gone_by = failed, now + _GONE_S
        self._state = BatchJobState(BatchPhase.RUNNING, "cancelled")
        self._next_question, self._interval = now, _FIRST_S

    def _troubled_hosts(self) -> list[str]:
        """Return which hosts of the job cannot be used, so that they are named."""
        return [
            f"host {name} is {state}"
            for name, state in self._host_states().items()
            if self._system.usable.fullmatch(state) is None
        ]

    def _host_states(self) -> dict[str, str]:
        """Ask for the states of the job's hosts, those it named."""
        if not (names := self._job.names) or self._patience.silent_since is not None:
            return {}
        done = _run_on(self._system.inquiry(names))
        found = self._system.host_states(done.output)
        return {name: found.get(name, "unknown") for name in names}

    def _end(self, finished: Finished) -> None:
        if self._asking is not None:
            self._asking.stop()
        self._finished = finished
        shutil.rmtree(self._job.script.parent, ignore_errors=True)

    def stop(self) -> None:
        """End the job, wherever it is; does no harm when it has ended."""
        if self._finished is not None:
            return
        if not self._number and self._asking is not None:
            # A job must not stay behind because its number came too late.
            end = time.monotonic() + _COMMAND_S
            while self._asking is not None and time.monotonic() < end:
                self._listen(self._clock())
                time.sleep(_LOOK_S / 10)
        if self._finished is None:
            self._cancel()
            self._end(Finished(self._command, NO_RESULT, 0.0, "", "it was stopped"))

    def _cancel(self) -> list[str]:
        """Cancel what was submitted; return what may run nevertheless."""
        numbers, left = [self._number] if self._number else [], list[str]()
        if self._unanswered:  # there may be a job, or another one
            words = self._system.search(name := self._job.name)
            done = _run_on(words)
            found = self._system.numbers(done.output)
            numbers += [number for number in found if number not in numbers]
            if done.exit_code:
                left.append(f"a job {name} may have been submitted: {done.complaint}")
        self._number = numbers[0] if numbers else ""
        for number in numbers:
            words = self._system.cancellation(number)
            done = _run_on(words)
            if done.exit_code and not self._system.unknown.search(done.errors):
                line = shlex.join(words)
                left.append(f"job {number} may still run: {line}: {done.complaint}")
        for text in left:
            logger.warning("%s: %s", self._system.title, text)
        return left


def _run_on(words: Sequence[str]) -> Finished:
    """Run a command to its end: a second interrupt must not leave jobs behind."""
    started = Started(words, timeout_s=_COMMAND_S)
    while (done := started.poll()) is None:
        time.sleep(_LOOK_S / 10)
    return done
