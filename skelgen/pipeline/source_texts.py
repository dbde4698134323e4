"""Get the text of other tools: from files, their own readers, or an exporter."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from skelgen.documents.files import MOST_BYTES, read_text, unreadable
from skelgen.errors import ApplicationError, InputError, MachineError, UsageError
from skelgen.launch.process import run
from skelgen.sources import KINDS, Line, kind_of
from skelgen.sources.pcp import pmrep_words
from skelgen.sources.sar import REPORTS
from skelgen.units import format_bytes

#: Longest line [bytes].
_MOST_LINE = 1 << 20
#: Longest answer of an exporter [bytes], and the longest that it may take [s].
_MOST_ANSWER, _ANSWER_S = 64 << 20, 10.0
#: Longest that a tool may read a file [s].
_TOOL_S = 600.0
_PACKAGES = {"pmrep": "pcp", "sadf": "sysstat"}


@dataclass(frozen=True, slots=True)
class SourceText:
    """What a source says.

    Attributes
    ----------
    name : str
        As the user gave it.
    kind : str
        A name of `skelgen.sources.KINDS`.
    form : str
        ``text``, ``json`` or ``binary``.
    seen : float
        When it was written or read, seconds since 1970 in UTC [s].
    text : str or None
        All of it, where it is no file of lines.
    """

    name: str
    kind: str
    form: str
    seen: float
    text: str | None = None

    def whole(self) -> str:
        """Return its text.

        Raises
        ------
        InputError
            When it cannot be read, or is too long.
        """
        return read_text(Path(self.name)) if self.text is None else self.text

    def lines(self) -> Iterator[Line]:
        """Yield its lines; a file is read as far as they are asked for.

        Raises
        ------
        InputError
            When it cannot be read, or is no UTF-8.
        """
        if self.text is not None:
            yield from enumerate(self.text.split("\n"), start=1)
            return
        try:
            with _opened(self.name) as file:
                yield from _decoded(self.name, file)
        except OSError as error:
            raise unreadable(self.name, error) from error


def is_live(name: str) -> bool:
    """Say whether a source is an exporter that answers anew each time."""
    return name.startswith(("http://", "https://", "unix:"))


def source_text(name: str, kind: str = "") -> SourceText:
    """Find out what a source is; ask exporters, and let tools read their files.

    Parameters
    ----------
    name : str
        A file, an archive of PCP, a URL, or ``unix:`` and the path of a socket.
    kind : str
        One of `skelgen.sources.KINDS`; empty: as it begins.

    Raises
    ------
    InputError
        When it cannot be read, or no tool that is known wrote it.
    """
    if is_live(name):
        return SourceText(name, KINDS[0], "text", time.time(), _answer(name))
    if archive := _archive(Path(name)):
        return SourceText(name, "pcp", "text", time.time(), _pcp_text(archive))
    try:
        with _opened(name) as file:
            begin, seen = file.read(1000), os.fstat(file.fileno()).st_mtime
    except OSError as error:
        raise unreadable(name, error) from error
    if kind:
        form = "json" if begin.lstrip().startswith(b"{") else "text"
        form = "binary" if b"\0" in begin[:16] else form
    else:
        kind, form = kind_of(name, begin)
    if form != "binary":
        return SourceText(name, kind, form, seen)
    if kind == "sar":
        return SourceText(name, kind, "json", seen, _sar_text(name))
    raise InputError(
        f"{name}: is a binary file; expected text, a file of sar or an archive of PCP"
    )


def _opened(name: str) -> IO[bytes]:
    """Open a regular file; a pipe without a writer would be waited for."""
    handle = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InputError(
            f"{name}: is not a regular file; give a file, or unix:PATH for a socket"
        )
    return os.fdopen(handle, "rb")


def _decoded(name: str, file: IO[bytes]) -> Iterator[Line]:
    at = 0
    while line := file.readline(_MOST_LINE):
        at += 1
        if len(line) == _MOST_LINE:
            raise InputError(
                f"{name}: line {at} is longer than {format_bytes(_MOST_LINE)}, which "
                "no line of such a file is"
            )
        try:
            text = line.decode("utf-8-sig" if at == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{name}: line {at} is not UTF-8 text; write the file again"
            ) from error
        yield at, text.rstrip("\r\n")


def _archive(path: Path) -> str:
    """Return the archive of PCP that a path means, else nothing."""
    if path.is_dir():
        found = any(one.name.endswith(".index") for one in path.iterdir())
        return str(path) if found else ""
    name = path.name.removesuffix(".xz").removesuffix(".zst")
    base = path.with_name(name.removesuffix(Path(name).suffix))
    is_part = Path(name).suffix in (".meta", ".index") or name[-1:].isdigit()
    for one in (path, base) if is_part else (path,):
        if any(one.with_name(f"{one.name}.meta{end}").exists() for end in _PACKED):
            return str(one)
    return ""


_PACKED = ("", ".xz", ".zst")


def _pcp_text(archive: str) -> str:
    return _said(archive, [pmrep_words(archive)])


def _sar_text(name: str) -> str:
    # Older versions know no kinds of queues.
    older = [word for word in REPORTS if word != "ALL" or word == REPORTS[1]]
    words = [("sadf", "-j", name, "--", *some) for some in (REPORTS, older)]
    return _said(name, words)


def _said(source: str, commands: Sequence[Sequence[str]]) -> str:
    """Return what the first command prints that can read a source.

    Raises
    ------
    MachineError
        When there is no such command.
    ApplicationError
        When none can.
    """
    tool = commands[0][0]
    if (place := shutil.which(tool)) is None:
        raise MachineError(
            f"{source}: {tool} reads such files and is not installed; install the "
            f"package {_PACKAGES[tool]} (apt or dnf), or import what it printed "
            "elsewhere"
        )
    # The Python beside a tool has its modules, that of a virtual environment has not.
    path = f"{Path(place).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    for words in commands:
        done = run(
            [place, *words[1:]],
            timeout_s=_TOOL_S,
            environment={"PATH": path, "LC_ALL": "C.UTF-8"},
        )
        if not done.exit_code and len(done.output) <= MOST_BYTES:
            return done.output
    if not done.exit_code:
        raise InputError(
            f"{source}: {tool} prints more than {format_bytes(MOST_BYTES)}; import "
            "parts of it"
        )
    raise ApplicationError(f"{source}: {tool} cannot read it: {done.complaint}")


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, timeout_s: float) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _answer(name: str) -> str:
    """Ask an exporter.

    Raises
    ------
    UsageError
        When that is no address.
    ApplicationError
        When it does not answer as an exporter does.
    """
    connection, target = _connection(name)
    try:
        connection.request("GET", target, headers={"Accept": "text/plain"})
        answer = connection.getresponse()
        content = answer.read(_MOST_ANSWER + 1)
    except (OSError, http.client.HTTPException, ValueError) as error:
        why = str(error) or type(error).__name__
        raise ApplicationError(
            f"{name}: does not answer: {why}; see that the exporter runs"
        ) from error
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise ApplicationError(
            f"{name}: answers {answer.status}, expected 200; give the address of its "
            "metrics, such as http://n1:9100/metrics"
        )
    if len(content) > _MOST_ANSWER:
        raise InputError(f"{name}: answers more than {format_bytes(_MOST_ANSWER)}")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: answers no UTF-8 text") from error


def _connection(name: str) -> tuple[http.client.HTTPConnection, str]:
    """Return the way to an exporter and what to ask it for."""
    if name.startswith("unix:"):
        return _UnixConnection(name.removeprefix("unix:"), _ANSWER_S), "/metrics"
    try:
        parts = urlsplit(name)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"{name}: is no address: {error}") from error
    if not host or "@" in parts.netloc:
        raise UsageError(
            f"{parts.scheme}://...: expected an address such as "
            "http://n1:9100/metrics, without a user or a password"
        )
    kind = (
        http.client.HTTPSConnection
        if parts.scheme == "https"
        else http.client.HTTPConnection
    )
    path = parts.path or "/metrics"
    target = f"{path}?{parts.query}" if parts.query else path
    return kind(host, port, timeout=_ANSWER_S), target
