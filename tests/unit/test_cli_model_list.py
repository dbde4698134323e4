"""Models that a store keeps: fitted, asked, listed, shown, later judged."""

from __future__ import annotations

import json
import time

import pytest

from skelgen.cli.main import run
from skelgen.errors import ExitCode
from skelgen.store import Run, StoredModel, open_store
from tests.unit.test_cli_model import (  # noqa: F401
    COLUMNS,
    RANKS,
    SIZES,
    complained,
    law,
    said,
    study,
)
from tests.visitors import serve


@pytest.fixture
def place(tmp_path):
    found = str(tmp_path / "runs.db")
    with open_store(found) as store:
        store.add(heat(n, p) for n in SIZES for p in RANKS)
    return found


def heat(n, ranks, **more):
    inputs = (("n", float(n)), ("solver", "cg"), ("steps", 100.0))
    return Run("heat", law(n, ranks), ranks=ranks, inputs=inputs, **more)


def fit(capsys, place, *more):
    return said(
        capsys, "model", "fit", "--store", place, "--app", "heat", *more,
        "--family", "normal-form",
    )  # fmt: skip


def test_a_kept_model_is_asked_by_its_name_and_by_its_id(place, capsys):
    kept = fit(capsys, place, "--name", "quick")["kept"]
    assert kept["name"] == "quick"
    for name in ("quick", kept["id"], kept["id"][:8]):
        found = said(
            capsys, "model", "predict", "--store", place, "--model", name,
            "--at", "n=6000,ranks=32",
        )  # fmt: skip
        assert found["value"] == pytest.approx(law(6000, 32), rel=0.05)


def test_a_model_without_a_name_has_that_of_its_application(place, capsys):
    assert fit(capsys, place)["kept"]["name"] == "heat"
    (found,) = said(capsys, "model", "list", "--store", place)["models"]
    assert found["name"] == found["app"] == "heat"
    assert found["runs"] == len(SIZES) * len(RANKS)
    assert found["author"]
    assert found["fitted"].endswith("Z")


def test_of_each_name_the_last_fit_counts(place, capsys):
    first = fit(capsys, place, "--where", "n<=3000")["kept"]["id"]
    last = fit(capsys, place)["kept"]["id"]
    (listed,) = said(capsys, "model", "list", "--store", place, "--app", "heat")[
        "models"
    ]
    assert listed["id"] == last
    older = said(capsys, "model", "show", first, "--store", place)
    assert older["where"] == ["n<=3000"]
    assert older["inputs"][0]["high"] == 3000.0


def test_show_says_when_runs_were_added_since(place, capsys):
    fit(capsys, place)
    shown = said(capsys, "model", "show", "heat", "--store", place)
    assert shown["fit_again"] is False
    assert shown["fixed"] == {"solver": "cg", "steps": 100.0}
    with open_store(place) as store:
        store.add([heat(8000, 4)])
    shown = said(capsys, "model", "show", "heat", "--store", place)
    assert shown["fit_again"] is True
    assert shown["runs_now"] == shown["runs"] + 1
    assert run(["model", "show", "heat", "--store", place]) == 0
    assert "fit it again: the store has 21 runs now" in capsys.readouterr().out


def test_a_prediction_is_compared_with_the_run_that_happens(place, capsys):
    fit(capsys, place)
    said(
        capsys, "model", "predict", "--store", place, "--model", "heat",
        "--at", "n=6000,ranks=32",
    )  # fmt: skip
    with open_store(place) as store:
        (kept,) = store.predictions()
        assert (kept.method, kept.family) == ("model", "normal-form")
        assert kept.ranks == 32
        assert dict(kept.inputs) == {"n": 6000.0, "solver": "cg", "steps": 100.0}
        store.add([heat(6000, 32, started=time.time() + 1.0)])
    (record,) = said(capsys, "store", "record", "--store", place)["methods"]
    assert record["method"] == "model"
    assert record["predictions"] == 1
    assert record["median_error"] < 0.05


def test_a_file_of_runs_is_kept_where_a_store_is_set(study, place, capsys):  # noqa: F811
    words = ("model", "fit", study, *COLUMNS, "--app", "old")
    assert said(capsys, *words, "--store", place)["kept"]["name"] == "old"
    shown = said(capsys, "model", "show", "old", "--store", place)
    assert shown["file"] == str(study)
    assert shown["fit_again"] is False


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "none"), "there is no such model in the store; its models: heat"),
        (("predict", "--model", "none", "--at", "n=1"), "there is no such model"),
        (("predict", "x.csv", "--model", "heat", "--at", "n=1"), "not both"),
    ],
)
def test_models_that_are_not_there_are_one_line(place, capsys, words, said):
    fit(capsys, place)
    code, text = complained(capsys, "model", *words, "--store", place)
    assert code in (ExitCode.INPUT, ExitCode.USAGE)
    assert said in text


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("{}", "is no model that skelgen model fit kept"),
        ("[" * 5000, "model bad of the store"),
        ('{"skelgen_kept_model": 9}', "is of version 9"),
        ('{"skelgen_kept_model": NaN}', "read NaN, expected a finite number"),
        ('{"skelgen_kept_model": 1, "author": 1, "origin": {}, "model": {}}', "author"),
    ],
)
def test_what_others_wrote_into_the_store_is_refused(place, capsys, document, said):
    with open_store(place) as store:
        store.add([StoredModel("bad", "heat", 1.0, document)])
    code, text = complained(capsys, "model", "show", "bad", "--store", place)
    assert code == ExitCode.INPUT
    assert said in text


def test_a_list_has_the_models_that_can_be_read_and_names_the_others(place, capsys):
    fit(capsys, place)
    with open_store(place) as store:
        store.add([StoredModel("bad", "heat", 1.0, "{}")])
    assert run(["model", "list", "--store", place, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in found["models"]] == ["heat"]
    (fault,) = found["unreadable"]
    assert "model bad of the store" in fault
    assert run(["model", "list", "--store", place]) == 0
    told = capsys.readouterr()
    assert "heat" in told.out
    assert "model bad of the store" in told.err
    answer = serve(place).browser().get("/api/models")
    assert answer.status_code == 200
    assert answer.json()["unreadable"] == [fault]


@pytest.mark.parametrize("words", [("--model", "heat"), ("FILE",)])
@pytest.mark.parametrize(
    "told",
    [
        ("--family", "power"),
        ("--template", "a*n^2"),
        ("--where", "n>1"),
        ("--inputs", "n"),
        ("--columns", "n=size"),
        ("--on", "east"),
    ],
)
def test_what_only_a_fit_can_use_is_refused_with_a_fitted_model(
    study,  # noqa: F811
    tmp_path,
    capsys,
    words,
    told,
):
    kept = tmp_path / "heat.json"
    said(capsys, "model", "fit", study, *COLUMNS, "--family", "linear", "-o", kept)
    words = [str(kept) if one == "FILE" else one for one in words]
    assert run(["model", "predict", *words, "--at", "n=1", *told]) == ExitCode.USAGE
    text = capsys.readouterr().err
    assert f"leave {told[0]} out" in text
    assert text.count("\n") == 1
