"""Write folders and files beside their place and rename them when complete."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from skelgen.documents.system import writing
from skelgen.errors import UsageError
from skelgen.launch.process import NOTE

logger = logging.getLogger(__name__)


def check_free(target: Path, *, force: bool) -> None:
    """Refuse an output folder that exists, unless it may be replaced.

    Raises
    ------
    UsageError
        When something stands there, or the folder around it cannot be written.
    """
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise UsageError(f"{target} is not a folder; choose another one with -o")
    if target.is_dir() and any(target.iterdir()) and not force:
        raise UsageError(
            f"{target} exists; choose another folder with -o, or replace it with "
            "--force"
        )
    around = target.absolute().parent
    while not around.exists():
        around = around.parent
    if not (around.is_dir() and os.access(around, os.W_OK | os.X_OK)):
        raise UsageError(f"{target} cannot be created: {around} is not writable")


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
def new_folder(target: Path, *, force: bool) -> Iterator[Path]:
    """Give a folder to fill, and rename it to its place afterwards.

    When the caller fails nothing remains, and what stood there before stays.

    Parameters
    ----------
    target : Path
    force : bool
        Replace a folder that exists.
    """
    check_free(target, force=force)
    target = target.absolute()
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        beside.chmod(0o777 & ~_umask())
    try:
        with writing(target):
            yield beside
            _move(beside, target)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


@contextlib.contextmanager
def new_file(target: Path, *, force: bool) -> Iterator[Path]:
    """Give a path to write a file to, and rename it to its place afterwards.

    When the caller fails nothing remains, and what stood there before stays.

    Parameters
    ----------
    target : Path
    force : bool
        Replace a file that exists.
    """
    if target.is_dir():
        raise UsageError(f"{target} is a folder; choose a file with -o")
    if target.exists() and not force:
        raise UsageError(
            f"{target} exists; choose another file with -o, or replace it with --force"
        )
    with writing(target):
        target.absolute().parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            target.suffix, f".{target.stem}.", target.absolute().parent
        )
        os.close(handle)
    beside = Path(name)
    try:
        with writing(target):
            yield beside
            beside.chmod(0o666 & ~_umask())
            beside.replace(target)
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


def _move(beside: Path, target: Path) -> None:
    """Put a complete folder in its place; the old one goes when the new one is in."""
    if not target.exists():
        beside.rename(target)
        return
    old = beside.with_name(f"{beside.name}.old")
    target.rename(old)
    beside.rename(target)
    shutil.rmtree(old, ignore_errors=True)
