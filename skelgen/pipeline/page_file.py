"""The file of a page: what is in it is changed in its place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skelgen.documents.files import as_text, read_bytes
from skelgen.errors import NoFileError
from skelgen.launch.folders import replace_file, writable
from skelgen.launch.own_folders import FolderKind, made_as
from skelgen.prediction.skeleton_file import FACTS_FILE
from skelgen.web.regions import with_region

PAGE_FILE = "report.html"

#: Longest page that is changed in its place [bytes].
_MOST_PAGE = 16 << 20


def has_page(folder: Path) -> bool:
    """Say whether a folder is of a skeleton, and a page can be written into it."""
    return (folder / FACTS_FILE).is_file() and writable(folder)


def has_any_page(folder: Path) -> bool:
    """Say whether a page can be written into the folder of a skeleton or a run."""
    return has_page(folder) or has_run_page(folder)


def has_run_page(folder: Path) -> bool:
    """Say whether a folder is a run of ours into which a page can be written."""
    return writable(folder) and made_as(folder) is FolderKind.RUN


def with_regions(path: Path, regions: Mapping[str, object]) -> bool:
    """Put regions into a page in place of those that it has.

    Returns
    -------
    bool
        False where there is no page, or one of another version: then nothing changed.
    """
    try:
        text: str | None = as_text(path, read_bytes(path, most_bytes=_MOST_PAGE))
    except NoFileError:
        return False
    for name, value in regions.items():
        text = None if text is None else with_region(text, name, value)
    if text is not None:
        replace_file(path, text)
    return text is not None
