"""Read what a request says, within bounds."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import parse_qsl

from starlette.requests import Request

from skelgen.server.settings import RefusedError

#: Fields of a form or a query, and characters of one.
_MOST_FIELDS, _LONGEST = 50, 1000


async def form_of(request: Request) -> dict[str, str]:
    """Read the fields of a form.

    Raises
    ------
    RefusedError
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise RefusedError(415, "send the form of the page")
    text = (await request.body()).decode("ascii", "replace")
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
    return found
