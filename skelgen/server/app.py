"""The application: every address of the table, behind the gate."""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Mount, Router
from starlette.routing import Route as WebRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from skelgen import _paths
from skelgen.documents.system import system_error
from skelgen.errors import SkelgenError
from skelgen.server.gate import Gate
from skelgen.server.job_queue import JobQueue
from skelgen.server.keyring import Keyring, Visitor, same
from skelgen.server.multipart import boundary_of
from skelgen.server.replies import problem, reply, status_of
from skelgen.server.requests import checked, form_of, repeated
from skelgen.server.routes import ROUTES, Route
from skelgen.server.settings import Answer, Question, RefusedError, Settings
from skelgen.server.sign_in import entrance, set_cookie
from skelgen.server.slashes import marked_path, named_parts
from skelgen.server.tokens import Right
from skelgen.server.upload_limits import Allowance
from skelgen.server.uploads import (
    SentForm,
    form_with_files,
    receive_body,
    upload_folder,
)
from skelgen.store import place_of
from skelgen.store.deadlines import deadline
from skelgen.store.idle_connections import IdleConnections, reusing

logger = logging.getLogger(__name__)

_Answering = Callable[[Request], Awaitable[Response]]
_Result = TypeVar("_Result")
#: Requests that are worked on at once; others wait, which takes less memory.
_THREADS = 4
#: Files that are read at once: each takes a process of its own meanwhile.
_READERS = 2
_NO_TOKEN = (
    "show your token: open the address that skelgen serve printed, or send "
    "Authorization: Bearer TOKEN"
)


def application(
    settings: Settings,
    keyring: Keyring,
    jobs: JobQueue | None = None,
    idle: IdleConnections | None = None,
) -> ASGIApp:
    """Return the application that answers all requests.

    Parameters
    ----------
    settings : Settings
    keyring : Keyring
    jobs : JobQueue, optional
        For work outside the requests; else it has one of its own.
    idle : IdleConnections, optional
        Keeps connections to the store from one request to the next.
    """
    answered = web_routes(settings, keyring, jobs, idle)
    routes: list[BaseRoute] = [*answered]
    if settings.prefix:
        routes = [Mount(settings.prefix, routes=routes)]
    router = Router(routes, redirect_slashes=False)

    async def refused(request: Request, error: Exception) -> Response:
        found = _refused(error, request, settings)
        if found.status_code == 405:
            found.headers["allow"] = ", ".join(
                sorted(_methods(answered, request.scope))
            )
        return found

    handlers = {HTTPException: refused, RefusedError: refused, SkelgenError: refused}
    handled = ExceptionMiddleware(router, handlers)

    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = router  # so that what no address answers is refused above
        scope["path"] = marked_path(scope)
        await handled(scope, receive, send)

    long = frozenset(f"{settings.prefix}{one.path}" for one in ROUTES if one.long)
    return Gate(inner, settings, long)


def web_routes(
    settings: Settings,
    keyring: Keyring,
    jobs: JobQueue | None = None,
    idle: IdleConnections | None = None,
) -> list[WebRoute]:
    """Return the way in and out, and every address of the table."""
    threads, readers = CapacityLimiter(_THREADS), CapacityLimiter(_READERS)
    allowance = allowance_of(settings)
    queue = jobs or JobQueue(settings.store)
    return [
        *entrance(settings, keyring),
        WebRoute("/leave", _leaving(settings, keyring), methods=["POST"]),
        *(
            WebRoute(
                one.path,
                _Endpoint(
                    one,
                    settings,
                    keyring,
                    readers if one.takes_files else threads,
                    allowance,
                    queue,
                    idle,
                ).answer,
                methods=[one.method],
            )
            for one in ROUTES
        ),
    ]


def _methods(routes: Iterable[WebRoute], scope: Scope) -> set[str]:
    """Return the methods that an address takes, below a prefix that was taken off."""
    return {
        method
        for one in routes
        if one.matches(scope)[0] is not Match.NONE
        for method in one.methods or ()
    }


def _refused(error: Exception, request: Request, settings: Settings) -> Response:
    """Answer what no address of the table answers."""
    api = request.url.path.startswith(f"{settings.prefix}/api/")
    if isinstance(error, RefusedError):
        return problem(error.status, error.detail, settings, api=api)
    if isinstance(error, SkelgenError):
        return problem(status_of(error), str(error), settings, api=api)
    status = error.status_code if isinstance(error, HTTPException) else 404
    detail = {
        404: "there is no such page; begin at the overview",
        405: "this address does not take such a request",
    }.get(status, "the request is none that this server takes")
    return problem(status, detail, settings, api=api)


def visitor_of(
    request: Request, keyring: Keyring, settings: Settings
) -> Visitor | None:
    """Return who asks: by a token in the header, or by the cookie."""
    token = _bearer(request)
    if token is not None:
        return keyring.by_token(token)
    cookie = request.cookies.get(settings.cookie)
    return None if cookie is None else keyring.by_cookie(cookie)


