"""Many writers: every line gets in once, whoever dies when."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from skelgen.errors import MachineError
from skelgen.store import Run, Store, open_store
from skelgen.store import spool_store as spooling_module
from skelgen.store import spool_writer as spool_writer_module
from skelgen.store.checking import check_store
from skelgen.store.locks import take
from skelgen.store.spool import LOCK
from skelgen.store.spool_writer import SpoolWriter
from skelgen.store.sqlite import SqliteDatabase
from tests.store_rows import same

#: Where waiting for a disk does not make hundreds of stores slow.
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class Killed(BaseException):
    """The process died here."""


@contextlib.contextmanager
def lock_taken(place: Path) -> Iterator[None]:
    """Have the lock of a store, as another process that writes."""
    folder = place.with_name(f"{place.name}.spool")
    with (folder / LOCK).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def spooled(place: Path) -> list[Path]:
    return sorted(place.with_name(f"{place.name}.spool").glob("[!.]*.jsonl"))


def run(name: str) -> Run:
    return Run("app", 1.0, started=0.0, inputs=(("name", name),), source=name)


def leave_alone(place: Path) -> None:
    """Make the files of a spool as old as if nobody had written for long."""
    for file in spooled(place):
        os.utime(file, (1.0, 1.0))


def names(store: Store) -> list[str]:
    """Return the names of all runs, each of which is whole."""
    runs = store.runs()
    for one in runs:
        assert same(one, replace(run(one.source), identity=one.identity))
    return sorted(one.source for one in runs)


def test_a_writer_does_not_wait_for_another_one(tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    with open_store(str(place)) as store:
        store.add([run("a")])
        with lock_taken(place):
            added = store.add([run("a"), run("b")])
            assert (len(added.added), len(added.already)) == (1, 1)
            (file,) = spooled(place)
            assert file.read_bytes().count(b"\n") == 1
        assert names(store) == ["a", "b"]
        assert spooled(place) == [file], "its writer still has it open"
    assert spooled(place) == []


def test_a_job_that_adds_a_row_opens_no_busy_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "runs.db"
    open_store(str(place)).close()
    with lock_taken(place), monkeypatch.context() as patch:
        patch.setattr(SqliteDatabase, "open", lambda *_: pytest.fail("opened"))
        with open_store(str(place)) as store:
            assert len(store.add([run("a")]).added) == 1
    with open_store(str(place)) as store:
        assert names(store) == ["a"]
    assert spooled(place) == []


def test_while_others_write_a_row_is_only_appended(tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    with open_store(str(place)) as store, open_store(str(place)) as other:
        with lock_taken(place):
            other.add([run("a")])
        store.add([run("b")])
        assert len(spooled(place)) == 2
        leave_alone(place)
        store.add([run("c")])
        kept = store.database.execute("SELECT source FROM runs ORDER BY source")
        assert kept == [("a",), ("b",), ("c",)]
        assert names(store) == ["a", "b", "c"]


def test_a_writer_by_itself_is_not_others(tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    with open_store(str(place)) as store:
        with lock_taken(place):
            store.add([run("a")])
        store.add([run("b")])
        assert store.database.execute("SELECT COUNT(*) FROM runs") == [(2,)]


@pytest.mark.parametrize("why", ["locked", "half a line", "long", "another host"])
def test_a_file_that_a_writer_may_not_append_to_is_not_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    first = SpoolWriter(tmp_path, 0o600)
    first.append(["first\n"])
    (file,) = tmp_path.glob("*.jsonl")
    if why != "locked":
        first.close()
    if why == "half a line":
        file.write_text("first\nhal")
    if why == "long":
        monkeypatch.setattr(spool_writer_module, "_LONG_BYTES", 3)
    if why == "another host":
        file.rename(tmp_path / "elsewhere-1-2.jsonl")
    before = {one.read_text() for one in tmp_path.glob("*.jsonl")}
    second = SpoolWriter(tmp_path, 0o600)
    second.append(["second\n"])
    texts = {one.read_text() for one in tmp_path.glob("*.jsonl")}
    assert texts == before | {"second\n"}


def test_a_file_that_was_removed_meanwhile_is_not_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = SpoolWriter(tmp_path, 0o600)
    first.append(["first\n"])
    first.close()
    (file,) = tmp_path.glob("*.jsonl")

    def removed_before(handle: int, path: Path) -> bool:
        if path == file:
            file.unlink()
        return take(handle, path)

    monkeypatch.setattr(spool_writer_module, "take", removed_before)
    second = SpoolWriter(tmp_path, 0o600)
    second.append(["second\n"])
    (other,) = tmp_path.glob("*.jsonl")
    assert (other.read_text(), other.name != file.name) == ("second\n", True)


def test_lines_of_many_jobs_come_in_whole_and_once(tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    open_store(str(place)).close()
    with lock_taken(place):
        for number in range(20):
            with open_store(str(place)) as store:
                store.add([run(f"{number}-{n}") for n in range(number)])
    assert len(spooled(place)) == 1, "each takes over the file of the one before"
    with open_store(str(place)) as store:
        expected = [f"{number}-{n}" for number in range(20) for n in range(number)]
        assert names(store) == sorted(expected)
    assert spooled(place) == []


def test_a_reader_sees_all_lines_while_the_lock_stays_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(spooling_module, "_PATIENCE_S", 0.0)
    place = tmp_path / "runs.db"
    with open_store(str(place)) as store:
        store.add([run("a")])
        with lock_taken(place):
            store.add([run("b")])
            assert names(store) == ["a", "b"]
            store.add([run("c")])
            assert names(store) == ["a", "b", "c"]
            assert store.count() == 3
        assert "rows that others added are read but not put in" in caplog.text
        assert len(caplog.records) == 1
        assert names(store) == ["a", "b", "c"]


def test_half_a_line_of_a_killed_writer_is_dropped(tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    with open_store(str(place)) as store:
        with lock_taken(place):
            store.add([run("a")])
            (file,) = spooled(place)
        with file.open("ab") as half:
            half.write(b'{"row": "run", "appl')
        assert names(store) == ["a"]
    assert check_store(str(place)).sound
    assert spooled(place) == []


def test_a_damaged_line_is_put_aside_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "runs.db"
    with open_store(str(place)) as store:
        with lock_taken(place):
            store.add([run("a"), run("b"), run("c")])
            (file,) = spooled(place)
        file.write_bytes(file.read_bytes().replace(b'"b"', b'"x"', 1))
        assert names(store) == ["a", "c"]
        assert "a damaged line was put aside" in caplog.text
        health = check_store(str(place))
        (problem,) = health.problems
        assert not health.sound
        assert file.name in problem
        assert "checksum" in problem
        identity = problem.partition("store remove ")[2].partition(" ")[0]
        assert store.remove([identity]) == 1
        assert check_store(str(place)).sound


def test_what_is_no_file_of_lines_is_named_and_left(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "runs.db"
    with open_store(str(place)) as store:
        store.add([run("a")])
        folder = place.with_name("runs.db.spool")
        (folder / "other.jsonl").symlink_to("/etc/passwd")
        os.mkfifo(folder / "pipe.jsonl")
        (folder / "notes.txt").write_text("not ours")
        store.add([run("b")])
        assert names(store) == ["a", "b"]
        assert "other.jsonl: cannot be read" in caplog.text
        assert "pipe.jsonl: is no regular file" in caplog.text
        problems = check_store(str(place)).problems
        assert [problem.partition(":")[0] for problem in problems] == [
            str(folder / "other.jsonl"),
            str(folder / "pipe.jsonl"),
        ]


def test_a_full_disk_leaves_whole_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = SpoolWriter(tmp_path / "spool", 0o600)
    writer.append(["one\n"])
    (file,) = (tmp_path / "spool").glob("*.jsonl")
    write = os.write

    def full(handle: int, content: bytes) -> int:
        if len(content) < 4:
            raise OSError(28, "No space left on device")
        return write(handle, content[:2])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(MachineError, match="No space left on device; free some"):
            writer.append(["two\n"])
    assert file.read_text() == "one\n"
    writer.append(["three\n"])
    assert file.read_text() == "one\nthree\n"


def test_what_a_writer_was_killed_over_is_swept_later(tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    with open_store(str(place)) as store:
        old, new = (place.with_name("runs.db.spool") / f".new-{n}" for n in "12")
        for file in (old, new):
            file.write_text("half a li")
        os.utime(old, (1.0, 1.0))
        store.add([run("a")])
        assert (old.exists(), new.exists()) == (False, True)
        assert names(store) == ["a"]


def test_a_child_writes_to_a_file_of_its_own(tmp_path: Path) -> None:
    writer = SpoolWriter(tmp_path, 0o600)
    writer.append(["parent\n"])
    child = os.fork()
    if child == 0:
        writer.append(["child\n"])
        os._exit(0)
    os.waitpid(child, 0)
    texts = sorted(file.read_text() for file in tmp_path.glob("*.jsonl"))
    assert texts == ["child\n", "parent\n"]


def test_files_of_a_store_belong_to_its_owner_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    place = tmp_path / "new/runs.db"
    umask = os.umask(0)
    try:
        with open_store(str(place)) as store, contextlib.ExitStack() as stack:
            store.add([run("a")])
            stack.enter_context(lock_taken(place))
            store.add([run("b")])
            modes = {
                path.name: stat.S_IMODE(path.stat().st_mode)
                for path in place.parent.rglob("*")
                if path.suffix != ".jsonl"
            }
            assert spooled(place)[0].stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(umask)
    assert modes.pop("runs.db.spool") == 0o700
    assert set(modes.values()) == {0o600}
    assert set(modes) == {"runs.db", "runs.db-wal", "runs.db-shm", LOCK}


@pytest.mark.parametrize(("folder", "file"), [(0o2770, 0o660), (0o777, 0o666)])
def test_the_mode_of_its_folder_shares_a_store_whatever_the_umask(
    tmp_path: Path, folder: int, file: int
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(folder)
    place = shared / "runs.db"
    umask = os.umask(0o077)
    try:
        with open_store(str(place)) as store:
            store.add([run("a")])
            with lock_taken(place):
                store.add([run("b")])
                for path in shared.rglob("*"):
                    mode = stat.S_IMODE(path.stat().st_mode) & 0o777
                    if path.is_dir():
                        assert mode == file | (file & 0o444) >> 2
                    else:
                        assert mode == file, path
    finally:
        os.umask(umask)


def test_a_store_in_a_folder_of_everybodys_files_is_private(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    with open_store(str(tmp_path / "runs.db")):
        assert (tmp_path / "runs.db").stat().st_mode & 0o777 == 0o600


_AS_USER = """
import os, sys
from skelgen.store import Run, open_store
# All that is needed is loaded: another user need not be allowed to read Python's files.
os.setgroups([4242]); os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[2])); os.umask(int(sys.argv[3], 8))
with open_store(sys.argv[1]) as store:
    store.add([Run("app", 1.0, source=sys.argv[2])])
    print(store.count())
