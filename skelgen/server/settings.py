"""How a server is set up, and what a handler is asked and answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skelgen.results.base import Result
from skelgen.server.job_queue import JobQueue
from skelgen.server.keyring import Visitor
from skelgen.web.site import SitePage


@dataclass(frozen=True, slots=True)
class UploadBounds:
    """How much may be sent to a server.

    Attributes
    ----------
    most_bytes : int
        Files of one form together [bytes].
    daily_bytes : int
        All that a token sends in a day [bytes].
    free_bytes : int
        Room on the disk that is left free [bytes].
    unpacked_bytes : int
        Rank files of an archive, which are read and removed again [bytes].
    """

    most_bytes: int = 64 << 20
    daily_bytes: int = 1 << 30
    free_bytes: int = 256 << 20
    unpacked_bytes: int = 1 << 30


@dataclass(frozen=True, slots=True)
class Settings:
    """How a server is set up.

    Attributes
    ----------
    store : str or None
        As ``--store`` names it.
    shown : str
        The same for people, without a password.
    names : frozenset of str
        Values of ``Host`` that are this server's.
    prefix : str
        Before each address: empty, or ``/p``.
    secure : bool
        Whether people come by TLS.
    cookie : str
        Name of the cookie: servers on other ports of a host have other ones.
    read_only : bool
        No request changes anything.
    most_bytes : int
        Of the body of a request.
    limit_s : float
        Time that a request may take [s].
    long_limit_s : float
        Time that a request may take that sends or gets files [s].
    uploads : UploadBounds
    """

    store: str | None
    shown: str
    names: frozenset[str]
    prefix: str = ""
    secure: bool = False
    cookie: str = "skelgen"
    read_only: bool = False
    most_bytes: int = 8 << 20
    limit_s: float = 30.0
    long_limit_s: float = 600.0
    uploads: UploadBounds = UploadBounds()


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file that somebody sent.

    Attributes
    ----------
    name : str
        As its sender calls it; it is text, and no path.
    file : Path
        In a folder of its own, by a name that is safe.
    """

    name: str
    file: Path


def _free(size_bytes: int) -> None:
    """Charge nobody."""


@dataclass(frozen=True, slots=True)
class Question:
    """A request that was let in.

    Attributes
    ----------
    settings : Settings
    visitor : Visitor or None
        None only where a route is open.
    path, query, form : mapping of str to str
        Named parts of the address, its query, and a form's fields.
    several : mapping of str to tuple of str
        All values of what the query may name more than once.
    body : bytes
    files : tuple of UploadedFile
        Of a form with files.
    charge : callable
        Counts bytes that are kept for who asks, and refuses what is too much.
    left : int
        That who asks may still send today [bytes].
    jobs : JobQueue or None
        Of the server; None where a question was made by hand.
    """

    settings: Settings
    visitor: Visitor | None = None
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    several: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    form: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    files: tuple[UploadedFile, ...] = ()
    charge: Callable[[int], None] = _free
    left: int = 0
    jobs: JobQueue | None = None


@dataclass(frozen=True, slots=True)
class GoTo:
    """An answer that sends people on to an address of this server."""

    path: str


@dataclass(frozen=True, slots=True)
class Sent:
    """An answer that is neither a page nor JSON; with a name it is a file to keep.

    Attributes
    ----------
    content : bytes
    media_type, file_name : str
    scripts, styles : str
        Hashes of our own script and style that are within it, for its policy.
    """

    content: bytes
    media_type: str
    file_name: str = ""
    scripts: str = ""
    styles: str = ""


@dataclass(frozen=True, slots=True)
class Streamed:
    """A file to keep, of which no more than a part is in memory at a time.

    Attributes
    ----------
    parts : iterator of bytes
    media_type, file_name : str
    """

    parts: Iterator[bytes]
    media_type: str
    file_name: str


#: A page, a result (which is JSON), another address, bytes, or a file.
Answer = SitePage | Result | GoTo | Sent | Streamed


class RefusedError(Exception):
    """A request that is refused with a status of HTTP.

    Attributes
    ----------
    status : int
    detail : str
        What to do.
    """

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
