"""Trees of control groups are removed, also while others remove parts of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.testbed import control_groups


@pytest.mark.parametrize("gone", [None, "one", "two/three"])
def test_a_tree_is_removed_while_parts_of_it_vanish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str | None
) -> None:
    folder, list_folder = tmp_path / "tree", os.scandir
    for name in ("one", "two/three", "two/four"):
        (folder / name).mkdir(parents=True)

    def scandir(path):
        if gone and Path(path) == folder / gone:
            (folder / gone).rmdir()
        return list_folder(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert not control_groups._removed(folder)
    assert not folder.exists()
    assert not control_groups._removed(folder)


def test_what_cannot_be_removed_is_left(tmp_path: Path) -> None:
    (tmp_path / "tree/one").mkdir(parents=True)
    (tmp_path / "tree/file").write_text("kept")
    assert control_groups._removed(tmp_path / "tree")
    assert (tmp_path / "tree/file").read_text() == "kept"
    assert not (tmp_path / "tree/one").exists()
