"""Connections to a PostgreSQL database that wait for the next request."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from skelgen.errors import MachineError
from skelgen.server.app import application
from skelgen.store import Store, open_store
from skelgen.store.deadlines import LateError, deadline
from skelgen.store.idle_connections import IdleConnections, reusing
from tests import postgresql
from tests.visitors import BASE, fill, serve

LACKING = postgresql.lacking()
needs_server = pytest.mark.skipif(bool(LACKING), reason=LACKING)


class Connection:
    """A connection to nothing."""

    def __init__(self, since: float = 1e18) -> None:
        self.since, self.well, self.closed = since, True, False

    def is_well(self) -> bool:
        return self.well

    def close(self) -> None:
        self.closed = True


class TestWaiting:
    def test_the_last_one_of_a_place_is_taken_first(self):
        idle, first, last, other = IdleConnections(), *(Connection() for _ in range(3))
        for place, one in (("a", first), ("a", last), ("b", other)):
            idle.give(place, one)
        assert [idle.take("a"), idle.take("a"), idle.take("a")] == [last, first, None]
        assert idle.take("b") is other
        assert not any(one.closed for one in (first, last, other))

    def test_what_is_broken_or_old_or_too_many_is_closed(self):
        idle, broken, old = IdleConnections(), Connection(), Connection(since=-1e9)
        idle.give("a", broken)
        broken.well = False
        assert idle.take("a") is None
        idle.give("a", old)
        assert broken.closed
        assert old.closed
        many = [Connection() for _ in range(10)]
        for one in many:
            idle.give("a", one)
        assert sum(one.closed for one in many) == len(many) - len(idle) > 0

    def test_the_end_closes_also_what_comes_back_later(self):
        idle, waiting, used = IdleConnections(), Connection(), Connection()
        idle.give("a", waiting)
        idle.close()
        idle.give("a", used)
        assert waiting.closed
        assert used.closed
        assert idle.take("a") is None


@pytest.fixture(scope="module")
def server() -> Iterator[postgresql.Server]:
    with postgresql.server() as found:
        yield found


@pytest.fixture
def idle() -> Iterator[IdleConnections]:
    with contextlib.closing(IdleConnections()) as found:
        yield found


def process_of(store: Store) -> int:
    """Return the server's process of a store's connection."""
    ((found,),) = store.current().execute("SELECT pg_backend_pid()")
    return int(found)


def limit_of(store: Store) -> str:
    ((found,),) = store.current().execute("SHOW statement_timeout")
    return str(found)


@needs_server
class TestServer:
    def test_the_next_request_has_the_same_connection_without_a_limit(
        self, server, idle
    ):
        url = server.create("again")
        with reusing(idle):
            with deadline(20.0), open_store(url) as store:
                first = process_of(store)
                assert limit_of(store) != "0"
            with open_store(url) as store:
                assert process_of(store) == first
                assert limit_of(store) == "0"
        assert len(idle) == 1
        with open_store(url) as store:
            assert process_of(store) != first

    def test_a_limit_within_a_transaction_ends_with_it(self, server, idle):
        url = server.create("within")
        with reusing(idle), open_store(url) as store, store.database.reading():
            store.current().execute("SELECT 1")
            with deadline(5.0):
                assert limit_of(store) != "0"
        with reusing(idle), open_store(url) as store:
            assert limit_of(store) == "0"

    def test_each_statement_has_the_time_that_is_left(self, server, idle):
        url = server.create("left")
        open_store(url).close()
        with (
            pytest.raises(LateError),
            reusing(idle),
            deadline(1.0),
            open_store(url) as store,
        ):
            for _ in range(100):
                store.current().execute("SELECT 1 FROM pg_sleep(0.3)")
        with reusing(idle), open_store(url) as store:
            assert store.runs() == []

    def test_two_that_are_open_at_once_have_two(self, server, idle):
        url = server.create("two")
        with reusing(idle), open_store(url) as one, open_store(url) as other:
            assert process_of(one) != process_of(other)
        assert len(idle) == 2

    def test_one_that_failed_within_a_transaction_is_not_left_there(self, server, idle):
        url = server.create("failed")
        with reusing(idle):
            with (
                pytest.raises(MachineError),
                open_store(url) as store,
                store.database.transaction(),
            ):
                store.current().execute("SELECT 1 / 0")
            with open_store(url) as store:
                assert store.count() == 0

    def test_a_server_that_ended_connections_is_asked_by_a_new_one(self, server, idle):
        url = server.create("ended")
        fill(url)
        served = serve(url)
        app = application(served.settings, served.keyring, None, idle)
        client = TestClient(
            app, base_url=BASE, headers={"Authorization": f"Bearer {served.token}"}
        )
        assert client.get("/runs").status_code == 200
        assert len(idle) == 1
        with open_store(url) as store:
            store.current().execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
        assert client.get("/runs").status_code == 200


@needs_server
def test_a_server_that_is_gone_is_one_clear_answer_and_no_more(idle):
    with postgresql.server() as its_own:
        url = its_own.create("gone")
        fill(url)
        served = serve(url)
        app = application(served.settings, served.keyring, None, idle)
        client = TestClient(
            app, base_url=BASE, headers={"Authorization": f"Bearer {served.token}"}
        )
        assert client.get("/api/runs").status_code == 200
    for _ in range(2):
        answer = client.get("/api/runs")
        assert answer.status_code == 503
        assert "the server cannot be used" in answer.json()["detail"]
        assert "Traceback" not in answer.text
