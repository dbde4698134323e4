"""Write folders and files beside their place and rename them when complete."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import logging
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from skelgen.documents.system import writing
from skelgen.errors import UsageError
from skelgen.launch.own_folders import FolderKind, mark, remove
from skelgen.launch.replaceable_output import came_meanwhile, check_file, check_free
from skelgen.progress import NOTE

logger = logging.getLogger(__name__)

#: Nobody but the owner; a group is let in with chmod afterwards.
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600


@contextlib.contextmanager
def alone(folder: Path, name: str = ".lock") -> Iterator[None]:
    """Let one process at a time fill a folder: those that wait find what it made.

    Parameters
    ----------
    folder : Path
    name : str
        Of a file that stands in it meanwhile.
    """
    lock = folder / name
    with contextlib.ExitStack() as stack:
        # Not every folder can be written, and not every file system has locks.
        with contextlib.suppress(OSError):
            while not _is_locked(stack.enter_context(lock.open("w")), lock):
                pass  # that one is gone: there is, or will be, another
            stack.callback(_remove, lock)
        yield


@contextlib.contextmanager
def new_folder(
    target: Path, kind: FolderKind, *, force: bool, reads: Iterable[Path] = ()
) -> Iterator[Path]:
    """Give a folder to fill, and rename it to its place afterwards.

    Only its owner can read it, whatever the umask. When the caller fails nothing
    remains, and what stood there before stays.

    Parameters
    ----------
    target : Path
    kind : FolderKind
        What it will hold.
    force : bool
        Replace a folder of the same kind that skelgen made.
    reads : iterable of Path
        What is read to fill it, which must not be lost.
    """
    check_free(target, kind, force=force, reads=reads)
    target = target.absolute()
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        beside.chmod(PRIVATE_FOLDER)
        mark(beside, kind)
    try:
        with writing(target):
            yield beside
            make_private(beside)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    _move(beside, target, kind)
    logger.info("wrote %s", target)


def make_private(folder: Path) -> None:
    """Let only the owner read what is in a folder, and the folder."""
    for at, _, names, handle in os.fwalk(folder):
        os.fchmod(handle, PRIVATE_FOLDER)
        for name in names:
            about = os.stat(name, dir_fd=handle, follow_symlinks=False)
            wanted = about.st_mode & stat.S_IRWXU | stat.S_IRUSR | stat.S_IWUSR
            if stat.S_ISREG(about.st_mode) and stat.S_IMODE(about.st_mode) != wanted:
                os.chmod(Path(at, name), wanted)  # noqa: PTH101


def private_folder(folder: Path) -> Path:
    """Make a folder, and those around it that are missing, for their owner alone.

    Raises
    ------
    OSError
        When it cannot be made.
    """
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        with contextlib.suppress(FileExistsError):
            one.mkdir(mode=PRIVATE_FOLDER)
            one.chmod(PRIVATE_FOLDER)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    return folder


@contextlib.contextmanager
def new_file(
    target: Path,
    begins: re.Pattern[bytes] | None = None,
    *,
    force: bool,
    shared: bool = False,
) -> Iterator[Path]:
    """Give a path to write a file to, and rename it to its place afterwards.

    Only its owner can read it, or who could read the file that it replaces. When the
    caller fails nothing remains, and what stood there before stays.

    Parameters
    ----------
    target : Path
    begins : pattern of bytes, optional
        How the files begin that may be replaced; see `check_file`.
    force : bool
        Replace a file that exists.
    shared : bool
        Let others read it as far as the umask does: it is made to be given away.
    """
    check_file(target, begins, force=force)
    with writing(target):
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else PRIVATE_FILE
        target.absolute().parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            target.suffix, f".{target.stem}.", target.absolute().parent
        )
        os.close(handle)
    beside = Path(name)
    try:
        with writing(target):
            yield beside
            beside.chmod(0o666 & ~_umask() if shared else mode)
            beside.replace(target)
        logger.info("wrote %s", target)
    finally:
        _remove(beside)


def replace_file(target: Path, text: str) -> None:
    """Write a file beside its place and rename it, so that none is ever half written.

    The folder around it is made when it is missing.

    Raises
    ------
    UsageError
        When it cannot be written there.
    MachineError
        When the disk is full.
    """
    with new_file(target, force=True) as beside:
        beside.write_text(text, encoding="utf-8", newline="\n")


def _is_locked(file: IO[str], place: Path) -> bool:
    """Lock a file; say whether it is still the one there: who had it has removed it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        logger.log(NOTE, "waiting for another skelgen, which has locked %s", place)
        fcntl.flock(file, fcntl.LOCK_EX)
    try:
        return os.path.samestat(os.fstat(file.fileno()), place.stat())
    except FileNotFoundError:
        return False


def _remove(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink()


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _move(beside: Path, target: Path, kind: FolderKind) -> None:
    """Put a complete folder in its place; the old one goes when the new one is in.

    What was made stays when its place was taken meanwhile.
    """
    stays = f"what was made is in {beside}"
    try:
        if not target.exists():
            beside.rename(target)
            return
        old = beside.with_name(f"{beside.name}.old")
        target.rename(old)
        if found := came_meanwhile(old, kind):
            old.rename(target)
            raise UsageError(f"{target} {found}; it is not replaced, {stays}")
        beside.rename(target)
    except OSError as error:
        raise UsageError(
            f"{target} cannot be replaced: {error.strerror}; {stays}"
        ) from error
    if not remove(old, kind):
        logger.warning(
            "%s was replaced; what could not be removed is in %s", target, old
        )


def writable(folder: Path) -> bool:
    """Say whether results can be stored in a folder."""
    return os.access(folder, os.W_OK | os.X_OK)
