"""Paths that neither make nor LD_PRELOAD can hold are kept from them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from skelgen.errors import MachineError
from skelgen.launch.safe_paths import is_plain, plain_temporary, preloadable


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder for temporary files."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path / "tmp"


def library(folder: Path) -> Path:
    (folder / "key").mkdir(parents=True)
    path = folder / "key/lib.so"
    path.write_bytes(b"code")
    return path


@pytest.mark.parametrize(
    "name", ["a b", "a:b", "$(x)", "`x`", "'", '"', "\n", "%", "#"]
)
def test_a_library_at_an_odd_path_is_copied_to_one_that_is_not(
    place: Path, tmp_path: Path, name: str
) -> None:
    odd = library(tmp_path / name)
    copy = preloadable(odd)
    assert is_plain(copy) and copy.read_bytes() == b"code"
    assert copy.parents[1].lstat().st_mode & 0o777 == 0o700
    assert preloadable(odd) == copy


def test_a_library_at_a_plain_path_stays(place: Path, tmp_path: Path) -> None:
    plain = library(tmp_path / "plain-1.0_x")
    assert preloadable(plain) == plain
    assert not list(place.iterdir())


@pytest.mark.parametrize("how", ["open", "link", "file"])
def test_a_folder_that_others_may_have_made_is_refused(
    place: Path, tmp_path: Path, how: str
) -> None:
    theirs = place / f"skelgen-{os.geteuid()}"
    if how == "open":
        theirs.mkdir()
        theirs.chmod(0o777)
    elif how == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        theirs.symlink_to(tmp_path / "elsewhere")
    else:
        theirs.touch(0o600)
    with pytest.raises(MachineError, match="set SKELGEN_CACHE"):
        preloadable(library(tmp_path / "a b"))


def test_an_odd_folder_for_temporary_files_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "$(touch canary)"))
    assert plain_temporary() == Path("/tmp")
