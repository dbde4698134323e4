"""The commands model fit, predict and compare."""

from __future__ import annotations

import json

import pytest

from skelgen.cli.main import run
from skelgen.errors import ExitCode
from skelgen.models.quantities import Quantity
from skelgen.pipeline.model import RunSource
from skelgen.pipeline.model_compare import model_compare
from skelgen.store import Run, open_store


def law(n, ranks):
    return 1e-9 * n**3 / ranks + 2e-7 * n**2


SIZES = (1000, 1500, 2000, 3000, 4000)
RANKS = (2, 4, 8, 16)


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "old study.csv"
    lines = [f"{n},{p},{law(n, p):.6f}" for n in SIZES for p in RANKS]
    path.write_text("\n".join(["n,np,t_sec", *lines]) + "\n")
    return path


COLUMNS = ("--columns", "time=t_sec,ranks=np,n=n")


def said(capsys, *words):
    assert run([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def complained(capsys, *words):
    code = run([*map(str, words)])
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    return code, text


def test_a_file_of_an_old_study_is_predicted_in_one_command(study, capsys):
    found = said(capsys, "model", "predict", study, *COLUMNS, "--at", "n=6000,ranks=32")
    assert found["value"] == pytest.approx(law(6000, 32), rel=0.05)
    assert found["p5"] < found["p50"] < found["p95"]
    assert found["verdict"] == "trust"
    assert found["unit"] == "s"
    assert found["family"] == "default"
    assert found["load"] == {"cpu": 1.0, "bandwidth": 1.0, "source": "quiet"}
    assert found["range"]["n"] == {"low": 1000, "high": 4000, "factor": 1.5}


def test_a_model_is_kept_in_a_file_and_asked_later(study, tmp_path, capsys):
    kept = tmp_path / "heat.json"
    fitted = said(capsys, "model", "fit", study, *COLUMNS, "-o", kept)
    assert "n^3" in fitted["formula"]
    study.unlink()
    found = said(capsys, "model", "predict", kept, "--at", "n=6000,ranks=32")
    assert found["value"] == pytest.approx(law(6000, 32), rel=0.05)


def test_functions_of_the_workload_are_a_family(study, tmp_path, capsys):
    kept = tmp_path / "heat.json"
    words = ("--family", "workload")
    fitted = said(capsys, "model", "fit", study, *COLUMNS, *words, "-o", kept)
    assert fitted["family"] == "workload"
    found = said(capsys, "model", "predict", kept, "--at", "n=6000,ranks=32")
    assert found["value"] == pytest.approx(law(6000, 32), rel=0.05)
    compared = said(capsys, "model", "compare", study, *COLUMNS, *words)
    assert compared["families"][0]["median_error"] < 0.05


def test_runs_of_the_store_are_chosen_by_application_and_condition(tmp_path, capsys):
    place = str(tmp_path / "runs.db")
    runs = [
        Run("heat", law(n, p), ranks=p, inputs=(("n", float(n)), ("solver", word)))
        for n in SIZES
        for p in RANKS
        for word in ("cg", "mg")
    ]
    with open_store(place) as store:
        store.add([*runs, Run("other", 1.0), Run("heat", 9.0, status="exit 1")])
    words = ("model", "predict", "--store", place, "--app", "heat")
    code, text = complained(capsys, *words, "--at", "n=6000,ranks=32")
    assert code == ExitCode.INPUT
    assert "solver is cg, mg; a model takes numbers, choose one" in text
    where = ("--where", "solver=cg")
    found = said(capsys, *words, *where, "--at", "n=6000,ranks=32")
    assert found["value"] == pytest.approx(law(6000, 32), rel=0.05)


def test_a_load_divides_what_waits_for_it(tmp_path, capsys):
    path = tmp_path / "runs.csv"
    lines = [f"{n},{a},{law(n, 1) / a}" for n in SIZES for a in (0.25, 0.5, 0.75, 1.0)]
    path.write_text("\n".join(["n,cpu,time_s", *lines]) + "\n")
    words = ("model", "predict", path, "--at", "n=6000")
    quiet = said(capsys, *words)
    busy = said(capsys, *words, "--load", "cpu=0.5")
    assert busy["value"] == pytest.approx(2 * quiet["value"], rel=0.02)
    assert busy["load"]["source"] == "typed"


def test_families_are_compared_on_the_larger_runs(study, capsys):
    found = said(capsys, "model", "compare", study, *COLUMNS)
    by = {one["family"]: one for one in found["families"]}
    assert by["default"]["median_error"] < 0.05
    assert by["default"]["failed"] is None
    assert found["default"] == "default"
    assert run(["model", "compare", str(study), *COLUMNS, "--family", "power"]) == 0
    text = capsys.readouterr().out
    assert "power" in text
    assert "default" not in text


def test_a_comparison_tells_after_each_family_how_far_it_is(study):
    seen = []

    class Recorder:
        def start(self, what, total):
            seen.append((what, total))

        def advance(self, amount):
            seen.append(amount)

        def say(self, found):
            seen.append(found)

        def finish(self):
            seen.append("end")

    source = RunSource(str(study), columns={"time": "t_sec", "ranks": "np", "n": "n"})
    families = ["power", "linear", "normal-form"]
    scores = model_compare(source, families, Quantity(), progress=Recorder())
    assert [one.family for one in scores] == families
    begin = seen.index(("comparing families", 3))
    assert seen[begin + 1 :] == [1, 1, 1, "end"]


def test_a_doubtful_answer_fails_when_only_a_trusted_one_will_do(study, capsys):
    words = ("model", "predict", study, *COLUMNS, "--at", "n=4e6,ranks=2")
    assert run([*map(str, words), "--strict"]) == ExitCode.UNTRUSTED
    out, err = capsys.readouterr()
    assert "do not trust" in out
    assert "far from the runs" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--at", "n"), "--at: read 'n', expected a name and a number"),
        (("--at", "n=1,n=2"), "--at: n is given twice"),
        (("--at", "n=nan,ranks=2"), "expected a name and a number"),
        (("--at", "n=1e3"), "the model needs ranks; give it"),
        (("--at", "n=1,ranks=2,m=3"), "the model has no input m; it has n, ranks"),
        (("--at", "n=1,ranks=2", "--load", "cpu=1.3"), "cpu is 1.3; a part that is"),
        (("--at", "n=1,ranks=2", "--load", "gpu=1"), "--load: read gpu, expected cpu"),
        (("--at", "n=1,ranks=2", "--family", "x"), "there is no family 'x'"),
        (("--at", "n=1", "--inputs", "m"), "not every run has m; all have"),
        (("--at", "n=1", "--where", "n=1000", "--inputs", "n"), "no input varies"),
    ],
)
def test_words_that_cannot_be_meant_are_said(study, capsys, words, told):
    code, text = complained(capsys, "model", "predict", study, *COLUMNS, *words)
    assert code in (ExitCode.USAGE, ExitCode.INPUT)
    assert told in text


def test_without_runs_it_says_what_to_name(capsys):
    code, text = complained(capsys, "model", "fit")
    assert code == ExitCode.USAGE
    assert "name a CSV file, or an application of the store (--app)" in text


def test_formulas_and_answers_are_written_for_other_tools(study, capsys):
    words = [str(study), *COLUMNS]
    assert run(["model", "fit", *words, "--format", "latex"]) == 0
    assert r"\frac" in capsys.readouterr().out
    assert run(["model", "fit", *words, "--format", "python"]) == 0
    place: dict = {}
    exec(capsys.readouterr().out, place)
    found = place["time_s"](n=6000, ranks=32)
    assert found == pytest.approx(law(6000, 32), rel=0.05)
    at = ["--at", "n=6000,ranks=32", "--format", "slurm"]
    assert run(["model", "predict", *words, *at]) == 0
    assert capsys.readouterr().out == "--time=00:01:00\n"
