"""Results from their JSON: what a command printed in a process of its own."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from skelgen.results.base import Result, is_known_only

Printed = TypeVar("Printed", bound=Result)


def from_json(kind: type[Printed], printed: Mapping[str, Any]) -> Printed:
    """Return a result from what `skelgen.results.to_json` made of one.

    Parameters
    ----------
    kind : type of Result
        The one that was printed.
    printed : mapping
        JSON of an own command: it is not checked. Names that the type does not have,
        such as those of a later version, are left out.
    """
    found: Printed = _object(kind, printed)
    return found


def _object(kind: type, printed: Mapping[str, Any]) -> Any:
    hints = typing.get_type_hints(kind)
    return kind(
        **{
            one.name: _value(hints[one.name], printed[one.name])
            for one in fields(kind)
            if one.name in printed
        }
    )


def _value(hint: Any, value: Any) -> Any:
    """Return a value of JSON as a field of a type has it."""
    if is_dataclass(hint):
        return _object(hint, value)  # type: ignore[arg-type]
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _value(_member(inner, value), value)
    if hint is Path:
        return Path(value)
    if isinstance(value, Mapping) and inner:
        return {name: _value(inner[1], one) for name, one in value.items()}
    if not isinstance(value, list) or not inner:
        return value
    every = inner if origin is tuple and Ellipsis not in inner else inner[:1]
    each = every if len(every) > 1 else every * len(value)
    return tuple(map(_value, each, value))


def _member(kinds: Sequence[Any], value: Any) -> Any:
    """Return the type of a union that a value is of, as far as it has parts."""
    for one in kinds:
        if is_dataclass(one):
            needed = {each.name for each in fields(one) if not is_known_only(each)}
            if isinstance(value, Mapping) and needed <= set(value):
                return one
        elif isinstance(value, Mapping | list) == bool(typing.get_args(one)):
            return one
    return Any
