"""The application: every address of the table, behind the gate."""

from __future__ import annotations

import functools
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from anyio import CapacityLimiter, to_thread
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Router
from starlette.routing import Route as WebRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from skelgen.documents.system import system_error
from skelgen.errors import SkelgenError
from skelgen.server.entrance import entrance, set_cookie
from skelgen.server.gate import Gate
from skelgen.server.job_queue import JobQueue
from skelgen.server.keyring import Keyring, Visitor, same
from skelgen.server.replies import problem, reply, status_of
from skelgen.server.requests import checked, form_of, repeated
from skelgen.server.routes import ROUTES, Route
from skelgen.server.settings import Answer, Question, RefusedError, Settings
from skelgen.server.tokens import Right
from skelgen.store.deadlines import deadline

logger = logging.getLogger(__name__)

_Endpoint = Callable[[Request], Awaitable[Response]]
#: Requests that are worked on at once; others wait, which takes less memory.
_THREADS = 6
_NO_TOKEN = (
    "show your token: open the address that skelgen serve printed, or send "
    "Authorization: Bearer TOKEN"
)


def application(
    settings: Settings, keyring: Keyring, jobs: JobQueue | None = None
) -> ASGIApp:
    """Return the application that answers all requests.

    Parameters
    ----------
    settings : Settings
    keyring : Keyring
    jobs : JobQueue, optional
        For work outside the requests; else it has one of its own.
    """
    routes: list[BaseRoute] = [*web_routes(settings, keyring, jobs)]
    if settings.prefix:
        routes = [Mount(settings.prefix, routes=routes)]
    router = Router(routes, redirect_slashes=False)

    async def refused(request: Request, error: Exception) -> Response:
        return _refused(error, request, settings)

    handlers = {HTTPException: refused, RefusedError: refused, SkelgenError: refused}
    handled = ExceptionMiddleware(router, handlers)

    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = router  # so that what no address answers is refused above
        await handled(scope, receive, send)

    return Gate(inner, settings)


def web_routes(
    settings: Settings, keyring: Keyring, jobs: JobQueue | None = None
) -> list[WebRoute]:
    """Return the way in and out, and every address of the table."""
    threads = CapacityLimiter(_THREADS)
    queue = jobs or JobQueue(settings.store)
    return [
        *entrance(settings, keyring),
        WebRoute("/leave", _leaving(settings, keyring), methods=["POST"]),
        *(
            WebRoute(
                one.path,
                _endpoint(one, settings, keyring, threads, queue),
                methods=[one.method],
            )
            for one in ROUTES
        ),
    ]


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


def _endpoint(
    one: Route,
    settings: Settings,
    keyring: Keyring,
    threads: CapacityLimiter,
    jobs: JobQueue,
) -> _Endpoint:
    """Return what answers at an address, for who may, in one of the threads."""

    async def endpoint(request: Request) -> Response:
        visitor = None
        try:
            visitor = visitor_of(request, keyring, settings)
            _check_right(one, visitor)
            question = await _question(one, request, settings, visitor)
            question = replace(question, jobs=jobs)
            work = functools.partial(_in_time, one, question)
            # A thread that reads for too long is left to itself; one that changes
            # something is waited for, so that nobody is told of half a change.
            found = await to_thread.run_sync(
                work, abandon_on_cancel=not one.changes, limiter=threads
            )
        except (SkelgenError, RefusedError) as error:
            return problem(
                status_of(error), str(error), settings, visitor, api=one.is_api
            )
        except OSError as error:
            if isinstance(error, TimeoutError):
                raise
            told = str(system_error(error))
            return problem(503, told, settings, visitor, api=one.is_api)
        return reply(found, settings, visitor, api=one.is_api)

    return endpoint


def _in_time(one: Route, question: Question) -> Answer:
    """Work on a request; what only reads ends when its time is over."""
    if one.changes:
        return one.handler(question)
    with deadline(question.settings.limit_s):
        return one.handler(question)


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


async def _question(
    one: Route, request: Request, settings: Settings, visitor: Visitor | None
) -> Question:
    """Read a request, and check the second token of what changes something."""
    pairs = request.query_params.multi_items()
    query, several = checked(pairs, one.several), repeated(pairs, one.several)
    path = {name: str(value) for name, value in request.path_params.items()}
    if any("\0" in value or len(value) > 200 for value in path.values()):
        raise RefusedError(404, "there is no such page; begin at the overview")
    form: dict[str, str] = {}
    body = b""
    if one.changes and one.is_api:
        if _bearer(request) is None:
            raise RefusedError(401, "this needs Authorization: Bearer TOKEN")
        body = await request.body()
    elif one.changes:
        form = await form_of(request)
        check_form(form, visitor)
    return Question(settings, visitor, path, query, several, form, body)


def check_form(form: dict[str, str], visitor: Visitor | None) -> None:
    """Refuse a form that no page of ours has shown to who sends it."""
    if visitor is None or not same(form.pop("form_token", ""), visitor.form):
        raise RefusedError(403, "this form is not of a page of yours; open it again")


def _leaving(settings: Settings, keyring: Keyring) -> _Endpoint:
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
