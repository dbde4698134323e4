"""Folders whose paths hold no character that means something to make or to LD_PRELOAD.

make expands ``$(...)`` in paths and divides them at blanks, LD_PRELOAD is divided at
blanks and colons, and neither can quote. What may stand in the path of a home, a cache
or an installation must not reach them.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
from pathlib import Path

from skelgen.errors import MachineError

_PLAIN = re.compile(r"[\w./+@,-]+")


def is_plain(path: Path) -> bool:
    """Say whether a path can stand where nothing is quoted.

    Examples
    --------
    >>> [is_plain(Path(name)) for name in ("/tmp/a-b_c.1", "/tmp/a b", "/tmp/$(x)")]
    [True, False, False]
    """
    return _PLAIN.fullmatch(os.fspath(path)) is not None


def plain_temporary() -> Path:
    """Return a folder for temporary files: that of the user, or ``/tmp``."""
    usual = Path(tempfile.gettempdir())
    return usual if is_plain(usual) else Path("/tmp")


def preloadable(library: Path) -> Path:
    """Return a library itself, or a copy of it with a path that LD_PRELOAD can hold.

    The copy stands in a folder of its user's own in the folder for temporary files,
    below the name of the folder that the library is in.

    Raises
    ------
    MachineError
        When that folder is another's, or others may write there.
    """
    library = library.absolute()
    if is_plain(library):
        return library
    folder = _own_folder(plain_temporary() / f"skelgen-{os.geteuid()}")
    copy = folder / library.parent.name / library.name
    if not copy.exists():
        copy.parent.mkdir(exist_ok=True)
        beside = copy.with_name(f".{os.getpid()}-{library.name}")
        shutil.copyfile(library, beside)
        beside.replace(copy)
    return copy


def _own_folder(folder: Path) -> Path:
    with contextlib.suppress(FileExistsError):
        folder.mkdir(0o700)
    facts = folder.lstat()
    theirs = facts.st_uid != os.geteuid() or facts.st_mode & 0o077
    if theirs or not stat.S_ISDIR(facts.st_mode):
        raise MachineError(
            f"{folder} is no folder that only its owner, this user, can enter; remove "
            "it, or set SKELGEN_CACHE to a folder whose path has no blanks, colons, "
            "quotes and dollar signs"
        )
    return folder
