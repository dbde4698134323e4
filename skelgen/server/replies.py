"""Turn answers into what is sent: pages, JSON, and problems of both kinds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import Response, StreamingResponse

from skelgen.documents.archives import safe_name
from skelgen.documents.text_of_bytes import shown
from skelgen.errors import InputError, MachineError, SkelgenError, UsageError
from skelgen.results.base import to_json
from skelgen.server.keyring import Visitor
from skelgen.server.settings import Answer, GoTo, RefusedError, Sent, Settings, Streamed
from skelgen.web.site import SitePage
from skelgen.web.site_notices import enter_page, problem_page
from skelgen.web.site_render import Frame, render_site

#: Of every answer: nothing but our own style and pictures is loaded, nobody frames us,
#: and no address of ours is told to others.
_POLICY = "content-security-policy"
HEADERS = {
    _POLICY: (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
#: Of a page with a script, which is ours, in a file of its own.
SCRIPT_POLICY = f"{HEADERS[_POLICY]}; script-src 'self'"
#: Of a page that has its script and style within it, which are ours by their hashes.
_HASHED = (
    "default-src 'none'; script-src {}; style-src {}; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'none'"
)


def reply(found: Answer, settings: Settings, visitor: Visitor | None) -> Response:
    """Return what is sent for an answer."""
    if isinstance(found, SitePage):
        return page(found, settings, visitor)
    if isinstance(found, GoTo):
        return Response(None, 303, {"location": f"{settings.prefix}{found.path}"})
    if isinstance(found, Sent):
        headers = _as_file(found.file_name) if found.file_name else {}
        if found.scripts:
            headers[_POLICY] = _HASHED.format(found.scripts, found.styles)
        return Response(found.content, 200, headers, media_type=found.media_type)
    if isinstance(found, Streamed):
        headers = _as_file(found.file_name)
        return StreamingResponse(found.parts, 200, headers, media_type=found.media_type)
    return _json(to_json(found), 200)


def _as_file(name: str) -> dict[str, str]:
    """Let a browser keep an answer under a name in which nothing is odd."""
    return {"content-disposition": f'attachment; filename="{safe_name(name)}"'}


def page(
    found: SitePage, settings: Settings, visitor: Visitor | None, status: int = 200
) -> Response:
    """Return a page as HTML."""
    frame = Frame(prefix=settings.prefix)
    if visitor is not None:
        right, form = visitor.right.word, visitor.form
        frame = Frame(settings.prefix, visitor.name, right, form, settings.shown)
    content = render_site(found, frame)
    headers = {"refresh": str(found.again_s)} if found.again_s else {}
    if found.script:
        headers[_POLICY] = SCRIPT_POLICY
    return Response(content, status, headers, media_type="text/html")


def problem(
    status: int,
    detail: str,
    settings: Settings,
    visitor: Visitor | None = None,
    *,
    api: bool,
) -> Response:
    """Return what is sent when a request is refused: a sentence and what to do."""
    title = HTTPStatus(status).phrase
    said = " ".join(shown(detail).split())
    if api:
        content = {
            "type": "about:blank",
            "title": title,
            "status": status,
            "detail": said,
        }
        return _json(content, status, "application/problem+json")
    if status == HTTPStatus.UNAUTHORIZED:
        return page(enter_page(said), settings, None, status)
    return page(problem_page(title, said), settings, visitor, status)


def status_of(error: SkelgenError | RefusedError | OSError) -> int:
    """Return the status of HTTP for an error."""
    if isinstance(error, RefusedError):
        return error.status
    if isinstance(error, UsageError):
        return 400
    if isinstance(error, InputError):
        return 422
    if isinstance(error, MachineError | OSError):
        return 503
    return 500


def _json(
    content: Mapping[str, object], status: int, media_type: str = "application/json"
) -> Response:
    text = json.dumps(content, allow_nan=False)
    return Response(text.encode("ascii"), status, media_type=media_type)
