"""The user's own launches: what is kept, for whom, and what is executed."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from skelgen.errors import UsageError
from skelgen.launch import consent as consents
from skelgen.launch import own_launches
from skelgen.launch.consent import (
    Consent,
    existing_folder,
    launch_to_lend,
    launch_to_run,
)
from skelgen.launch.own_launches import LIST, OwnLaunch, own, remember
from skelgen.progress import NOTE

MINE = OwnLaunch(
    ("mpirun", "-genv", "DBPASS", "hunter2", "-n", "2", "./app", "64"),
    "/somewhere",
    (("UCX_TLS", "self"),),
    (("/somewhere/app", "00ff"),),
)
#: As a file says it.
SAID = replace(MINE, command=(*MINE.command[:3], "***", *MINE.command[4:]), files=())


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state/skelgen"))
    return tmp_path / "state/skelgen"


def test_a_launch_that_a_file_describes_is_executed_as_it_was_typed(home: Path):
    assert own(SAID) is None
    remember(MINE)
    assert own(SAID) == MINE
    assert launch_to_run(SAID, Consent(), "a file") == MINE


@pytest.mark.parametrize(
    "other",
    [
        replace(SAID, command=(*SAID.command, "x")),
        replace(SAID, folder="/elsewhere"),
        replace(SAID, environment=()),
        replace(SAID, environment=(("UCX_TLS", "tcp"),)),
    ],
)
def test_a_launch_that_differs_is_none_of_ones_own(other: OwnLaunch):
    remember(MINE)
    assert own(other) is None
    with pytest.raises(UsageError, match=r"type the launch after --.*--allow-command"):
        launch_to_run(other, Consent(), "a file")


def test_without_a_folder_the_newest_launch_of_the_command_is_meant():
    newest = replace(MINE, folder="/new", environment=())
    remember(MINE)
    remember(newest)
    assert own(OwnLaunch(SAID.command, "")) == newest


def test_names_that_are_not_utf8_are_found_again():
    odd = OwnLaunch(("./app", "\udcff.in"), "/x\udcfe")
    remember(odd)
    assert own(odd) == odd
    assert own(replace(odd, folder="/x\udcfd")) is None


def test_only_the_user_can_read_the_list(home: Path):
    before = os.umask(0)
    try:
        remember(MINE)
    finally:
        os.umask(before)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE((home / LIST).stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["", LIST])
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o722])
def test_a_list_that_others_may_write_is_not_used(home: Path, name, mode, caplog):
    remember(MINE)
    (home / name).chmod(mode)
    assert own(SAID) is None
    assert f"others may write {home / name}".rstrip("/") in caplog.text
    assert "chmod go-w" in caplog.text


def test_a_list_of_another_user_is_not_used(home: Path, caplog, monkeypatch):
    remember(MINE)
    monkeypatch.setattr(own_launches.os, "geteuid", lambda: 4242)
    assert own(SAID) is None
    assert "expected 4242" in caplog.text
    caplog.clear()
    remember(MINE)
    assert "this launch is not remembered" in caplog.text


def test_a_link_in_place_of_the_list_is_not_followed(
    home: Path, tmp_path: Path, caplog
):
    remember(MINE)
    (home / LIST).rename(tmp_path / "elsewhere")
    (home / LIST).symlink_to(tmp_path / "elsewhere")
    assert own(SAID) is None
    before = (tmp_path / "elsewhere").read_bytes()
    remember(replace(MINE, folder="/other"))
    assert (tmp_path / "elsewhere").read_bytes() == before


def test_a_folder_that_cannot_be_made_is_told(monkeypatch, tmp_path: Path, caplog):
    (tmp_path / "file").touch()
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "file/skelgen"))
    remember(MINE)
    assert "this launch is not remembered" in caplog.text
    assert own(SAID) is None


@pytest.mark.parametrize(
    "line",
    [b"", b"\0\xff", b"[]", b"{", b'{"command": 1}', b"[" * 5000, b'{"command": ["a"]'],
)
def test_damaged_lines_are_left_out(home: Path, line: bytes):
    remember(MINE)
    text = (home / LIST).read_bytes()
    (home / LIST).write_bytes(line + b"\n" + text + line)
    assert own(SAID) == MINE


def test_the_list_stays_small_and_keeps_the_newest(home: Path, monkeypatch):
    monkeypatch.setattr(own_launches, "_MOST_BYTES", 4096)
    for number in range(200):
        remember(replace(MINE, folder=f"/{number}"))
        assert (home / LIST).stat().st_size <= 4096
    assert own(replace(SAID, folder="/199")) == replace(MINE, folder="/199")
    assert own(replace(SAID, folder="/0")) is None


def test_a_launch_that_is_too_long_is_told(monkeypatch, caplog, home: Path):
    monkeypatch.setattr(own_launches, "_MOST_OF_ONE", 100)
    remember(MINE)
    assert "too long" in caplog.text
    assert not (home / LIST).exists()


def test_the_same_launch_again_takes_no_room(home: Path):
    remember(MINE)
    size = (home / LIST).stat().st_size
    remember(MINE)
    assert (home / LIST).stat().st_size == size


def _remember(number: int) -> None:
    remember(OwnLaunch(("./app", "x" * 5000), f"/{number}"))


def test_those_who_remember_at_once_lose_nothing():
    with ThreadPoolExecutor(8) as pool:  # each opens the list, and locks it, anew
        list(pool.map(_remember, range(60)))
    assert all(own(OwnLaunch(("./app", "x" * 5000), f"/{n}")) for n in range(60))


def test_what_the_user_agrees_to_is_remembered():
    asked: list[str] = []

    def ask(what: str) -> bool:
        asked.append(what)
        return True

    plain = OwnLaunch(("mpirun", "-n", "2", "./app"), "/somewhere")
    assert launch_to_run(plain, Consent(ask=ask), "a file") == plain
    assert launch_to_run(plain, Consent(ask=ask), "a file") == plain
    (only,) = asked
    assert "a file" in only
    assert "/somewhere" in only
    assert "mpirun -n 2 ./app" in only


def test_a_user_who_does_not_agree_runs_nothing():
    with pytest.raises(UsageError, match="not one of yours"):
        launch_to_run(SAID, Consent(ask=lambda _: False), "a file")
    assert own(SAID) is None


def test_a_launch_without_its_secrets_cannot_be_allowed():
    with pytest.raises(UsageError, match="secrets, which are not stored"):
        launch_to_run(SAID, Consent(given=True), "a file")


def test_a_launcher_is_lent_by_ones_own_launch_only(caplog):
    caplog.set_level(NOTE, "skelgen")
    assert launch_to_lend(SAID, Consent(ask=lambda _: True), "a file") is None
    assert "not one of yours" in caplog.text
    assert "not set as in the recording: UCX_TLS" in caplog.text
    assert launch_to_lend(SAID, Consent(given=True), "a file") == SAID
    caplog.clear()
    remember(MINE)
    assert launch_to_lend(SAID, Consent(), "a file") == MINE
    assert not caplog.text


def test_a_run_recorded_by_hand_lends_nothing_and_says_nothing(caplog):
    caplog.set_level(NOTE, "skelgen")
    assert launch_to_lend(OwnLaunch((), ""), Consent(), "a file") is None
    assert not caplog.text


def test_a_launch_is_not_made_in_another_folder(tmp_path: Path):
    assert existing_folder(OwnLaunch(("a",), "")) is None
    assert existing_folder(OwnLaunch(("a",), str(tmp_path))) == tmp_path
    with pytest.raises(UsageError, match="is gone"):
        existing_folder(OwnLaunch(("a",), str(tmp_path / "gone")))


def test_programs_of_root_and_of_oneself_are_run(tmp_path: Path, monkeypatch):
    consents.check_owner(Consent(), tmp_path, tmp_path / "missing", Path("/"))
    monkeypatch.setattr(consents, "owner_of", lambda _: 4242)
    with pytest.raises(UsageError, match="a skeleton is a program"):
        consents.check_owner(Consent(), tmp_path)
    consents.check_owner(Consent(given=True), tmp_path)
