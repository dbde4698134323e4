"""A store in a PostgreSQL database; skipped where there is no server or no psycopg."""

from __future__ import annotations

import contextlib
import multiprocessing
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from urllib.parse import quote

import pytest
from hypothesis import given, settings

from skelgen.cli.main import run
from skelgen.errors import MachineError, UsageError
from skelgen.store import Condition, Run, Series, Store, open_store, opening, place_of
from skelgen.store.checking import check_store
from skelgen.store.database import BusyError
from skelgen.store.kinds import kinds
from skelgen.store.lines import to_line
from skelgen.store.migrations import migrate, scripts, version_of
from skelgen.store.tables import table_of
from tests import postgresql
from tests.postgresql_writers import opened, own, shared, write
from tests.store_rows import ROWS, rows_in, same
from tests.unit.test_cli_predict import folder  # noqa: F401
from tests.unit.test_pipeline_keep_predictions import (
    PREDICTION,
    TRUTH,
    happened,
    record,
)
from tests.unit.test_store_outcomes import added_meanwhile
from tests.unit.test_store_pairing import RUN

LACKING = postgresql.lacking()
needs_server = pytest.mark.skipif(bool(LACKING), reason=LACKING)
_NUMBERS = count()
_AGAIN: list[str] = []


@pytest.fixture(scope="module")
def server() -> Iterator[postgresql.Server]:
    with postgresql.server() as found:
        yield found


@pytest.fixture
def url(server: postgresql.Server) -> str:
    """Give an empty schema."""
    return server.create(f"runs{next(_NUMBERS)}")


@contextlib.contextmanager
def _emptied(server: postgresql.Server) -> Iterator[Store]:
    """Give one store that has nothing, each time the same."""
    if not _AGAIN:
        _AGAIN.append(server.create("again"))
    with open_store(_AGAIN[0]) as store:
        for name in (
            "run_values",
            "parts",
            "samples",
            *map(table_of, kinds().values()),
        ):
            store.database.execute(f"DELETE FROM {name}")
        yield store


def hides_the_password(text: str) -> bool:
    parts = (postgresql.PASSWORD, quote(postgresql.PASSWORD, safe=""))
    return not any(part in text for part in parts)


@needs_server
class TestRows:
    @given(row=ROWS)
    @settings(max_examples=100)
    def test_every_row_comes_back(self, server, row):
        """Each is alone there, as in the test of files."""
        with _emptied(server) as store:
            store.add([row])
            (found,) = rows_in(store)
        if hasattr(row, "identity"):
            assert same(found, row)
        assert same(to_line(found), to_line(row))

    def test_conditions_choose_the_same_runs_as_in_a_file(self, url, tmp_path):
        runs = [
            Run(
                f"a{number % 2}",
                1.0 + number,
                ranks=number,
                inputs=(("n", float(number)), ("mesh", "fine" if number % 3 else "x")),
                loads=(("cpu_avg_min", number / 10),),
                hosts=(f"n{number % 2}", "n%_9"),
                started=1e9 + number if number % 4 else float("nan"),
                identity=f"run{number}",
            )
            for number in range(12)
        ]
        wanted = [
            [Condition("n", ">=", 3.0)],
            [Condition("input.n", "<", 5.0), Condition("ranks", "!=", 2.0)],
            [Condition("mesh", "=", "fine")],
            [Condition("host", "=", "n1")],
            [Condition("host", "!=", "n%_9")],
            [Condition("cpu_avg_min", ">", 0.35)],
            [Condition("status", "=", "ok"), Condition("started", ">", 1e9 + 3)],
        ]
        told = []
        for place in (url, str(tmp_path / "file.db")):
            with open_store(place) as store:
                assert len(store.add(runs).added) == len(runs)
                assert len(store.add(runs).already) == len(runs)
                found = [store.runs(where=one) for one in wanted]
                found += [store.runs("a1"), store.runs(limit=3)]
                told.append((repr(found), repr(store.applications()), store.count()))
        assert told[0] == told[1]

    def test_a_run_that_comes_meanwhile_is_whole_or_not_there(self, url, monkeypatch):
        (only,) = added_meanwhile(url, monkeypatch)
        assert only.inputs == RUN.inputs
        with open_store(url) as store:
            assert store.count() == 2

    def test_rows_are_removed_with_their_parts(self, url):
        with open_store(url) as store:
            store.add([replace(TRUTH, identity="gone"), PREDICTION])
            assert store.remove(["gone"]) == 1
            assert (store.count(), len(store.predictions())) == (0, 1)
            left = store.database.execute("SELECT COUNT(*) FROM run_values")
        assert left == [(0,)]

    def test_a_sum_of_rows_is_kept_or_none(self, url):
        with (
            open_store(url) as store,
            pytest.raises(ZeroDivisionError),
            store.database.transaction(),
        ):
            store.database.execute("DELETE FROM store_versions")
            raise ZeroDivisionError
        with open_store(url) as store:
            assert version_of(store.database) == len(scripts())


