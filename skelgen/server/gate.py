"""What every request passes first: whose it is, how large, and how long it may take."""

from __future__ import annotations

import asyncio
import logging
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skelgen.server.replies import HEADERS, problem
from skelgen.server.settings import Settings

logger = logging.getLogger(__name__)


class TooLargeError(Exception):
    """The body of a request is larger than a server reads."""


class Gate:
    """Let in what is meant for this server, within its bounds.

    A page of another site may reach a server on loopback by a name that points there:
    such a request is refused whether it has a token or not.

    Parameters
    ----------
    app : ASGIApp
    settings : Settings
    long : frozenset of str
        Addresses that send or get files: they have more time, and larger bodies.
    """

    def __init__(
        self, app: ASGIApp, settings: Settings, long: frozenset[str] = frozenset()
    ) -> None:
        self._app = app
        self._settings = settings
        self._long = long

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        begun = False

        async def headed(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        most_bytes = self._most_bytes(scope)
        status, detail = self._refused(Headers(scope=scope), most_bytes)
        if not status:
            status, detail = await self._answered(scope, receive, headed)
        if status and not begun:
            api = scope["path"].startswith(f"{self._settings.prefix}/api/")
            found = problem(status, detail, self._settings, api=api)
            found.headers["connection"] = "close"  # a body may be left unread
            await found(scope, receive, headed)

    async def _answered(
        self, scope: Scope, receive: Receive, send: Send
    ) -> tuple[int, str]:
        """Let a request in; return what stopped it, a status and a sentence."""
        settings = self._settings
        most_bytes = self._most_bytes(scope)
        is_long = scope["path"] in self._long
        limit_s = settings.long_limit_s if is_long else settings.limit_s
        try:
            async with asyncio.timeout(limit_s):
                await self._app(scope, _bounded(receive, most_bytes), send)
        except TimeoutError:
            if scope["method"] not in ("GET", "HEAD"):
                return 503, (
                    f"it took longer than {limit_s:g} s and may have been "
                    "done; look before you send it again"
                )
            return 503, (
                f"it took longer than {limit_s:g} s; ask for less, or use the "
                "command line"
            )
        except ClientDisconnect:  # nobody is there to be answered
            return 0, ""
        except TooLargeError:
            return 413, (
                f"the request is larger than {most_bytes} bytes; send less at once, or "
                "use skelgen push"
            )
        except Exception as error:  # a bug: nobody outside learns where
            logger.error(
                "a request failed (%s in %s); report it",
                type(error).__name__,
                _place(error),
            )
            return 500, "this is a fault of skelgen; the server's own output names it"
        return 0, ""

    def _most_bytes(self, scope: Scope) -> int:
        """Return how much a request may send [bytes]."""
        settings = self._settings
        is_long = scope["path"] in self._long
        return settings.uploads.most_bytes if is_long else settings.most_bytes

    def _refused(self, headers: Headers, most_bytes: int) -> tuple[int, str]:
        """Say why a request is not for this server; 0 when it is."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._settings.names:
            return 421, (
                "this name is not the server's; open the address that skelgen serve "
                "printed, or name it with --name when the server is started"
            )
        origins = headers.getlist("origin")
        if not all(self._is_own(one, headers) for one in origins):
            return 403, "the request comes from a page of another site"
        if "content-length" in headers and "transfer-encoding" in headers:
            return 400, "the request says in two ways how long it is"
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            return 400, "the length of the request is no number"
        if len(length) > 15 or int(length) > most_bytes:
            return 413, f"send at most {most_bytes} bytes at once"
        return 0, ""

    def _is_own(self, origin: str, headers: Headers) -> bool:
        if origin == "null":  # what browsers send for a page that says no-referrer
            return headers.get("sec-fetch-site") == "same-origin"
        try:
            found = urlsplit(origin.lower())
        except ValueError:
            return False
        scheme = "https" if self._settings.secure else "http"
        return found.scheme == scheme and found.netloc in self._settings.names


def _bounded(receive: Receive, most_bytes: int) -> Receive:
    """Return what reads a request up to a size."""
    read = 0

    async def counted() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most_bytes:
            raise TooLargeError
        return message

    return counted


def _place(error: Exception) -> str:
    """Return module and line of a bug, without what was asked for."""
    trace = error.__traceback__
    place = "?"
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "?")
        place = f"{name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
