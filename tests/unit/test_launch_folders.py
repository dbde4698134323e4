"""Output folders appear complete or not at all."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from skelgen.errors import UsageError
from skelgen.launch import folders
from skelgen.launch.folders import alone, new_folder, replace_file
from skelgen.launch.process import NOTE
from tests.processes import comes_true


def test_a_folder_appears_when_it_is_complete(tmp_path: Path):
    target = tmp_path / "a/b"
    with new_folder(target, force=False) as beside:
        (beside / "file").write_text("x")
        assert not target.exists()
    assert [path.name for path in target.iterdir()] == ["file"]
    assert [path.name for path in target.parent.iterdir()] == ["b"]


def test_nothing_remains_after_a_failure(tmp_path: Path):
    with pytest.raises(ZeroDivisionError), new_folder(tmp_path / "a", force=False):
        _ = 1 / 0
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_replaced_only_with_force(tmp_path: Path):
    target = tmp_path / "a"
    target.mkdir()
    (target / "old").touch()
    with pytest.raises(UsageError, match="--force"), new_folder(target, force=False):
        pytest.fail("the folder exists")
    with new_folder(target, force=True) as beside:
        (beside / "new").touch()
    assert [path.name for path in target.iterdir()] == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_an_empty_folder_may_be_filled(tmp_path: Path):
    (tmp_path / "a").mkdir()
    with new_folder(tmp_path / "a", force=False) as beside:
        (beside / "new").touch()
    assert (tmp_path / "a/new").exists()


def test_a_failed_replacement_keeps_the_old_folder(tmp_path: Path):
    target = tmp_path / "a"
    target.mkdir()
    (target / "old").touch()
    with pytest.raises(ZeroDivisionError), new_folder(target, force=True):
        _ = 1 / 0
    assert (target / "old").exists()


def test_a_file_is_never_replaced(tmp_path: Path):
    (tmp_path / "a").touch()
    with pytest.raises(UsageError, match="not a folder"):
        folders.check_free(tmp_path / "a", force=True)


def test_an_unwritable_place_is_refused_at_once(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(folders.os, "access", lambda path, mode: False)
    with pytest.raises(UsageError, match="not writable"):
        folders.check_free(tmp_path / "a/b", force=False)


def test_a_file_is_replaced_as_a_whole(tmp_path: Path):
    target = tmp_path / "a/b"
    replace_file(target, "old")
    replace_file(target, "n\u00e9w\n")
    assert target.read_bytes() == "n\u00e9w\n".encode()
    assert list(target.parent.iterdir()) == [target]


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(
    tmp_path: Path, monkeypatch
):
    def refuse(path: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(UsageError, match="a cannot be written: Operation not"):
        replace_file(tmp_path / "a", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_who_waits_for_a_folder_says_so_and_no_lock_remains(tmp_path, monkeypatch):
    lock, seen, said = tmp_path / ".a.lock", [], []

    def wait() -> None:
        with alone(tmp_path, lock.name):
            seen.append(lock.exists())

    monkeypatch.setattr(folders.logger, "log", lambda *words: said.append(words))
    waiting = threading.Thread(target=wait)
    with alone(tmp_path, lock.name):
        with alone(tmp_path):
            assert not said
        waiting.start()
        assert comes_true(lambda: bool(said))
        assert not seen
    waiting.join()
    assert [(level, of) for level, _, *of in said] == [(NOTE, [lock])]
    assert seen == [True]
    assert list(tmp_path.iterdir()) == []
