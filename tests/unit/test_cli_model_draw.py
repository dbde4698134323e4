"""The command model draw."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from skelgen.cli.main import run
from skelgen.errors import ExitCode


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "runs.csv"
    lines = [f"{n},{1e-9 * n**3}" for n in (1000, 1500, 2000, 3000, 4000)]
    path.write_text("\n".join(["n,time", *lines]) + "\n")
    return str(path)


def complained(capsys, *words):
    code = run([*map(str, words)])
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    return code, text


def test_a_picture_is_drawn_from_runs_and_from_a_model(study, tmp_path, capsys):
    picture = tmp_path / "heat.svg"
    words = ["model", "draw", study, "--at", "n=6000", "-o", str(picture), "--json"]
    assert run(words) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["picture"] == str(picture)
    assert "n^3" in said["formula"]
    ET.parse(picture)
    assert picture.read_text().count("<circle") == 5

    assert run(["model", "fit", study, "-o", str(tmp_path / "heat.json")]) == 0
    words = ["model", "draw", str(tmp_path / "heat.json"), "-o", str(picture)]
    capsys.readouterr()
    code, text = complained(capsys, *words)
    assert code == ExitCode.USAGE
    assert "--force" in text
    assert run([*words, "--force"]) == 0
    assert picture.read_text().count("<circle") == 0


def test_an_input_that_the_model_does_not_have_is_named(study, tmp_path, capsys):
    words = ["model", "draw", study, "--at", "m=1", "-o", tmp_path / "x.svg"]
    code, text = complained(capsys, *words)
    assert code == ExitCode.INPUT
    assert "no input m" in text
    assert not (tmp_path / "x.svg").exists()


def test_a_file_of_others_is_not_replaced(study, tmp_path, capsys):
    other = tmp_path / "other.svg"
    other.write_text("<svg/>")
    code, text = complained(capsys, "model", "draw", study, "-o", other, "--force")
    assert code == ExitCode.USAGE
    assert str(other) in text
    assert other.read_text() == "<svg/>"
