"""Rows as JSON objects, one a line: the format of spool files and of exports."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import uuid
from collections.abc import Mapping
from typing import Any

from skelgen.documents import Field
from skelgen.errors import InputError
from skelgen.store.kinds import MISSING, RowKind, kind_of, kinds
from skelgen.store.rows import MOST_RECORDING, Row, Series, StoredRecording
from skelgen.store.values import UnfitError

#: The member that names the kind of a row.
KIND = "row"
_IDENTITY = "identity"
_IDENTITY_DIGITS = 32
_SEAL_DIGITS = 16
_encode = json.JSONEncoder(
    separators=(",", ":"), sort_keys=True, allow_nan=False, check_circular=False
).encode


def to_line(row: Row) -> dict[str, Any]:
    """Return a row as a JSON object; fields with their usual value are left out.

    Raises
    ------
    InputError
        When a value is none that such a row can have.

    Examples
    --------
    >>> from skelgen.store import Run
    >>> to_line(Run("app", 1.5, ranks=4))
    {'row': 'run', 'application': 'app', 'time_s': 1.5, 'ranks': 4}
    """
    kind = kind_of(type(row))
    line: dict[str, Any] = {KIND: kind.word}
    for (name, usual, plain), value in zip(kind.written, kind.values(row), strict=True):
        if value is usual or value == usual:
            continue
        try:
            found = value if plain is None else plain(value)
        except UnfitError as error:
            raise _unfit(kind, error.below(name)) from None
        if found is not None or not _is_nan(usual):
            line[name] = found
    _check(row, kind)
    return line


def whole_line(row: Row) -> dict[str, Any]:
    """Return a row as a JSON object with all of its fields; null is not known.

    Examples
    --------
    >>> from skelgen.store import Template
    >>> whole_line(Template("t", "app", "n"))
    {'row': 'template', 'name': 't', 'application': 'app', 'formula': 'n', 'inputs': []}
    """
    kind = kind_of(type(row))
    written = zip(kind.written, kind.values(row), strict=True)
    values = {
        name: value if plain is None else plain(value)
        for (name, _, plain), value in written
    }
    return {KIND: kind.word, **values}


def from_field(field: Field) -> Row:
    """Read a row from a JSON object that may hold anything.

    Parameters
    ----------
    field : Field
        Of JSON, as `skelgen.documents.json_field` reads it.

    Raises
    ------
    InputError
        With the place and what was expected there.
    """
    value = field.value
    if not isinstance(value, dict):
        raise field.error("expected one row: a JSON object such as {'row': 'run', ...}")
    word = value.get(KIND)
    kind = kinds().get(word) if isinstance(word, str) else None
    if kind is None:
        wanted = ", ".join(kinds())
        raise field.error(f"the field {KIND!r} is none of {wanted}")
    try:
        row: Row = kind.type(**_read(kind, value))
    except UnfitError as error:
        where = f"{field.path}: " if field.path else ""
        path = error.path or "the row"
        raise InputError(f"{field.file}: {where}{path}: {error.what}") from None
    _check(row, kind, f"{field.file}: {field.path}: " if field.path else "")
    return row


def content_of(row: Row) -> str:
    """Return the text that decides whether two rows are the same.

    It is the line without the row's identity, with its names sorted.

    Raises
    ------
    InputError
        When a store cannot hold the row: an endless number, a zero byte.
    """
    line = to_line(row)
    line.pop(_IDENTITY, None)
    try:
        content = _encode(line)
    except ValueError as error:
        raise _fault(line) or InputError(f"a {line[KIND]}: {error}") from None
    if "\\u" in content and (fault := _fault(line)):
        raise fault
    return content


def content_identity(content: str) -> str:
    """Return the identity that equal rows share, from their content."""
    return hashlib.sha256(content.encode()).hexdigest()[:_IDENTITY_DIGITS]


def seal_of(content: str) -> str:
    """Return the checksum that a store keeps with a row, from its content."""
    return content_identity(content)[:_SEAL_DIGITS]


def identity_of(row: Row, content: str | None = None) -> str:
    """Return what makes a row the same however often it is added.

    That is the identity it has. Else it is made from the content, for rows that are
    read from somewhere (`source`) or that a date makes different from others. A run
    that somebody typed gets an identity of its own each time.

    Parameters
    ----------
    row : Row
    content : str, optional
        Of `content_of`, when it is there already.
    """
    if isinstance(row, Series):
        return content_identity(_encode(["series", row.host, row.quantity]))
    if isinstance(row, StoredRecording):
        return identity_of_recording(row.run)
    if known := getattr(row, _IDENTITY, ""):
        return str(known)
    if getattr(row, "source", "content"):
        return content_identity(content_of(row) if content is None else content)
    return uuid.uuid4().hex


def identity_of_recording(run: str) -> str:
    """Return the identity of the recording of a run: a run has one place for it."""
    return content_identity(_encode(["recording", run]))


def _read(kind: RowKind, value: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for field in kind.fields:
        if field.name in value:
            try:
                found[field.name] = field.values.read(value[field.name])
            except UnfitError as error:
                raise error.below(field.name) from None
        elif field.usual is MISSING:
            raise UnfitError(f"the field {field.name!r} is missing")
    if len(found) + 1 < len(value):
        names = [field.name for field in kind.fields]
        other = next(name for name in value if name not in (*names, KIND))
        raise UnfitError(
            f"read the field {other[:60]!r}, expected {KIND}, {', '.join(names)}"
        )
    return found


def _check(row: Row, kind: RowKind, where: str = "") -> None:
    """Refuse a series whose times and values do not fit, and a long recording."""
    if isinstance(row, StoredRecording) and len(row.document) > MOST_RECORDING:
        raise InputError(
            f"{where}document: read {len(row.document)} characters, expected at most "
            f"{MOST_RECORDING}"
        )
    if not isinstance(row, Series):
        return
    times = row.times
    if len(times) != len(row.values):
        what = f"read {len(times)} times and {len(row.values)} values, expected as many"
    elif not all(a < b for a, b in itertools.pairwise(times)) or (
        len(times) == 1 and math.isnan(times[0])
    ):
        what = "read times that do not rise, expected each later than the one before"
    else:
        return
    raise InputError(f"{where}times: {what}")


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _unfit(kind: RowKind, error: UnfitError) -> InputError:
    return InputError(f"a {kind.word}: {error.path}: {error.what}")


def _fault(line: Mapping[str, Any]) -> InputError | None:
    """Return what is wrong with the first value of a line that is wrong."""
    kind = kinds()[line[KIND]]
    for field in kind.fields:
        if field.name in line:
            try:
                field.values.read(line[field.name])
            except UnfitError as error:
                return _unfit(kind, error.below(field.name))
    return None
