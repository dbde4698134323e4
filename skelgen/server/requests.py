"""Read what a request says, within bounds."""

from __future__ import annotations

from collections.abc import Collection, Iterable
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


def checked(
    pairs: Iterable[tuple[str, str]], several: Collection[str] = ()
) -> dict[str, str]:
    """Return fields of a length that people type, each given once.

    Parameters
    ----------
    pairs : iterable of (str, str)
        Names and values.
    several : collection of str
        Names that may be given more than once: the first value counts here, and
        `repeated` returns all.

    Raises
    ------
    RefusedError
    """
    found: dict[str, str] = {}
    for at, (name, value) in enumerate(pairs):
        if at >= _MOST_FIELDS or len(value) > _LONGEST or len(name) > _LONGEST:
            raise RefusedError(
                400, f"a field is longer than {_LONGEST} characters, or there are many"
            )
        if "\0" in value or (name in found and name not in several):
            raise RefusedError(
                400, f"the field {name[:40]!r} is given twice, or holds a NUL"
            )
        found.setdefault(name, value)
    if found.get("where", "").count(",") >= _MOST_CONDITIONS:
        raise RefusedError(400, f"give at most {_MOST_CONDITIONS} conditions at once")
    return found


def repeated(
    pairs: Iterable[tuple[str, str]], several: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Return all values of fields that may be given more than once, in their order.

    Each value is there once, and empty ones are left out.
    """
    found: dict[str, dict[str, None]] = {name: {} for name in several}
    for name, value in pairs:
        if name in found and value:
            found[name][value] = None
    return {name: tuple(values) for name, values in found.items()}
