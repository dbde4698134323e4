"""The command model next."""

from __future__ import annotations

import json

import pytest

from skelgen.cli.main import run
from skelgen.errors import ExitCode, UsageError
from skelgen.pipeline.model_next import values_to_run


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "runs.csv"
    lines = [
        f"{n},{p},{1e-9 * n**3 / p + 1e-4 * n}"
        for n in (1000, 1500, 2000, 3000)
        for p in (2, 4, 8)
    ]
    path.write_text("\n".join(["n,ranks,time", *lines]) + "\n")
    return str(path)


def test_the_run_next_has_what_can_be_run_a_reason_and_its_cost(study, capsys):
    words = ["--range", "n=1000:8000", "--ranks", "4,16", "--at", "n=9000,ranks=32"]
    assert run(["model", "next", study, *words, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert 1000 <= said["run"]["n"] <= 8000
    assert said["run"]["ranks"] in (4, 16)
    assert said["cost_s"] == pytest.approx(said["time_s"] * said["run"]["ranks"])
    assert said["reason"]
    assert 0 < said["gain"] <= said["half_width"]
    assert len(said["others"]) == 5


def test_people_read_the_run_the_interval_then_and_the_time(study, capsys):
    assert run(["model", "next", study]) == 0
    out = capsys.readouterr().out
    assert "run next  n=" in out
    assert "now, about ±" in out
    assert "on all ranks" in out


@pytest.mark.parametrize(
    ("words", "telling"),
    [
        (["--range", "n=5:2"], "--range: read 'n=5:2'"),
        (["--range", "n"], "--range: read 'n'"),
        (["--range", "n=0:5"], "expected a range"),
        (["--range", "n=1:nan"], "expected a range"),
        (["--range", "n=1:2:3"], "expected a range"),
        (["--range", "n=1:1e300"], "expected a range"),
        (["--ranks", "4,x"], "--ranks: read 'ranks=4,x'"),
        (["--ranks", "4", "--range", "ranks=2:8"], "given twice"),
        (["--range", "m=1:2"], "no input m"),
        (["--at", "n=5"], "needs ranks"),
        (["--longest", "soon"], "--longest"),
        (["--longest", "1ms"], "allow longer ones"),
    ],
)
def test_what_cannot_be_run_is_one_line(study, capsys, words, telling):
    assert run(["model", "next", study, *words]) in (ExitCode.USAGE, ExitCode.INPUT)
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert telling in err


def test_a_range_has_round_values_inside_of_its_ends():
    values = values_to_run(["n=1000:20000"])["n"]
    assert values[0] == 1000
    assert values[-1] == 20000
    assert list(values) == sorted(set(values))
    assert values_to_run(["x=0.5,0.25"]) == {"x": (0.5, 0.25)}
    with pytest.raises(UsageError):
        values_to_run(["=1:2"])
