"""The description of the API, made from the table of addresses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from skelgen import __version__
from skelgen.results.schema import schema_of

if TYPE_CHECKING:
    from skelgen.server.routes import Route

#: Statuses that any address may answer with, and what they mean.
_REFUSED = {
    "400": "Something in the request is not what it should be.",
    "401": "No token, or none that counts.",
    "403": "The token does not allow this.",
    "404": "There is no such thing.",
    "422": "The store or the request holds something that does not fit.",
    "408": "The rest of the request does not come.",
    "413": "The request is too large.",
    "415": "The request is of another kind.",
    "429": "The token has sent too much.",
    "507": "The disk of the server is nearly full.",
    "503": "The machine lacks something, or the time ran out.",
}
_PART = re.compile(r"\{(\w+)\}")


def described(routes: Iterable[Route], prefix: str) -> Mapping[str, object]:
    """Return the description of the addresses for machines, as OpenAPI 3.1 has it."""
    routes = tuple(routes)
    paths: dict[str, dict[str, Any]] = {}
    for one in routes:
        if one.is_api:
            paths.setdefault(one.path, {})[one.method.lower()] = _operation(one)
    return {
        "openapi": "3.1.0",
        "info": {"title": "skelgen", "version": __version__},
        "servers": [{"url": prefix or "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Description": _DESCRIPTION,
                "Problem": _PROBLEM,
                **_results(routes),
            },
        },
    }


def _operation(one: Route) -> dict[str, Any]:
    summary = (one.handler.__doc__ or "").strip().partition("\n")[0]
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": _TEXT}
        for name in _PART.findall(one.path)
    ]
    parameters += [
        {
            "name": name,
            "in": "query",
            "schema": _TEXTS if name in one.several else _TEXT,
        }
        for name in one.query
    ]
    answered = [kind.__name__ for kind in one.answers] or ["Description"]
    found: dict[str, Any] = {
        "operationId": f"{one.method.lower()}{_PART.sub('', one.path).title()}",
        "summary": summary,
        "description": f"Needs the right to {one.right.word}.",
        "parameters": parameters,
        "responses": {
            "200": _response("The answer.", "application/json", *answered),
            **{
                status: _response(text, "application/problem+json", "Problem")
                for status, text in _REFUSED.items()
            },
        },
    }
    if one.method == "POST":
        found["requestBody"] = _files() if one.takes_files else _lines()
    return found


def _results(routes: Iterable[Route]) -> dict[str, Any]:
    """Return the schemas of results: those of ``--json``, and of their parts."""
    found: dict[str, Any] = {}
    for kind in {kind for one in routes for kind in one.answers}:
        text = json.dumps(schema_of(kind)).replace("#/$defs/", "#/components/schemas/")
        schema = json.loads(text)
        schema.pop("$schema")
        found |= schema.pop("$defs", {}) | {kind.__name__: schema}
    return dict(sorted(found.items()))


def _lines() -> dict[str, Any]:
    return {
        "description": "Lines as skelgen store export --format jsonl writes them.",
        "required": False,  # nothing is no line
        "content": {
            kind: {"schema": {"type": "string"}}
            for kind in ("application/jsonl", "text/plain")
        },
    }


def _files() -> dict[str, Any]:
    """Describe a form with files, and what may be typed next to them."""
    file = {"type": "string", "contentMediaType": "application/octet-stream"}
    fields: dict[str, Any] = {"file": {"type": "array", "items": file}}
    fields |= dict.fromkeys(("app", "inputs", "system", "columns"), _TEXT)
    schema = {"type": "object", "required": ["file"], "properties": fields}
    return {
        "description": "What skelgen store add takes, also as tar.gz or zip.",
        "required": True,
        "content": {"multipart/form-data": {"schema": schema}},
    }


def _response(text: str, media_type: str, *schemas: str) -> dict[str, Any]:
    kinds = [{"$ref": f"#/components/schemas/{one}"} for one in schemas]
    found = {"schema": kinds[0] if len(kinds) == 1 else {"oneOf": kinds}}
    return {"description": text, "content": {media_type: found}}


_TEXT = {"type": "string", "maxLength": 1000}
_TEXTS = {"type": "array", "items": _TEXT}
#: What this is itself: it has a schema of its own.
_DESCRIPTION = {
    "type": "object",
    "description": "As https://spec.openapis.org/oas/3.1 has it.",
    "required": ["openapi", "info", "paths"],
}
_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
}
