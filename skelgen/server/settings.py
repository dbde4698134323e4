"""How a server is set up, and what a handler is asked and answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from skelgen.server.job_queue import JobQueue
from skelgen.server.keyring import Visitor
from skelgen.web.site import SitePage


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
    jobs: JobQueue | None = None


@dataclass(frozen=True, slots=True)
class GoTo:
    """An answer that sends people on to an address of this server."""

    path: str


@dataclass(frozen=True, slots=True)
class Sent:
    """An answer that is neither a page nor JSON."""

    content: bytes
    media_type: str


#: A page, JSON, another address, or bytes.
Answer = SitePage | Mapping[str, object] | GoTo | Sent


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