@needs_server
class TestCommands:
    def test_what_happened_is_compared_as_in_a_file(self, capsys, url, tmp_path):
        for place in (url, str(tmp_path / "file.db")):
            happened(place, 5)
        there = record(capsys, url)
        assert there == record(capsys, str(tmp_path / "file.db"))
        assert there[0]["happened"] == 5

    def test_learning_writes_no_password(self, capsys, url, tmp_path):
        happened(url, 9)
        file = tmp_path / "site.yaml"
        assert run(["trust", "learn", url, "-o", str(file)]) == 0
        out, err = capsys.readouterr()
        assert hides_the_password(out + err + file.read_text())
        assert "store" not in file.read_text().partition("methods:")[0]
        assert place_of(url).shown in file.read_text()

    def test_a_prediction_is_kept_there(self, capsys, folder, url):  # noqa: F811
        assert run(["predict", str(folder), "--store", url, "-vv"]) == 0
        out, err = capsys.readouterr()
        assert hides_the_password(out + err)
        with open_store(url) as store:
            assert len(store.predictions()) == 1


@needs_server
class TestRefusals:
    def test_each_is_one_line_without_the_password(self, server, url):
        wrong = [
            server.url(database="nosuch"),
            server.url(password="r0ng/p@ss"),
            f"postgresql://u:{quote(postgresql.PASSWORD, safe='')}@127.0.0.1:1/x",
        ]
        for place in wrong:
            with pytest.raises(MachineError) as caught:
                open_store(place)
            text = str(caught.value)
            assert "\n" not in text
            assert "the server cannot be used" in text
            assert hides_the_password(text)
            assert "r0ng" not in text

    def test_urls_that_are_none_never_show_what_was_typed(self):
        for place in (
            "postgresql://u:s3cr%zzt@/x",
            "postgresql://u:s3cr/t@[::1/x",
            "postgresql://u:s3cr/t@h/x",
            "postgresql://u:x@s3cr@h/x",
            "postgresql://u:s3cr@h/x?hosts=3",
            "postgresql://h/x?password=s3cr&nothing=1",
        ):
            with pytest.raises(UsageError) as caught:
                open_store(place)
            assert "s3cr" not in str(caught.value)
            assert "is no URL of PostgreSQL" in str(caught.value)

    def test_another_programs_tables_are_left_alone(self, url):
        import psycopg

        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE theirs (a INT)")
        assert run(["store", "record", "--store", url]) == 3
        with psycopg.connect(url) as connection:
            assert connection.execute(
                "SELECT COUNT(*) FROM pg_tables WHERE schemaname = current_schema"
            ).fetchone() == (1,)

    def test_who_may_only_read_reads_and_adds_nothing(self, url):
        import psycopg

        with open_store(url) as store:
            store.add([TRUTH])
        sql = "ALTER ROLE CURRENT_USER SET default_transaction_read_only = "
        try:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(f"{sql}on".encode())
            with open_store(url) as store:
                assert not store.database.writable
                assert store.count() == 1
                with pytest.raises(UsageError, match="cannot be written"):
                    store.add([PREDICTION])
        finally:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(b"SET default_transaction_read_only = off")
                connection.execute(f"{sql}off".encode())

    def test_a_lost_server_is_one_line(self):
        with postgresql.server() as its_own:
            store = open_store(its_own.create("runs"))
        with pytest.raises(MachineError, match="cannot be used"):
            store.add([TRUTH])
        store.close()


def test_without_psycopg_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "skelgen.store.postgresql", raising=False)
    with pytest.raises(MachineError, match="pip install 'skelgen\\[postgresql\\]'"):
        open_store("postgresql://u:s3cret@h/runs")


@needs_server
class TestVersions:
    def test_a_copy_is_made_before_a_migration(self, url, caplog):
        with open_store(url) as store:
            store.add([TRUTH])
            more = "ALTER TABLE templates ADD COLUMN more TEXT;\n"
            migrate(store.database, [*scripts(), more])
            number = len(scripts())
            ((schema,),) = store.database.execute("SELECT current_schema")
            copied = store.database.execute(
                f"SELECT application FROM {schema}_version_{number}.runs"
            )
            assert copied == [(TRUTH.application,)]
            assert version_of(store.database) == number + 1
        assert f'the schema "{schema}_version_{number}" of' in caplog.text
        assert run(["store", "record", "--store", url]) == 3  # of a newer version

    def test_several_that_make_a_store_at_once_make_one(self, url):
        with multiprocessing.get_context("spawn").Pool(3) as pool:
            assert pool.map(opened, [url] * 8) == [len(scripts())] * 8

    def test_a_sound_store_has_no_problems(self, url):
        with open_store(url) as store:
            store.add([TRUTH, PREDICTION])
        assert check_store(url).sound

    def test_damage_is_named(self, url):
        with open_store(url) as store:
            store.add([replace(TRUTH, identity="mine"), PREDICTION])
            store.database.execute("UPDATE runs SET time_s = 1 WHERE identity = 'mine'")
        (problem,) = check_store(url).problems
        assert "table runs, identity mine" in problem


