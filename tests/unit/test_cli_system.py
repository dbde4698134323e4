"""The commands about systems: their keys, tables, and words that do not fit."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from skelgen.cli.main import run
from skelgen.cli.system_output import quantity
from skelgen.pipeline.known_systems import SystemRows, write_rows
from skelgen.store import open_store
from tests.unit.test_pipeline_system import ROWS, fact, message
from tests.unit.test_pipeline_system import measured as measured  # noqa: PLC0414


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "system.json"
    write_rows(ROWS, path, force=False)
    return str(path)


def told(capsys, *words: str) -> dict:
    assert run(["system", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def failure(capsys, *words: str) -> tuple[int, str]:
    code = run(["system", *words])
    out, err = capsys.readouterr()
    (line,) = [one for one in err.splitlines() if "error" in one]
    return code, out + line


def test_show_prints_the_keys_that_others_rely_on(capsys, file):
    found = told(capsys, "show", "n1", "--file", file)
    assert found["host"] == "n1"
    assert found["measured"] == "2001-09-09T01:46:40+00:00"
    first = found["facts"][0]
    assert {"name", "value", "unit", "low", "high", "repeats"} <= set(first)
    assert (first["name"], first["value"]) == ("integer_add", 2.0)
    first, second = found["messages"]
    keys = {"operation", "ranks", "latency_s", "bandwidth_bytes_per_s", "eager_bytes"}
    assert keys <= set(first)
    assert (first["operation"], first["hosts"]) == ("SR", ["n1"])
    assert first["stretches"][1] == {
        "from_bytes": 4096,
        "latency_s": -1e-6,
        "bandwidth_bytes_per_s": 2e9,
    }
    assert second["bandwidth_bytes_per_s"] is None
    assert found["verdict"] == "do not trust"
    assert [one["code"] for one in found["doubts"]] == ["busy"]


def test_list_and_compare_print_their_keys(capsys, file):
    first, second = told(capsys, "list", "--file", file)["hosts"]
    assert (first["host"], first["facts"], first["messages"]) == ("n1", 2, 2)
    assert (first["doubted"], second["system"]) == (1, "big")
    found = told(capsys, "compare", "n1", "n2", "--file", file)
    assert found["hosts"] == ["n1", "n2"]
    names = [one["name"] for one in found["values"]]
    assert names == ["integer_add", "barrier between hosts, latency"]
    assert found["values"][0]["ratio"] == 1.0
    assert not found["values"][0]["differs"]


def test_tables_show_the_values_with_their_units(capsys, file):
    assert run(["system", "show", "n1", "--file", file]) == 0
    out = capsys.readouterr().out
    assert "2 /s" in out and "9 GB/s" in out and "from 4 KiB" in out
    assert "do not trust: 1 of 4 values were measured on a busy machine" in out
    assert run(["system", "list", "--file", file]) == 0
    assert "2001-09-09" in capsys.readouterr().out
    assert run(["system", "compare", "n1", "n2", "--file", file]) == 0
    assert "within the spread" in capsys.readouterr().out


def test_strict_refuses_what_is_doubted(capsys, file):
    assert run(["system", "show", "n1", "--file", file, "--strict"]) == 6
    assert run(["system", "show", "n2", "--file", file, "--strict"]) == 0


def test_files_and_a_store_are_read_together(capsys, file, tmp_path, monkeypatch):
    place = str(tmp_path / "store.db")
    with open_store(place) as opened:
        opened.add([fact(host="n7")])
    words = ["list", "--file", file, "--store", place]
    assert [one["host"] for one in told(capsys, *words)["hosts"]] == ["n1", "n2", "n7"]
    monkeypatch.setenv("SKELGEN_STORE", place)
    assert [one["host"] for one in told(capsys, "list")["hosts"]] == ["n7"]
    assert told(capsys, "show")["host"] == "n7"  # the only one


def test_this_machine_is_shown_when_no_host_is_named(capsys, tmp_path):
    path = tmp_path / "here.json"
    here = fact(host=platform.node())
    write_rows(SystemRows((here, fact(host="~other"))), path, force=False)
    assert told(capsys, "show", "--file", str(path))["host"] == platform.node()


def test_measure_prints_all_hosts_and_where_they_are_kept(measured, capsys, tmp_path):
    path = tmp_path / "new.json"
    found = told(capsys, "measure", "-o", str(path))
    assert found["kept"] == str(path)
    (host,) = found["hosts"]
    assert host["host"] == "n1" and host["facts"] and host["messages"]


def test_names_from_files_move_no_cursor(capsys, tmp_path):
    path = tmp_path / "evil.json"
    evil = "n\x1b[2J"
    rows = SystemRows((fact(host=evil, name="a\x1b[1m"),), (message((evil,)),))
    write_rows(rows, path, force=False)
    for words in (["list"], ["show", evil], ["compare", evil, evil]):
        assert run(["system", *words, "--file", str(path)]) == 0
        assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "telling"),
    [
        (["measure", "--benchmark"], 2, "takes a program after --"),
        (["measure", "--", "./bt"], 2, "takes a program after --"),
        (["measure", "--budget", "soon"], 2, "--budget"),
        (["measure", "-o", "a", "--store", "b"], 2, "give -o or --store, not both"),
        (["measure", "--hosts", "n["], 2, "not a list of hosts"),
        (["measure", "--batch-options", "-p x", "-o", "x.json"], 2, "--batch-options"),
        (["show", "n9", "--file", "FILE"], 2, "nothing was measured of 'n9'"),
        (["show", "n1", "--file", "none.json"], 3, "no such file"),
        (["compare", "n1", "--file", "FILE"], 2, "Missing argument"),
        (["list", "--store", "none.db"], 3, "no store yet"),
    ],
)
def test_what_does_not_fit_is_told_in_one_line(
    capsys, file, tmp_path, monkeypatch, words, code, telling
):
    monkeypatch.chdir(tmp_path)
    words = [file if word == "FILE" else word for word in words]
    found, line = failure(capsys, *words)
    assert (found, telling in line) == (code, True), line


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [
        (1.5e9, "1/s", "1.5 G/s"),
        (12.0, "1/s", "12 /s"),
        (2e13, "bytes/s", "20 TB/s"),
        (3e-9, "s", "3 ns"),
        (2e-3, "s", "2 ms"),
        (32768, "bytes", "32 KiB"),
        (4, "1", "4"),
        (float("nan"), "s", ""),
        (1e15, "bytes/s", ""),
    ],
)
def test_quantities_have_three_digits(number, unit, text):
    assert quantity(number, unit) == text
