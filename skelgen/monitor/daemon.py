"""The process of a monitor: its loop, how it leaves its parent, how it is stopped."""

from __future__ import annotations

import contextlib
import gc
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from skelgen.errors import MachineError, SkelgenError, UsageError
from skelgen.monitor.day_files import DayFile
from skelgen.monitor.finding import Watched
from skelgen.monitor.handing import Hander, command
from skelgen.monitor.places import host_folder, this_host
from skelgen.monitor.records import Mark, columns_of, row_of
from skelgen.monitor.sensor import Sample, Sensing, Sensor
from skelgen.monitor.spin import Spin, spin
from skelgen.monitor.status import Status, holder, locked, write_status
from skelgen.monitor.watching import Watcher

if TYPE_CHECKING:
    from skelgen.monitor.budget import Account
    from skelgen.monitor.links import Links

#: Looks at the run queue for each sample, where the kernel does not add it up.
_LOOKS = 5
#: How often the status is written [s].
_STATUS_S = 60.0
#: Samples that are later than so many intervals leave a gap.
_LATE = 2.0
#: A clock jumped when it moved by so much more or less than time did [s].
_JUMP_S = 2.0
#: How long a spin waits for the end of a probe [s].
_PROBE_S = 2.0
#: How long a monitor may take to end [s].
_GRACE_S = 5.0
LEAST_INTERVAL_S, MOST_INTERVAL_S = 0.1, 3600.0


@dataclass(frozen=True, slots=True)
class Duties:
    """What a monitor does besides taking samples.

    Attributes
    ----------
    links : (Links, str) or None
        Links to probe, and the secret that their monitors share.
    watched : Watched
        Applications that become runs of the store.
    prometheus : str
        Where the newest sample is shown; see `skelgen.monitor.outlet.shown`.
    """

    links: tuple[Links, str] | None = None
    watched: Watched = field(default_factory=Watched)
    prometheus: str = ""


NOTHING_MORE = Duties()


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
        self._file.mark(Mark("begin", self._tally.since))
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
        if (jump_s := now - before - passed_s) < -_JUMP_S:
            self._file.mark(Mark("back", now, length_s=-jump_s))
        elif max(passed_s, now - before) > _LATE * self._interval_s + _JUMP_S:
            missed_s = max(passed_s, now - before) - self._interval_s
            self._file.mark(Mark("gap", now, length_s=missed_s))
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
            self._file.mark(Mark("refused", now, reason=reason))

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
        looks = max(1, min(_LOOKS, int(self._interval_s)))
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
            self._file.mark(Mark("end", self._wall()))
        self._file.close()
        with contextlib.suppress(MachineError, UsageError):
            self.say(running=False)


def resident_bytes() -> int:
    """Return the memory that this process has [bytes]."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


def serve(
    interval_s: float,
    duties: Duties = NOTHING_MORE,
    *,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Be the monitor of this node until a signal says end.

    Parameters
    ----------
    interval_s : float
        Between samples [s].
    duties : Duties
    ready : callable
        Called when everything is begun.

    Raises
    ------
    UsageError
        When one runs already.
    """
    check_interval(interval_s)
    host, quiet = this_host(), threading.Lock()

    def undisturbed() -> Spin:
        held = quiet.acquire(timeout=_PROBE_S)
        try:
            return spin()
        finally:
            if held:
                quiet.release()

    with _ended() as reading, locked(host) as folder:
        watcher = Watcher(host, folder, duties.watched, interval_s)
        seen = _shown(_sensor(undisturbed, watcher), duties.prometheus, host)
        probing = _probing(duties.links, host, folder, quiet)
        with seen as sensor, probing as account:
            monitor = Monitor(
                host,
                folder,
                interval_s,
                sensor,
                account=account,
                watcher=watcher,
                hander=Hander(command()),
            )
            ready()
            gc.collect()
            gc.freeze()
            monitor.run(watcher.waits(reading))


