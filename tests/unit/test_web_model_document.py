"""The pages of models and of workload studies: one file, the answer on top."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from skelgen.cli.main import run
from skelgen.errors import ExitCode
from skelgen.workload import store
from tests.unit.test_workload import point, study

RUNS = [(n, ranks) for n in (500, 1000, 2000, 4000) for ranks in (1, 2, 4, 8)]


@pytest.fixture
def runs(monkeypatch, tmp_path: Path) -> Path:
    """Write runs that a simple law holds for."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{n},{ranks},{0.5 + 3e-6 * n * n / ranks:.6g}" for n, ranks in RUNS]
    Path("runs.csv").write_text("\n".join(["n,ranks,time", *rows]) + "\n")
    return tmp_path


def study_file(path: Path) -> None:
    store.save(study(point(500), point(800), point(1200), point(2000)), path)


def answer(capsys, *words: str) -> dict:
    assert run([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def headline(path: str) -> str:
    (found,) = re.findall(r'<p class="answer">(.*?)</p>', Path(path).read_text())
    return html.unescape(re.sub(r"<[^>]+>", "", found))


def rows_below(path: str, caption: str) -> list[list[str]]:
    table = Path(path).read_text().split(f"<caption>{caption}")[1].split("</table>")[0]
    rows = re.findall(r"<tr>(<td.*?)</tr>", table)
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]


def test_predict_puts_its_answer_on_top_of_a_page_of_one_file(capsys, runs: Path):
    words = ["--at", "n=3000,ranks=4", "--page", "m.html"]
    found = answer(capsys, "model", "predict", "runs.csv", *words)
    said = headline("m.html")
    assert f"{found['p50']:.3g} s at n=3000, ranks=4" in said
    assert said.endswith(f"; {found['verdict']}")
    text = Path("m.html").read_text()
    assert not re.search(r"\b(src|href)=|@import|url\(|<script", text)
    assert text.count("<circle") >= len(RUNS)
    assert "<math" in text


def test_the_page_lists_the_error_of_each_run_largest_first(capsys, runs: Path):
    answer(capsys, "model", "fit", "runs.csv", "--page", "m.html")
    rows = rows_below("m.html", "Runs, those that are most off")
    assert {(int(row[0]), int(row[1])) for row in rows} == {*RUNS}
    errors = [abs(float(row[-1].removesuffix("%"))) for row in rows]
    assert errors == sorted(errors, reverse=True)
    assert headline("m.html").startswith("time = ")


def test_a_page_is_replaced_and_no_other_file(capsys, runs: Path):
    words = ["model", "fit", "runs.csv", "--page"]
    assert run([*words, "m.html"]) == 0
    asked = ["--at", "n=3,ranks=1", "--page", "m.html"]
    assert run(["model", "predict", "runs.csv", *asked]) == 0
    assert " at n=3, ranks=1 " in headline("m.html")
    Path("mine.html").write_text("<!doctype html><p>mine")
    assert run([*words, "mine.html"]) == ExitCode.USAGE
    assert Path("mine.html").read_text().endswith("mine")


def test_a_model_of_a_file_has_a_page_without_runs(capsys, runs: Path):
    assert run(["model", "fit", "runs.csv", "-o", "m.json"]) == 0
    words = ["--at", "n=3000,ranks=4", "--page", "m.html"]
    assert run(["model", "predict", "m.json", *words]) == 0
    text = Path("m.html").read_text()
    assert "Runs, those that are most off" not in text
    assert "<circle" not in text


def test_a_speedup_has_a_page_with_the_speedups_of_the_runs(capsys, runs: Path):
    words = ["--at", "n=4000,ranks=8", "--quantity", "speedup", "--page", "m.html"]
    assert run(["model", "predict", "runs.csv", *words]) == 0
    assert headline("m.html").startswith("speedup ")
    rows = rows_below("m.html", "Runs, those that are most off")
    assert len(rows) == len(RUNS)


def test_names_of_inputs_are_text_on_the_page(capsys, runs: Path):
    text = Path("runs.csv").read_text().replace("n,", '"<b>x</b>",', 1)
    Path("runs.csv").write_text(text)
    run(["model", "fit", "runs.csv", "--page", "m.html"])
    assert not Path("m.html").exists() or "<b>x</b>" not in Path("m.html").read_text()


def test_a_study_has_a_page_beside_it_with_points_and_errors(capsys, runs: Path):
    study_file(Path("study.yaml"))
    found = answer(
        capsys, "workload", "predict", "study.yaml", "--at", "n=700,steps=100"
    )
    assert found["page"] == "study.html"
    said = headline("study.html")
    assert " at n=700, steps=100 (" in said
    assert said.endswith(f"; {found['verdict']}")
    rows = rows_below("study.html", "Recorded workloads")
    assert all(abs(float(row[-1].removesuffix("%"))) < 5 for row in rows)
    phases = rows_below("study.html", "Phases at the wanted workload")
    assert len(phases) == len(found["phases"])
    assert Path("study.html").read_text().count("<polyline") >= 1


def test_no_page_and_a_file_of_somebody_else_stay(capsys, runs: Path):
    study_file(Path("study.yaml"))
    words = ["workload", "predict", "study.yaml", "--at", "n=700,steps=100"]
    assert answer(capsys, *words, "--no-page")["page"] is None
    assert not Path("study.html").exists()
    Path("study.html").write_text("mine")
    assert run([*words, "--json"]) == 0
    found = capsys.readouterr()
    assert json.loads(found.out)["page"] is None
    assert "not written" in found.err
    assert Path("study.html").read_text() == "mine"
