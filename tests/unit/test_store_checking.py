"""Stores that are damaged, full, read-only, newer or other programs' files."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from skelgen.errors import (
    InputError,
    MachineError,
    NoFileError,
    SkelgenError,
    UsageError,
)
from skelgen.pipeline.store import store_export
from skelgen.store import Fact, Run, RunPart, Series, open_store, place_of
from skelgen.store import opening as opening_module
from skelgen.store import sqlite as sqlite_module
from skelgen.store.checking import check_store
from skelgen.store.database import DamagedError
from skelgen.store.migrations import scripts, statements, version_of
from tests.store_rows import rows_in


def runs(count: int) -> list[Run]:
    return [
        Run(
            f"app{n % 3}",
            1.0 + n,
            inputs=(("n", float(n)), ("word", "x" * 20)),
            parts=(RunPart("solve", "phase", 0.5),),
            source=f"line {n}",
        )
        for n in range(count)
    ]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "runs.db"
    with open_store(str(place)) as store:
        store.add(runs(200))
        store.add([Fact("n1", "float", 1.0, "1/s", 0.5, 2.0)])
        store.add([Series("n1", "cpu", (1.0, 2.0), (0.5, math.nan))])
    return place


def test_a_sound_store_has_no_problems(place: Path) -> None:
    health = check_store(str(place))
    assert (health.version, health.sound, health.problems) == (len(scripts()), True, ())


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        (
            "UPDATE runs SET time_s = 2.5 WHERE source = 'line 7'",
            "table runs, identity",
        ),
        ("UPDATE run_values SET number = 3 WHERE number = 7", "table runs, identity"),
        ("DELETE FROM parts WHERE run = (SELECT MAX(run) FROM parts)", "table runs"),
        ("UPDATE facts SET unit = 's'", "table facts, identity"),
        ("UPDATE runs SET hosts = '[' WHERE source = 'line 7'", "expected JSON"),
        ("UPDATE runs SET ranks = -1 WHERE source = 'line 7'", "read -1, expected 0"),
        ("UPDATE run_values SET kind = 'x' WHERE number = 7", "unknown kind x"),
        ("DELETE FROM runs WHERE source = 'line 7'", "table parts: a row refers to"),
        ("UPDATE samples SET value = 'x' WHERE time = 1", "cpu of n1: 1 of 2 samples"),
        ("UPDATE samples SET value = 0.25 WHERE time = 1", "cpu of n1: 1 of 2 samples"),
        ("UPDATE samples SET value = 0.25 WHERE time = 2", "cpu of n1: 1 of 2 samples"),
        ("UPDATE samples SET time = 1.5 WHERE time = 1", "cpu of n1: 1 of 2 samples"),
        ("UPDATE samples SET host = 'n3' WHERE time = 1", "cpu of n3: 1 of 1 samples"),
        ("UPDATE samples SET seal = NULL", "cpu of n1: 2 of 2 samples are not what"),
        ("UPDATE samples SET value = 1e999 WHERE time = 1", "1 of 2 samples"),
        ("UPDATE samples SET time = x'ff' WHERE time = 1", "1 of 2 samples"),
        ("UPDATE samples SET host = x'ff' WHERE time = 1", "the name of a series"),
        (
            "UPDATE store_versions SET version = 'x' WHERE version = 1",
            "store_versions: read x, expected",
        ),
    ],
)
def test_a_row_that_was_changed_is_named(place: Path, sql: str, named: str) -> None:
    connection = sqlite3.connect(place)
    connection.execute(sql)
    connection.commit()
    connection.close()
    problems = check_store(str(place)).problems
    assert problems
    assert any(named in problem for problem in problems)
    assert all("\n" not in problem for problem in problems)


@pytest.mark.parametrize(
    ("sql", "left"),
    [
        ("UPDATE runs SET ranks = -1 WHERE source = 'line 7'", (199, 2)),
        ("UPDATE run_values SET number = 'x' WHERE number = 7", (199, 2)),
        ("UPDATE samples SET value = 'x' WHERE time = 1", (200, 1)),
        ("UPDATE samples SET quantity = x'ff' WHERE time = 1", (200, 1)),
    ],
)
def test_what_is_sound_comes_out_of_a_damaged_store(
    place: Path, tmp_path: Path, caplog, sql: str, left: tuple[int, int]
) -> None:
    with open_store(str(place)) as store:
        store.database.execute(sql)
        with pytest.raises(DamagedError, match="store check names all"):
            store.runs(), store.series()
    store_export(str(place), tmp_path / "out", "jsonl")
    assert "damaged rows and samples are left out: 1, such as" in caplog.text
    assert len((tmp_path / "out/runs.jsonl").read_text().splitlines()) == left[0]
    series = json.loads((tmp_path / "out/series.jsonl").read_text())
    assert len(series["values"]) == left[1]


def test_one_flipped_bit_of_a_sample_is_named(place: Path) -> None:
    content = place.read_bytes()
    sample = struct.pack(">d", 0.625)
    with open_store(str(place)) as store:
        store.add([Series("n1", "cpu", (3.0,), (0.625,))])
    content = place.read_bytes()
    assert content.count(sample) == 1
    for bit in (0, 20, 51):
        (number,) = struct.unpack(">Q", sample)
        place.write_bytes(content.replace(sample, struct.pack(">Q", number ^ 1 << bit)))
        (problem,) = check_store(str(place)).problems
        assert "table samples, cpu of n1: 1 of 3 samples are not" in problem
    place.write_bytes(content)
    assert check_store(str(place)).sound


def test_numbers_that_databases_do_not_tell_apart_have_one_checksum(
    place: Path,
) -> None:
    with open_store(str(place)) as store:
        store.add([Series("n2", "cpu", (-0.0, 5), (-0.0, 1))])
    assert check_store(str(place)).sound


def test_samples_of_an_older_store_get_checksums(tmp_path: Path) -> None:
    place = tmp_path / "old.db"
    connection = sqlite3.connect(place)
    for statement in statements(scripts()[0]):
        connection.execute(statement.replace("/* clustered */", "WITHOUT ROWID"))
    connection.execute("INSERT INTO store_versions VALUES (1, 0)")
    connection.executemany(
        "INSERT INTO samples VALUES ('n1', 'cpu', ?, ?)", [(1.0, 0.5), (2.0, None)]
    )
    connection.commit()
    connection.close()
    with open_store(str(place)) as store:
        added = store.add([Series("n1", "cpu", (1.0, 3.0), (0.75, 0.25))])
        assert len(added.added) == 1
        (series,) = store.series()
    assert series.times == (1.0, 2.0, 3.0)
    assert series.values[0] == 0.5, "the first value stays"
    assert (tmp_path / "old.db.version-1").exists()
    health = check_store(str(place))
    assert (health.version, health.problems) == (len(scripts()), ())


def test_a_sample_is_added_without_a_look_at_the_others(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = sqlite_module.SqliteDatabase.execute
    asked: list[str] = []

    def noted(self, sql, *parameters):
        asked.append(sql)
        return execute(self, sql, *parameters)

    with open_store(str(place)) as store:
        monkeypatch.setattr(sqlite_module.SqliteDatabase, "execute", noted)
        assert len(store.add([Series("n1", "cpu", (2.0, 3.0), (0.0, 0.0))]).added) == 1
        assert len(store.add([Series("n1", "cpu", (2.0, 3.0), (0.0, 0.0))]).added) == 0
    assert asked
    assert not [sql for sql in asked if "samples" in sql]


def test_a_damaged_page_is_named(place: Path) -> None:
    content = bytearray(place.read_bytes())
    content[4096 * 5 : 4096 * 6] = bytes(4096)
    place.write_bytes(content)
    problems = check_store(str(place)).problems
    assert any("page" in problem or "malformed" in problem for problem in problems)


def test_a_changed_letter_within_a_page_is_named(place: Path) -> None:
    content = place.read_bytes()
    assert b"line 77" in content
    place.write_bytes(content.replace(b"line 77", b"line 7x"))
    problems = check_store(str(place)).problems
    assert problems
    assert all("is not what its checksum says" in problem for problem in problems)


def test_damage_anywhere_is_told_in_one_line(tmp_path: Path, place: Path) -> None:
    content = place.read_bytes()
    drawn = random.Random(1)
    other = tmp_path / "damaged/runs.db"
    noticed = 0
    for _ in range(60):
        shutil.rmtree(other.parent, ignore_errors=True)
        other.parent.mkdir()
        damaged = bytearray(content)
        for _ in range(drawn.choice((1, 20))):
            damaged[drawn.randrange(len(damaged))] = drawn.randrange(256)
        if drawn.random() < 0.2:
            del damaged[drawn.randrange(len(damaged)) :]
        other.write_bytes(damaged)
        try:
            problems = check_store(str(other)).problems
            noticed += bool(problems)
            assert all("\n" not in problem for problem in problems)
            with open_store(str(other)) as store:
                rows_in(store)
                store.add([Run("new", 1.0)])
        except SkelgenError as error:
            assert "\n" not in str(error)
            noticed += 1
    assert noticed > 20


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("these are notes\n" * 100)
    with pytest.raises(InputError, match="is damaged or no store"):
        open_store(str(other))
    assert not check_store(str(other)).sound
    assert other.read_text() == "these are notes\n" * 100
    theirs = tmp_path / "theirs.db"
    connection = sqlite3.connect(theirs)
    connection.execute("CREATE TABLE mail (text TEXT)")
    connection.close()
    with pytest.raises(InputError, match="another program's database"):
        open_store(str(theirs))
    with pytest.raises(InputError, match="is no file"):
        open_store(str(tmp_path))


def test_a_store_that_another_process_makes_meanwhile_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runs.db"
    connection = sqlite3.connect(path)
    connection.commit()
    database = sqlite_module.SqliteDatabase.open(path, tmp_path / "lock", 0o600)
    is_empty = database.is_empty

    def asked() -> bool:
        connection.executescript(scripts()[0])
        connection.execute("INSERT INTO store_versions VALUES (1, 0)")
        connection.commit()
        return is_empty()

    monkeypatch.setattr(database, "is_empty", asked)
    assert version_of(database) == 1
    database.close()
    connection.close()


def test_a_store_of_a_newer_version_is_refused(place: Path) -> None:
    connection = sqlite3.connect(place)
    connection.execute("INSERT INTO store_versions VALUES (99, 0)")
    connection.commit()
    connection.close()
    for ask in (open_store, check_store):
        with pytest.raises(InputError, match=r"version 99, this .* use a newer"):
            ask(str(place))


def test_an_older_store_is_brought_up_after_a_copy(
    place: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    later = [
        *scripts(),
        "CREATE TABLE later (a BIGINT);\n\nALTER TABLE runs ADD b TEXT;",
    ]
    monkeypatch.setattr(opening_module, "scripts", lambda: later)
    with open_store(str(place)) as store:
        assert version_of(store.database) == len(later)
        assert len(store.runs()) == 200
        assert store.database.execute("SELECT b FROM runs LIMIT 1") == [(None,)]
    (message,) = caplog.messages
    copy = place.with_name(f"runs.db.version-{len(scripts())}")
    assert str(copy) in message
    assert copy.stat().st_mode & 0o777 == 0o600
    monkeypatch.undo()
    with open_store(str(copy)) as store:
        assert len(store.runs()) == 200
        assert version_of(store.database) == len(scripts())


def test_a_migration_that_fails_changes_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = [
        *scripts(),
        "CREATE TABLE later (a BIGINT);\n\nCREATE TABLE runs (a TEXT);",
    ]
    monkeypatch.setattr(opening_module, "scripts", lambda: broken)
    with pytest.raises(MachineError, match="already exists"):
        open_store(str(place))
    monkeypatch.undo()
    with open_store(str(place)) as store:
        assert version_of(store.database) == len(scripts())
        assert not store.database.has_table("later")


def test_the_file_system_decides_about_the_log(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mode() -> str:
        with open_store(str(place)) as store:
            store.add([Run("a", 1.0)])
            return str(store.database.execute("PRAGMA journal_mode")[0][0])

    assert mode() == "wal"
    monkeypatch.setattr(sqlite_module, "is_local", lambda _: False)
    assert mode() == "delete"
    monkeypatch.undo()
    assert mode() == "wal"
    assert check_store(str(place)).sound


def test_a_reader_without_a_log_keeps_no_writer_waiting(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_module, "is_local", lambda _: False)
    with open_store(str(place)) as store:
        reader = sqlite3.connect(place, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM runs").fetchall()
        assert len(store.add([Run("a", 1.0)]).added) == 1
        reader.close()
        assert store.count() == 201


_READER = """
import os, sys
from skelgen.store import Run, open_store
from skelgen.errors import SkelgenError
os.setgid(1001); os.setuid(1001)
with open_store(sys.argv[1], make=False) as store:
    print(store.count())
    try:
        store.add([Run("a", 1.0)])
    except SkelgenError as error:
        print(error)
