"""The files that a program is made of, to know later whether they changed."""

from __future__ import annotations

import hashlib
import math
import shutil
from collections.abc import Sequence
from pathlib import Path

#: Beyond this a file is data; reading it would take longer than many a run [bytes].
_MOST_BYTES = 1 << 30


def file_hashes(
    program: Sequence[str], folder: Path | None = None, *, before_s: float = math.inf
) -> tuple[tuple[str, str], ...]:
    """Return path and SHA-256 of a program and of the files that its arguments name.

    So a script counts as well as the interpreter that runs it, and so does its input.

    Parameters
    ----------
    program : sequence of str
        The program and its arguments.
    folder : Path, optional
        Where it runs; this process' working folder unless given.
    before_s : float
        Files modified since then are left out: the program wrote them [s, Unix time].

    Returns
    -------
    tuple of (str, str)
        In the order of the words, the program first; files that cannot be read or
        are larger than 1 GiB are left out.
    """
    folder = folder or Path.cwd()
    found: dict[str, str] = {}
    for number, word in enumerate(program):
        path = folder / (word if number else shutil.which(word) or word)
        try:
            about = path.stat()
            if not path.is_file() or about.st_mtime >= before_s:
                continue
            if about.st_size <= _MOST_BYTES:
                with path.open("rb") as file:
                    found[str(path)] = hashlib.file_digest(file, "sha256").hexdigest()
        except (OSError, ValueError):
            continue
    return tuple(found.items())


def changed_files(files: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Name the files that are missing or are not what they were, a phrase for each."""
    phrases = []
    for name, known in files:
        now = dict(file_hashes([name])).get(name)
        if now != known:
            what = "is missing" if now is None else "has changed since the recording"
            phrases.append(f"{name} {what}")
    return tuple(phrases)
