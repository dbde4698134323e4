"""The newest sample for Prometheus: text, a Unix socket, a file."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from skelgen.cli.main import run
from skelgen.errors import UsageError
from skelgen.monitor import prometheus_output
from skelgen.monitor.prometheus_output import CollectorFile, Socket, shown
from skelgen.monitor.prometheus_text import Newest, metrics_text
from skelgen.monitor.sensor import Sample
from skelgen.pipeline.load_sources import Repeats, import_loads
from skelgen.pipeline.monitor import shown_words
from skelgen.pipeline.source_texts import _UnixConnection
from skelgen.store import Series, open_store
from tests.processes import comes_true
from tests.source_samples import EXPORTER


class Sensor:
    """Says the same each time."""

    must_look = False

    def look(self) -> None:
        raise AssertionError

    def sample(self) -> Sample:
        return Sample(0.5, 0.5, 2.0, float("nan"), 0.0, received=(("eth0", 7.5),))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "s.sock"


@pytest.fixture
def opened(place: Path) -> Iterator[Socket]:
    one = Socket(place)
    yield one
    one.close()


def connected(one: socket.socket, place: Path) -> None:
    """Connect; as long as too many wait already, the kernel says: try again."""

    def tried() -> bool:
        with contextlib.suppress(BlockingIOError):
            one.connect(str(place))
            return True
        return False

    assert comes_true(tried)


def asked(
    place: Path, words: str = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
) -> bytes:
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(20)
        connected(one, place)
        one.sendall(words.encode())
        return b"".join(iter(lambda: one.recv(65536), b""))


def test_names_in_labels_cannot_end_them():
    text = metrics_text([Newest("n1", 1.0, {'sent_bytes_per_s:a"\\\n} 1': 2.0})])
    line = text.splitlines()[-1]
    assert line == (
        'skelgen_sent_bytes_per_s{host="n1",interface="a\\"\\\\\\n} 1"} 2.0'
    )


def test_each_metric_is_described_once_and_numbers_are_numbers():
    values = {"cpu": 0.5, "cpu:sar": 0.25, "a b": 1.0, "steal": float("nan")}
    lines = metrics_text(
        [Newest("n1", 1.0, values), Newest("n2", 2.0, {"cpu": 1.0})]
    ).splitlines()
    assert [line for line in lines if line.startswith("skelgen_cpu")] == [
        'skelgen_cpu_available{host="n1"} 0.5',
        'skelgen_cpu_available{host="n1",source="sar"} 0.25',
        'skelgen_cpu_available{host="n2"} 1.0',
    ]
    assert sum("TYPE skelgen_cpu_available gauge" in line for line in lines) == 1
    assert 'skelgen_a_b{host="n1"} 1.0' in lines
    assert not any("steal" in line for line in lines)


def test_a_scraper_gets_the_newest_sample(place: Path):
    with shown(Sensor(), f"unix:{place}", "n1") as sensor:
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        assert sensor.sample().cpu == 0.5
        connection = _UnixConnection(str(place), 20.0)
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
    assert answer.status == http.client.OK
    assert 'skelgen_cpu_available{host="n1"} 0.5\n' in text
    assert 'skelgen_received_bytes_per_s{host="n1",interface="eth0"} 7.5\n' in text
    assert "skelgen_pressure" not in text
    assert not place.exists()


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("GET /other HTTP/1.0\r\n\r\n", b"404"),
        ("POST /metrics HTTP/1.0\r\n\r\n", b"405"),
        ("HEAD /metrics HTTP/1.0\r\n\r\n", b"200"),
        ("\x00\xff\n\n", b"405"),
    ],
)
def test_other_requests_are_answered_or_refused(
    opened: Socket, place: Path, words: str, status: bytes
):
    opened.tell("skelgen_x 1\n")
    answer = asked(place, words)
    assert answer.split()[1] == status
    assert b"skelgen_x" not in answer


def test_who_says_nothing_or_too_much_keeps_nobody_from_an_answer(
    opened: Socket, place: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(prometheus_output, "_PATIENCE_S", 0.2)
    opened.tell("skelgen_x 1\n")
    silent = [
        socket.socket(socket.AF_UNIX)
        for _ in range(prometheus_output._MOST_CLIENTS + 3)
    ]
    for one in silent:
        one.connect(str(place))
    try:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            assert asked(place, "x" * 5000) == b""
        assert asked(place).endswith(b"skelgen_x 1\n")
    finally:
        for one in silent:
            one.close()


def test_a_long_text_comes_whole(opened: Socket, place: Path):
    text = "skelgen_x 1\n" * 100_000
    opened.tell(text)
    assert asked(place).endswith(text.encode())


def test_the_socket_of_a_dead_monitor_is_taken_over(place: Path):
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(place))
    Socket(place).close()
    assert not place.exists()


def test_a_place_that_is_in_use_is_left_alone(place: Path, opened: Socket):
    with pytest.raises(UsageError, match=r"listens at .* already"):
        Socket(place)
    opened.tell("skelgen_x 1\n")
    assert asked(place).endswith(b"skelgen_x 1\n")


def test_other_files_are_left_alone(tmp_path: Path):
    kept = tmp_path / "letter.prom"
    kept.write_text("dear")
    with pytest.raises(UsageError, match="is not a socket of yours"):
        Socket(kept)
    assert kept.read_text() == "dear"
    link = tmp_path / "link.prom"
    link.symlink_to(kept)
    with pytest.raises(UsageError, match="is not a file of yours"):
        CollectorFile(link)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a file away")
def test_files_of_other_users_are_left_alone(tmp_path: Path):
    kept = tmp_path / "other.prom"
    kept.write_text("dear")
    os.chown(kept, 65534, 65534)
    with pytest.raises(UsageError, match="is not a file of yours"):
        CollectorFile(kept)
    assert kept.read_text() == "dear"


@pytest.mark.parametrize(("folder", "mode"), [(0o755, 0o644), (0o700, 0o600)])
def test_a_file_may_be_read_by_who_may_list_its_folder(
    tmp_path: Path, folder: int, mode: int
):
    tmp_path.chmod(folder)
    with shown(Sensor(), f"file:{tmp_path}/%h.prom", "n1") as sensor:
        sensor.sample()
        (path,) = tmp_path.iterdir()
        assert path.name == "n1.prom"
        assert stat.S_IMODE(path.stat().st_mode) == mode
        assert 'skelgen_run_queue{host="n1"} 2.0\n' in path.read_text()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("unix:" + "/x" * 60, "longer than the 107 bytes"),
        ("file:/tmp/x.txt", "end with .prom"),
        ("http:/x", "expected unix:"),
        ("unix:x.sock", "expected unix:"),
    ],
)
def test_places_that_cannot_be_are_refused(text: str, said: str):
    with pytest.raises(UsageError, match=said), shown(Sensor(), text, "n1"):
        pass


def test_places_are_those_of_the_folder_where_they_were_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    assert shown_words("unix:s") == ["--prometheus", f"unix:{tmp_path}/s"]
    assert shown_words("unix:~/s") == ["--prometheus", "unix:~/s"]
    assert shown_words("") == []
    with pytest.raises(UsageError, match="expected unix:PATH"):
        shown_words("s.sock")


def test_an_exporter_on_a_socket_is_imported(opened: Socket, place: Path):
    opened.tell(EXPORTER)
    store = f"{place}.db"
    found = import_loads(store, [f"unix:{place}"], repeats=Repeats(0.01))
    assert "cpu:node-exporter" in {one.quantity for one in found.series}


def test_series_of_a_store_are_shown_as_text_of_prometheus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    place = str(tmp_path / "s.db")
    with open_store(place) as store:
        store.add([Series("n1", "cpu:sar", (1e9, 1e9 + 10), (0.25, 0.75))])
    words = ["monitor", "show", "--store", place, "--last", "36500d"]
    assert run([*words, "--format", "prometheus"]) == 0
    said = capsys.readouterr().out
    assert 'skelgen_cpu_available{host="n1",source="sar"} 0.75\n' in said
    assert run([*words, "--hosts", "n9"]) == 3
    assert "has no series of n9" in capsys.readouterr().err