"""
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be others")


@pytest.mark.root
@needs_root
def test_who_may_only_read_reads(tmp_path: Path, place: Path) -> None:
    for folder in (tmp_path, *list(tmp_path.parents)[:-2]):
        folder.chmod(0o755)
    place.chmod(0o644)
    done = subprocess.run(
        [sys.executable, "-c", _READER, place],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    (warning,) = done.stderr.splitlines()
    assert "newest rows of others may be missing" in warning
    count, error = done.stdout.splitlines()
    assert count == "200"
    assert "cannot be written" in error


_FULL = """
import contextlib, os, sys
from skelgen.store import Run, open_store
from skelgen.errors import SkelgenError
n = 0
while True:
    try:
        with open_store(sys.argv[1]) as store:
            while True:
                added = store.add([Run("a", 1.0, source=f"{n} " + "x" * 3000)])
                n += len(added.added)
    except SkelgenError as error:
        print(error)
        break
with contextlib.suppress(FileNotFoundError):
    os.unlink(sys.argv[1] + "-shm")  # as another host finds it
for size in (4096, 1):
    with open(sys.argv[2], "ab", 0) as file:
        try:
            while file.write(bytes(size)):
                pass
        except OSError:
            pass
with open_store(sys.argv[1]) as store:  # its log has no room to begin
    print(store.count() == n)
    try:
        for _ in range(99):  # the last page may have room for a few short rows
            n += len(store.add([Run("a", 1.0)]).added)
    except SkelgenError as error:
        print(error)
