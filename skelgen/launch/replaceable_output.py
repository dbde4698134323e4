"""What an output may replace: only what skelgen made, and nothing that is needed."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import zlib
from collections.abc import Iterable
from pathlib import Path

from skelgen.errors import UsageError
from skelgen.launch.own_folders import MARKER, FolderKind, foreign, made_as, mark

#: A byte of a path in the kernel's list of mounts.
_OCTAL = re.compile(rb"\\([0-7]{3})")


def check_free(
    target: Path, kind: FolderKind, *, force: bool, reads: Iterable[Path] = ()
) -> None:
    """Refuse an output folder that exists, unless it may be replaced.

    Parameters
    ----------
    target : Path
    kind : FolderKind
        What it will hold: only a folder that holds the same is replaced.
    force : bool
        Replace a folder that skelgen made.
    reads : iterable of Path
        What is read to fill it, which must not be lost.

    Raises
    ------
    UsageError
        When something stands there, or the folder around it cannot be written.
    """
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise UsageError(f"{target} is not a folder; choose another one with -o")
    if target.is_dir():
        _check_existing(target, kind, force=force, reads=reads)
    around = target.absolute().parent
    while not around.exists():
        around = around.parent
    if not (around.is_dir() and os.access(around, os.W_OK | os.X_OK)):
        raise UsageError(f"{target} cannot be created: {around} is not writable")


def _check_existing(
    target: Path, kind: FolderKind, *, force: bool, reads: Iterable[Path]
) -> None:
    """Refuse a folder that must not be replaced, and name the reason."""
    try:
        empty = not any(target.iterdir())
        needed = _needed(target, reads)
        found = None if empty else _not_ours(target, kind)
    except OSError as error:
        raise UsageError(
            f"{target} cannot be looked into ({error.strerror}); choose another folder "
            "with -o"
        ) from error
    if not (empty or force):
        raise UsageError(
            f"{target} exists; choose another folder with -o, or replace it with "
            "--force"
        )
    if needed:
        raise UsageError(
            f"{target} {needed}, which is never replaced; choose another folder with -o"
        )
    if found:
        raise UsageError(
            f"{target} {found}: --force replaces only what skelgen made; choose "
            "another folder with -o, or remove this one yourself"
        )


def _needed(target: Path, reads: Iterable[Path]) -> str:
    """Say what would be lost with a folder whatever it holds; empty for nothing."""
    places = [("the working directory", Path.cwd())]
    with contextlib.suppress(RuntimeError):  # a user without one
        places.append(("the home directory", Path.home()))
    places += [(f"{path}, which is read", path) for path in reads]
    for name, place in places:
        for around in (real := place.resolve(), *real.parents):
            if around.exists() and around.samefile(target):
                return f"is {name}" if around == real else f"holds {name}"
    return "is a mount point" if _is_mounted(target) else ""


def _is_mounted(folder: Path) -> bool:
    """Say whether something is mounted there, of the same file system too."""
    if folder.is_mount():
        return True
    with contextlib.suppress(OSError, IndexError):
        text = Path("/proc/self/mountinfo").read_bytes()
        name = bytes(folder.resolve())
        places = (line.split()[4] for line in text.splitlines())
        return any(_OCTAL.sub(_character, place) == name for place in places)
    return False


def _character(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 8)])


def _not_ours(target: Path, kind: FolderKind) -> str:
    """Say why a folder is none that skelgen may remove; empty when it is one."""
    made = made_as(target)
    if made is not None and made is not kind:
        return f"{_holds(made)}, not {_article(kind)}"
    found = foreign(target, kind)
    if found is not None:
        return f"holds {found.relative_to(target)}, which skelgen did not make"
    return "" if made else f"has no file {MARKER}, which skelgen puts into its folders"


def _holds(kind: FolderKind) -> str:
    return f"holds {_article(kind)}"


def _article(kind: FolderKind) -> str:
    words = {FolderKind.EXPORT: "an export", FolderKind.IMAGES: "images"}
    return words.get(kind, f"a {kind.value}")


def claim(folder: Path, kind: FolderKind) -> None:
    """Mark an empty folder as ours; refuse one that holds what is not.

    Raises
    ------
    UsageError
        When something stands in it that skelgen did not make.
    """
    made = made_as(folder)
    other = next(folder.iterdir(), None)
    if made is not kind and other is not None:
        name = f"holds {other.name}, which skelgen did not make"
        what = name if made is None else _holds(made)
        raise UsageError(
            f"{folder} {what}; name a new or empty folder for {kind.value}"
        )
    mark(folder, kind)


def came_meanwhile(old: Path, kind: FolderKind) -> str:
    """Say why a folder that could be replaced when we began no longer can be."""
    return _not_ours(old, kind) if any(old.iterdir()) else ""


def check_file(target: Path, begins: re.Pattern[bytes] | None, *, force: bool) -> None:
    """Refuse an output file that exists, unless it may be replaced.

    Parameters
    ----------
    target : Path
    begins : pattern of bytes or None
        How files begin that skelgen writes there: no others are replaced. None: any
        file may be, for its name says that it is ours.
    force : bool
        Replace a file that exists.

    Raises
    ------
    UsageError
        When it may not be replaced.
    """
    if target.is_dir():
        raise UsageError(f"{target} is a folder; choose a file with -o")
    if not os.path.lexists(target):
        return
    if not force:
        raise UsageError(
            f"{target} exists; choose another file with -o, or replace it with --force"
        )
    if begins is not None and not begins.match(_begin(target)):
        raise UsageError(
            f"{target} is no such file that skelgen wrote: --force replaces only what "
            "skelgen made; choose another file with -o, or remove this one yourself"
        )


def _begin(file: Path) -> bytes:
    """Return the first bytes of a file, unpacked; nothing of what is no file."""
    try:
        if not file.is_file():
            return b""
        with file.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
        with gzip.open(file) if packed else file.open("rb") as text:
            return text.read(1024)
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{file} exists and cannot be read: {error}") from error
