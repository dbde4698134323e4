"""What a monitor says of itself: who has its lock, and how it has done so far."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from skelgen.errors import InputError, UsageError
from skelgen.monitor.folders import host_folder, make_private, writing

_LOCK, STATUS = "lock", "status.json"


@dataclass(frozen=True, slots=True)
class Status:
    """How a monitor does.

    Attributes
    ----------
    host : str
    running : bool
        Whether it writes: here that is known by its lock, elsewhere by its age.
    pid : int
        On its host.
    since, last : float
        Start and latest sample, seconds since 1970 in UTC [s].
    samples : int
    interval_s : float
        Between samples [s].
    cpu_share : float
        Part of a core that it has used since then [0 to 1].
    rss_bytes : int
        Its memory [bytes].
    gap_s : float
        Time without samples since it started, until now [s].
    link_bytes, link_limit_bytes : int
        What probes of links cost in the last hour, and may cost; 0: there are none.
    """

    host: str
    running: bool = False
    pid: int = 0
    since: float = math.nan
    last: float = math.nan
    samples: int = 0
    interval_s: float = math.nan
    cpu_share: float = math.nan
    rss_bytes: int = 0
    gap_s: float = 0.0
    link_bytes: int = 0
    link_limit_bytes: int = 0


def plain(value: Any) -> Any:
    """Return a value without numbers that JSON lacks."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def write_status(folder: Path, status: Status) -> None:
    """Write how this monitor does, for who asks."""
    beside = folder / f".{STATUS}.{os.getpid()}"
    with writing(folder / STATUS):
        handle = os.open(
            beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600
        )
        with os.fdopen(handle, "w") as file:
            json.dump(plain(asdict(status)), file)
        beside.replace(folder / STATUS)


def read_status(
    host: str, *, here: bool, within: Path | None = None, now: float | None = None
) -> Status:
    """Return how the monitor of a host does, or did when it ran last.

    Parameters
    ----------
    host : str
    here : bool
        Whether that is this node: then its lock says whether it runs.
    within : Path, optional
        Folder of all monitors.
    now : float, optional
        Seconds since 1970 in UTC [s].

    Raises
    ------
    InputError
        When there is none, or its file is damaged.
    """
    folder = host_folder(host, within)
    path = folder / STATUS
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            said = json.loads(file.read(10_000))
        status = status_of(host, said)
    except FileNotFoundError as error:
        raise InputError(
            f"{path}: no monitor of {host} ever ran; start one: skelgen monitor start "
            f"--hosts {host}"
        ) from error
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}; change its permissions"
        ) from error
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise InputError(
            f"{path} is damaged, expected what a monitor writes; start it again"
        ) from error
    return _until(status, time.time() if now is None else now, holder(folder), here)


def status_of(host: str, said: Mapping[str, object]) -> Status:
    """Read a status from JSON.

    Raises
    ------
    KeyError, TypeError, ValueError, OverflowError
        When it is none.
    """

    def number(name: str) -> float:
        value = said[name]
        if value is None:
            return math.nan
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(name)
        return float(value)

    return Status(
        host,
        said["running"] is True,
        int(number("pid")),
        number("since"),
        number("last"),
        int(number("samples")),
        number("interval_s"),
        number("cpu_share"),
        int(number("rss_bytes")),
        number("gap_s"),
        int(number("link_bytes")) if "link_bytes" in said else 0,
        int(number("link_limit_bytes")) if "link_limit_bytes" in said else 0,
    )


def _until(status: Status, now: float, pid: int, here: bool) -> Status:
    """Return a status as it is now: a node that died says nothing itself."""
    silent_s = now - status.last
    late = not silent_s <= 3 * status.interval_s + 60
    running = pid > 0 if here else status.running and not late
    gap_s = status.gap_s
    if status.running and (late or not running):
        gap_s += max(0.0, silent_s)
    facts = asdict(status) | {"running": running, "gap_s": gap_s}
    return Status(**facts)


@contextlib.contextmanager
def locked(host: str, within: Path | None = None) -> Iterator[Path]:
    """Be the only monitor of a host meanwhile; yield its folder.

    The lock is the kernel's: it goes with the process, however that ends.

    Raises
    ------
    UsageError
        When another monitor runs.
    """
    folder = make_private(host_folder(host, within))
    path = folder / _LOCK
    with writing(path):
        handle = os.open(
            path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
    try:
        if not _taken(handle):
            raise UsageError(
                f"a monitor runs on {host} already (process {_pid(path)}, {path}); "
                "stop it first: skelgen monitor stop"
            )
        with writing(path):
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield folder
        with contextlib.suppress(OSError):
            os.ftruncate(handle, 0)
    finally:
        os.close(handle)


def _taken(handle: int) -> bool:
    """Take a lock; who only looks whether somebody has it, has it for a moment."""
    for _ in range(20):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(0.01)
    return False


def holder(folder: Path) -> int:
    """Return the process that has the lock of a folder, 0 when nobody has it."""
    path = folder / _LOCK
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _pid(path)
    except OSError:
        return 0
    return 0


def _pid(path: Path) -> int:
    try:
        return int(path.read_text()[:20])
    except (OSError, ValueError):
        return 0
