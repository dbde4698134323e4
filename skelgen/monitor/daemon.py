"""The process of a monitor: how it begins, leaves its parent, and is stopped."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from skelgen.errors import MachineError, SkelgenError, UsageError
from skelgen.monitor.application_watch import Watcher
from skelgen.monitor.folders import host_folder, this_host
from skelgen.monitor.process_search import Watched
from skelgen.monitor.sampling import Monitor
from skelgen.monitor.sensor import Sensing, Sensor
from skelgen.monitor.spin import Spin, spin
from skelgen.monitor.status import holder, locked
from skelgen.monitor.store_reader import Hander, command

if TYPE_CHECKING:
    from skelgen.monitor.budget import Account
    from skelgen.monitor.links import Links

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
        Where the newest sample is shown; see `skelgen.monitor.prometheus_output.shown`.
    """

    links: tuple[Links, str] | None = None
    watched: Watched = field(default_factory=Watched)
    prometheus: str = ""


NOTHING_MORE = Duties()


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
    from skelgen.monitor.prometheus_output import shown

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
