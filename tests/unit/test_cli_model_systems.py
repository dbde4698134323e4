"""The option --on of model fit and predict: a system with few runs."""

from __future__ import annotations

import json

import pytest

from skelgen.cli.main import run
from skelgen.errors import ExitCode
from skelgen.store import Run, open_store

SIZES = (1000, 1500, 2000, 3000, 4000)
RANKS = (2, 4, 8, 16)
FEW = ((1000, 2), (2000, 8), (3000, 4))
COLUMNS = ("--columns", "system=machine,time=seconds,n=n,ranks=ranks,steps=steps")
FAMILY = ("--family", "normal-form")
AT = ("--at", "n=6000,ranks=32")


def law(n, ranks):
    return 1e-9 * n**3 / ranks + 2e-7 * n**2


def csv(path, few=FEW, steps=(10, 10)):
    lines = [f"old,{n},{p},{steps[0]},{law(n, p)}" for n in SIZES for p in RANKS]
    lines += [f"new,{n},{p},{steps[1]},{1.7 * law(n, p)}" for n, p in few]
    path.write_text("\n".join(["machine,n,ranks,steps,seconds", *lines]) + "\n")
    return str(path)


@pytest.fixture
def study(tmp_path):
    return csv(tmp_path / "runs.csv")


def said(capsys, *words):
    assert run([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def complained(capsys, *words):
    code = run([*map(str, words)])
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    return code, text


def test_runs_on_another_system_give_the_form_and_three_here_the_factor(study, capsys):
    words = (study, *COLUMNS, *FAMILY, "--on", "new")
    found = said(capsys, "model", "predict", *words, *AT)
    assert found["value"] == pytest.approx(1.7 * law(6000, 32), rel=0.02)
    assert found["p5"] < 1.7 * law(6000, 32) < found["p95"]
    assert found["verdict"] == "trust"
    system = found["system"]
    assert system["name"] == "new"
    assert system["factor"]["p50"] == pytest.approx(1.7, rel=0.01)
    assert (system["runs"], system["others"]) == (3, {"old": 20})
    assert run(["model", "predict", *words, *AT]) == 0
    out = capsys.readouterr().out
    assert "the form is that of old (20 runs); new takes 1.7" in out


def test_without_a_system_nothing_is_said_of_one(study, capsys):
    words = (study, *COLUMNS, *FAMILY, "--where", "system=old", *AT)
    found = said(capsys, "model", "predict", *words)
    assert found["system"] is None
    assert found["value"] == pytest.approx(law(6000, 32), rel=0.02)


@pytest.mark.parametrize("count", [1, 2])
def test_one_or_two_runs_are_doubted(tmp_path, capsys, count):
    words = (csv(tmp_path / "runs.csv", FEW[:count]), *COLUMNS, *FAMILY, "--on", "new")
    found = said(capsys, "model", "predict", *words, *AT)
    assert "few-runs" in {one["code"] for one in found["doubts"]}
    code = run(["model", "predict", *words, *AT, "--strict"])
    assert code == ExitCode.UNTRUSTED


def test_a_model_that_was_carried_is_kept_in_a_file(study, tmp_path, capsys):
    kept = tmp_path / "new.json"
    words = (study, *COLUMNS, *FAMILY, "--on", "new", "-o", kept)
    fitted = said(capsys, "model", "fit", *words)
    assert fitted["system"]["runs"] == 3
    now = said(capsys, "model", "predict", study, *COLUMNS, *FAMILY, "--on", "new", *AT)
    later = said(capsys, "model", "predict", kept, *AT)
    for end in ("p5", "p50", "p95"):
        assert later[end] == pytest.approx(now[end])


def test_a_speedup_on_a_system_has_no_factor_in_it(study, capsys):
    words = (study, *COLUMNS, *FAMILY, "--on", "new", "--quantity", "speedup")
    found = said(capsys, "model", "predict", *words, *AT)
    assert found["value"] == pytest.approx(law(6000, 2) / law(6000, 32), rel=0.02)


def test_runs_of_the_store_know_their_system(tmp_path, capsys):
    place = str(tmp_path / "runs.db")
    old = [(n, p, 1.0, "old") for n in SIZES for p in RANKS]
    runs = [
        Run("heat", slow * law(n, p), ranks=p, inputs=(("n", float(n)),), system=name)
        for n, p, slow, name in [*old, *((n, p, 1.7, "new") for n, p in FEW)]
    ]
    with open_store(place) as store:
        store.add(runs)
    words = ("--store", place, "--app", "heat", *FAMILY, "--on", "new")
    found = said(capsys, "model", "predict", *words, *AT)
    assert found["value"] == pytest.approx(1.7 * law(6000, 32), rel=0.02)


def test_only_runs_on_that_system_are_an_ordinary_fit_with_a_note(study, capsys):
    words = ["model", "fit", study, *COLUMNS, *FAMILY, "--where", "system=old"]
    assert run([*words, "--on", "old"]) == 0
    assert "all 20 runs are on old: an ordinary fit" in capsys.readouterr().out
    assert said(capsys, *words, "--on", "old")["system"] is None


def test_inputs_that_are_others_on_that_system_are_doubted(tmp_path, capsys):
    path = csv(tmp_path / "runs.csv", steps=(10, 20))
    found = said(
        capsys, "model", "predict", path, *COLUMNS, *FAMILY, "--on", "new", *AT
    )
    told = {one["code"]: one["text"] for one in found["doubts"]}
    assert (
        "the runs on new have steps=20, those of the others steps=10"
        in told["other-inputs"]
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--on", "newer"], "--on newer: no run is on it; the runs are on new, old"),
        (["--on", "new", "--where", "system=old"], "the runs are on old"),
        (["--on", "new", "--family", "x"], "there is no family 'x'"),
    ],
)
def test_what_cannot_be_carried_is_one_line(study, capsys, words, told):
    code, text = complained(capsys, "model", "predict", study, *COLUMNS, *AT, *words)
    assert code in (ExitCode.USAGE, ExitCode.INPUT)
    assert told in text


def test_one_run_on_another_system_gives_no_form(tmp_path, capsys):
    path = tmp_path / "runs.csv"
    path.write_text("system,n,time\nold,1000,1\nnew,1000,2\nnew,2000,4\n")
    code, text = complained(capsys, "model", "fit", path, "--on", "new")
    assert code == ExitCode.INPUT
    assert "runs that are not on new" in text


def test_runs_that_say_no_system_and_models_that_have_no_runs_are_said(
    tmp_path, capsys
):
    path = tmp_path / "plain.csv"
    path.write_text("\n".join(["n,time", *(f"{n},{n * 1e-3}" for n in SIZES)]) + "\n")
    code, text = complained(capsys, "model", "fit", path, "--on", "new")
    assert code == ExitCode.INPUT
    assert "no run says its system; name the column" in text
    kept = tmp_path / "model.json"
    assert run(["model", "fit", str(path), "--family", "power", "-o", str(kept)]) == 0
    capsys.readouterr()
    words = ("model", "predict", kept, "--at", "n=5000", "--on", "new")
    code, text = complained(capsys, *words)
    assert code == ExitCode.USAGE
    assert "leave --on out" in text
    code, text = complained(capsys, "model", "fit", path, "--on", "new", "--parts")
    assert code == ExitCode.USAGE
    assert "leave --parts out" in text


def test_a_model_for_a_system_is_kept_by_a_name_of_its_own(study, tmp_path, capsys):
    place = str(tmp_path / "runs.db")
    with open_store(place):
        pass
    words = (study, *COLUMNS, *FAMILY, "--on", "new", "--app", "heat")
    kept = said(capsys, "model", "fit", *words, "--store", place)["kept"]
    assert kept["name"] == "heat-new"
    said(capsys, "model", "predict", *words, "--store", place, *AT)
    assert run(["store", "record", "--store", place, "--json"]) == 0
    assert "heat" not in capsys.readouterr().out
