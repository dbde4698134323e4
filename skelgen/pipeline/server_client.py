"""Ask a server that `skelgen serve` started: by HTTP, with a token, within bounds."""

from __future__ import annotations

import functools
import http.client
import ipaddress
import json
import logging
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from skelgen import __version__
from skelgen.documents import Field, json_field
from skelgen.documents.files import as_text
from skelgen.errors import InputError, MachineError, UsageError
from skelgen.pipeline.paced import Pace, PacedResponse
from skelgen.units import format_bytes

logger = logging.getLogger(__name__)

#: Version of what is said between server and command.
API = 1
#: The longest answer that is read [bytes], the longest wait for its first byte [s], and
#: the slowest exchange beyond that wait [bytes/s].
_MOST_ANSWER, _ANSWER_S, _FLOOR = 64 << 20, 60.0, 16 << 10
#: How names of this machine end that no server of names is asked for.
_OWN = ".localhost"
#: Waits before a request is sent again [s].
_WAITS_S = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
#: Answers of a server or proxy after which the same request may do.
_PASSING = (502, 503, 504)


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a server is.

    Attributes
    ----------
    host : str
    port : int
    prefix : str
        Before each address: empty, or ``/p``.
    tls : bool
    """

    host: str
    port: int
    prefix: str = ""
    tls: bool = True

    @property
    def reached(self) -> str:
        """Return the host to connect to: names below localhost are this machine."""
        return "127.0.0.1" if self.host.endswith(_OWN) else self.host

    @property
    def url(self) -> str:
        """Return the address as people type it, without a ``/`` at its end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = 443 if self.tls else 80
        port = "" if self.port == usual else f":{self.port}"
        return f"http{'s' if self.tls else ''}://{host}{port}{self.prefix}"


@dataclass(frozen=True, slots=True)
class AboutServer:
    """What a server says of itself and of who asks.

    Attributes
    ----------
    version : str
        Of its skelgen.
    right : str
        What the token allows.
    read_only : bool
    most_bytes : int
        Of a request [bytes].
    left_bytes : int
        That the token may still send today [bytes].
    """

    version: str
    right: str
    read_only: bool
    most_bytes: int
    left_bytes: int