@contextlib.contextmanager
def _shown(sensor: Sensor, place: str, host: str) -> Iterator[Sensing]:
    """Give a sensor whose samples are shown where a place is named."""
    if not place:
        yield sensor
        return
    from skelgen.monitor.outlet import shown

    with shown(sensor, place, host) as one:
        yield one


@contextlib.contextmanager
def _probing(
    links: tuple[Links, str] | None, host: str, folder: Path, quiet: threading.Lock
) -> Iterator[Account | None]:
    """Have links probed meanwhile; give the account of what that costs."""
    if links is None:
        yield None
        return
    from skelgen.monitor.prober import Prober

    prober = Prober(*links, host, folder, quiet)
    prober.start()
    try:
        yield prober.account
    finally:
        prober.stop()


def _sensor(spins: Callable[[], Spin], watcher: Watcher) -> Sensor:
    try:
        return Sensor(spins=spins, watched=watcher.used)
    except (OSError, ValueError, IndexError) as error:
        raise MachineError(
            f"/proc cannot be read: {error}; the monitor needs Linux with /proc mounted"
        ) from error


def check_interval(interval_s: float) -> None:
    """Refuse an interval that nobody can want.

    Raises
    ------
    UsageError
    """
    if not LEAST_INTERVAL_S <= interval_s <= MOST_INTERVAL_S:
        raise UsageError(
            f"--interval {interval_s:g} s: expected {LEAST_INTERVAL_S:g} to "
            f"{MOST_INTERVAL_S:g} s"
        )


@contextlib.contextmanager
def _ended() -> Iterator[int]:
    """Give a file that can be read when a signal says end."""
    reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    previous = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    kinds = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    handlers = {
        kind: signal.signal(kind, lambda *_: None)
        for kind in kinds
        if signal.getsignal(kind) is not signal.SIG_IGN
    }
    try:
        yield reading
    finally:
        for kind, handler in handlers.items():
            signal.signal(kind, handler)
        signal.set_wakeup_fd(previous)
        os.close(reading)
        os.close(writing)


def start(interval_s: float, duties: Duties = NOTHING_MORE) -> int:
    """Start the monitor of this node in the background; return its process.

    Returns when it takes samples. Parameters and errors are those of `serve`.
    """
    check_interval(interval_s)
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        _leave(interval_s, duties, reading, writing)
    os.close(writing)
    with os.fdopen(reading, "r") as said:
        words = said.read().split(" ", 2)
    os.waitpid(child, 0)
    if words[0] == "ready":
        return int(words[1])
    code, message = (words[1], words[2]) if len(words) == 3 else ("", "it ended")
    raise (UsageError if code == "2" else MachineError)(message)


def _leave(interval_s: float, duties: Duties, reading: int, writing: int) -> None:
    """Be the monitor, without a terminal, a parent or a folder; never return."""
    os.close(reading)
    os.setsid()
    if os.fork():
        os._exit(0)  # the monitor is nobody's child and can get no terminal
    code = 1
    try:
        os.chdir("/")
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)

        def ready() -> None:
            os.write(writing, f"ready {os.getpid()}".encode())
            os.close(writing)

        serve(interval_s, duties, ready=ready)
        code = 0
    except SkelgenError as error:
        code = int(error.exit_code)
        with contextlib.suppress(OSError):
            os.write(writing, f"error {code} {error}".encode())
    except Exception as error:
        with contextlib.suppress(OSError):
            os.write(writing, f"error 1 the monitor failed: {error!r}".encode())
    finally:
        os._exit(code)


def stop(host: str | None = None) -> int:
    """End the monitor of this node and wait until it has; return its process.

    Raises
    ------
    UsageError
        When none runs.
    """
    folder = host_folder(host or this_host())
    if not (pid := holder(folder)):
        raise UsageError(
            f"no monitor of yours runs on {folder.name}; start one: skelgen monitor "
            "start"
        )
    for kind in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, kind)
        end_s = time.monotonic() + _GRACE_S
        while time.monotonic() < end_s:
            if holder(folder) != pid:
                return pid
            time.sleep(0.02)
    raise MachineError(f"process {pid} does not end; see what it waits for: ps {pid}")
