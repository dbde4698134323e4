"""The name of its own that a server on loopback has."""

from __future__ import annotations

import re
import socket

import pytest

from skelgen.server.lifecycle import settings_of
from skelgen.server.listening import Listening, bound
from skelgen.server.own_host import may_have_name, own_host, second_bound
from tests.visitors import fill, serve


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))


def _has_second() -> bool:
    with socket.socket(socket.AF_INET6) as asked:
        try:
            asked.bind(("::1", 0))
        except OSError:
            return False
    return True


needs_second = pytest.mark.skipif(not _has_second(), reason="no ::1 on this machine")


def test_the_name_is_that_of_the_user_and_cannot_be_guessed(tmp_path, monkeypatch):
    name = own_host()
    assert re.fullmatch(r"skelgen-[0-9a-f]{12}\.localhost", name)
    assert own_host() == name
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "other"))
    assert own_host() != name


@pytest.mark.parametrize(
    ("listening", "may"),
    [
        (Listening(), True),
        (Listening("localhost"), True),
        (Listening("::1"), False),
        (Listening("127.0.0.2"), False),
        (Listening(names=("site.example",)), False),
    ],
)
def test_only_a_plain_address_of_this_machine_has_one(listening, may):
    assert may_have_name(listening) is may


@needs_second
def test_the_name_leads_nowhere_else_or_there_is_none():
    with bound(Listening(port=0)) as first:
        port = first.getsockname()[1]
        (second,) = second_bound(port)
        with second:
            assert second.getsockname()[:2] == ("::1", port)
            assert second_bound(port) is None  # as if it were another user's
        (again,) = second_bound(port)
        again.close()


def test_without_a_second_loopback_nobody_else_has_it(monkeypatch):
    monkeypatch.setattr(socket, "has_ipv6", False)
    assert second_bound(1) == []


def test_the_server_knows_its_name_and_no_other_of_that_kind(tmp_path):
    place = tmp_path / "store.db"
    fill(place)
    name = own_host()
    names = settings_of(str(place), Listening(), 8642, name=name).names
    client = serve(place, names=names).client()
    assert client.get("/health", headers={"host": f"{name}:8642"}).status_code == 200
    for other in (f"{name}:8643", name, "skelgen-000000000000.localhost:8642"):
        assert client.get("/health", headers={"host": other}).status_code == 421
    assert name not in str(settings_of(str(place), Listening(), 8642).names)
