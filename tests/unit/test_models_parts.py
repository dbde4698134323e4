"""A model for each part of a run, and their sum."""

from __future__ import annotations

import numpy as np
import pytest

from skelgen.documents import json_field
from skelgen.documents.seal import sealed_json
from skelgen.errors import InputError
from skelgen.models.model import predict_with
from skelgen.models.model_file import model_facts, model_of, read_model
from skelgen.models.parts import fit_parts
from skelgen.models.runs import Meaning, ModelInput, RunTable
from skelgen.store import Run, RunPart, open_store
from tests.unit.test_cli_model import said

N, P = ModelInput("n"), ModelInput("ranks", Meaning.RANKS)
ROWS = [{"n": n, "ranks": p} for n in (1e3, 1.5e3, 2e3, 3e3, 4e3) for p in (2, 4, 8)]
LAWS = {
    "solve": lambda n, p: 1e-9 * n**3 / p,
    "halo": lambda n, p: 2e-7 * n**2 / p,
    "output": lambda n, p: 1e-6 * n**2,
}


def times(noise=0.0, common=0.0, seed=0):
    random = np.random.default_rng(seed)
    shared = random.normal(1.0, common, len(ROWS))
    return {
        name: np.array([law(r["n"], r["ranks"]) for r in ROWS])
        * shared
        * random.normal(1.0, noise, len(ROWS))
        for name, law in LAWS.items()
    }


def fitted(parts, family="power"):
    whole = np.sum([*parts.values()], axis=0)
    return fit_parts(RunTable.gather((N, P), ROWS, whole), parts, family)


def test_the_sum_is_that_of_the_parts():
    found = fitted(times(), "normal-form")
    at = {"n": 6e3, "ranks": 16.0}
    answer = predict_with(found, at).interval.p50
    assert answer == pytest.approx(sum(law(6e3, 16) for law in LAWS.values()), rel=0.02)
    parts = [predict_with(one.model, at).interval.p50 for one in found.parts]
    assert answer == pytest.approx(sum(parts), rel=1e-9)
    assert sum(one.share for one in found.parts) == pytest.approx(1.0)


def half_widths(found, at):
    each = [predict_with(one.model, at).interval for one in found.parts]
    return np.array([one.p50 * np.log(one.p95 / one.p50) for one in each])


@pytest.mark.parametrize(
    ("noise", "common", "low", "high"), [(0.04, 0.0, 0.0, 0.3), (0.004, 0.04, 0.8, 1.0)]
)
def test_errors_of_parts_add_as_they_go_together(noise, common, low, high):
    seen = np.mean([fitted(times(noise, common, s)).together for s in range(12)])
    assert low <= seen <= high


@pytest.mark.parametrize(("noise", "common"), [(0.05, 0.0), (0.005, 0.05)])
def test_intervals_of_sums_hold_as_often_as_they_say(noise, common):
    random = np.random.default_rng(99)
    at = {"n": 3e3, "ranks": 4.0}
    held, trials = 0, 60
    for seed in range(trials):
        found = predict_with(fitted(times(noise, common, seed + 1)), at).interval
        shared = random.normal(1.0, common)
        truth = sum(
            law(3e3, 4) * shared * random.normal(1.0, noise) for law in LAWS.values()
        )
        held += found.p5 <= truth <= found.p95
    assert 0.78 <= held / trials <= 1.0


def test_the_rule_is_between_independent_and_equal_errors():
    found = fitted(times(0.03))
    at = {"n": 6e3, "ranks": 16.0}
    widths, answer = half_widths(found, at), predict_with(found, at).interval
    half = answer.p50 * np.log(answer.p95 / answer.p50)
    assert np.sqrt(np.sum(widths**2)) * 0.999 <= half <= np.sum(widths) * 1.001


def test_a_model_of_parts_is_read_back(tmp_path):
    found = fitted(times(0.02))
    path = tmp_path / "m.json"
    path.write_text(sealed_json(model_facts(found)))
    again = read_model(path)
    at = {"n": 6e3, "ranks": 16.0}
    assert predict_with(again, at) == predict_with(found, at)
    facts = model_facts(found)
    facts["parts"][0]["model"] = model_facts(found)
    with pytest.raises(InputError, match="has parts of its own"):
        model_of(json_field(sealed_json(facts), path))


def test_runs_with_the_same_parts_are_fitted_by_parts(tmp_path, capsys):
    place = str(tmp_path / "runs.db")
    parts = times()
    runs = []
    for i, row in enumerate(ROWS):
        own = tuple(
            RunPart(name, "phase", parts[name][i] / 10, 10.0)
            for name in ("solve", "halo")
        )
        whole = sum(values[i] for values in parts.values())
        n, ranks = (("n", row["n"]),), row["ranks"]
        runs.append(Run("heat", whole, ranks=ranks, inputs=n, parts=own))
    with open_store(place) as store:
        store.add(runs)
    words = ("--store", place, "--app", "heat", "--family", "normal-form")
    assert len(said(capsys, "model", "fit", *words)["parts"]) == 3
    assert "parts" not in said(capsys, "model", "fit", *words, "--no-parts")
    found = said(capsys, "model", "predict", *words, "--at", "n=6000,ranks=16")
    assert [one["name"] for one in found["parts"]] == ["solve", "halo", "the rest"]
    total = sum(one["value"] for one in found["parts"])
    assert found["value"] == pytest.approx(total, rel=1e-9)
