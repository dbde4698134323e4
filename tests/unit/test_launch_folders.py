"""Output folders appear complete or not at all, private, and replace only ours."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from skelgen.errors import UsageError
from skelgen.launch import folders, replaceable_output
from skelgen.launch.folders import (
    alone,
    make_private,
    new_file,
    new_folder,
    private_folder,
    replace_file,
)
from skelgen.launch.own_folders import (
    MARKER,
    RANK_FILE_BEGINS,
    FolderKind,
    made_as,
    remove,
)
from skelgen.launch.replaceable_output import check_file, check_free, claim
from skelgen.progress import NOTE
from skelgen.trace.format import trace_format
from tests.processes import comes_true

RUN, SKELETON = FolderKind.RUN, FolderKind.SKELETON


def filled(target: Path, kind: FolderKind, *names: str) -> Path:
    """Return a folder that skelgen made and somebody put more into."""
    with new_folder(target, kind, force=False):
        pass
    for name in names:
        file = target / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("old")
    return target


def everything(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def modes(folder: Path) -> set[str]:
    """Return how files and folders may be used: files have no others than owners."""
    return {
        f"{'d' if path.is_dir() else 'f'}{stat.S_IMODE(path.stat().st_mode):o}"
        for path in (folder, *folder.rglob("*"))
    }


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def test_a_folder_appears_when_it_is_complete(tmp_path: Path):
    target = tmp_path / "a/b"
    with new_folder(target, RUN, force=False) as beside:
        (beside / "file").write_text("x")
        assert not target.exists()
    assert sorted(path.name for path in target.iterdir()) == [MARKER, "file"]
    assert [path.name for path in target.parent.iterdir()] == ["b"]


def test_nothing_remains_after_a_failure(tmp_path: Path):
    with pytest.raises(ZeroDivisionError), new_folder(tmp_path / "a", RUN, force=False):
        _ = 1 / 0
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_replaced_only_with_force(tmp_path: Path):
    target = filled(tmp_path / "a", RUN, "run.json", "world-2/rank-000000.skt")
    with (
        pytest.raises(UsageError, match="--force"),
        new_folder(target, RUN, force=False),
    ):
        pytest.fail("the folder exists")
    with new_folder(target, RUN, force=True) as beside:
        (beside / "mix.json").touch()
    assert sorted(everything(target)) == [MARKER, "mix.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_an_empty_folder_may_be_filled(tmp_path: Path):
    (tmp_path / "a").mkdir()
    with new_folder(tmp_path / "a", RUN, force=False) as beside:
        (beside / "new").touch()
    assert (tmp_path / "a/new").exists()


def test_a_failed_replacement_keeps_the_old_folder(tmp_path: Path):
    target = filled(tmp_path / "a", RUN, "run.json")
    with pytest.raises(ZeroDivisionError), new_folder(target, RUN, force=True):
        _ = 1 / 0
    assert (target / "run.json").exists()


def test_a_file_is_never_replaced_by_a_folder(tmp_path: Path):
    (tmp_path / "a").touch()
    with pytest.raises(UsageError, match="not a folder"):
        check_free(tmp_path / "a", RUN, force=True)


def test_an_unwritable_place_is_refused_at_once(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(replaceable_output.os, "access", lambda path, mode: False)
    with pytest.raises(UsageError, match="not writable"):
        check_free(tmp_path / "a/b", RUN, force=False)


def a_project(place: Path) -> None:
    (place / "src").mkdir(parents=True)
    (place / "src/main.c").write_text("mine")


def a_skeleton_with_results(place: Path) -> None:
    filled(place, SKELETON, "skeleton.c", "predict.jsonl", "results.csv")


def a_skeleton_with_results_of_select(place: Path) -> None:
    filled(place, SKELETON, "skeleton.c", "select/k20/skeleton.c", "select/k20/mine")


def a_marker_in_a_project(place: Path) -> None:
    a_project(place)
    (place / MARKER).write_text("skelgen skeleton 0.1.0\n")


def a_recorded_run(place: Path) -> None:
    filled(place, RUN, "run.json")


def a_skeleton_with_a_link(place: Path) -> None:
    filled(place, SKELETON, "skeleton.c")
    (place / "skeleton").symlink_to(place / "skeleton.c")


def a_makefile_and_a_signature(place: Path) -> None:
    place.mkdir()
    for name in ("Makefile", "signature.yaml"):
        (place / name).write_text("mine")


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (a_project, "src"),
        (a_skeleton_with_results, "results.csv"),
        (a_skeleton_with_results_of_select, "select/k20/mine"),
        (a_marker_in_a_project, "src"),
        (a_recorded_run, "a run, not a skeleton"),
        (a_skeleton_with_a_link, "skeleton"),
        (a_makefile_and_a_signature, MARKER),
    ],
)
def test_force_refuses_what_skelgen_did_not_make(
    tmp_path: Path, make: Callable[[Path], None], named: str
):
    make(target := tmp_path / "a")
    before = everything(target)
    with (
        pytest.raises(UsageError, match=re.escape(named)) as refused,
        new_folder(target, SKELETON, force=True),
    ):
        pytest.fail("the folder is not ours")
    assert "remove this one yourself" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert everything(target) == before


def test_force_replaces_what_make_and_our_commands_wrote(tmp_path: Path):
    names = (
        "skeleton.c", "skeleton", "skeleton.o", "Makefile", "skeleton.json", "mix.json",
        "signature.yaml", "phases.yaml", "report.html", "predict.jsonl",
        "calibrate.jsonl", "select/runs.jsonl", "select/k12.5/skeleton.c",
        "predictions.json", ".predictions.x1y2z3a4.json",
        "job-x1_y/job.sh", "job-x1_y/out",
    )  # fmt: skip
    target = filled(tmp_path / "a", SKELETON, *names)
    (target / "job-x1_y/begun").mkdir()
    with new_folder(target, SKELETON, force=True):
        pass
    assert sorted(everything(target)) == [MARKER]


def a_parent_of_the_working_directory(place: Path, monkeypatch) -> None:
    (place / "select").mkdir()
    monkeypatch.chdir(place / "select")


def a_parent_of_the_home_directory(place: Path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(place / "select"))


def a_link_to_the_working_directory(place: Path, monkeypatch) -> None:
    (place.parent / "link").symlink_to(place)
    monkeypatch.chdir(place.parent / "link")


@pytest.mark.parametrize(
    "need",
    [
        a_parent_of_the_working_directory,
        a_parent_of_the_home_directory,
        a_link_to_the_working_directory,
    ],
)
def test_force_refuses_what_is_needed(tmp_path: Path, monkeypatch, need):
    target = filled(tmp_path / "a", SKELETON)
    need(target, monkeypatch)
    with pytest.raises(UsageError, match="directory, which is never replaced"):
        check_free(target, SKELETON, force=True)


def test_force_refuses_the_root_folder_and_the_working_directory(
    tmp_path: Path, monkeypatch
):
    monkeypatch.chdir(tmp_path)  # empty, but a shell stands in it
    for name in ("/", ".", str(tmp_path)):
        with pytest.raises(UsageError, match="never replaced"):
            check_free(Path(name), SKELETON, force=True)


@pytest.mark.parametrize("inside", ["", "world-2", "world-2/rank-000000.skt"])
def test_what_is_read_is_never_replaced(tmp_path: Path, inside: str):
    run = filled(tmp_path / "run", RUN, "world-2/rank-000000.skt")
    with pytest.raises(UsageError, match="which is read"):
        check_free(run, RUN, force=True, reads=[run / inside])
    check_free(run, RUN, force=True, reads=[tmp_path / "other/run"])


def test_a_mount_point_is_never_replaced(tmp_path: Path):
    target = tmp_path / "a b"
    target.mkdir()
    mount = ["mount", "--bind", str(target), str(target)]
    done = subprocess.run(mount, check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"cannot mount: {done.stderr.strip()}")
    try:
        with pytest.raises(UsageError, match="is a mount point"):
            check_free(target, RUN, force=True)
    finally:
        subprocess.run(["umount", str(target)], check=True)


def test_what_came_meanwhile_is_not_removed_and_the_new_folder_stays(tmp_path: Path):
    target = filled(tmp_path / "a", SKELETON)
    with (
        pytest.raises(UsageError, match=r"thesis\.tex.*what was made is in") as refused,
        new_folder(target, SKELETON, force=True) as beside,
    ):
        (beside / "skeleton.c").write_text("new")
        (target / "thesis.tex").write_text("mine")
    assert (target / "thesis.tex").read_text() == "mine"
    made = Path(str(refused.value).rpartition(" ")[2])
    assert (made / "skeleton.c").read_text() == "new"


def test_what_is_not_ours_survives_even_the_removal(tmp_path: Path):
    target = filled(tmp_path / "a", SKELETON, "skeleton.c", "select/notes")
    (target / "skeleton").symlink_to(tmp_path)
    assert not remove(target, SKELETON)
    assert sorted(everything(target)) == ["select/notes"]
    assert (target / "skeleton").is_symlink()


@pytest.mark.parametrize("begin", [RANK_FILE_BEGINS + b"...", b"mine"])
def test_a_run_recorded_by_hand_is_known_by_its_rank_files(
    tmp_path: Path, begin: bytes
):
    (tmp_path / "rank-000000.skt").write_bytes(begin)
    (tmp_path / "rank-000001.skt").touch()
    assert made_as(tmp_path) == (RUN if begin[:1] == b"\x89" else None)
    (tmp_path / "notes").touch()
    assert made_as(tmp_path) is None


def test_rank_files_begin_as_the_format_says():
    assert trace_format().magic == RANK_FILE_BEGINS


def test_a_skeleton_from_before_the_marker_is_replaced(tmp_path: Path):
    target = tmp_path / "a"
    target.mkdir()
    for name in ("skeleton.c", "skeleton.json", "Makefile", "signature.yaml"):
        (target / name).write_text("old")
    with new_folder(target, SKELETON, force=True):
        pass
    assert sorted(everything(target)) == [MARKER]


def test_everything_in_a_new_folder_is_for_its_owner(tmp_path: Path, umask: None):
    with new_folder(tmp_path / "a", RUN, force=False) as beside:
        (beside / "data").touch()
        (beside / "data").chmod(0o644)
        (beside / "program").touch()
        (beside / "program").chmod(0o755)
        (beside / "folder").mkdir()
        (beside / "folder").chmod(0o755)
        (beside / "outside").symlink_to(tmp_path)
    (tmp_path / "a/outside").unlink()
    assert modes(tmp_path / "a") == {"d700", "f600", "f700"}


def test_a_link_in_a_new_folder_leads_to_no_other_modes(tmp_path: Path):
    (tmp_path / "mine").touch()
    (tmp_path / "mine").chmod(0o644)
    (tmp_path / "a").mkdir()
    (tmp_path / "a/link").symlink_to(tmp_path / "mine")
    make_private(tmp_path / "a")
    assert stat.S_IMODE((tmp_path / "mine").stat().st_mode) == 0o644


def test_files_and_caches_are_for_their_owner(tmp_path: Path, umask: None):
    private_folder(tmp_path / "cache/shim")
    replace_file(tmp_path / "cache/a.json", "{}")
    assert modes(tmp_path / "cache") == {"d700", "f600"}


def test_who_was_let_in_stays_in(tmp_path: Path):
    replace_file(file := tmp_path / "skeleton.json", "old")
    file.chmod(0o640)
    replace_file(file, "new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_what_is_given_away_is_for_all_whom_the_umask_lets_in(tmp_path: Path):
    before = os.umask(0o022)
    try:
        with new_file(tmp_path / "a.yaml", force=False, shared=True) as beside:
            beside.write_text("x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.yaml").stat().st_mode) == 0o644


def test_force_replaces_files_of_the_same_kind_only(tmp_path: Path):
    file, begins = tmp_path / "a.yaml", re.compile(rb"# A phase signature;")
    check_file(file, begins, force=False)
    file.write_text("# A phase signature; more")
    check_file(file, begins, force=True)
    with pytest.raises(UsageError, match="--force"):
        check_file(file, begins, force=False)
    file.write_text("my thesis")
    with pytest.raises(UsageError, match="no such file that skelgen wrote"):
        check_file(file, begins, force=True)


def test_a_folder_for_images_is_empty_or_ours(tmp_path: Path):
    a_project(tmp_path / "mine")
    with pytest.raises(UsageError, match="holds src, which skelgen did not make"):
        claim(tmp_path / "mine", FolderKind.IMAGES)
    (tmp_path / "images").mkdir()
    for name in ("", "image-1-2", "run"):
        (tmp_path / "images" / name).mkdir(exist_ok=True)
        claim(tmp_path / "images", FolderKind.IMAGES)


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
