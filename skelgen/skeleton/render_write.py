"""Write the files of a skeleton into a folder, never half and never over others."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from skelgen.errors import UsageError


def write(files: Mapping[str, str], folder: Path, *, force: bool = False) -> None:
    """Write files beside their place and rename them.

    A new folder appears complete or not at all. In a folder that exists, `force`
    replaces the files of these names and leaves all others.

    Parameters
    ----------
    files : mapping of str to str
        Text by file name.
    folder : Path
    force : bool
        Replace what is there.

    Raises
    ------
    UsageError
        When the folder holds something and `force` is not given, or cannot be
        written.
    """
    try:
        if not folder.exists() and not folder.is_symlink():
            _create(files, folder)
            return
        if not folder.is_dir():
            raise UsageError(f"{folder} exists and is no folder; choose another name")
        if any(folder.iterdir()) and not force:
            raise UsageError(
                f"the output folder {folder} is not empty; "
                "choose another name, or replace its files with --force"
            )
        _replace(files, folder)
    except OSError as error:
        raise UsageError(
            f"cannot write to {folder}: {error.strerror or error}; choose a folder "
            "that you may write to"
        ) from error


def _create(files: Mapping[str, str], folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        beside.chmod(0o777 & ~_umask())
        for name, text in files.items():
            (beside / name).write_text(text, encoding="utf-8")
        beside.rename(folder)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def _replace(files: Mapping[str, str], folder: Path) -> None:
    """Write all files beside their places before the first one is replaced."""
    beside = {name: folder / f".{name}.{os.getpid()}" for name in files}
    try:
        for name, text in files.items():
            beside[name].write_text(text, encoding="utf-8")
        for name in files:
            beside[name].replace(folder / name)
    finally:
        for path in beside.values():
            path.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