def _bearer(request: Request) -> str | None:
    """Return the token of the header; None where it has none."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else None


def allowance_of(settings: Settings) -> Allowance:
    """Return how much may be sent to a server, and on which disks it is kept."""
    folders = [_paths.state()]
    place = place_of(settings.store)
    if not place.is_url:
        folders.append(Path(place.where).expanduser().parent)
    bounds = settings.uploads
    return Allowance(bounds.daily_bytes, bounds.free_bytes, folders)


@dataclass(frozen=True, slots=True)
class _Endpoint:
    """What answers at an address, for who may, in one of the threads."""

    route: Route
    settings: Settings
    keyring: Keyring
    threads: CapacityLimiter
    allowance: Allowance
    jobs: JobQueue
    idle: IdleConnections | None

    async def answer(self, request: Request) -> Response:
        """Answer a request."""
        one, settings = self.route, self.settings
        visitor = None
        try:
            visitor = visitor_of(request, self.keyring, settings)
            _check_right(one, visitor)
            async with contextlib.AsyncExitStack() as stack:
                question = await self._question(request, visitor, stack)
                found = await self._work(functools.partial(self._in_time, question))
        except (SkelgenError, RefusedError) as error:
            return problem(
                status_of(error), str(error), settings, visitor, api=one.is_api
            )
        except OSError as error:
            if isinstance(error, TimeoutError):
                raise
            told = str(system_error(error))
            return problem(503, told, settings, visitor, api=one.is_api)
        return reply(found, settings, visitor)

    async def _work(self, work: Callable[[], _Result]) -> _Result:
        """Work in a thread.

        One that reads for too long is left to itself; one that changes something is
        waited for, so that nobody is told of half a change.
        """
        return await to_thread.run_sync(
            work, abandon_on_cancel=not self.route.changes, limiter=self.threads
        )

    def _in_time(self, question: Question) -> Answer:
        """Work on a request; what only reads ends when its time is over."""
        one, settings = self.route, self.settings
        with reusing(self.idle):
            if one.changes:
                return one.handler(question)
            with deadline(settings.long_limit_s if one.long else settings.limit_s):
                return one.handler(question)

    async def _question(
        self,
        request: Request,
        visitor: Visitor | None,
        stack: contextlib.AsyncExitStack,
    ) -> Question:
        """Read a request, and check the second token of what changes something."""
        one = self.route
        pairs = request.query_params.multi_items()
        query, several = checked(pairs, one.several), repeated(pairs, one.several)
        path = named_parts(request.path_params)
        if path is None or any("\0" in v or len(v) > 200 for v in path.values()):
            raise RefusedError(404, "there is no such page; begin at the overview")
        name = "" if visitor is None else visitor.name
        charge = functools.partial(self.allowance.charge, name)
        found = Question(
            *(self.settings, visitor, path, query, several),
            charge=charge,
            left=self.allowance.left(name),
            jobs=self.jobs,
        )
        if one.changes and one.is_api and _bearer(request) is None:
            raise RefusedError(401, "this needs Authorization: Bearer TOKEN")
        if one.takes_files:
            stack.enter_context(self.allowance.place(name))
            sent = await self._sent(
                request, stack.enter_context(upload_folder()), charge
            )
            if not one.is_api:
                check_form(sent.fields, visitor)
            return replace(found, form=sent.fields, files=sent.files)
        if one.changes and one.is_api:
            return replace(found, body=await request.body())
        if one.changes:
            form = await form_of(request)
            check_form(form, visitor)
            return replace(found, form=form)
        return found

    async def _sent(
        self, request: Request, folder: Path, charge: Callable[[int], None]
    ) -> SentForm:
        """Write files onto the disk as they come."""
        kind = request.headers.get("content-type", "")
        boundary_of(kind)  # before anything is read
        body = await receive_body(request.stream(), folder, charge)
        return await self._work(functools.partial(form_with_files, body, kind))


def _check_right(one: Route, visitor: Visitor | None) -> None:
    if one.right is Right.OPEN:
        return
    if visitor is None:
        raise RefusedError(401, _NO_TOKEN)
    if visitor.right < one.right:
        raise RefusedError(
            403,
            f"your token allows to {visitor.right.word}, this needs "
            f"{one.right.word}; ask who runs the server for another one",
        )


def check_form(form: dict[str, str], visitor: Visitor | None) -> None:
    """Refuse a form that no page of ours has shown to who sends it."""
    if visitor is None or not same(form.pop("form_token", ""), visitor.form):
        raise RefusedError(403, "this form is not of a page of yours; open it again")


def _leaving(settings: Settings, keyring: Keyring) -> _Answering:
    """Return what takes the cookie away."""

    async def leave(request: Request) -> Response:
        visitor = visitor_of(request, keyring, settings)
        if visitor is None:
            raise RefusedError(401, _NO_TOKEN)
        check_form(await form_of(request), visitor)
        response = Response(None, 303, {"location": f"{settings.prefix}/enter"})
        set_cookie(response, "", settings)
        return response

    return leave
