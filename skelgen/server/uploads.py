"""Take files that somebody sends: onto the disk as they come, and away afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from skelgen import _paths
from skelgen.documents.archives import safe_name
from skelgen.launch.folders import private_folder
from skelgen.server.multipart import boundary_of, read_parts
from skelgen.server.requests import checked
from skelgen.server.settings import RefusedError, UploadedFile
from skelgen.server.upload_limits import full

#: The next bytes have to come in this time [s].
_NEXT_S = 20.0
#: Files of one form.
_MOST_FILES = 20
#: Folders of servers that were killed are removed when they are older [s].
_OLD_S = 3600.0
_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class SentForm:
    """A form with files.

    Attributes
    ----------
    fields : dict of str to str
    files : tuple of UploadedFile
    """

    fields: dict[str, str]
    files: tuple[UploadedFile, ...]


@contextlib.contextmanager
def upload_folder() -> Iterator[Path]:
    """Give a folder of this user alone, which is removed afterwards."""
    parent = private_folder(_paths.state() / "serve/uploads")
    for one in parent.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - one.stat().st_mtime > _OLD_S:
                shutil.rmtree(one, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=parent, ignore_cleanup_errors=True) as name:
        yield Path(name)


async def receive_body(
    stream: AsyncIterator[bytes], folder: Path, charge: Callable[[int], None]
) -> Path:
    """Write the body of a request into a file as it comes.

    Parameters
    ----------
    stream : async iterator of bytes
    folder : Path
    charge : callable
        Is told of each part before it is written, and may refuse it.

    Raises
    ------
    RefusedError
        When nothing comes for too long, or the disk is full.
    """
    file = folder / "body"
    try:
        with file.open("wb") as target:
            while True:
                async with asyncio.timeout(_NEXT_S):
                    part = await anext(stream, None)
                if part is None:
                    return file
                charge(len(part))
                target.write(part)
    except TimeoutError as error:
        raise RefusedError(
            408, f"nothing came for {_NEXT_S:g} s; send it again"
        ) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise full() from error
        raise


def form_with_files(file: Path, content_type: str) -> SentForm:
    """Read a form, and give each of its files a folder of its own.

    Raises
    ------
    RefusedError
        When it is none, or holds too many.
    """
    pairs, parts = read_parts(file, boundary_of(content_type))
    if len(parts) > _MOST_FILES:
        raise RefusedError(400, f"send at most {_MOST_FILES} files at once")
    found = []
    with file.open("rb") as opened:
        for number, one in enumerate(parts):
            folder = file.with_name(f"file-{number}")
            folder.mkdir(mode=0o700)
            name = one.file_name or ""
            place = folder / safe_name(name.replace("\\", "/").rpartition("/")[2])
            with place.open("xb") as target:
                opened.seek(one.begin)
                left = one.end - one.begin
                while left:
                    part = opened.read(min(left, _AT_ONCE))
                    target.write(part)
                    left -= len(part)
            found.append(UploadedFile(name, place))
    file.unlink()
    return SentForm(checked(pairs), tuple(found))