"""


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be other users")
def test_users_with_different_umasks_share_a_store() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        shared = Path(folder, "shared")
        shared.mkdir()
        os.chown(shared, 1001, 4242)
        shared.chmod(0o2770)
        counts = [
            subprocess.run(
                [sys.executable, "-c", _AS_USER, shared / "runs.db", user, umask],
                capture_output=True,
                text=True,
                check=False,
            )
            for user, umask in (("1001", "077"), ("1002", "022"), ("1001", "000"))
        ]
        assert [one.stdout for one in counts] == ["1\n", "2\n", "2\n"], counts


class Writers(RuleBasedStateMachine):
    """Writers, readers and their deaths, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir=IN_MEMORY)
        self.place = Path(self.folder.name, "runs.db")
        self.stores: dict[int, Store] = {}
        self.added: set[str] = set()
        self.number = 0

    @initialize()
    def make(self) -> None:
        open_store(str(self.place)).close()

    def store(self, writer: int) -> Store:
        if writer not in self.stores:
            self.stores[writer] = open_store(str(self.place))
        return self.stores[writer]

    def rows(self, count: int) -> list[Run]:
        self.number += count
        return [run(f"{self.number - n}") for n in range(count)]

    @rule(writer=st.integers(0, 2), count=st.integers(1, 3), busy=st.booleans())
    def add(self, writer: int, count: int, busy: bool) -> None:
        store, rows = self.store(writer), self.rows(count)
        with lock_taken(self.place) if busy else contextlib.nullcontext():
            assert len(store.add(rows).added) == count
        self.added |= {row.source for row in rows}

    @rule(writer=st.integers(0, 2))
    def add_again(self, writer: int) -> None:
        if self.added:
            self.store(writer).add([run(min(self.added))])

    @rule(writer=st.integers(0, 2), after=st.integers(0, 12), busy=st.booleans())
    def die(self, writer: int, after: int, busy: bool) -> None:
        """Die at some statement of an add, or of a reader's absorbing."""
        store, (row,) = self.store(writer), self.rows(1)
        if busy:
            with lock_taken(self.place):
                self.store((writer + 1) % 3).add([row])
            self.added.add(row.source)
        left = iter(range(after))

        def dying(works: Any) -> Any:
            def work(*arguments: Any, **named: Any) -> Any:
                if next(left, None) is None:
                    raise Killed
                return works(*arguments, **named)

            return work

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store.database, "execute", dying(store.database.execute))
            many = dying(store.database.executemany)
            patch.setattr(store.database, "executemany", many)
            patch.setattr(Path, "unlink", dying(Path.unlink))
            with contextlib.suppress(Killed):
                if busy:
                    store.current()
                else:
                    store.add([row])
                    self.added.add(row.source)
        self.die_now(writer, half=False)
        if not busy and row.source not in self.added:  # the line that it was writing
            with open_store(str(self.place)) as reader:
                self.added |= {row.source} & set(names(reader))

    @rule(writer=st.integers(0, 2), half=st.booleans())
    def die_now(self, writer: int, half: bool) -> None:
        """Leave everything as it is, and perhaps half a line."""
        store = self.stores.pop(writer, None)
        if store is None:
            return
        assert store._spool is not None
        handle = store._spool._writer._handle
        if handle >= 0:
            if half:
                os.write(handle, b'{"row": "run", "applica')
            os.close(handle)
            store._spool._writer._handle = -1
        store.database.close()

    @precondition(lambda self: self.stores)
    @rule()
    def close(self) -> None:
        self.stores.pop(min(self.stores)).close()

    @precondition(lambda self: self.added)
    @rule(writer=st.integers(0, 2))
    def remove(self, writer: int) -> None:
        store, name = self.store(writer), min(self.added)
        (one,) = (found for found in store.runs() if found.source == name)
        assert store.remove([one.identity]) == 1
        self.added.discard(name)

    @rule()
    def pass_time(self) -> None:
        leave_alone(self.place)

    @invariant()
    def everything_is_there_once(self) -> None:
        if self.place.exists():
            with open_store(str(self.place)) as reader:
                assert names(reader) == sorted(self.added)

    def teardown(self) -> None:
        with self.folder:
            for store in self.stores.values():
                store.close()
            assert check_store(str(self.place)).problems == ()
            leave_alone(self.place)
            with open_store(str(self.place)) as last:
                last.add(self.rows(1))
            assert spooled(self.place) == []


