"""What killed ranks left on a node is brought, and nothing of anybody else's."""

import os
import stat

import pytest

from skelgen.launch.node_files import NodeFolder

OTHERS = 65534
PROCESS = "skelgen-0123456789abcdef"


@pytest.fixture
def node(tmp_path):
    folder = NodeFolder(tmp_path / "node")
    (folder.path / PROCESS).mkdir(parents=True, mode=0o700)
    return folder


@pytest.fixture
def target(tmp_path):
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


@pytest.fixture
def victim(tmp_path):
    """Something that nobody may change."""
    folder = tmp_path / "victim"
    folder.mkdir()
    (folder / "rank-000000.skt").write_text("mine")
    yield folder
    assert [path.name for path in folder.iterdir()] == ["rank-000000.skt"]
    assert (folder / "rank-000000.skt").read_text() == "mine"


def test_files_of_all_processes_and_worlds_are_moved(node, target):
    (node.path / PROCESS / "rank-000000.skt").write_text("zero")
    (node.path / PROCESS / "rank-000000.t001.skt").write_text("thread")
    (node.path / f"{PROCESS}-world-2").mkdir()
    (node.path / f"{PROCESS}-world-2/rank-000003.skt").write_text("three")
    (target / "rank-000000.skt").write_text("")
    node.bring(target)
    assert not node.path.exists()
    found = {str(p.relative_to(target)): p for p in target.rglob("*") if p.is_file()}
    assert {name: path.read_text() for name, path in found.items()} == {
        "rank-000000.skt": "zero",
        "rank-000000.t001.skt": "thread",
        "world-2/rank-000003.skt": "three",
    }
    assert {stat.S_IMODE(path.stat().st_mode) for path in found.values()} == {0o600}
    assert stat.S_IMODE((target / "world-2").stat().st_mode) == 0o700


def test_a_node_that_was_never_used_is_no_problem(tmp_path, target, caplog):
    NodeFolder(tmp_path / "nothing").bring(target)
    assert caplog.records == []


def test_names_cannot_be_guessed(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_TMPDIR", str(tmp_path))
    names = {NodeFolder.of(tmp_path / "run").path.name for _ in range(20)}
    assert len(names) == 20
    assert all(name.startswith("skelgen-run-") for name in names)


def test_a_link_in_place_of_the_folder_is_not_followed(
    tmp_path, target, victim, caplog
):
    (tmp_path / "link").symlink_to(victim, target_is_directory=True)
    NodeFolder(tmp_path / "link").bring(target)
    assert (tmp_path / "link").is_symlink()
    assert list(target.iterdir()) == []
    assert "stays where it is" in caplog.text


def test_a_link_in_place_of_a_process_is_not_followed(node, target, victim, caplog):
    (node.path / "skelgen-ffffffffffffffff").symlink_to(victim)
    node.bring(target)
    assert (node.path / "skelgen-ffffffffffffffff").is_symlink()
    assert list(target.iterdir()) == []
    assert "stays where it is" in caplog.text


def test_a_link_in_place_of_a_file_is_not_followed(node, target, victim, caplog):
    link = node.path / PROCESS / "rank-000000.skt"
    link.symlink_to(victim / "rank-000000.skt")
    node.bring(target)
    assert link.is_symlink()
    assert list(target.iterdir()) == []
    assert "stays where it is" in caplog.text


@pytest.mark.parametrize("which", ["", PROCESS, f"{PROCESS}/rank-000000.skt"])
@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_what_belongs_to_another_user_is_left(node, target, caplog, which):
    file = node.path / PROCESS / "rank-000000.skt"
    file.write_text("theirs")
    os.chown(node.path / which, OTHERS, OTHERS)
    node.bring(target)
    assert file.read_text() == "theirs"
    assert list(target.iterdir()) == []
    assert "stays where it is: " in caplog.text
    assert "belongs to another user" in caplog.text


def test_what_is_no_rank_file_is_left(node, target, caplog):
    (node.path / PROCESS / "notes.txt").write_text("mine")
    os.mkfifo(node.path / PROCESS / "rank-000001.skt")
    node.bring(target)
    assert (node.path / PROCESS / "notes.txt").read_text() == "mine"
    assert list(target.iterdir()) == []
    assert "stays where it is" in caplog.text