@needs_server
class TestWriters:
    def test_rows_of_many_writers_are_there_once(self, url):
        with open_store(url):
            pass
        with multiprocessing.get_context("spawn").Pool(3) as pool:
            pool.starmap(write, [(url, writer) for writer in range(3)])
        with open_store(url) as store:
            found = [one.identity for one in store.runs()]
        wanted = [*shared(), *(name for writer in range(3) for name in own(writer))]
        assert sorted(found) == sorted(wanted)

    def test_writers_that_wait_in_a_circle_begin_again(self, url):
        """Each has a row that the other wants next: the server ends one of them."""
        with open_store(url):
            pass
        barrier, failures = threading.Barrier(2), []

        def add_in_turn(names: list[str]) -> None:
            with open_store(url) as store:
                add, seen = store.database.executemany, []

                def slowly(sql: str, rows: list) -> None:
                    add(sql, rows)
                    if not seen:
                        seen.append(sql)
                        barrier.wait(60)

                store.database.executemany = slowly  # type: ignore[method-assign]
                try:
                    store.add(
                        [
                            replace(TRUTH, identity=names[0]),
                            replace(PREDICTION, identity=names[1]),
                        ]
                        if names[0] < names[1]
                        else [
                            replace(PREDICTION, identity=names[0]),
                            replace(TRUTH, identity=names[1]),
                        ]
                    )
                except BusyError as error:
                    failures.append(error)

        threads = [
            threading.Thread(target=add_in_turn, args=(names,))
            for names in (["a", "b"], ["b", "a"])
        ]
        for one in threads:
            one.start()
        for one in threads:
            one.join(120)
        assert not failures
        with open_store(url) as store:
            assert (store.count(), len(store.predictions())) == (1, 1)

    def test_the_lock_is_had_by_one_and_given_back_by_the_dead(self, url):
        one, other = open_store(url), open_store(url)
        with one.database.lock(0.0) as mine:
            assert mine
            with other.database.lock(0.0) as too:
                assert not too
            begin = time.monotonic()
            with other.database.lock(0.2) as too:
                assert not too
            assert time.monotonic() - begin >= 0.2
            one.database.close()
            with other.database.lock(60.0) as too:
                assert too
        other.close()

    def test_samples_of_one_series_are_joined(self, url):
        with open_store(url) as store:
            store.add([Series("n1", "cpu", (1.0, 2.0), (0.5, 0.25))])
            store.add([Series("n1", "cpu", (2.0, 3.0), (9.0, float("nan")))])
            (found,) = store.series()
        assert found.times == (1.0, 2.0, 3.0)
        assert found.values[:2] == (0.5, 0.25)

    def test_more_rows_than_one_statement_holds_are_added_once(self, url):
        runs = [
            Run("a", 1.0, inputs=(("n", float(n)),), identity=f"run{n}")
            for n in range(2_500)
        ]
        times = tuple(map(float, range(2_500)))
        with open_store(url) as store:
            assert len(store.add([*runs, Series("n1", "cpu", times, times)]).added) == (
                2_501
            )
            again = store.add([*runs[:3], Series("n1", "cpu", times[:3], times[:3])])
            assert (len(again.added), len(again.already)) == (0, 4)
            assert store.runs("a", limit=1)[0].inputs
            assert store.remove([run.identity for run in runs[:2_000]]) == 2_000
            assert (store.count(), len(store.series()[0].times)) == (500, 2_500)
        assert check_store(url).sound

    def test_one_flipped_bit_of_a_sample_is_named(self, url):
        with open_store(url) as store:
            store.add([Series("n1", "cpu", (1.0, 2.0), (0.5, 0.25))])
            store.database.execute("UPDATE samples SET value = 0.3 WHERE time = 2")
        (problem,) = check_store(url).problems
        assert "cpu of n1: 1 of 2 samples are not what" in problem

    def test_samples_of_an_older_store_get_checksums(self, url, monkeypatch):
        with monkeypatch.context() as patch:
            patch.setattr(opening, "scripts", lambda: scripts()[:1])
            with open_store(url) as store:
                store.database.execute(
                    "INSERT INTO samples VALUES ('n1', 'cpu', 1.5, NULL)"
                )
        assert check_store(url).problems == ()
        with open_store(url) as store:
            assert version_of(store.database) == len(scripts())
            assert store.database.execute("SELECT COUNT(seal) FROM samples") == [(1,)]
