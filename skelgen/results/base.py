"""What all results have, and how they become JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, ClassVar

from skelgen.documents.json_answers import answer

#: Of a field that is left out of the JSON where it is None.
_LEFT_OUT = "left_out_if_none"


def known_only() -> Any:
    """Return a field that is None, and not in the JSON, unless it is known."""
    return field(default=None, metadata={_LEFT_OUT: True})


def is_known_only(one: Field[Any]) -> bool:
    """Say whether a field is left out of the JSON where it is None."""
    return bool(one.metadata.get(_LEFT_OUT))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a command answers.

    In JSON it begins with ``format``, the version of all answers, and ``result``, the
    name of this one: that of its command, with ``-`` between words. Those that no
    command prints begin with ``server-``.
    """

    result: ClassVar[str]


def to_json(found: Result) -> dict[str, Any]:
    """Return a result as JSON has it; a number that is none becomes null."""
    return answer({"result": found.result, **plain_fields(found)})


def plain_fields(one: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as mappings, lists, text and numbers."""
    values = ((one_field, getattr(one, one_field.name)) for one_field in fields(one))
    return {
        known.name: _plain(value)
        for known, value in values
        if not (value is None and is_known_only(known))
    }


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return plain_fields(value)
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, Path) else value
