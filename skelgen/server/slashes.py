"""Names with a slash in an address: ``%2F`` is part of a name, ``/`` ends one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote

from starlette.types import Scope

#: What a slash of a name is while an address is looked up: no request can have it.
_MARK = "\udc2f"
_ENCODED = re.compile(rb"%2f", re.IGNORECASE)
#: Parts of addresses that name something which other programs named.
_NAMED = "name"


def marked_path(scope: Scope) -> str:
    """Return the path of a request, with a mark for each slash of a name."""
    raw: bytes | None = scope.get("raw_path")
    if not raw:
        return str(scope["path"])
    return _MARK.join(unquote(one.decode("latin-1")) for one in _ENCODED.split(raw))


def named_parts(found: Mapping[str, object]) -> dict[str, str] | None:
    """Return the named parts of an address with their slashes.

    Returns
    -------
    dict of str to str, or None
        None where something that has no slash has one.
    """
    parts = {key: str(value) for key, value in found.items()}
    if _NAMED in parts:
        parts[_NAMED] = parts[_NAMED].replace(_MARK, "/")
    return None if any(_MARK in one for one in parts.values()) else parts
