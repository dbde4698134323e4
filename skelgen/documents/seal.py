"""Checksums in files: damage is noticed, edits on purpose are one deleted line away.

In YAML the checksum is the first line, so that a file which was cut is noticed too,
and covers all bytes after it. In JSON it is the last member and covers the values.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skelgen.errors import InputError

#: The member of a JSON object.
MEMBER = "checksum"
_BEGIN = "# checksum "
_HINT = " of all lines below; delete this line when you edit them\n"
_LINE = re.compile(_BEGIN.encode() + rb"([0-9a-f]{16})\b[^\n]*\n")


def checksum(content: bytes) -> str:
    """Return the first 16 digits of the SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()[:16]


def sealed_yaml(text: str) -> str:
    """Return a YAML document with its checksum as the first line."""
    return f"{_BEGIN}{checksum(text.encode())}{_HINT}{text}"


def sealed_json(value: Mapping[str, Any], *, indent: int | None = 1) -> str:
    """Return a JSON object with its checksum as the last member, as a text line(s).

    Parameters
    ----------
    value : mapping
        Of an earlier checksum in it nothing remains.
    indent : int, optional
        None: all on one line.
    """
    content = {name: inner for name, inner in value.items() if name != MEMBER}
    content[MEMBER] = json_checksum(content)
    return json.dumps(content, indent=indent, allow_nan=False) + "\n"


def json_checksum(value: Any) -> str:
    """Return the checksum of a JSON value, however it is laid out."""
    text = json.dumps(value, separators=(",", ":"), sort_keys=True, allow_nan=False)
    return checksum(text.encode())


def check_yaml(path: Path, content: bytes) -> None:
    """Refuse a YAML document that is not what its first line says.

    Raises
    ------
    InputError
        With what differs.
    """
    known = _LINE.match(content)
    if known is None:
        return
    _compare(
        f"{path}",
        known[1].decode(),
        checksum(content[known.end() :]),
        "delete its first line",
    )


def checked_json(place: str, value: Any) -> Any:
    """Return a JSON value without its checksum, if that is right or absent.

    Parameters
    ----------
    place : str
        Where it was read.
    value : object

    Raises
    ------
    InputError
        With what differs.
    """
    if not isinstance(value, dict) or MEMBER not in value:
        return value
    content = {name: inner for name, inner in value.items() if name != MEMBER}
    known = value[MEMBER]
    shown = known if isinstance(known, str) else "no text"
    _compare(place, shown, json_checksum(content), f"delete its {MEMBER!r}")
    return content


def _compare(place: str, known: str, found: str, remedy: str) -> None:
    if known != found:
        raise InputError(
            f"{place}: is damaged or was edited: its content has the checksum {found}, "
            f"expected {known[:16]!r}; restore the file or make it again, or, if you "
            f"edited it on purpose, {remedy}"
        )
