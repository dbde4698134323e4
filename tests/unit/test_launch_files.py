"""What a program is made of is known by its hash, and changes are named."""

from __future__ import annotations

import hashlib
import os

from skelgen.launch.files import changed_files, file_hashes


def test_program_and_input_are_hashed_and_other_words_are_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app").write_text("program")
    (tmp_path / "in.lj").write_text("input")
    found = file_hashes(["./app", "-in", "in.lj", "20", ".", ""])
    assert [path for path, _ in found] == [
        str(tmp_path / "app"),
        str(tmp_path / "in.lj"),
    ]
    assert found[1][1] == hashlib.sha256(b"input").hexdigest()


def test_a_program_is_found_as_the_shell_finds_it(tmp_path, monkeypatch):
    program = tmp_path / "app"
    program.write_text("program")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert file_hashes(["app"])[0][0] == str(program)


def test_a_file_of_another_content_and_one_that_is_gone_are_named(tmp_path):
    paths = [tmp_path / name for name in ("same", "other", "gone")]
    for path in paths:
        path.write_text("1")
    known = file_hashes([str(path) for path in paths])
    assert changed_files(known) == ()
    paths[1].write_text("2")
    paths[2].unlink()
    assert changed_files(known) == (
        f"{paths[1]} has changed since the recording",
        f"{paths[2]} is missing",
    )


def test_what_the_program_wrote_is_no_part_of_it(tmp_path):
    (tmp_path / "app").write_text("program")
    (tmp_path / "out").write_text("result")
    os.utime(tmp_path / "app", (500, 500))
    os.utime(tmp_path / "out", (1000, 1000))
    found = file_hashes(["./app", "out"], tmp_path, before_s=1000.0)
    assert [path for path, _ in found] == [str(tmp_path / "app")]
