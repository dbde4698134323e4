"""Read what a request says, within bounds."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import parse_qsl

from starlette.requests import Request

from skelgen.server.settings import RefusedError

#: Fields of a form or a query, and characters of one.
_MOST_FIELDS, _LONGEST = 50, 1000
#: Bytes of a form, and conditions of a filter: each costs time in the store.
_MOST_OF_FORM, _MOST_CONDITIONS = 64 << 10, 20


async def form_of(request: Request) -> dict[str, str]:
    """Read the fields of a form.

    Raises
    ------
    RefusedError
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise RefusedError(415, "send the form of the page")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _MOST_OF_FORM:
            raise RefusedError(413, f"send at most {_MOST_OF_FORM} bytes in a form")
    text = body.decode("ascii", "replace")
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise RefusedError(400, "the form has too many fields") from error
    return checked(pairs)


def checked(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return fields, each given once, of a length that people type.

    Raises
    ------
    RefusedError
    """
    found: dict[str, str] = {}
    for name, value in pairs:
        if len(found) >= _MOST_FIELDS or len(value) > _LONGEST or len(name) > _LONGEST:
            raise RefusedError(
                400, f"a field is longer than {_LONGEST} characters, or there are many"
            )
        if "\0" in value or name in found:
            raise RefusedError(
                400, f"the field {name[:40]!r} is given twice, or holds a NUL"
            )
        found[name] = value
    if found.get("where", "").count(",") >= _MOST_CONDITIONS:
        raise RefusedError(400, f"give at most {_MOST_CONDITIONS} conditions at once")
    return found