def server_address(text: str, *, insecure: bool = False) -> ServerAddress:
    """Read the address of a server.

    Parameters
    ----------
    text : str
        Such as ``https://site.example/skelgen``.
    insecure : bool
        Whether the token may go over a network without TLS.

    Raises
    ------
    UsageError
        When it is none, or holds a token.
    """
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"{text[:80]}: is no address: {error}") from error
    if parts.query or "@" in parts.netloc or parts.path.endswith("/enter"):
        raise UsageError(
            "the address holds a token or a password, which others see in the list of "
            "processes: give the address alone, and the token in SKELGEN_TOKEN or with "
            "--token-file"
        )
    if parts.scheme not in ("http", "https") or not host or parts.fragment:
        raise UsageError(
            f"{text[:80]}: is no address of a server; expected one such as "
            "https://site.example/skelgen or http://127.0.0.1:8642"
        )
    tls = parts.scheme == "https"
    if not (tls or insecure or _is_loopback(host)):
        raise UsageError(
            f"{text[:80]}: others could read the token on the network; use https://, "
            "an SSH tunnel to 127.0.0.1, or --insecure"
        )
    return ServerAddress(
        host, port or (443 if tls else 80), parts.path.rstrip("/"), tls
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(_OWN):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class ServerClient:
    """A connection to a server, made again when it is cut.

    Parameters
    ----------
    address : ServerAddress
    token : str
    authority : Path, optional
        Certificates, in PEM, that count in place of the system's.
    wait : callable
        Waits so long [s].
    """

    def __init__(
        self,
        address: ServerAddress,
        token: str,
        authority: Path | None = None,
        *,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        if not (token.isascii() and token.isprintable()) or " " in token or not token:
            raise UsageError("the token is none: it has letters, digits, - and _ only")
        self.address = address
        self._token, self._wait = token, wait
        self._tls = _trusted(authority) if address.tls else None
        self._connection: http.client.HTTPConnection | None = None
        self._reached = False

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def about(self) -> AboutServer:
        """Ask what the server is, and what the token allows.

        Raises
        ------
        UsageError
            When the token does not count.
        InputError
            When that is no such server, or an older or newer one.
        MachineError
            When there is no connection, or it is too slow.
        """
        found = self.ask("GET", "/api/server").mapping((), None)
        if "api" not in found or not isinstance(found["api"].value, int):
            raise self._other_version("unknown", "older")
        version = found["version"].text()[:40] if "version" in found else "unknown"
        if found["api"].value != API:
            which = "newer" if found["api"].value > API else "older"
            raise self._other_version(version, which)
        return AboutServer(
            version,
            found["right"].text(),
            found["read_only"].truth(),
            found["most_bytes"].integer(1, 1 << 50),
            found["left_bytes"].integer(0, 1 << 60),
        )

    def ask(self, method: str, path: str, body: bytes | None = None) -> Field:
        """Send a request, again where it was cut off; return the answer.

        What a server does not do twice may be sent twice.

        Raises
        ------
        SkelgenError
            What the server refused, or why it cannot be reached.
        """
        waits = iter(_WAITS_S if self._reached else ())
        while True:
            try:
                status, content = self._sent(method, path, body)
            except MachineError:  # it is too slow
                self.close()
                raise
            except ssl.SSLCertVerificationError as error:
                raise MachineError(
                    f"{self.address.url}: its certificate does not count "
                    f"({error.verify_message}); give the site's authority: --ca FILE"
                ) from error
            except (OSError, http.client.HTTPException) as error:
                why = str(error) or type(error).__name__
                self._again(waits, why, error)
                continue
            if status in _PASSING and self._reached:
                self._again(waits, f"it answers {status}", None)
                continue
            self._reached = True
            return self._answer(status, content, path)

    def _sent(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        connection = self._connected()
        pace = Pace(self.address.url, _ANSWER_S, _FLOOR)
        connection.response_class = functools.partial(  # type: ignore[assignment]
            PacedResponse, pace
        )
        headers = {
            "Host": urlsplit(self.address.url).netloc,
            "Authorization": f"Bearer {self._token}",
            "User-Agent": f"skelgen/{__version__}",
            "Accept": "application/json",
        }
        pieces = None
        if body is not None:
            headers["Content-Type"] = "application/jsonl"
            headers["Content-Length"] = str(len(body))
            pieces = pace.pieces(body, connection.sock)
        target = f"{self.address.prefix}{path}"
        try:
            connection.request(method, target, pieces, headers)
        except TimeoutError as error:
            raise pace.too_slow() from error
        answer = connection.getresponse()
        content = answer.read(_MOST_ANSWER + 1)
        if len(content) > _MOST_ANSWER:
            self.close()
            raise InputError(
                f"{self.address.url}: answers more than {format_bytes(_MOST_ANSWER)}"
            )
        if answer.will_close:
            self.close()
        return answer.status, content

    def _connected(self) -> http.client.HTTPConnection:
        if self._connection is None:
            at, port = self.address.reached, self.address.port
            self._connection = (
                http.client.HTTPConnection(at, port, timeout=_ANSWER_S)
                if self._tls is None
                else http.client.HTTPSConnection(
                    at, port, timeout=_ANSWER_S, context=self._tls
                )
            )
        if self._connection.sock is None:
            self._connection.connect()
        return self._connection

    def _again(self, waits: object, why: str, error: Exception | None) -> None:
        """Wait before the next attempt; give up after the last one."""
        self.close()
        wait_s = next(waits, None)  # type: ignore[call-overload]
        if wait_s is None:
            raise MachineError(
                f"{self.address.url}: no connection ({why}); see that the server runs "
                "there, and run the same command again: it goes on"
            ) from error
        logger.info("%s: %s; trying again in %g s", self.address.url, why, wait_s)
        self._wait(wait_s)

    def _answer(self, status: int, content: bytes, path: str) -> Field:
        shown = Path(self.address.url.replace("//", "/"))  # of messages only
        if status == http.client.OK:
            return json_field(as_text(shown, content), shown)
        detail = _detail(content, shown)
        if status == http.client.UNAUTHORIZED:
            raise UsageError(
                f"{self.address.url}: does not know this token; ask who runs the "
                "server for one: skelgen serve token add"
            )
        if 300 <= status < 400:
            raise UsageError(
                f"{self.address.url}: leads elsewhere ({status}), and the token is "
                "sent nowhere else; give the address that it leads to"
            )
        if not detail:
            raise InputError(
                f"{self.address.url}: answers {status} without a reason to {path}; is "
                "it the address of skelgen serve, with its prefix?"
            )
        if status == http.client.NOT_FOUND and path == "/api/server":
            raise self._other_version("unknown", "older")
        kind = UsageError if status == http.client.FORBIDDEN else InputError
        if status >= http.client.INTERNAL_SERVER_ERROR:
            raise MachineError(f"{self.address.url}: {detail}")
        raise kind(f"{self.address.url}: {detail}")

    def _other_version(self, version: str, which: str) -> InputError:
        mend = "a newer skelgen here" if which == "newer" else "a newer skelgen there"
        return InputError(
            f"{self.address.url}: is {which} than this skelgen {__version__} (its "
            f"version: {version}); install {mend}"
        )


def _trusted(authority: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(
            cafile=None if authority is None else str(authority)
        )
    except (OSError, ValueError) as error:
        raise UsageError(
            f"--ca {authority}: cannot be read ({error}); give a file of certificates "
            "in PEM"
        ) from error


def _detail(content: bytes, shown: Path) -> str:
    """Return the sentence of a problem; empty where there is none."""
    try:
        found: object = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    detail = found.get("detail") if isinstance(found, Mapping) else None
    return " ".join(detail.split())[:1000] if isinstance(detail, str) else ""
