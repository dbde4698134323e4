"""Bad runs and options for the model commands: an answer, or one line."""

from __future__ import annotations

import json
import math
import random

import pytest

from skelgen.cli.main import run
from skelgen.errors import ExitCode
from tests.fuzz_cases import DAMAGES

GOOD = [f"{n},{p},{1e-6 * n * n / p:.9f}" for n in (100, 200, 400) for p in (2, 4)]
FILES = {
    "one run": ["n,ranks,time", "100,2,1"],
    "two equal runs": ["n,ranks,time", "100,2,1", "100,2,1"],
    "one value of an input": ["n,ranks,time", "100,2,1", "100,2,2", "100,2,3"],
    "more coefficients than runs": ["a,b,c,d,time", "1,2,3,4,5", "2,3,5,7,6"],
    **{
        f"{value} as {column}": [
            "n,ranks,time",
            *GOOD,
            ",".join({"n": "300", "ranks": "8", "time": "1", column: value}.values()),
        ]
        for value in ("nan", "inf", "1e308", "1e-320", "0", "-1", "12 ms", "1e30")
        for column in ("n", "ranks", "time")
    },
    "a load of 0": ["n,cpu,time", "100,1,1", "200,0,2", "300,0.5,3"],
    "another application": ["app,n,time", "a,100,1", "b,200,2", "a,300,3"],
    "names that are formulas": [
        "n^2,a+b,log(n),time",
        *(f"{n * n},{n + 1},{n % 5 + 1},{n}" for n in range(2, 12)),
    ],
}
COMMANDS = (
    "fit",
    "predict --at n=800,ranks=8",
    "compare --family default",
    "check",
    "next",
    "draw -o out.svg --force",
)


def finite(value):
    if isinstance(value, dict | list):
        return all(map(finite, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float) or math.isfinite(value)


def answered(capsys, *words):
    code = run(["model", *words, "--json"])
    out, errors = capsys.readouterr()
    assert code in set(ExitCode)
    lines = [one for one in errors.splitlines() if one.startswith("skelgen: error:")]
    assert len(lines) == (code != 0)
    if code == 0:
        found = json.loads(out)
        assert finite(found)
        assert all(found.get(name, 0) >= 0 for name in ("p5", "p50", "p95"))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", FILES)
def test_bad_runs_are_an_answer_or_one_line(
    name, command, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.csv").write_text("\n".join(FILES[name]) + "\n")
    word, *options = command.split()
    answered(capsys, word, "runs.csv", *options)


@pytest.mark.parametrize(
    "words",
    [
        "predict --at n=nan,ranks=8",
        "predict --at n=1e308,ranks=8",
        "predict --at n=1e-320,ranks=8",
        "predict --at n=0,ranks=0",
        "predict --at n=1,n=2",
        "predict --at =",
        "predict --at m=1",
        "predict --at n=800,ranks=8 --load cpu=0",
        "predict --at n=800,ranks=8 --load nonsense",
        "fit --family nonsense",
        "fit --inputs nonsense",
        "fit --columns time=nonsense",
        "fit --columns =",
        "compare --family nonsense",
        "check --goal nan",
        "check --goal -1",
        "next --range n=5:1",
        "next --range n=nan:1e400",
        "next --ranks 0",
        "next --longest -1s",
        "draw -o out.svg --at n=0",
        "draw -o .",
    ],
)
def test_options_of_nonsense_are_one_line(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.csv").write_text("\n".join(["n,ranks,time", *GOOD]) + "\n")
    word, *options = words.split()
    assert run(["model", word, "runs.csv", *options]) in set(ExitCode) - {0}
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("0 as n", "runs.csv line 8: n is 0; a model takes numbers from 1e-30"),
        ("12 ms as n", "runs.csv line 8: n is '12 ms', expected a number as in other"),
        ("a load of 0", "runs.csv line 3: cpu is 0; a part that is left is above 0"),
        ("one run", "no input varies in 1 run; a model needs runs of at least two"),
        ("another application", "runs of a, b; a model is of one application, choose"),
    ],
)
def test_bad_runs_are_named_with_what_to_do(name, told, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.csv").write_text("\n".join(FILES[name]) + "\n")
    assert run(["model", "fit", "runs.csv"]) == ExitCode.INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line


@pytest.mark.parametrize(
    ("name", "code", "told"),
    [
        ("1e30 as n", "odd-run", "runs.csv line 8: n is 1e+30, and 100 to 400"),
        (
            "0 as ranks",
            "partly-known",
            "ranks is no input: it is missing or 0 in 1 of 7",
        ),
        ("more coefficients than runs", "too-few-runs", "4 inputs, and there are 2"),
    ],
)
def test_runs_that_look_like_mistakes_are_doubted(
    name, code, told, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.csv").write_text("\n".join(FILES[name]) + "\n")
    assert run(["model", "fit", "runs.csv", "--json"]) == 0
    doubts = {one["code"]: one for one in json.loads(capsys.readouterr().out)["doubts"]}
    assert told in doubts[code]["text"]
    _, where, condition = doubts[code]["remedy"].partition("--where ")
    if where:  # what is advised helps
        words = ["--where", condition.strip("'"), "--json"]
        assert run(["model", "fit", "runs.csv", *words]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["doubts"] == []
        assert {one["name"] for one in found["inputs"]} == {"n", "ranks"}


def test_a_model_of_names_that_are_formulas_is_read_back(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = FILES["names that are formulas"]
    (tmp_path / "runs.csv").write_text("\n".join(lines) + "\n")
    assert run(["model", "fit", "runs.csv", "-o", "m.json"]) == 0
    capsys.readouterr()
    words = ["--at", "n^2=81,a+b=10,log(n)=5", "--json"]
    answers = []
    for source in ("runs.csv", "m.json"):
        assert run(["model", "predict", source, *words]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0]["p50"] == pytest.approx(answers[1]["p50"])
    assert "'n^2'" in answers[0]["formula"]


def test_a_load_that_some_runs_lack_is_noted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = ["n,cpu,time", "100,0.5,1", "200,,2", "400,0.8,4", "800,0.9,8"]
    (tmp_path / "runs.csv").write_text("\n".join(lines) + "\n")
    assert run(["model", "fit", "runs.csv", "--json"]) == 0
    (note,) = json.loads(capsys.readouterr().out)["notes"]
    assert "cpu is no input: it is missing or 0 in 1 of 4 runs" in note
    assert "runs.csv line 3" in note


def test_a_name_with_commas_and_equal_signs_can_be_asked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = ['"max(a,b)",a=b,time', *(f"{n},{n % 3 + 1},{n}" for n in range(2, 12))]
    (tmp_path / "runs.csv").write_text("\n".join(lines) + "\n")
    words = ["--at", "max(a,b)=20,a=b=2", "--json"]
    assert run(["model", "predict", "runs.csv", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["p50"] == pytest.approx(20, rel=0.01)
    assert found["formula"] == "1*'max(a,b)'"


@pytest.mark.parametrize("number", range(60))
def test_a_damaged_file_of_runs_is_an_answer_or_one_line(
    number, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    rng = random.Random(f"model {number}")
    text = "\n".join(["n,ranks,time", *GOOD]) + "\n"
    (tmp_path / "runs.csv").write_bytes(rng.choice(DAMAGES)(rng, text))
    word, *options = COMMANDS[number % len(COMMANDS)].split()
    answered(capsys, word, "runs.csv", *options)
