"""Give the newest sample to Prometheus: in a file, or over a Unix socket."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from skelgen.errors import MachineError, UsageError
from skelgen.monitor.prometheus_text import Newest, metrics_text
from skelgen.monitor.records import columns_of, row_of
from skelgen.monitor.sensor import Sample, Sensing

#: Scrapers that are served at a time; others wait.
_MOST_CLIENTS = 8
#: Longest request [bytes], and the longest that a scraper may take [s].
_MOST_REQUEST, _PATIENCE_S = 4096, 5.0
#: Longest name of a socket that the kernel takes [bytes].
_MOST_NAME = 107
_KINDS = "unix:/PATH or file:/PATH.prom"


class Outlet(Protocol):
    """Where the newest sample is shown."""

    def tell(self, text: str) -> None:
        """Show this from now on."""

    def close(self) -> None:
        """Show nothing any more."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A sensor whose samples an outlet shows, too.

    Attributes
    ----------
    sensor : Sensing
    host : str
    outlet : Outlet
    wall : callable
        Returns seconds since 1970 in UTC [s].
    """

    sensor: Sensing
    host: str
    outlet: Outlet
    wall: Callable[[], float] = time.time

    @property
    def must_look(self) -> bool:
        """Return whether the kernel does not add up who runs."""
        return self.sensor.must_look

    def look(self) -> None:
        """Count who runs now."""
        self.sensor.look()

    def sample(self) -> Sample:
        """Return what was the case since the last sample, and show it."""
        sample = self.sensor.sample()
        row, _ = row_of(sample, self.wall())
        pairs = zip(columns_of(sample), row.values, strict=True)
        values = {name: value for name, value in pairs if value is not None}
        with contextlib.suppress(MachineError):  # a full disk: shown when it is not
            self.outlet.tell(metrics_text([Newest(self.host, row.time, values)]))
        return sample


@contextlib.contextmanager
def shown(sensor: Sensing, place: str, host: str) -> Iterator[Sensing]:
    """Show the samples of a sensor meanwhile.

    Parameters
    ----------
    sensor : Sensing
    place : str
        ``unix:/run/user/1000/skelgen.sock`` or ``file:/var/lib/skelgen.prom``; ``%h``
        in it is the host.
    host : str

    Raises
    ------
    UsageError
        When that is no place of this user.
    MachineError
        When it cannot be written.
    """
    kind, _, name = place.partition(":")
    path = Path(name.replace("%h", host)).expanduser()
    if kind not in ("unix", "file") or not path.is_absolute() or "\0" in name:
        raise UsageError(f"--prometheus {place[:100]}: expected {_KINDS}")
    outlet: Outlet = CollectorFile(path) if kind == "file" else Socket(path)
    try:
        yield Shown(sensor, host, outlet)
    finally:
        outlet.close()


class CollectorFile:
    """A file that node_exporter's textfile collector reads.

    Who may list its folder may read it.

    Parameters
    ----------
    path : Path
        Ends with ``.prom``; what is there must be a file of this user.
    """

    def __init__(self, path: Path) -> None:
        if path.suffix != ".prom":
            raise UsageError(
                f"--prometheus file:{path}: the collector reads only files that end "
                "with .prom"
            )
        _check_mine(path, stat.S_ISREG, "a file")
        self._path = path
        self.tell("")

    def tell(self, text: str) -> None:
        """Write a text in place of the one before."""
        # The collector reads no names that end otherwise.
        beside = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        with writing(self._path):
            mode = 0o600 | (self._path.parent.stat().st_mode & 0o044)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
            handle = os.open(beside, flags, 0o600)
            try:
                with os.fdopen(handle, "w") as file:
                    os.fchmod(handle, mode)
                    file.write(text)
                beside.replace(self._path)
            except OSError:
                beside.unlink(missing_ok=True)
                raise

    def close(self) -> None:
        """Remove the file: old numbers are no news."""
        with contextlib.suppress(OSError):
            self._path.unlink()


@contextlib.contextmanager
def writing(place: Path) -> Iterator[None]:
    """Say in one line that a place cannot be written."""
    try:
        yield
    except OSError as error:
        raise MachineError(
            f"--prometheus: {place} cannot be written: {error.strerror or error}; name "
            "another place, or make its folder"
        ) from error


def _check_mine(path: Path, is_kind: Callable[[int], bool], kind: str) -> bool:
    """Say whether something is there; refuse what is not of this kind and user."""
    with writing(path):
        try:
            about = path.lstat()
        except FileNotFoundError:
            return False
    if about.st_uid != os.geteuid() or not is_kind(about.st_mode):
        raise UsageError(
            f"--prometheus: {path} is there already and is not {kind} of yours; name "
            "another place"
        )
    return True


@dataclass(slots=True)
class _Client:
    """A scraper: what it has asked so far, and what it must still be given."""

    connection: socket.socket
    until_s: float
    asked: bytes = b""
    left: bytes = b""


class Socket:
    """A Unix socket that speaks as much HTTP/1.0 as a scraper needs.

    A thread of its own waits for scrapers, so that nobody waits for a sample.

    Parameters
    ----------
    path : Path
        What a dead monitor left there is replaced.
    """

    def __init__(self, path: Path) -> None:
        if len(os.fsencode(path)) > _MOST_NAME:
            raise UsageError(
                f"--prometheus unix:{path}: is longer than the {_MOST_NAME} bytes that "
                "a socket may have; name a shorter one"
            )
        if _check_mine(path, stat.S_ISSOCK, "a socket"):
            _check_dead(path)
        self._path, self._text = path, b""
        self._listener = _listener(path)
        self._inode = path.lstat().st_ino
        self._ended, self._end = socket.socketpair()
        self._clients: list[_Client] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def tell(self, text: str) -> None:
        """Answer with this from now on."""
        self._text = text.encode()

    def close(self) -> None:
        """Serve nobody any more, and remove the socket."""
        self._end.close()
        self._thread.join(_PATIENCE_S)
        for one in (
            self._listener,
            self._ended,
            *(c.connection for c in self._clients),
        ):
            one.close()
        with contextlib.suppress(OSError):
            if self._path.lstat().st_ino == self._inode:
                self._path.unlink()

    def _serve(self) -> None:
        while True:
            reading: list[socket.socket] = [self._ended]
            if len(self._clients) < _MOST_CLIENTS:
                reading.append(self._listener)
            reading += [one.connection for one in self._clients if not one.left]
            answered = [one.connection for one in self._clients if one.left]
            ends = [one.until_s for one in self._clients]
            left_s = max(0.0, min(ends) - time.monotonic()) if ends else None
            ready, free, _ = select.select(reading, answered, [], left_s)
            if self._ended in ready:
                return
            if self._listener in ready:
                self._accept()
            for one in list(self._clients):
                if not self._goes_on(one, ready, free):
                    self._clients.remove(one)
                    one.connection.close()

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except BlockingIOError:
            return
        except OSError:  # no more open files: others are closed soon
            time.sleep(0.1)
            return
        connection.setblocking(False)
        self._clients.append(_Client(connection, time.monotonic() + _PATIENCE_S))

    def _goes_on(
        self, one: _Client, ready: list[socket.socket], free: list[socket.socket]
    ) -> bool:
        """Read from a scraper or write to it; say whether there is more to do."""
        try:
            if one.connection in ready:
                part = one.connection.recv(_MOST_REQUEST)
                one.asked += part
                if not part or len(one.asked) > _MOST_REQUEST:
                    return False
                if b"\r\n\r\n" in one.asked or b"\n\n" in one.asked:
                    one.left = self._answer(one.asked)
            elif one.connection in free:
                one.left = one.left[one.connection.send(one.left) :]
                return bool(one.left)
        except BlockingIOError:
            pass
        except OSError:
            return False
        return time.monotonic() < one.until_s

    def _answer(self, asked: bytes) -> bytes:
        method, _, rest = asked.partition(b" ")
        path = rest.partition(b" ")[0].partition(b"?")[0]
        if method not in (b"GET", b"HEAD"):
            return _http("405 Method Not Allowed", b"")
        if path not in (b"/", b"/metrics"):
            return _http("404 Not Found", b"")
        text = self._text
        whole = _http("200 OK", text)
        return whole[: len(whole) - len(text)] if method == b"HEAD" else whole


def _http(status: str, text: bytes) -> bytes:
    head = (
        f"HTTP/1.0 {status}\r\n"
        "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
        f"Content-Length: {len(text)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + text


def _check_dead(path: Path) -> None:
    """Refuse a socket at which somebody listens."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as one:
        one.setblocking(False)
        found = one.connect_ex(str(path))
    if found not in (errno.ECONNREFUSED, errno.ENOENT):
        raise UsageError(
            f"--prometheus: a program listens at {path} already; end it, or name "
            "another place"
        )


def _listener(path: Path) -> socket.socket:
    """Listen at a place; nobody else may connect, at no time."""
    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    one.setblocking(False)
    beside = path.with_name(f".{os.getpid()}")
    before = os.umask(0o177)
    try:
        with writing(path):
            beside.unlink(missing_ok=True)
            one.bind(str(beside))
            one.listen(_MOST_CLIENTS)
            beside.replace(path)  # whole, and in place of what a dead one left
    except BaseException:
        one.close()
        raise
    finally:
        os.umask(before)
    return one
