"""What others put in the recorder's way is never followed, overwritten or removed."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shim.conftest import HERE, Lab, Run

pytestmark = pytest.mark.mpi

OTHERS = 65534
GUESSED = "skelgen-0000000000000000"
ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")


def record(lab: Lab, folder: Path, ranks: int = 1, **settings: str) -> Run:
    command = [str(lab.compile("endings")), "many", "100"]
    preload = settings.pop("preload", str(lab.shim))
    run = lab.launch(ranks, command, folder, preload=preload, **settings)
    assert (run.exit_code, run.output) == (0, "the end\n"), run.errors
    return run


def modes(folder: Path) -> set[tuple[bool, int]]:
    found = [path.lstat().st_mode for path in (folder, *folder.rglob("*"))]
    return {(stat.S_ISDIR(mode), stat.S_IMODE(mode)) for mode in found}


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Path]:
    """A folder with a file that nobody may change."""
    folder = tmp_path / "victim"
    folder.mkdir(mode=0o700)
    (folder / "rank-000000.skt").write_text("mine")
    yield folder
    assert [path.name for path in folder.iterdir()] == ["rank-000000.skt"]
    assert (folder / "rank-000000.skt").read_text() == "mine"


@pytest.fixture
def guessed(lab: Lab, tmp_path: Path) -> str:
    """What to preload so that the name of the folder on the node is known before."""
    library = tmp_path / "libguessed.so"
    command = ["cc", "-shared", "-fPIC", str(HERE / "guessed.c"), "-o", str(library)]
    subprocess.run(command, check=True)
    return f"{lab.shim}:{library}"


def test_folders_and_files_are_the_users_alone(lab: Lab, tmp_path: Path) -> None:
    record(lab, tmp_path)
    record(lab, tmp_path)
    assert (tmp_path / "run/world-2").is_dir()
    record(lab, tmp_path / "far", SKELGEN_TMPDIR=str(tmp_path / "a/b"))
    for folder in (tmp_path / "run", tmp_path / "far/run"):
        assert modes(folder) == {(True, 0o700), (False, 0o600)}
    assert modes(tmp_path / "a") == {(True, 0o700)}


def test_a_link_in_place_of_the_first_file_is_another_run(
    lab: Lab, tmp_path: Path, victim: Path
) -> None:
    (tmp_path / "run").mkdir()
    link = tmp_path / "run/rank-000000.skt"
    link.symlink_to(victim / "rank-000000.skt")
    run = record(lab, tmp_path)
    assert "holds another run" in run.errors
    assert link.is_symlink()
    assert (tmp_path / "run/world-2/rank-000000.skt").stat().st_size > 1000


@pytest.mark.parametrize("what", ["a link", pytest.param("a file", marks=ROOT)])
def test_what_stands_in_place_of_a_file_stays(
    lab: Lab, tmp_path: Path, victim: Path, what: str
) -> None:
    (tmp_path / "run").mkdir()
    planted = tmp_path / "run/rank-000001.skt"
    if what == "a link":
        planted.symlink_to(victim / "rank-000000.skt")
    else:
        planted.write_text("theirs")
        os.chown(planted, OTHERS, OTHERS)
    run = record(lab, tmp_path, 2)
    assert "on rank 1: File exists; the program runs on" in run.errors
    if what == "a link":
        assert planted.is_symlink()
    else:
        assert planted.read_text() == "theirs"


@pytest.mark.parametrize(
    "what", ["a link", "a file", pytest.param("a folder", marks=ROOT)]
)
def test_what_stands_in_place_of_the_folder_on_the_node_stays(
    lab: Lab, tmp_path: Path, victim: Path, guessed: str, what: str
) -> None:
    planted = tmp_path / "node" / GUESSED
    planted.parent.mkdir(mode=0o777)
    if what == "a link":
        planted.symlink_to(victim, target_is_directory=True)
    elif what == "a file":
        planted.write_text("theirs")
    else:
        planted.mkdir()
        os.chown(planted, OTHERS, OTHERS)
    node = {"SKELGEN_TMPDIR": str(planted.parent)}
    run = record(lab, tmp_path, preload=guessed, **node)
    assert "node on rank 0: File exists; the program runs on" in run.errors
    assert planted.is_symlink() == (what == "a link")
    assert planted.is_dir() == (what != "a file")
    if what == "a folder":
        assert list(planted.iterdir()) == []


def test_a_folder_that_is_swapped_meanwhile_is_not_followed(
    lab: Lab, tmp_path: Path, victim: Path
) -> None:
    node = tmp_path / "node"
    command = [str(lab.compile("cut")), "swapped", str(victim), "100"]
    preload, where = str(lab.shim), {"SKELGEN_TMPDIR": str(node)}
    run = lab.launch(1, command, tmp_path, preload=preload, **where)
    assert (run.exit_code, run.output) == (0, "the end\n"), run.errors
    assert "cannot copy" in run.errors
    assert any(path.is_symlink() for path in node.iterdir())
    (moved,) = node.glob("*.moved/rank-000000.skt")
    assert moved.stat().st_size > 1000