os.unlink(sys.argv[2])
from skelgen.store.checking import check_store
with open_store(sys.argv[1]) as store:
    print(store.count() == n, check_store(sys.argv[1]).problems)
"""


@pytest.mark.root
@needs_root
def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path) -> None:
    script = (
        'mount -t tmpfs -o size=2m none "$0" || exit 77; '
        'head -c 800000 /dev/zero > "$0/room"; exec "$1" -c "$2" "$0/runs.db" "$0/room"'
    )
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, tmp_path, sys.executable, _FULL],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77:
        pytest.skip("this root cannot mount")
    error, read, again, *after = done.stdout.splitlines()
    assert "full" in error and "full" in again, done.stderr
    assert read == "True"
    assert after == ["True ()"]


def test_the_place_is_named_set_or_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SKELGEN_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    usual = place_of()
    assert (usual.where, usual.why) == ("/data/skelgen/store.db", "usual")
    assert not usual.is_set
    monkeypatch.setenv("SKELGEN_STORE", "site.db")
    assert (place_of().where, place_of().why) == ("site.db", "SKELGEN_STORE")
    assert (place_of("own.db").where, place_of("own.db").why) == ("own.db", "--store")
    with pytest.raises(UsageError, match="mysql://, expected a file or postgresql"):
        place_of("mysql://host/x")


def test_a_password_of_a_url_is_not_shown() -> None:
    place = place_of("postgresql://me:secret@db.site:5432/runs?password=secret")
    assert place.shown == "postgresql://me@db.site:5432/runs"
    assert place.is_url


def test_no_check_makes_a_store(tmp_path: Path) -> None:
    with pytest.raises(NoFileError, match="there is no store yet"):
        check_store(str(tmp_path / "runs.db"))


def test_runs_of_an_older_store_have_no_author_and_stay_what_they_were(
    tmp_path: Path,
) -> None:
    place = tmp_path / "old.db"
    row = Run("lu", 1.5, ranks=2, source="runs.csv line 2", identity="one")
    with open_store(str(tmp_path / "new.db")) as store:
        store.add([row])
    connection = sqlite3.connect(place)
    for number, script in enumerate(scripts()[:2], start=1):
        for statement in statements(script):
            connection.execute(statement.replace("/* clustered */", "WITHOUT ROWID"))
        connection.execute("INSERT INTO store_versions VALUES (?, 0)", (number,))
    names = [one[1] for one in connection.execute("PRAGMA table_info(runs)")]
    assert "author" not in names
    connection.execute("ATTACH ? AS new", (str(tmp_path / "new.db"),))
    columns = ", ".join(names)
    connection.execute(f"INSERT INTO runs ({columns}) SELECT {columns} FROM new.runs")
    connection.commit()
    connection.close()
    with open_store(str(place)) as store:
        assert [one.author for one in store.runs()] == [""]
        assert store.add([replace(row, author="ada")]).already
        store.add([replace(row, identity="two", author="ada")])
    assert (tmp_path / "old.db.version-2").exists()
    with open_store(str(place)) as store:
        assert sorted(one.author for one in store.runs()) == ["", "ada"]
    assert check_store(str(place)).sound
