"""What is downloaded is what the command line takes, and harmless in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from skelgen.cli.main import run
from skelgen.pipeline import download
from skelgen.store import Run, open_store
from tests.visitors import fill, serve


@pytest.fixture(autouse=True)
def _state(tmp_path, monkeypatch):
    monkeypatch.setenv("SKELGEN_STATE", str(tmp_path / "state"))


@pytest.fixture
def place(tmp_path):
    found = tmp_path / "store.db"
    fill(found)
    return found


def rows_of(place):
    """Return all runs as text: unknown numbers are equal. A table says where it is."""
    with open_store(str(place), make=False) as store:
        return [
            repr(replace(one, source="" if " line " in one.source else one.source))
            for one in store.runs()
        ]


@pytest.mark.parametrize("name", ["runs.jsonl", "runs.csv"])
def test_all_runs_come_back_through_store_add(place, tmp_path, name, monkeypatch):
    monkeypatch.setattr(download, "_AT_ONCE", 5)
    answer = serve(place).browser().get(f"/{name}")
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    file, other = tmp_path / name, tmp_path / "other.db"
    file.write_bytes(answer.content)
    assert run(["store", "add", str(file), "--store", str(other)]) == 0
    assert rows_of(other) == rows_of(place)


@pytest.mark.parametrize("name", ["runs.jsonl", "runs.csv"])
def test_a_filter_counts_for_the_file_too(place, name):
    browser = serve(place).browser()
    asked = {"app": "heat", "where": "n>=3000,ranks=8", "order": "time_s"}
    lines = browser.get(f"/{name}", params=asked).text.splitlines()
    assert len(lines) == 2 + name.endswith("csv")
    assert browser.get(f"/{name}", params={"where": "n"}).status_code == 400
    assert browser.get(f"/{name}", params={"order": "x"}).status_code == 400
    page = browser.get("/runs", params=asked).text
    assert f"/{name}?app=heat&amp;where=n%3E%3D3000%2Cranks%3D8" in page


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r", "\n=", " ="])
def test_no_cell_is_a_formula_of_a_spreadsheet_and_all_come_back(
    place, tmp_path, begin
):
    evil = f"{begin}cmd|' /C calc'!A0"
    row = Run(
        evil,
        1.0,
        ranks=1,
        inputs=((evil.strip(), evil), ("n", -5.0)),
        hosts=(evil.replace(" ", ""),),
        allocation=evil,
        system=evil,
        source=evil,
        identity="evil",
    )
    with open_store(str(place)) as store:
        assert store.add([row]).added
    browser = serve(place).browser()
    for path in ("/runs.csv", "/runs/evil/run.csv"):
        text = browser.get(path).text
        for line in csv.reader(io.StringIO(text, newline="")):
            for one in line:
                assert not one.startswith(("=", "+", "@", "\t", "\r")), one
                assert not one.startswith("-") or float(one) == -5
    other, file = tmp_path / "other.db", tmp_path / "runs.csv"
    file.write_text(text, newline="")
    assert run(["store", "add", str(file), "--store", str(other)]) == 0
    assert rows_of(other) == [repr(row)]


@pytest.mark.parametrize("name", ["run.jsonl", "run.csv"])
def test_one_run_comes_as_a_file(place, tmp_path, name):
    browser = serve(place).browser()
    answer = browser.get(f"/runs/run-1000-2/{name}")
    assert "attachment" in answer.headers["content-disposition"]
    file, other = tmp_path / name, tmp_path / "other.db"
    file.write_bytes(answer.content)
    assert run(["store", "add", str(file), "--store", str(other)]) == 0
    (found,) = rows_of(other)
    assert found in rows_of(place)
    assert f"/runs/run-1000-2/{name}" in browser.get("/runs/run-1000-2").text
    assert browser.get(f"/runs/nothing/{name}").status_code == 404


def test_a_model_comes_as_a_file_that_predicts(place, tmp_path, capsys):
    assert run(["model", "fit", "--app", "heat", "--name", 'a/b"\n', "--store",
                str(place), "--family", "normal-form"]) == 0  # fmt: skip
    browser = serve(place).browser()
    (one,) = browser.get("/api/models").json()["models"]
    answer = browser.get(f"/models/{one['id']}/model.json")
    assert answer.headers["content-disposition"] == 'attachment; filename="a_b__.json"'
    file = tmp_path / "model.json"
    file.write_bytes(answer.content)
    capsys.readouterr()
    asked = ["--at", "n=2000,ranks=4", "--json"]
    assert run(["model", "predict", str(file), *asked]) == 0
    here = json.loads(capsys.readouterr().out)
    assert run(["model", "predict", "--model", 'a/b"\n', *asked, "--store",
                str(place)]) == 0  # fmt: skip
    there = json.loads(capsys.readouterr().out)
    assert here["predicted"] == there["predicted"] if "predicted" in here else here
    page = browser.get(f"/models/{one['id']}/model.html")
    assert "attachment" in page.headers["content-disposition"]
    assert "<svg" in page.text
    for outside in ("http://", "https://", "<script", "url("):
        assert outside not in page.text.replace("http://www.w3.org/", ""), outside
    svg = browser.get(f"/models/{one['id']}/model.svg")
    assert svg.text.startswith("<svg") or "<svg" in svg.text[:300]
    assert "attachment" in svg.headers["content-disposition"]


def test_predictions_come_as_lines(place, tmp_path):
    answer = serve(place).browser().get("/predictions.jsonl")
    file, other = tmp_path / "predictions.jsonl", tmp_path / "other.db"
    file.write_bytes(answer.content)
    assert run(["store", "add", str(file), "--store", str(other)]) == 0
    with open_store(str(other)) as store:
        assert len(store.predictions()) == 1


def test_a_run_that_is_removed_meanwhile_is_left_out(place, monkeypatch):
    monkeypatch.setattr(download, "_AT_ONCE", 5)
    from skelgen.pipeline.browsing import RunQuery

    parts = download.run_lines(str(place), RunQuery())
    assert next(parts)
    with open_store(str(place)) as store:
        store.remove([one.identity for one in store.runs()])
    assert b"".join(parts) == b""
