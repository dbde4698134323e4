"""JSON Schemas of results, made from their types."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from skelgen.documents.json_answers import FORMAT
from skelgen.results.base import is_known_only

if TYPE_CHECKING:
    from skelgen.results.base import Result

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SIMPLE: Mapping[Any, dict[str, Any]] = {
    str: {"type": "string"},
    Path: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: {},
}
#: Names, a colon and the beginning of the text below them.
_ATTRIBUTE = re.compile(
    r"^(\w+(?:, \w+)*) : [^\n]*\n((?:    [^\n]*\n?)*)", re.MULTILINE
)


def schema_of(kind: type[Result]) -> dict[str, Any]:
    """Return the JSON Schema of a result, with the words of its docstring.

    Keys may be added in a later version, so others are allowed.
    """
    parts: dict[str, dict[str, Any]] = {}
    whole = _object(kind, parts)
    head = {"format": {"const": FORMAT}, "result": {"const": kind.result}}
    return {
        "$schema": _DIALECT,
        "title": f"Answer of skelgen: {kind.result}, version {FORMAT}",
        **whole,
        "required": [*head, *whole["required"]],
        "properties": {**head, **whole["properties"]},
        **({"$defs": dict(sorted(parts.items()))} if parts else {}),
    }


def _object(kind: type, parts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    said = _described(kind)
    properties = {}
    for one in fields(kind):
        known = _schema(hints[one.name], parts)
        if is_known_only(one):  # None is not written
            known = {"anyOf": [inner for inner in known["anyOf"] if inner != _NULL]}
            known = known["anyOf"][0] if len(known["anyOf"]) == 1 else known
        text = said.get(one.name)
        properties[one.name] = {**known, "description": text} if text else known
    required = [one.name for one in fields(kind) if not is_known_only(one)]
    summary = (kind.__doc__ or "").partition("\n")[0]
    found = {"type": "object", "required": required, "properties": properties}
    return {"description": summary, **found}


_NULL = _SIMPLE[type(None)]


def _schema(hint: Any, parts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of a type; those of dataclasses stand in `parts`."""
    if hint in _SIMPLE:
        return dict(_SIMPLE[hint])
    if is_dataclass(hint) and isinstance(hint, type):
        if hint.__name__ not in parts:
            parts[hint.__name__] = {}  # a type may have itself as a part
            parts[hint.__name__] = _object(hint, parts)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    return _composed(hint, parts)


def _composed(hint: Any, parts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of a union, a mapping, a sequence or a list of words."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(one, parts) for one in inner]}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(inner[1], parts)}
    if origin is tuple and Ellipsis not in inner:
        items = [_schema(one, parts) for one in inner]
        return {"type": "array", "prefixItems": items, "items": False}
    if origin is not None and issubclass(origin, Sequence):
        return {"type": "array", "items": _schema(inner[0], parts)}
    raise TypeError(f"{hint} has no JSON Schema; use simple types and dataclasses")


def _described(kind: type) -> dict[str, str]:
    """Return what docstrings say of the fields of a class and of its bases."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        text = re.sub(r"^    ", "", one.__doc__ or "", flags=re.MULTILINE)
        for names, said in _ATTRIBUTE.findall(text):
            words = " ".join(said.split())
            found |= dict.fromkeys(names.split(", "), words)
    return found
