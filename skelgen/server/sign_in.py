"""The way in: a token is exchanged for a cookie, and leaves the address at once."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as WebRoute

from skelgen.server.keyring import Keyring, Visitor
from skelgen.server.replies import page, problem
from skelgen.server.requests import form_of
from skelgen.server.settings import Settings
from skelgen.web.site_notices import enter_page, going_on_page

_WRONG = "this token does not count; ask who runs the server for one"


def set_cookie(response: Response, value: str, settings: Settings) -> None:
    """Give a cookie that scripts and other sites cannot use; empty: take it away."""
    response.set_cookie(
        settings.cookie,
        value,
        max_age=None if value else 0,
        path=settings.prefix or "/",
        secure=settings.secure,
        httponly=True,
        samesite="strict",
    )


def entrance(settings: Settings, keyring: Keyring) -> list[WebRoute]:
    """Return the addresses of the way in: open, and they show nothing of the store."""

    async def show(request: Request) -> Response:
        token = request.query_params.get("token")
        if token is not None:
            return _let_in(token)
        if keyring.by_cookie(request.cookies.get(settings.cookie, "")) is not None:
            return Response(None, 303, {"location": f"{settings.prefix}/"})
        return page(enter_page(), settings, None)

    async def typed(request: Request) -> Response:
        form = await form_of(request)
        return _let_in(form.get("token", "").strip())

    async def on(request: Request) -> Response:
        # A strict cookie is not sent while a link of another place is followed: the
        # next address is asked for by a page of our own.
        return page(going_on_page(), settings, None)

    def _let_in(token: str) -> Response:
        known: Visitor | None = keyring.by_token(token)
        if known is None:
            return problem(401, _WRONG, settings, api=False)
        response = Response(None, 303, {"location": f"{settings.prefix}/enter/on"})
        set_cookie(response, keyring.cookie(token), settings)
        return response

    return [
        WebRoute("/enter", show, methods=["GET"]),
        WebRoute("/enter", typed, methods=["POST"]),
        WebRoute("/enter/on", on, methods=["GET"]),
    ]
