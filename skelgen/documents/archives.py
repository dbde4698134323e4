"""Unpack archives that anybody may have made: plain files, below one folder, bounded.

No name of a member becomes a path: names of files and folders are made of letters,
digits and ``_.+-``, whatever the archive says.
"""

from __future__ import annotations

import gzip
import lzma
import os
import re
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from skelgen.documents.files import unreadable
from skelgen.documents.system import writing
from skelgen.documents.tar import ArchiveMember, is_tar, tar_members
from skelgen.errors import InputError, MachineError
from skelgen.units import format_bytes

_GZIP, _ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")
_UNFIT = re.compile(r"[^A-Za-z0-9_.+-]")
_LONGEST, _DEEPEST, _MOST_FOLDERS = 100, 8, 1000
_AT_ONCE = 64 << 10
#: The room left on the disk is looked at after so much was written [bytes].
_LOOK_BYTES = 8 << 20
#: Directory of a zip archive that is read [bytes], and its end.
_MOST_DIRECTORY = 4 << 20
_END, _END_BYTES, _LONGEST_REMARK = b"PK\x05\x06", 22, 65535
_LONG_END = b"PK\x06\x07"
#: What damaged archives are to Python.
_DAMAGE = (
    *(EOFError, OSError, ValueError, zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    *(NotImplementedError, RuntimeError, struct.error),
)


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """What is unpacked at most.

    Attributes
    ----------
    members : int
    rank_bytes : int
        Of rank files [bytes].
    text_bytes : int
        Of all other files: what they say goes into a store [bytes].
    free_bytes : int
        Room that is left on the disk [bytes].
    """

    members: int = 100_000
    rank_bytes: int = 64 << 30
    text_bytes: int = 256 << 20
    free_bytes: int = 0


def is_archive(file: Path) -> bool:
    """Say whether a file is an archive, by how it begins."""
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            return False
        with file.open("rb") as opened:
            begin = opened.read(512)
    except (OSError, ValueError):
        return False
    return begin.startswith((_GZIP, *_ZIP)) or is_tar(begin)


def unpack(file: Path, folder: Path, limits: ArchiveLimits, *, shown: str = "") -> int:
    """Unpack an archive into an empty folder.

    Parameters
    ----------
    file, folder : Path
    limits : ArchiveLimits
    shown : str
        The archive, for messages.

    Returns
    -------
    int
        Bytes of all files but rank files.

    Raises
    ------
    InputError
        When it is damaged, holds something else than plain files below its folder, or
        more than the limits allow.
    MachineError
        When the disk is full.
    """
    shown = shown or str(file)
    room = _Room(folder, limits, shown)
    try:
        with file.open("rb") as opened:
            for count, one in enumerate(_members(opened, limits, shown), start=1):
                if count > limits.members:
                    raise InputError(
                        f"{shown}: holds more than {limits.members} files and folders, "
                        "which is too much; send fewer, or use skelgen push"
                    )
                if one is not None:
                    room.take(one)
    except FileNotFoundError as error:
        raise unreadable(shown, error) from error
    except _DAMAGE as error:
        why = str(error)[:100] or type(error).__name__
        raise InputError(
            f"{shown}: is cut off or damaged ({why}); pack or send it again"
        ) from error
    return room.text_bytes


def safe_name(name: str, otherwise: str = "file") -> str:
    """Return a name of a file with nothing in it but letters, digits and ``_.+-``.

    Examples
    --------
    >>> safe_name("../a b.csv"), safe_name("-"), safe_name("")
    ('_a_b.csv', 'file', 'file')
    """
    found = _UNFIT.sub("_", name)[-_LONGEST:].lstrip(".-")
    return found or otherwise


def _members(
    opened: IO[bytes], limits: ArchiveLimits, shown: str
) -> Iterator[ArchiveMember | None]:
    begin = opened.read(512)
    opened.seek(0)
    if begin.startswith(_ZIP):
        yield from _zip_members(opened, limits, shown)
    elif begin.startswith(_GZIP):
        with gzip.open(opened) as inflated:
            # Its zeros after the end are never read.
            yield from tar_members(_bounded(inflated.read, limits, shown), shown)
    else:
        yield from tar_members(opened.read, shown)


def _bounded(
    read: Callable[[int], bytes], limits: ArchiveLimits, shown: str
) -> Callable[[int], bytes]:
    """Return what reads up to what members may be, with their headers."""
    left = limits.rank_bytes + limits.text_bytes + limits.members * 1024

    def some(size: int) -> bytes:
        nonlocal left
        found = read(size)
        left -= len(found)
        if left < 0:
            raise _too_large(shown, limits.rank_bytes + limits.text_bytes)
        return found

    return some


def _zip_members(
    opened: IO[bytes], limits: ArchiveLimits, shown: str
) -> Iterator[ArchiveMember | None]:
    _check_directory(opened, limits, shown)
    with zipfile.ZipFile(opened) as archive:
        for one in archive.infolist():
            mode = one.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise InputError(
                    f"{shown}: holds a link or a device, {one.filename[:60]!r}; pack "
                    "plain files"
                )
            if one.is_dir():
                yield None
                continue
            if one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise InputError(
                    f"{shown}: {one.filename[:60]!r} is packed in a way that is not "
                    "read; pack it with deflate, or as tar.gz"
                )
            with archive.open(one) as content:
                yield ArchiveMember(one.filename, _read_by_parts(content))


def _read_by_parts(content: IO[bytes]) -> Iterator[bytes]:
    while chunk := content.read(_AT_ONCE):
        yield chunk


def _check_directory(opened: IO[bytes], limits: ArchiveLimits, shown: str) -> None:
    """Refuse a directory that is too long before it is read."""
    size = opened.seek(0, os.SEEK_END)
    begin = max(0, size - _END_BYTES - _LONGEST_REMARK - 20)
    opened.seek(begin)
    tail = opened.read()
    opened.seek(0)
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_BYTES:
        raise InputError(f"{shown}: is cut off or damaged; pack or send it again")
    count, length = struct.unpack("<HI", tail[at + 10 : at + 16])
    if _LONG_END in tail or count > limits.members or length > _MOST_DIRECTORY:
        most = min(limits.members, 65535)
        raise InputError(
            f"{shown}: holds more than {most} files and folders, or is too large; pack "
            "fewer, or as tar.gz"
        )


class _Room:
    """Where members are written, and how much of them may be."""

    def __init__(self, folder: Path, limits: ArchiveLimits, shown: str) -> None:
        self.text_bytes = 0
        self._rank_bytes = 0
        self._folder, self._limits, self._shown = folder, limits, shown
        self._folders: set[Path] = set()
        self._unseen = _LOOK_BYTES  # so that it is looked at with the first

    def take(self, one: ArchiveMember) -> None:
        """Write a member, unless it is none of ours."""
        parts = self._parts(one.name)
        hidden = any(part.startswith((".", "__MACOSX")) for part in parts)
        place = self._folder.joinpath(*map(safe_name, parts))
        if hidden or not parts:
            for chunk in one.chunks:
                self._count(chunk, is_rank=False)
            return
        with writing(self._folder):
            self._make(place.parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        if place.exists():
            raise InputError(
                f"{self._shown}: holds {one.name[:60]!r} twice; pack it again"
            )
        with writing(self._folder):
            handle = os.open(place, flags, 0o600)
        with os.fdopen(handle, "wb") as target:
            for chunk in one.chunks:
                self._count(chunk, is_rank=place.suffix == ".skt")
                with writing(self._folder):
                    target.write(chunk)

    def _parts(self, name: str) -> list[str]:
        """Return the parts of a name.

        Raises
        ------
        InputError
            When it leads out of the archive's folder.
        """
        parts = name.replace("\\", "/").split("/")
        if not parts[0] or ".." in parts or "\0" in name or parts[0][1:2] == ":":
            raise InputError(
                f"{self._shown}: holds {name[:60]!r}, which leads out of its folder; "
                "pack a folder by its name: tar czf run.tar.gz run/"
            )
        parts = [part for part in parts if part not in ("", ".")]
        if len(parts) > _DEEPEST:
            raise InputError(
                f"{self._shown}: holds {name[:60]!r}, more than {_DEEPEST} folders "
                "deep; pack the folder of the run alone"
            )
        return parts

    def _make(self, folder: Path) -> None:
        if folder == self._folder or folder in self._folders:
            return
        self._make(folder.parent)
        self._folders.add(folder)
        if len(self._folders) > _MOST_FOLDERS:
            raise InputError(
                f"{self._shown}: holds more than {_MOST_FOLDERS} folders; pack fewer"
            )
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{self._shown}: holds a file and a folder of one name")
        folder.mkdir(mode=0o700, exist_ok=True)

    def _count(self, chunk: bytes, *, is_rank: bool) -> None:
        if is_rank:
            self._rank_bytes += len(chunk)
        else:
            self.text_bytes += len(chunk)
        limits = self._limits
        if self._rank_bytes > limits.rank_bytes:
            raise _too_large(self._shown, limits.rank_bytes)
        if self.text_bytes > limits.text_bytes:
            raise _too_large(self._shown, limits.text_bytes)
        self._unseen += len(chunk)
        if limits.free_bytes and self._unseen >= _LOOK_BYTES:
            self._unseen = 0
            if shutil.disk_usage(self._folder).free < limits.free_bytes:
                raise MachineError(
                    f"{self._shown}: the disk is nearly full; free some room there"
                )


def _too_large(shown: str, most_bytes: int) -> InputError:
    return InputError(
        f"{shown}: is more than {format_bytes(most_bytes)} when it is unpacked; send "
        "less at once, or use skelgen push, which reads it where it is"
    )
