"""Read a form with files, as browsers send it, from a file of its bytes."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skelgen.server.settings import RefusedError

#: Parts of a form, bytes of the head of one, and of the value of a field.
_MOST_PARTS, _MOST_HEAD, _MOST_VALUE = 70, 4 << 10, 4 << 10
_BOUNDARY = re.compile(r'boundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))', re.ASCII)
_QUOTED = r'(?:"((?:[^"\\\r\n]|\\.)*)"|([^\s;"]+))'
_NAME = re.compile(rf";\s*name={_QUOTED}")
_FILE_NAME = re.compile(rf";\s*filename={_QUOTED}")
_DISPOSITION = re.compile(r"content-disposition:\s*form-data(.*)", re.I)


@dataclass(frozen=True, slots=True)
class FormPart:
    """A part of a form: a field, or a file.

    Attributes
    ----------
    name : str
    file_name : str or None
        As its sender calls it; None: it is no file.
    begin, end : int
        Where its content is [bytes].
    """

    name: str
    file_name: str | None
    begin: int
    end: int


def boundary_of(content_type: str) -> bytes:
    """Return what stands between the parts of a form.

    Raises
    ------
    RefusedError
        When it is no form with files.
    """
    kind, _, rest = content_type.partition(";")
    found = _BOUNDARY.search(rest)
    if kind.strip().lower() != "multipart/form-data" or found is None:
        raise RefusedError(415, "send the form of the page, with files")
    try:
        return (found[1] or found[2]).encode("ascii")
    except UnicodeError as error:
        raise _wrong() from error


def read_parts(
    file: Path, boundary: bytes
) -> tuple[list[tuple[str, str]], list[FormPart]]:
    """Return the fields of a form with their values, and its files.

    Raises
    ------
    RefusedError
        When it is cut off, or none.
    """
    fields: list[tuple[str, str]] = []
    files: list[FormPart] = []
    if not file.stat().st_size:
        raise _wrong()
    with (
        file.open("rb") as opened,
        mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        for one in _parts(content, b"--" + boundary):
            if one.file_name is not None:
                if one.file_name:  # else nothing was chosen
                    files.append(one)
                continue
            if one.end - one.begin > _MOST_VALUE:
                raise RefusedError(400, f"the field {one.name[:40]!r} is too long")
            value = content[one.begin : one.end].decode("utf-8", "replace")
            fields.append((one.name, value))
    return fields, files


def _parts(content: mmap.mmap, mark: bytes) -> Iterator[FormPart]:
    at = content.find(mark, 0, len(mark) + 2)
    for _ in range(_MOST_PARTS):
        if at < 0:
            raise _wrong()
        at += len(mark)
        if content[at : at + 2] == b"--":
            return
        head_end = content.find(b"\r\n\r\n", at, at + _MOST_HEAD)
        if content[at : at + 2] != b"\r\n" or head_end < 0:
            raise _wrong()
        begin = head_end + 4
        # A part may be empty: the line before the mark is then that of its head.
        end = content.find(b"\r\n" + mark, begin - 2)
        if end < 0:
            raise _wrong()
        name, file_name = _named(content[at + 2 : head_end])
        yield FormPart(name, file_name, begin, max(begin, end))
        at = end + 2
    raise RefusedError(400, f"send at most {_MOST_PARTS} fields and files at once")


def _named(head: bytes) -> tuple[str, str | None]:
    for line in head.decode("utf-8", "replace").split("\r\n"):
        if found := _DISPOSITION.fullmatch(line):
            name, file = _NAME.search(found[1]), _FILE_NAME.search(found[1])
            if name is not None:
                return _unquoted(name), None if file is None else _unquoted(file)
    raise _wrong()


def _unquoted(found: re.Match[str]) -> str:
    text = found[1] if found[1] is not None else found[2]
    return text.replace("%22", '"').replace("\\\\", "\\")[:1000]


def _wrong() -> RefusedError:
    return RefusedError(
        400, "the form is cut off, or none; open the page and try again"
    )
