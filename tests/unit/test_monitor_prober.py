"""Two monitors that probe the link between them, and peers that mean harm."""

import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from skelgen.errors import MachineError, UsageError
from skelgen.monitor import connections, handshake, prober, probing
from skelgen.monitor.link_files import read_links
from skelgen.monitor.links import Links, ProbeTurn
from skelgen.monitor.prober import Prober
from tests.processes import comes_true

SECRET = "correct horse battery"
#: Addresses of this machine alone.
PLACES = {"n1": "127.0.0.2", "n2": "127.0.0.3"}
BUDGET = 20e6


class Never:
    """A schedule without turns: the test says when."""

    def next(self, now: float, done: int | None) -> None:
        return None


@dataclass
class Pair:
    """The probers of n1, which calls, and of n2, which listens."""

    caller: Prober
    listener: Prober
    key: bytes
    port: int
    folder: Path

    def works(self) -> bool:
        _, found = self.caller.probe("n2", 2_000_000)
        return found.bandwidth_bytes_per_s > 0 and found.latency_s > 0

    def connected(self) -> socket.socket:
        return socket.create_connection((PLACES["n2"], self.port), timeout=20)


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    own = {"127.0.0.2": "127.0.0.3", "127.0.0.3": "127.0.0.2"}
    monkeypatch.setattr(
        prober, "_own_address", lambda family, peer: (family, own[peer])
    )
    monkeypatch.setattr(
        prober,
        "addresses",
        lambda hosts, host: {
            name: (socket.AF_INET, PLACES[name]) for name in hosts if name != host
        },
    )
    with socket.socket() as free:
        free.bind((PLACES["n2"], 0))
        port = free.getsockname()[1]
    links = Links(("n1", "n2"), BUDGET, 120.0, port)
    made = []
    for host in links.hosts:
        (tmp_path / host).mkdir()
        one = Prober(links, SECRET, host, tmp_path / host, threading.Lock())
        one._schedule = Never()  # type: ignore[assignment]
        made.append(one)
    caller, listener = made
    listener.start()
    yield Pair(caller, listener, listener._key, port, tmp_path)
    for one in made:
        one.stop()
    assert not listener._thread.is_alive()


def nothing_comes(connection: socket.socket) -> bool:
    """Say whether the other side ends a connection without a word."""
    connection.settimeout(20)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_a_turn_keeps_what_the_probe_found_and_both_count_its_cost(pair: Pair) -> None:
    pair.caller._take_turn(ProbeTurn(1, "n2", 0.0))
    (found,) = read_links("n1", within=pair.folder)
    assert not found.marks
    assert found.curves["bandwidth"].values == [1.0]
    assert found.curves["bandwidth_bytes_per_s"].values[0] > 0
    assert 0 < found.curves["latency_s"].values[0] < 1
    spent = pair.caller.account.spent()
    assert probing.TALK_BYTES < spent <= BUDGET
    assert comes_true(lambda: abs(pair.listener.account.spent() - spent) < 100)
    kept = json.loads((pair.folder / "n1/links.json").read_text())
    assert sum(count for _, count in kept) == spent


def test_a_link_waits_until_its_share_of_the_limit_allows_the_next_probe(
    pair: Pair,
) -> None:
    pair.caller._take_turn(ProbeTurn(1, "n2", 0.0))
    spent = pair.caller.account.spent()
    pair.caller._take_turn(ProbeTurn(2, "n2", 0.0))
    assert pair.caller.account.spent() == spent


@pytest.mark.parametrize("host", ["n1", "n2"])
def test_without_bytes_left_on_a_side_there_is_no_stream(pair: Pair, host: str) -> None:
    one = {"n1": pair.caller, "n2": pair.listener}[host]
    one.account.take(int(BUDGET))
    pair.caller._take_turn(ProbeTurn(1, "n2", 0.0))
    (found,) = read_links("n1", within=pair.folder)
    assert found.curves == {}
    assert found.marks[0].reason == "probe: the limit of bytes per hour is reached"
    assert one.account.spent() <= BUDGET
    assert pair.caller.account.spent() <= 20_000 + BUDGET * (host == "n1")


def garbage(pair: Pair) -> bytes:
    return os.urandom(handshake.HELLO_BYTES)


def wrong_secret(pair: Pair) -> bytes:
    return handshake.hello(handshake.key_of("x" * 20, ("n1", "n2")), 0, 1)


def other_hosts(pair: Pair) -> bytes:
    return handshake.hello(handshake.key_of(SECRET, ("n1", "n2", "n3")), 0, 1)


def for_another(pair: Pair) -> bytes:
    return handshake.hello(pair.key, 0, 0)


def from_the_last(pair: Pair) -> bytes:
    return handshake.hello(pair.key, 1, 1)


