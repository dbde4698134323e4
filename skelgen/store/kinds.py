"""The kinds of rows: the word of each in a line, its fields, and how they are kept."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from types import MappingProxyType
from typing import Any, get_args, get_type_hints

from skelgen.store.rows import (
    Coupling,
    Fact,
    Message,
    Row,
    Run,
    Series,
    StoredModel,
    StoredPrediction,
    StoredRecording,
    Template,
)
from skelgen.store.values import BY_TYPE, Values

MISSING = dataclasses.MISSING

#: The word of each type in lines, and in the names of tables.
_WORDS: Mapping[type[Any], str] = MappingProxyType(
    {
        Run: "run",
        Fact: "fact",
        Message: "message",
        Series: "series",
        Template: "template",
        Coupling: "coupling",
        StoredModel: "model",
        StoredPrediction: "prediction",
        StoredRecording: "recording",
    }
)


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


@dataclass(frozen=True, slots=True, eq=False)
class RowKind:
    """A kind of rows.

    Attributes
    ----------
    word : str
        In lines.
    type : type
    fields : tuple of RowField
        In their order.
    written : tuple
        For each of them its name, its usual value, and what writes it as JSON.
    values : callable
        Returns the values of these fields of a row, as a tuple.
    has_identity : bool
        Whether a field is the identity; else the content makes it.
    """

    word: str
    type: type[Any]
    fields: tuple[RowField, ...]
    written: tuple[tuple[str, Any, Callable[[Any], Any] | None], ...]
    values: Callable[[Any], tuple[Any, ...]]
    has_identity: bool


@functools.cache
def kinds() -> Mapping[str, RowKind]:
    """Return the kinds of rows by their words."""
    found = (_kind(one) for one in get_args(Row))
    return MappingProxyType({kind.word: kind for kind in found})


def kind_of(type_: type[Any]) -> RowKind:
    """Return the kind of rows of a type."""
    return kinds()[_WORDS[type_]]


def _kind(type_: type[Any]) -> RowKind:
    hints = get_type_hints(type_)
    names = [field.name for field in dataclasses.fields(type_)]
    fields = tuple(
        RowField(one.name, BY_TYPE[hints[one.name]], one.default)
        for one in dataclasses.fields(type_)
    )
    return RowKind(
        _WORDS[type_],
        type_,
        fields,
        tuple((one.name, one.usual, one.values.plain) for one in fields),
        attrgetter(*names),
        "identity" in names,
    )
