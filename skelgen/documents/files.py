"""Read the bytes of a file, with a limit, and say in one line why that fails."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

from skelgen.errors import InputError, NoFileError
from skelgen.units import format_bytes

logger = logging.getLogger(__name__)

#: The longest YAML or JSON document that is read [bytes]: a signature of a hundred
#: thousand ranks takes a tenth of it.
MOST_BYTES = 256 << 20


def read_bytes(
    path: Path, *, most_bytes: int = MOST_BYTES, pipes: bool = False
) -> bytes:
    """Read a file that may be anything.

    Parameters
    ----------
    path : Path
    most_bytes : int
        A longer one is refused before it is read [bytes].
    pipes : bool
        Read what is no regular file too, such as ``<(...)`` of a shell.

    Raises
    ------
    NoFileError
        When there is none.
    InputError
        When it cannot be read, is too long or is no file.
    """
    try:
        # A pipe without a writer would keep `open` waiting for ever.
        wait = 0 if pipes else os.O_NONBLOCK
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | wait)
        with os.fdopen(handle, "rb") as file:
            about = os.fstat(handle)
            if not (pipes or stat.S_ISREG(about.st_mode)):
                raise InputError(f"{path}: is not a regular file; give a file")
            content = b"" if about.st_size > most_bytes else file.read(most_bytes + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NoFileError(f"{path}: there is no such file") from error
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    if max(len(content), about.st_size) > most_bytes:
        raise InputError(
            f"{path}: is longer than {format_bytes(most_bytes)}, which no file of its "
            "kind is; give another file"
        )
    logger.debug("read %s: %s", path, format_bytes(len(content)))
    return content


def read_text(path: Path, *, most_bytes: int = MOST_BYTES, pipes: bool = False) -> str:
    """Read a file of UTF-8 text; see `read_bytes`.

    Raises
    ------
    InputError
        Also when it is not UTF-8.
    """
    return as_text(path, read_bytes(path, most_bytes=most_bytes, pipes=pipes))


def as_text(path: Path, content: bytes) -> str:
    """Return bytes of a file as text.

    Raises
    ------
    InputError
        When they are not UTF-8.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: byte {error.start} is not UTF-8 text; restore the file or make "
            "it again"
        ) from error


def unreadable(path: Path | str, error: Exception) -> InputError:
    """Return the error that says why a file or folder cannot be read."""
    why = error.strerror if isinstance(error, OSError) else None
    return InputError(f"{path}: cannot be read ({why or error})")
