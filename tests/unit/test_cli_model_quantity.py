"""The option --quantity of the commands of models."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from skelgen.cli.main import run
from skelgen.errors import ExitCode
from skelgen.store import Run, open_store

SIZES = (1000, 1500, 2000, 3000, 4000)
RANKS = (2, 4, 8, 16)
FAMILY = ("--family", "normal-form")


def law(n, ranks):
    return 1e-9 * n**3 / ranks + 2e-7 * n**2


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "runs.csv"
    lines = [f"{n},{p},{law(n, p):.6f}" for n in SIZES for p in RANKS]
    path.write_text("\n".join(["n,ranks,time", *lines]) + "\n")
    return str(path)


def said(capsys, *words):
    assert run([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def complained(capsys, *words):
    code = run([*map(str, words)])
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    return code, text


AT = ("--at", "n=6000,ranks=32")


@pytest.mark.parametrize(
    ("words", "value", "unit", "reference"),
    [
        (["speedup"], law(6000, 2) / law(6000, 32), "", {"ranks": 2.0}),
        (["efficiency"], law(6000, 2) / law(6000, 32) / 16, "", {"ranks": 2.0}),
        (["rate:n"], 6000 / law(6000, 32), "n/s", None),
        (["rate:2*n^3+n"], 4.32e11 / law(6000, 32), "(2*n^3 + n)/s", None),
        (
            ["speedup", "--reference", "ranks=4"],
            law(6000, 4) / law(6000, 32),
            "",
            {"ranks": 4.0},
        ),
    ],
)
def test_a_quantity_is_predicted_with_its_unit_and_its_interval(
    study, capsys, words, value, unit, reference
):
    asked = ("model", "predict", study, *FAMILY, *AT)
    found = said(capsys, *asked, "--quantity", *words)
    assert found["value"] == pytest.approx(value, rel=0.01)
    assert found["p5"] < found["p50"] < found["p95"]
    assert found["unit"] == unit
    assert found["quantity"] == words[0].partition(":")[0]
    assert found["reference"] == reference
    assert found["verdict"] == "trust"
    assert run([*asked, "--quantity", *words]) == 0
    text = capsys.readouterr().out
    assert ("compared with" in text) == (reference is not None)
    assert unit in text


def test_a_time_is_said_as_before(study, capsys):
    asked = ("model", "predict", study, *FAMILY, *AT)
    plain, named = said(capsys, *asked), said(capsys, *asked, "--quantity", "time")
    assert plain == named
    assert plain["quantity"] == "time"
    assert plain["unit"] == "s"


def test_a_reference_below_the_runs_is_doubted(study, capsys):
    words = ("--quantity", "speedup", "--reference", "ranks=1")
    found = said(capsys, "model", "predict", study, *FAMILY, *AT, *words)
    assert [one["code"] for one in found["doubts"]] == ["extrapolation"]
    assert "ranks=1 is outside of the runs" in found["doubts"][0]["text"]


def test_the_file_of_a_model_keeps_times_and_says_quantities(study, tmp_path, capsys):
    kept = tmp_path / "heat.json"
    words = ("--quantity", "speedup", "-o", kept)
    fitted = said(capsys, "model", "fit", study, *FAMILY, *words)
    assert fitted["quantity"] == "time"
    assert fitted["says"]["quantity"] == "speedup"
    assert fitted["says"]["reference"] == {"ranks": 2.0}
    assert "ranks" in fitted["says"]["formula"]
    found = said(capsys, "model", "predict", kept, *AT, "--quantity", "efficiency")
    assert found["value"] == pytest.approx(law(6000, 2) / law(6000, 32) / 16, rel=0.01)


def test_the_formula_of_a_quantity_is_written_for_other_tools(study, capsys):
    words = ["model", "fit", study, *FAMILY, "--quantity", "rate:n^3"]
    assert run([*words, "--format", "python"]) == 0
    place: dict = {}
    exec(capsys.readouterr().out, place)
    rate = place["rate"](n=6000, ranks=32)
    assert rate == pytest.approx(6000**3 / law(6000, 32), rel=0.01)
    assert run([*words, "--format", "latex"]) == 0
    assert r"\frac" in capsys.readouterr().out
    assert run(words) == 0
    assert "[n^3/s]" in capsys.readouterr().out


def test_what_is_the_same_in_all_runs_can_be_an_amount(tmp_path, capsys):
    path = tmp_path / "runs.csv"
    lines = [f"500,{p},{8 / p}" for p in RANKS]
    path.write_text("\n".join(["n,ranks,time", *lines]) + "\n")
    words = ("model", "predict", path, *FAMILY, "--at", "ranks=32")
    found = said(capsys, *words, "--quantity", "rate:n^2")
    assert found["value"] == pytest.approx(500**2 / (8 / 32), rel=0.01)
    code, text = complained(capsys, *words, "--quantity", "rate:m")
    assert code == ExitCode.INPUT
    assert "there is no m; write it with what the runs have: ranks, n" in text


def test_a_prediction_of_a_quantity_is_not_kept_as_a_time(tmp_path, capsys):
    place = str(tmp_path / "runs.db")
    runs = [
        Run("heat", law(n, p), ranks=p, inputs=(("n", float(n)),))
        for n in SIZES
        for p in RANKS
    ]
    with open_store(place) as store:
        store.add(runs)
    words = ("model", "predict", "--store", place, "--app", "heat", *FAMILY, *AT)
    said(capsys, *words, "--quantity", "speedup")
    with open_store(place) as store:
        assert not store.predictions()
    said(capsys, *words)
    with open_store(place) as store:
        assert len(store.predictions()) == 1


def test_families_are_compared_by_the_quantity(study, capsys):
    words = ("model", "compare", study, "--family", "power", *FAMILY)
    times = {one["family"]: one for one in said(capsys, *words)["families"]}
    found = said(capsys, *words, "--quantity", "speedup")["families"]
    by = {one["family"]: one for one in found}
    assert by["normal-form"]["worst_error"] < 0.01
    assert by["power"]["median_error"] > 0.05
    assert by["power"]["median_error"] != times["power"]["median_error"]


def test_configurations_are_checked_by_the_quantity(study, capsys):
    words = ("model", "check", study, "--family", "power", "--goal", "10%")
    found = said(capsys, *words, "--quantity", "speedup")
    assert len(found["configurations"]) == len(SIZES) * (len(RANKS) - 1)
    assert not found["met"]
    assert found["quantity"] == "speedup"
    good = said(capsys, "model", "check", study, *FAMILY, "--quantity", "rate:n^3")
    assert good["met"]
    assert len(good["configurations"]) == len(SIZES) * len(RANKS)


@pytest.mark.parametrize("words", [["speedup"], ["efficiency"], ["rate:n^3"]])
def test_a_quantity_is_drawn_with_its_runs(study, tmp_path, capsys, words):
    picture = tmp_path / "heat.svg"
    asked = ("model", "draw", study, *FAMILY, "-o", picture)
    said(capsys, *asked, "--quantity", *words)
    ET.parse(picture)
    text = picture.read_text()
    assert words[0].partition(":")[0] in text
    assert text.count("<circle") >= len(SIZES) * len(RANKS)


def test_both_runs_of_a_speedup_have_the_load_that_is_typed(tmp_path, capsys):
    path = tmp_path / "runs.csv"
    rows = [(p, c) for p in RANKS for c in (0.25, 0.5, 0.75, 1.0)]
    lines = [f"{p},{c},{9 / p / c}" for p, c in rows]
    path.write_text("\n".join(["ranks,cpu,time", *lines]) + "\n")
    words = ("model", "predict", path, *FAMILY, "--at", "ranks=32")
    asked = (*words, "--quantity", "speedup")
    quiet, busy = said(capsys, *asked), said(capsys, *asked, "--load", "cpu=0.5")
    assert quiet["value"] == pytest.approx(16.0, rel=0.02)
    assert busy["value"] == pytest.approx(quiet["value"])
    assert busy["load"]["cpu"] == 0.5
    rate = (*words, "--quantity", "rate:1")
    quiet, busy = said(capsys, *rate), said(capsys, *rate, "--load", "cpu=0.5")
    assert busy["value"] == pytest.approx(quiet["value"] / 2, rel=0.1)
    code, text = complained(capsys, "model", "check", path, "--quantity", "speedup")
    assert code == ExitCode.INPUT
    assert "the runs had different loads (cpu)" in text


def test_a_speedup_that_no_run_has_is_drawn_without_runs(study, tmp_path, capsys):
    picture = tmp_path / "heat.svg"
    words = ("--quantity", "speedup", "--reference", "ranks=1")
    said(capsys, "model", "draw", study, *FAMILY, "-o", picture, *words)
    assert "<circle" not in picture.read_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--quantity", "flops"], "read 'flops', expected time, speedup, efficiency"),
        (["--quantity", "rate"], "expected time, speedup, efficiency or rate:COLUMN"),
        (["--quantity", "rate:"], "the formula ''"),
        (["--quantity", "rate:n^"], "--quantity: the formula 'n^'"),
        (["--quantity", "rate:SR(n)"], "the formula calls SR, expected one of log"),
        (["--quantity", "rate:m"], "there is no m; write it with what the runs have"),
        (["--quantity", "rate:0*n"], "the amount is 0 there"),
        (["--quantity", "speedup:2"], "read 'speedup:2'"),
        (["--reference", "ranks=1"], "--reference is for --quantity speedup or"),
        (["--quantity", "speedup", "--reference", "n=1"], "there is no input n that"),
        (["--quantity", "speedup", "--reference", "ranks=0"], "ranks is 0, expected 1"),
        (["--quantity", "speedup", "--inputs", "n"], "the model has no input ranks"),
        (["--quantity", "speedup", "--load", "cpu=0.5"], "the runs had no cpu"),
        (
            ["--quantity", "efficiency", "--load", "forecast", "--nodes", "n1"],
            "compares two runs under one load",
        ),
        (["--quantity", "speedup", "--format", "slurm"], "slurm writes a time"),
    ],
)
def test_what_cannot_be_said_is_one_line(study, capsys, words, told):
    at = ("--at", "n=6000") if "--inputs" in words else AT
    asked = ("model", "predict", study, "--family", "power", *at)
    code, text = complained(capsys, *asked, *words)
    assert code in (ExitCode.USAGE, ExitCode.INPUT)
    assert told in text


@pytest.mark.parametrize("amount", ["1 GiB*n", "n^3*1 s"])
def test_an_amount_with_a_unit_is_refused(tmp_path, capsys, amount):
    words = ["model", "predict", "runs.csv", "--at", "n=1", "--quantity"]
    assert run([*words, f"rate:{amount}"]) == ExitCode.USAGE
    text = capsys.readouterr().err
    assert "has a unit" in text
    assert text.count("\n") == 1