@pytest.mark.parametrize(
    "said", [garbage, wrong_secret, other_hosts, for_another, from_the_last]
)
def test_a_stranger_gets_no_byte_and_does_no_harm(
    pair: Pair, said: Callable[[Pair], bytes]
) -> None:
    with pair.connected() as connection:
        connection.sendall(said(pair))
        assert nothing_comes(connection)
    assert pair.listener.account.spent() == 0
    assert pair.works()


@pytest.mark.parametrize("begun", [b"", b"skl1"])
def test_who_says_nothing_or_half_a_word_does_not_block_others(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, begun: bytes
) -> None:
    monkeypatch.setattr(connections, "_PATIENCE_S", 0.3)
    with pair.connected() as connection:
        connection.sendall(begun)
        assert pair.works()  # meanwhile
        assert nothing_comes(connection)


def test_a_crowd_of_strangers_takes_few_connections(pair: Pair) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(9):
            stack.enter_context(pair.connected())
        assert comes_true(
            lambda: len(pair.listener._callers) == connections.MOST_CALLERS
        )
        assert pair.works()
        assert len(pair.listener._callers) < connections.MOST_CALLERS


def test_what_was_said_before_cannot_be_said_again(pair: Pair) -> None:
    first = handshake.hello(pair.key, 0, 1)
    lasts = []
    for _ in range(2):
        with pair.connected() as connection:
            connection.sendall(first)
            answer = connection.recv(1000)
            handshake.check_welcome(pair.key, first, answer)
            lasts.append(handshake.last_word(pair.key, first, answer))
            connection.sendall(lasts[0])
            if len(lasts) == 1:
                connection.sendall(b"p")
                assert connection.recv(1) == b"p"
            else:
                assert nothing_comes(connection)


def test_a_peer_that_sends_too_much_is_left(pair: Pair) -> None:
    with pair.connected() as connection:
        line = pair.caller._introduce(connection, "n2")
        line.send(b".")
        line.say(probing._ASK, 500_000, 1000)
        granted, _ = line.hear(probing._GRANT)
        with pytest.raises(probing.ProbeError):
            for _ in range(1000):
                line.send(bytes(probing.BLOCK_BYTES))
    assert comes_true(lambda: 0 < pair.listener.account.spent() <= granted)
    assert pair.works()


def test_a_word_that_was_changed_on_its_way_is_refused(pair: Pair) -> None:
    with pair.connected() as connection:
        line = pair.caller._introduce(connection, "n2")
        line.send(b".")
        line._key = bytes(32)
        line.say(probing._ASK, 500_000, 1000)
        assert nothing_comes(connection)
    assert pair.works()


@pytest.mark.parametrize(
    ("does", "reason"),
    [
        (lambda c: None, "it does not know us"),
        (lambda c: c.sendall(os.urandom(4000)), "a wrong secret"),
        (lambda c: time.sleep(0.5), "no answer"),
    ],
)
def test_a_host_that_does_not_answer_as_it_should_is_named(
    pair: Pair,
    monkeypatch: pytest.MonkeyPatch,
    does: Callable[[socket.socket], None],
    reason: str,
) -> None:
    pair.listener.stop()
    monkeypatch.setattr(prober, "_PATIENCE_S", 0.3)
    with socket.create_server((PLACES["n2"], pair.port)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(handshake.HELLO_BYTES)
                does(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        pair.caller._take_turn(ProbeTurn(1, "n2", 0.0))
        thread.join()
    (found,) = read_links("n1", within=pair.folder)
    assert reason in found.marks[0].reason


def test_a_host_without_a_monitor_is_named(pair: Pair) -> None:
    pair.listener.stop()
    pair.caller._take_turn(ProbeTurn(1, "n2", 0.0))
    (found,) = read_links("n1", within=pair.folder)
    assert found.marks[0].reason == "probe: Connection refused"


def test_only_one_monitor_listens_on_a_port(pair: Pair, tmp_path: Path) -> None:
    links = Links(("n1", "n2"), BUDGET, 120.0, pair.port)
    with pytest.raises(MachineError, match=r"cannot listen on .*--link-port"):
        Prober(links, SECRET, "n1", tmp_path, threading.Lock())


def test_a_host_that_is_not_in_the_list_and_a_short_secret_are_mistakes(
    tmp_path: Path,
) -> None:
    links = Links(("n1", "n2"))
    with pytest.raises(UsageError, match="calls itself n9, expected one of n1, n2"):
        Prober(links, SECRET, "n9", tmp_path, threading.Lock())
    with pytest.raises(UsageError, match="SKELGEN_MONITOR_SECRET"):
        handshake.key_of("short", ["n1", "n2"])
    with pytest.raises(MachineError, match="has no address"):
        prober.addresses(("n1", "no-such-host.invalid"), "n1")
