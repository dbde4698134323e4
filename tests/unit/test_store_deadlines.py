"""Reads of a store that end when their time is over."""

from __future__ import annotations

import threading

import pytest
from pytest import raises

from skelgen.server import routes
from skelgen.store import deadlines, open_store
from skelgen.store.deadlines import LateError, deadline
from tests import postgresql
from tests.visitors import fill, serve

#: Ends only if somebody ends it.
ENDLESS = (
    "WITH RECURSIVE every(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM every) "
    "SELECT MAX(number) FROM every"
)


@pytest.fixture
def place(tmp_path):
    found = tmp_path / "store.db"
    fill(found)
    return found


def test_an_endless_read_ends_with_a_sentence(place):
    said = "longer than it may; ask for less"
    with deadline(0.1), open_store(str(place)) as store, raises(LateError, match=said):
        store.current().execute(ENDLESS)
    with open_store(str(place)) as store:
        assert len(store.runs()) == 12


def test_reading_rows_ends_as_well_where_the_database_was_quick(place, monkeypatch):
    with deadline(60.0), open_store(str(place)) as store:
        database = store.current()
        monkeypatch.setattr(deadlines, "left_s", lambda: -1.0)
        with raises(LateError):
            store.runs()
        assert database.execute("SELECT 1") == [(1,)]


def test_without_a_deadline_a_read_takes_what_it_takes(place):
    with open_store(str(place)) as store:
        assert store.current().execute("SELECT COUNT(*) FROM runs") == [(12,)]
        assert deadlines.left_s() > 1e9


def test_an_inner_deadline_gives_no_more_time_than_the_outer_one():
    with deadline(5.0):
        with deadline(1e6):
            assert deadlines.left_s() <= 5.0
        assert deadlines.left_s() <= 5.0
    assert deadlines.left_s() > 1e9


def test_a_server_gives_up_a_read_and_its_thread_ends(place, monkeypatch):
    ended = threading.Event()

    def endless(question):
        try:
            with open_store(question.settings.store, make=False) as store:
                return {"found": store.current().execute(ENDLESS)}
        finally:
            ended.set()

    slow = routes.Route("GET", "/api/slow", routes.Right.READ, endless)
    monkeypatch.setattr("skelgen.server.app.ROUTES", (slow,))
    browser = serve(place, limit_s=0.3).browser()
    answer = browser.get("/api/slow")
    assert answer.status_code == 503
    assert "ask for less" in answer.json()["detail"]
    assert ended.wait(60)


@pytest.mark.skipif(bool(postgresql.lacking()), reason=postgresql.lacking())
def test_postgresql_ends_a_read_as_well():
    with postgresql.server() as server:
        url = server.create("late")
        open_store(url).close()
        said = "ask for less"
        with deadline(0.2), open_store(url) as store, raises(LateError, match=said):
            store.current().execute("SELECT 1 FROM pg_sleep(600)")
        with open_store(url) as store:
            assert store.runs() == []