TestWriters = Writers.TestCase
TestWriters.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)

_WRITER = """
import sys
from skelgen.store import Run, open_store
place, name = sys.argv[1:]
n = 0
while True:
    with open_store(place) as store:
        for _ in range(5):
            source = f"{name}-{n}"
            n += 1
            inputs = (("name", source),)
            store.add([Run("app", 1.0, started=0.0, inputs=inputs, source=source)])
            print(source, flush=True)
"""


def test_killed_writers_lose_and_repeat_nothing(tmp_path: Path) -> None:
    place = tmp_path / "runs.db"
    open_store(str(place)).close()
    done: set[str] = set()
    writers = []
    for number in range(6):
        writers.append(
            subprocess.Popen(
                [sys.executable, "-c", _WRITER, place, f"w{number}"],
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        if len(writers) == 3:
            oldest = writers.pop(0)
            done |= _killed(oldest, after=7 * number)
    for writer in writers:
        done |= _killed(writer, after=5)
    with open_store(str(place)) as store:
        found = names(store)
    assert len(found) == len(set(found))
    assert set(found) >= done
    # Each may have been killed between what it wrote and what it said.
    assert len(set(found) - done) <= 6
    assert check_store(str(place)).problems == ()
    # A file whose lines another writer took stays until somebody has lines to take.
    with lock_taken(place), open_store(str(place)) as store:
        store.add([run("last")])
    with open_store(str(place)) as store:
        assert set(names(store)) == set(found) | {"last"}
    assert spooled(place) == []


def _killed(writer: subprocess.Popen[str], after: int) -> set[str]:
    """Kill a writer after some lines; return all that it said."""
    assert writer.stdout is not None
    said = [writer.stdout.readline() for _ in range(after)]
    writer.send_signal(signal.SIGKILL)
    said += writer.stdout.readlines()
    writer.wait()
    writer.stdout.close()
    return {line.strip() for line in said if line.endswith("\n")}
