"""Folders that skelgen made: how they are marked, and what may be in them.

A folder is removed only when a marker says that skelgen made it and each thing in it
has a name that skelgen, make or the compiler gives there. What has another name is
never removed, whatever the marker says.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from skelgen import __version__

MARKER = ".skelgen"
#: First bytes of a rank file, as ``pmpi_shim/skelgen_record.h`` has them.
RANK_FILE_BEGINS = b"\x89SKT\r\n\x1a\n"

_RANK_FILE = r"rank-\d{6,}(\.t\d{3,})?(\.\d+)?\.skt"
#: What a skelgen that was killed left of a file that it was replacing.
_HALF_WRITTEN = (
    r"\.(skeleton|mix|report|phases|signature|run|predictions|timeline|lines)"
    r"\.\w{8}\.(json|html|yaml)"
)
_NONE = "(?!)"


class FolderKind(Enum):
    """What a folder of skelgen holds."""

    RUN = "run"
    SKELETON = "skeleton"
    EXPORT = "export"
    IMAGES = "images"


@dataclass(frozen=True, slots=True)
class FolderContent:
    """Names that may stand in a folder.

    Attributes
    ----------
    files : str
        Regular expression of the names of files.
    folders : dict of str to FolderContent
        Regular expressions of the names of folders, and what may be in these.
    is_deep : bool
        Whether there may be anything in it, and in folders in it.
    """

    files: str
    folders: Mapping[str, FolderContent] = field(default_factory=dict)
    is_deep: bool = False

    def __contains__(self, entry: os.DirEntry[str]) -> bool:
        if self.is_deep:
            return True
        if entry.is_dir(follow_symlinks=False):
            return self.inside(entry.name) is not None
        regular = entry.is_file(follow_symlinks=False)
        known = entry.name == MARKER or re.fullmatch(self.files, entry.name)
        return regular and bool(known)

    def inside(self, name: str) -> FolderContent | None:
        """Return what may be in a folder of this name, None where none may be."""
        matches = (
            content
            for names, content in self.folders.items()
            if re.fullmatch(names, name)
        )
        return next(matches, self if self.is_deep else None)


_RUN_FILES = (
    rf"{_RANK_FILE}|\.{_RANK_FILE}(\.[0-9a-f]{{16}})?\.part|run\.json|mix\.json|phases\.yaml|\.lock|"
    rf"report\.html|predictions\.json|lines\.json|{_HALF_WRITTEN}"
)
_JOB = FolderContent(
    r"job\.sh|log|out|err|part|status", {"begun": FolderContent(_NONE)}
)
_SKELETON_FILES = (
    r"skeleton(\.c|\.o|\.json)?|Makefile|signature\.yaml|phases\.yaml|mix\.json|"
    rf"report\.html|predictions\.json|timeline\.json|lines\.json|predict\.jsonl|calibrate\.jsonl|\.lock|"
    rf"{_HALF_WRITTEN}"
)
_SHORTER = FolderContent(r"runs\.jsonl", {r"k[\d.e+]+": FolderContent(_SKELETON_FILES)})
_WHOLE = FolderContent(".+", is_deep=True)
CONTENTS = {
    FolderKind.RUN: FolderContent(
        _RUN_FILES, {r"world-\d+": FolderContent(_RUN_FILES)}
    ),
    FolderKind.SKELETON: FolderContent(
        _SKELETON_FILES, {"select": _SHORTER, r"job-\w+": _JOB}
    ),
    FolderKind.EXPORT: FolderContent(
        r".+\.(prv|pcf|row|tit)|traces\.(otf2|def)",
        {"traces": FolderContent(r"\d+\.(evt|def|snap|marker)")},
    ),
    FolderKind.IMAGES: FolderContent(
        r"\.lock|out|err|\.?rank-\d{6,}\.(marks|times)[\w.-]*",
        {r"image-\d+-\d+": _WHOLE, "run": _WHOLE},
    ),
}


def mark(folder: Path, kind: FolderKind) -> None:
    """Say in a folder that skelgen made it."""
    (folder / MARKER).write_text(f"skelgen {kind.value} {__version__}\n")


def marked(folder: Path) -> FolderKind | None:
    """Return the kind that the marker of a folder tells; None without a marker."""
    with contextlib.suppress(OSError, ValueError):
        handle = os.open(folder / MARKER, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            program, kind, *_ = file.read(256).decode().split() or ["", ""]
        return FolderKind(kind) if program == "skelgen" else None
    return None


def made_as(folder: Path) -> FolderKind | None:
    """Return the kind of a folder of ours; None when skelgen did not make it.

    Folders without a marker are older ones, runs that were recorded by hand, and
    skeletons that were copied file by file. They count when they hold all that such a
    folder holds and nothing else.
    """
    if (kind := marked(folder)) is not None:
        return kind
    if any(folder.glob("image-*/manifest.json")):
        return FolderKind.IMAGES
    if foreign(folder, FolderKind.SKELETON) is None:
        needed = ("skeleton.c", "skeleton.json", "Makefile")
        if all((folder / name).is_file() for name in needed):
            return FolderKind.SKELETON
    if foreign(folder, FolderKind.RUN) is None:
        begins = {_begin(path) for path in folder.rglob("*.skt")}
        # The first file of a run that was ended at once is empty.
        if begins - {b""} == {RANK_FILE_BEGINS}:
            return FolderKind.RUN
    return None


def foreign(folder: Path, kind: FolderKind) -> Path | None:
    """Return something in a folder that is not ours, None when there is nothing."""
    return next(_foreign(folder, CONTENTS[kind], folder.stat().st_dev), None)


def _foreign(folder: Path, content: FolderContent, device: int) -> Iterator[Path]:
    for entry in _entries(folder):
        known = entry in content and entry.stat(follow_symlinks=False).st_dev == device
        if not known:
            yield Path(entry.path)
        elif inner := _inside(entry, content):
            yield from _foreign(Path(entry.path), inner, device)


def remove(folder: Path, kind: FolderKind) -> bool:
    """Remove a folder of ours; what is not ours stays, and the folder with it.

    Returns
    -------
    bool
        Whether all of it is gone.
    """
    with contextlib.suppress(OSError):
        _remove(folder, CONTENTS[kind])
    return not folder.exists()


def _remove(folder: Path, content: FolderContent) -> None:
    for entry in _entries(folder):
        if entry not in content:
            continue
        if inner := _inside(entry, content):
            _remove(Path(entry.path), inner)
        else:
            os.unlink(entry.path)  # noqa: PTH108
    with contextlib.suppress(OSError):  # it holds something else
        folder.rmdir()


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _inside(entry: os.DirEntry[str], content: FolderContent) -> FolderContent | None:
    is_folder = entry.is_dir(follow_symlinks=False)
    return content.inside(entry.name) if is_folder else None


def _begin(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(len(RANK_FILE_BEGINS))
    except OSError:
        return b"?"
