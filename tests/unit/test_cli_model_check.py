"""The command model check."""

from __future__ import annotations

import json

import pytest

from skelgen.cli.main import run
from skelgen.errors import ExitCode


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "runs.csv"
    rows = [(n, p) for n in (1000, 1500, 2000, 3000) for p in (2, 4, 8)]
    lines = [
        f"{n},{p},{1e-9 * n**3 / p * (2 if (n, p) == (1500, 4) else 1)}"
        for n, p in rows
    ]
    path.write_text("\n".join(["n,ranks,time", *lines]) + "\n")
    return str(path)


def test_the_configuration_that_is_off_is_named_with_what_to_add(study, capsys):
    assert run(["model", "check", study, "--goal", "20%", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["goal"] == 0.2
    assert not said["met"]
    worst = said["configurations"][0]
    assert worst["at"] == {"n": 1500, "ranks": 4}
    assert worst["error"] < -0.3
    assert worst["advice"]["kind"] == "neighbour"
    assert said["verdict"] == "do not trust"
    assert run(["model", "check", study, "--goal", "20%"]) == 0
    out = capsys.readouterr().out
    assert "n=1500, ranks=4" in out
    assert "goal-missed" in out


def test_strict_ends_with_six_where_the_goal_is_missed_and_with_zero_where_it_is_met(
    study, capsys
):
    assert run(["model", "check", study, "--goal", "20%", "--strict"]) == 6
    capsys.readouterr()
    words = ["--where", "ranks=8", "--goal", "20%", "--strict"]
    assert run(["model", "check", study, *words]) == 0
    assert "met by 4 of 4" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "telling"),
    [
        (["--goal", "much"], "--goal much"),
        (["--goal", "150%"], "--goal"),
        (["--family", "no"], "no family 'no'"),
    ],
)
def test_what_cannot_be_checked_is_one_line(study, capsys, words, telling):
    assert run(["model", "check", study, *words]) == ExitCode.USAGE
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert telling in err
