"""Where the files of monitors are: a private folder, one in it for each host."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

from skelgen.errors import InputError, MachineError, SkelgenError, UsageError

#: Refusals that are about the place, not about the machine.
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENOENT)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,200}")


def this_host() -> str:
    """Return the name of this node, without its domain."""
    name = socket.gethostname().partition(".")[0]
    return name if _NAME.fullmatch(name) else "localhost"


def folder() -> Path:
    """Return the folder of all monitors of this user.

    ``SKELGEN_MONITOR`` names it; else it is ``monitor`` in ``SKELGEN_STATE``, in
    ``XDG_STATE_HOME/skelgen`` or in ``~/.local/state/skelgen``.
    """
    if named := os.environ.get("SKELGEN_MONITOR"):
        return Path(named)
    if named := os.environ.get("SKELGEN_STATE"):
        return Path(named) / "monitor"
    base = os.environ.get("XDG_STATE_HOME")
    home = Path(base) if base else Path.home() / ".local/state"
    return home / "skelgen/monitor"


def host_folder(host: str, within: Path | None = None) -> Path:
    """Return the folder of a host.

    Raises
    ------
    UsageError
        When that is no name of a host.
    """
    if not _NAME.fullmatch(host):
        raise UsageError(f"{host[:60]!r} is not the name of a host")
    return (within or folder()) / host


def hosts(within: Path | None = None) -> list[str]:
    """Return the hosts of which there are files, sorted."""
    try:
        found = [one.name for one in (within or folder()).iterdir() if one.is_dir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _refused(error, within or folder()) from error
    return sorted(name for name in found if _NAME.fullmatch(name))


def make_private(place: Path) -> Path:
    """Make a folder, and those around it that are missing, for their owner alone.

    Raises
    ------
    InputError
        When it belongs to somebody else.
    """
    with writing(place):
        for one in reversed([p for p in (place, *place.parents) if not p.exists()]):
            with contextlib.suppress(FileExistsError):
                one.mkdir(mode=0o700)
                one.chmod(0o700)
        about = place.stat()
        if about.st_uid != os.geteuid():
            raise InputError(
                f"{place} belongs to another user; name a folder of your own: "
                "SKELGEN_MONITOR"
            )
        if not stat.S_ISDIR(about.st_mode):
            raise UsageError(f"{place} is no folder; name another: SKELGEN_MONITOR")
        if stat.S_IMODE(about.st_mode) & 0o077:
            place.chmod(0o700)
    return place


@contextlib.contextmanager
def writing(place: Path) -> Iterator[None]:
    """Say in one line that something cannot be written.

    Raises
    ------
    UsageError
        When it may not be written there.
    MachineError
        When the disk is full or broken.
    """
    try:
        yield
    except OSError as error:
        raise _refused(error, place) from error


def _refused(error: OSError, place: Path) -> SkelgenError:
    where = error.filename or place
    kind = UsageError if error.errno in _FORBIDDEN else MachineError
    return kind(
        f"{where} cannot be used: {error.strerror or error}; free some room or change "
        "its permissions, or name another folder: SKELGEN_MONITOR"
    )
