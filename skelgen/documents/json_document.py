"""Read JSON as plain values, without trust.

Python's own reader takes a name twice, ``NaN``, numbers beyond any float and any depth
that its stack takes. This refuses them with the place of the file.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

from skelgen.documents.document_field import Field
from skelgen.documents.files import as_text, read_bytes
from skelgen.documents.seal import checked_json
from skelgen.documents.text_of_bytes import whole
from skelgen.errors import InputError

#: Values within values; none of our files has ten.
_DEEPEST = 100
_MOST_DIGITS = 18


def read_json(path: Path) -> Field:
    """Read a JSON file.

    Parameters
    ----------
    path : Path

    Raises
    ------
    NoFileError
        When there is none.
    InputError
        When it cannot be read, is not JSON, or is damaged.
    """
    return json_field(as_text(path, read_bytes(path)), path)


def json_field(text: str, file: Path, place: str = "") -> Field:
    """Read JSON from text.

    Parameters
    ----------
    text : str
    file : Path
        Where it stood, for messages.
    place : str
        Where in the file, such as ``line 3``.

    Raises
    ------
    InputError
        When it is not JSON, or is damaged.
    """
    where = f"{file}: {place}" if place else f"{file}"
    try:
        value = _parsed(text)
    except RecursionError as error:
        raise InputError(f"{where}: {_too_deep()}") from error
    except ValueError as error:  # UnicodeError is one
        raise InputError(f"{where}: is not JSON: {error}") from error
    return Field(file, place, checked_json(where, value), typed=True)


def _parsed(text: str) -> Any:
    value = json.loads(
        text,
        object_pairs_hook=_mapping,
        parse_int=_integer,
        parse_float=_real,
        parse_constant=_constant,
    )
    return _cleaned(value, 0)


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise ValueError(f"read the name {twice[:60]!r} twice")
    return found


def _cleaned(value: Any, depth: int) -> Any:
    """Return a value with its words checked."""
    if depth > _DEEPEST:
        raise ValueError(_too_deep())
    if isinstance(value, str):
        return _word(value)
    if isinstance(value, list):
        return [_cleaned(inner, depth + 1) for inner in value]
    if isinstance(value, dict):
        return {_word(n): _cleaned(inner, depth + 1) for n, inner in value.items()}
    return value


def _word(text: str) -> str:
    if "\0" in text:
        raise ValueError(f"read a zero byte in {text[:60]!r}, expected text")
    try:
        return whole(text)
    except UnicodeError:
        raise ValueError(
            f"read half of a character in {text[:60]!r}, expected text"
        ) from None


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > _MOST_DIGITS:
        raise ValueError(f"read {text[:20]}..., expected at most {_MOST_DIGITS} digits")
    return int(text)


def _real(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"read {text[:20]}, expected a finite number")
    return number


def _constant(text: str) -> float:
    raise ValueError(f"read {text}, expected a finite number")


def _too_deep() -> str:
    return f"read more than {_DEEPEST} levels of lists and objects"
