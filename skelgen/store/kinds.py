"""The kinds of rows: the word of each in a line, its fields, and how they are kept."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, get_args, get_type_hints

from skelgen.store.rows import Row
from skelgen.store.values import BY_TYPE, Values

MISSING = dataclasses.MISSING


@dataclass(frozen=True, slots=True)
class RowField:
    """A field of a row.

    Attributes
    ----------
    name : str
    values : Values
    usual : object
        Left out of a line when it has this value; MISSING: it is never left out.
    """

    name: str
    values: Values
    usual: Any


@dataclass(frozen=True, slots=True)
class RowKind:
    """A kind of rows.

    Attributes
    ----------
    word : str
        In lines.
    type : type
    fields : tuple of RowField
        In their order.
    """

    word: str
    type: type[Any]
    fields: tuple[RowField, ...]


@functools.cache
def kinds() -> Mapping[str, RowKind]:
    """Return the kinds of rows by their words."""
    found = (_kind(one) for one in get_args(Row))
    return MappingProxyType({kind.word: kind for kind in found})


@functools.cache
def kind_of(type_: Any) -> RowKind:
    """Return the kind of rows of a type."""
    return kinds()[type_.__name__.lower()]


def _kind(type_: type[Any]) -> RowKind:
    hints = get_type_hints(type_)
    return RowKind(
        type_.__name__.lower(),
        type_,
        tuple(
            RowField(one.name, BY_TYPE[hints[one.name]], one.default)
            for one in dataclasses.fields(type_)
        ),
    )
