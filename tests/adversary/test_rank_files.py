"""A payload in every text of rank files: their headers and their definitions."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from skelgen.cli.main import run as skelgen
from skelgen.export.formats import FORMATS, ExportFormat
from skelgen.trace.format import trace_format
from tests import export_samples, trace_writer
from tests.adversary.payloads import OBEYED, payloads
from tests.trace_writer import RankWriter
from tests.unit.test_export_otf2 import installed

PAYLOADS = sorted(payloads(Path("x"), Path("x")))
#: Texts of the header: fields of characters, as the format declares them.
HEADER = [
    name
    for name in trace_format().header.names or ()
    if name != "magic" and trace_format().header[name].kind == "S"
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))
    (tmp_path / "evil").write_text(f"#!/bin/sh\ntouch {tmp_path}/canary\n")
    (tmp_path / "evil").chmod(0o755)
    return tmp_path


def write(
    folder: Path, text: str, monkeypatch: pytest.MonkeyPatch, *, functions: bool = False
) -> None:
    """Write a run whose texts all are the payload, or end in it as functions may."""
    plain, save = trace_writer.string, RankWriter.save
    own = f" ({text})" if functions else ""  # a function that nobody knows

    def string(found: str) -> bytes:
        return plain(f"{found}{own}" if found.startswith("MPI_") else text)

    def saved(writer: RankWriter, folder: Path, **changes) -> Path:
        data = text.encode()
        return save(writer, folder, **dict.fromkeys(HEADER, data), **changes)

    with monkeypatch.context() as patched:
        patched.setattr(trace_writer, "string", string)
        patched.setattr(RankWriter, "save", saved)
        export_samples.save_mixed(folder)


def exported() -> list[ExportFormat]:
    """Return the formats that can be written on this machine."""
    return [one for one in FORMATS.values() if one.name != "otf2" or installed()]


def test_headers_have_texts() -> None:
    assert {"host", "program", "mpi_library"} <= {*HEADER}


@pytest.mark.parametrize("functions", [False, True], ids=["", "functions"])
@pytest.mark.parametrize("name", PAYLOADS)
def test_rank_files_run_nothing(
    place: Path, name: str, functions: bool, monkeypatch, capfd
) -> None:
    canary = place / "canary"
    text = payloads(canary, place / "evil")[name]
    write(place / "run", text, monkeypatch, functions=functions)
    for words, made in (
        (["info", "run"], []),
        (["info", "run", "--json"], []),
        (["phases", "run", "-o", "phases.yaml"], ["phases.yaml"]),
        (["phases", "ticks", "run"], []),
        *(
            (["export", "run", "--format", one.name], [f"run{one.suffix}"])
            for one in exported()
        ),
        (["workload", "add", "study.yaml", "run", "--at", "n=1"], ["study.yaml"]),
    ):
        before = {path.name for path in place.iterdir()}
        capfd.readouterr()
        code = skelgen(words)
        out, err = capfd.readouterr()
        assert code in (0, 2, 3), (words, err)
        assert not OBEYED.search(out + err), (words, out, err)
        assert not canary.exists(), words
        new = {path.name for path in place.iterdir()} - before
        assert new <= {*made}, words
        assert code or new == {*made}, words


@pytest.mark.parametrize("name", ["c", "terminal"])
def test_exports_hold_nothing_that_a_terminal_obeys(
    place: Path, name: str, monkeypatch
) -> None:
    """People look into them with what prints their bytes as they are."""
    text = payloads(place / "canary", place / "evil")[name]
    for functions in (False, True):
        write(place / "run", text, monkeypatch, functions=functions)
        for one in exported():
            words = ["export", "run", "--format", one.name, "-o", f"out-{one.name}"]
            assert skelgen([*words, "--force"]) == 0
            printed = list(_printed(place / words[-1]))
            assert any(printed)
            for said in printed:
                assert not OBEYED.search(said), (one.name, said)


def _printed(made: Path) -> Iterator[str]:
    """Yield what people see of an export."""
    for path in [made] if made.is_file() else made.rglob("*"):
        if path.suffix == ".otf2":
            for options in ([], ["-G"]):
                words = ["otf2-print", *options, str(path)]
                yield subprocess.run(
                    words, capture_output=True, check=True
                ).stdout.decode()
        elif path.is_file() and path.suffix not in (".def", ".evt"):
            yield path.read_text()


@pytest.mark.parametrize("name", ["c", "terminal", "path"])
def test_lines_of_an_export_stay_whole(place: Path, name: str, monkeypatch) -> None:
    """A text with ends of lines makes no lines of its own."""
    lines = {}
    for text in ("plain", payloads(place / "canary", place / "evil")[name]):
        write(place / "run", text, monkeypatch)
        for form in ("paraver", "tit"):
            words = ["export", "run", "--format", form, "-o", f"out-{form}", "--force"]
            assert skelgen(words) == 0
        lines[text] = {
            path.relative_to(place): path.read_bytes().count(b"\n")
            for form in ("paraver", "tit")
            for path in (place / f"out-{form}").rglob("*")
            if path.is_file()
        }
    plain, attacked = lines.values()
    assert plain == attacked
