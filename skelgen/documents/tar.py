"""Read tar archives that anybody may have made, as a stream and within bounds.

Only plain files are given out. Python's own reader follows links, keeps what it read of
each member, and takes headers of any length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from skelgen.errors import InputError

_BLOCK = 512
#: Bytes that are read at once, and of a long name or a remark on a member.
_AT_ONCE, _MOST_REMARK = 64 << 10, 64 << 10
#: Places of fields in a header.
_NAME, _SIZE, _SUM = slice(0, 100), slice(124, 136), slice(148, 156)
_KIND, _MAGIC, _PREFIX = slice(156, 157), slice(257, 262), slice(345, 500)
_FILES, _FOLDER = (b"0", b"\0", b"7"), b"5"
_LONG_NAME, _REMARK, _REMARK_ON_ALL = b"L", b"x", b"g"
_OTHERS = {
    b"1": "a link",
    b"2": "a link",
    b"K": "a link",
    b"3": "a device",
    b"4": "a device",
    b"6": "a pipe",
}


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """A file of an archive.

    Attributes
    ----------
    name : str
        As the archive has it.
    chunks : iterator of bytes
        Its content; it has to be read before the next member is asked for.
    """

    name: str
    chunks: Iterator[bytes]


def is_tar(begin: bytes) -> bool:
    """Say whether a file that begins so is a tar archive."""
    return begin[_MAGIC] == b"ustar"


def tar_members(
    read: Callable[[int], bytes], shown: str
) -> Iterator[ArchiveMember | None]:
    """Yield the files of an archive; None for what is no file, so that it is counted.

    Parameters
    ----------
    read : callable
        Returns at most so many bytes of the archive; none at its end.
    shown : str
        The archive, for messages.

    Raises
    ------
    InputError
        When it is damaged, or holds something else than files and folders.
    """
    long_name = ""
    while header := _exactly(read, _BLOCK, shown, may_end=True):
        if not header.strip(b"\0"):
            return
        kind, name, size = _header(header, shown)
        if kind in (_LONG_NAME, _REMARK, _REMARK_ON_ALL):
            content = _remark(read, size, shown)
            if kind != _REMARK_ON_ALL:
                long_name = _long_name(kind, content, shown) or long_name
            yield None
            continue
        name, long_name = long_name or name, ""
        if kind == _FOLDER or (kind in _FILES and name.endswith("/")):
            yield None
            continue
        if kind not in _FILES:
            what = _OTHERS.get(kind, "something that is no file")
            raise InputError(
                f"{shown}: holds {what}, {name[:60]!r}; pack plain files: tar czf "
                "run.tar.gz run/"
            )
        chunks = _chunks(read, size, shown)
        yield ArchiveMember(name, chunks)
        for _ in chunks:
            pass
        _exactly(read, -size % _BLOCK, shown)


def _header(header: bytes, shown: str) -> tuple[bytes, str, int]:
    blank = header[: _SUM.start] + b" " * 8 + header[_SUM.stop :]
    if _octal(header[_SUM], shown) != sum(blank):
        raise _damaged(shown)
    name = _text(header[_NAME])
    if header[_MAGIC] == b"ustar" and (prefix := _text(header[_PREFIX])):
        name = f"{prefix}/{name}" if header[262:263] != b" " else name
    return header[_KIND], name, _octal(header[_SIZE], shown)


def _octal(field: bytes, shown: str) -> int:
    digits = field.strip(b" \0")
    if not digits.isdigit() or any(one > ord("7") for one in digits):
        raise _damaged(shown)
    return int(digits, 8)


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "replace")


def _remark(read: Callable[[int], bytes], size: int, shown: str) -> bytes:
    if size > _MOST_REMARK:
        raise InputError(
            f"{shown}: says more than {_MOST_REMARK} bytes about a file; pack it again "
            "with another program"
        )
    content = _exactly(read, size, shown)
    _exactly(read, -size % _BLOCK, shown)
    return content


def _long_name(kind: bytes, content: bytes, shown: str) -> str:
    """Return the name that a remark gives the next member; nothing where it does not.

    Raises
    ------
    InputError
        When the remark gives it another size.
    """
    if kind == _LONG_NAME:
        return _text(content)
    found = ""
    while content:
        length, space, rest = content.partition(b" ")
        if not (space and length.isdigit() and len(length) < 6):
            raise _damaged(shown)
        end = int(length) - len(length) - 1
        if end < 1:
            raise _damaged(shown)
        key, _, value = rest[:end].rstrip(b"\n").partition(b"=")
        if key == b"path":
            found = value.decode("utf-8", "replace")
        elif key in (b"size", b"linkpath") or key.startswith(b"GNU.sparse"):
            raise InputError(
                f"{shown}: holds a link, or a file that is too large or has holes; "
                "pack plain files: tar czf run.tar.gz run/"
            )
        content = rest[end:]
    return found


def _chunks(read: Callable[[int], bytes], size: int, shown: str) -> Iterator[bytes]:
    left = size
    while left:
        chunk = read(min(left, _AT_ONCE))
        if not chunk:
            raise _damaged(shown)
        left -= len(chunk)
        yield chunk


def _exactly(
    read: Callable[[int], bytes], size: int, shown: str, *, may_end: bool = False
) -> bytes:
    found = bytearray()
    while len(found) < size:
        chunk = read(size - len(found))
        if not chunk:
            if may_end and not found:
                return b""
            raise _damaged(shown)
        found += chunk
    return bytes(found)


def _damaged(shown: str) -> InputError:
    return InputError(f"{shown}: is cut off or damaged; pack or send it again")
