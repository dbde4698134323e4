"""Loads of this machine, as the tools themselves write them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from skelgen.cli.main import run
from skelgen.errors import ApplicationError, ExitCode, MachineError
from skelgen.pipeline import source_texts
from skelgen.pipeline.load_sources import Repeats, import_loads
from skelgen.store import Series, open_store

SADC = Path("/usr/lib/sysstat/sadc")
NAMES = Path("/var/lib/pcp/pmns/root")


def needs(found: object, package: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not found, reason=f"no {package} (Debian) here")


def series_of(store: Path) -> dict[str, Series]:
    with open_store(str(store), make=False) as one:
        return {series.quantity: series for series in one.series()}


@pytest.fixture
def exporter(tmp_path: Path) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ["prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{port}"]
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(words, stdout=log, stderr=log) as process,
    ):
        url = f"http://127.0.0.1:{port}/metrics"
        for _ in range(100):
            try:
                source_texts.source_text(url)
                break
            except ApplicationError:
                time.sleep(0.05)
        yield url
        process.terminate()


@needs(shutil.which("prometheus-node-exporter"), "prometheus-node-exporter")
def test_node_exporter_is_asked_twice(exporter: str, tmp_path: Path):
    store = tmp_path / "s.db"
    # Counters have ticks of 10 ms: of a short time they say more than 100 %.
    found = import_loads(str(store), [exporter], repeats=Repeats(2.0))
    assert not found.refused
    assert not found.left_out
    series = series_of(store)
    (cpu,) = series["cpu:node-exporter"].values
    assert 0 <= cpu <= 1
    assert len(series["memory_bytes"].values) == 2
    assert any(name.startswith("received_bytes_per_s:") for name in series)


@needs(SADC.exists() and shutil.which("sadf"), "sysstat")
def test_a_binary_file_of_sar_is_read_through_sadf(tmp_path: Path):
    kept, store = tmp_path / "sa01", tmp_path / "s.db"
    subprocess.run([SADC, "-S", "ALL", "1", "2", kept], check=True)
    assert not import_loads(str(store), [str(kept)]).refused
    series = series_of(store)
    assert len(series["cpu:sar"].values) == 1
    assert "run_queue" in series
    kept.write_bytes(kept.read_bytes()[:40])
    (refused,) = import_loads(str(store), [str(kept)]).refused
    assert "sadf cannot read it" in refused[1]


@needs(shutil.which("pmlogger") and NAMES.exists(), "pcp with its name space")
def test_an_archive_of_pcp_is_read_through_pmrep(tmp_path: Path):
    asked, store = tmp_path / "asked", tmp_path / "s.db"
    asked.write_text(
        "log mandatory on every 200 msec { kernel.all.cpu hinv.ncpu "
        "mem.util.available kernel.all.runnable network.interface.in.bytes }\n"
    )
    words = ["pmlogger", "-o", "-c", asked, "-s", "3", "-l", tmp_path / "log", "kept"]
    subprocess.run(words, check=True, cwd=tmp_path, timeout=60)
    named = [str(tmp_path / "kept"), str(tmp_path / "kept.0")]
    found = import_loads(str(store), named, host="n1")
    assert not found.refused
    series = series_of(store)
    assert len(series["cpu:pcp"].values) == 2
    assert len(series["memory_bytes"].values) == 3


def test_a_tool_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    kept = tmp_path / "sa01"
    kept.write_bytes(b"\x96\xd5" + bytes(50))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MachineError, match="install the package sysstat"):
        source_texts.source_text(str(kept))
    (tmp_path / "a.meta").touch()
    with pytest.raises(MachineError, match="install the package pcp"):
        source_texts.source_text(str(tmp_path / "a"))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("http://127.0.0.1:9/metrics", "does not answer"),
        ("http://ann:secret@n1/metrics", "without a user or a password"),
        ("http://n1:port/", "is no address"),
        ("unix:/nowhere/x.sock", "does not answer"),
        ("nowhere", "cannot be read"),
    ],
)
def test_what_does_not_answer_is_one_line(
    source: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    code = run(["monitor", "import", source, "--store", str(tmp_path / "s.db")])
    error = capsys.readouterr().err
    assert code == ExitCode.INPUT
    assert said in error
    assert "secret" not in error
    assert error.count("\n") == 1


def test_a_pipe_is_not_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    found = import_loads(str(tmp_path / "s.db"), [str(tmp_path / "pipe")])
    assert "is not a regular file" in found.refused[0][1]
