"""What `skelgen push` and `skelgen pull` ask: the server, known rows, single rows."""

from __future__ import annotations

from pathlib import Path

from skelgen import __version__
from skelgen.documents import json_field
from skelgen.documents.files import as_text
from skelgen.errors import InputError, UsageError
from skelgen.pipeline import download
from skelgen.pipeline.server_client import API
from skelgen.results.server_answers import (
    ServerAboutResult,
    ServerKnownResult,
    ServerRowResult,
)
from skelgen.server.settings import Answer, Question, RefusedError
from skelgen.server.tokens import Right

_MOST_IDENTITIES = 50_000


def about(question: Question) -> Answer:
    """Say what the server is, what the token allows, and how much may be sent."""
    settings, visitor = question.settings, question.visitor
    right = Right.OPEN if visitor is None else visitor.right
    return ServerAboutResult(
        api=API,
        version=__version__,
        right=right.word,
        read_only=settings.read_only,
        most_bytes=settings.most_bytes,
        left_bytes=question.left,
    )


def known(question: Question) -> Answer:
    """Say which of these identities there are; nothing is changed."""
    request = Path("the request")
    lines = [
        line for line in as_text(request, question.body).split("\n") if line.strip()
    ]
    if len(lines) > _MOST_IDENTITIES:
        raise RefusedError(400, f"ask for at most {_MOST_IDENTITIES} rows at once")
    names = [json_field(line, request).text() for line in lines]
    found = download.known_identities(question.settings.store, names)
    return ServerKnownResult(known=sorted(found))


def row(question: Question) -> Answer:
    """Show a row as store export writes it, a model as model fit does, and a page."""
    try:
        found = download.kept_row(question.settings.store, question.path["identity"])
    except (InputError, UsageError) as error:
        raise RefusedError(404, str(error)) from error
    return ServerRowResult.of(found)
