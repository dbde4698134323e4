"""Who may use the files of a store: the folder that it was made in decides.

Where a group or everybody may write in the folder, they may use the store, whatever the
umask of who made it. Else it belongs to its owner alone. Later files follow the first.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from skelgen.launch.folders import PRIVATE_FILE, PRIVATE_FOLDER

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def mode_in(folder: Path) -> int:
    """Return the permissions of a new store in a folder.

    A folder such as ``/tmp``, in which each may only remove what is theirs, is
    nobody's: there a store is private.
    """
    mode = folder.stat().st_mode
    if mode & stat.S_ISVTX:
        return PRIVATE_FILE
    found = PRIVATE_FILE
    for may_write, bits in ((stat.S_IWGRP, 0o060), (stat.S_IWOTH, 0o006)):
        if mode & may_write:
            found |= bits
    return found


def make_file(path: Path, mode: int) -> None:
    """Make an empty file with these permissions and the group of its folder.

    Raises
    ------
    FileExistsError
        When there is one.
    """
    handle = os.open(path, _FLAGS, mode)
    try:
        give(handle, mode, path.parent)
    finally:
        os.close(handle)


def make_folder(path: Path, file_mode: int) -> None:
    """Make a folder that those may use who may use files of this mode."""
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=PRIVATE_FOLDER)
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            give(handle, file_mode | (file_mode & 0o444) >> 2, path.parent)
        finally:
            os.close(handle)


def give(handle: int, mode: int, folder: Path) -> None:
    """Set permissions whatever the umask; a group's file belongs to its folder's."""
    about = os.fstat(handle)
    if mode & stat.S_IRWXG:
        wanted = folder.stat().st_gid
        if about.st_gid != wanted:
            with contextlib.suppress(PermissionError):
                os.fchown(handle, -1, wanted)
    if about.st_mode & 0o777 != mode:
        os.fchmod(handle, mode | about.st_mode & stat.S_ISGID)
