"""Models as files: read back the same, damaged or wrong ones refused in one line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skelgen.documents import sealed_json
from skelgen.errors import InputError
from skelgen.models.model import fit_model, predict_with
from skelgen.models.model_file import model_facts, read_model, write_model
from skelgen.models.runs import Meaning, ModelInput, RunTable

N, P = ModelInput("n"), ModelInput("ranks", Meaning.RANKS)


@pytest.fixture(scope="module")
def model():
    runs = [{"n": n, "ranks": p} for n in (1, 2, 3, 4, 6) for p in (1, 2, 4)]
    times = [run["n"] ** 2.2 / run["ranks"] + 0.1 for run in runs]
    return fit_model(RunTable.gather((N, P), runs, times))


def test_a_model_is_read_back_and_says_the_same(model, tmp_path):
    write_model(model, tmp_path / "m.json")
    again = read_model(tmp_path / "m.json")
    assert (tmp_path / "m.json").stat().st_mode & 0o777 == 0o600
    at = {"n": 9.0, "ranks": 16.0}
    assert predict_with(again, at) == predict_with(model, at)
    assert model_facts(again) == model_facts(model)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"formula": "n^2 + os"}, "formula: names os, which is none of the inputs"),
        ({"formula": "n^"}, "expected a number, a name or an opening bracket"),
        ({"skelgen_model": 99}, "is of version 99, this skelgen reads up to 1"),
        ({"family": 3}, "family: read 3, expected text"),
        ({"inputs": [{"name": "n"}]}, "'meaning' is missing"),
        ({"more": 1}, "read the field 'more'"),
    ],
)
def test_what_is_no_model_is_refused(model, tmp_path, change, said):
    path = tmp_path / "m.json"
    path.write_text(sealed_json(model_facts(model) | change))
    with pytest.raises(InputError, match=said):
        read_model(path)


def test_another_json_file_is_no_model(tmp_path):
    path = tmp_path / "m.json"
    path.write_text("{}")
    with pytest.raises(InputError, match="not the file of a model"):
        read_model(path)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_mutated_file_is_a_model_or_one_clear_line(model, tmp_path_factory, data):
    text = json.dumps(model_facts(model))
    at = data.draw(st.integers(0, len(text) - 1))
    put = data.draw(st.text(alphabet='{}[]",:0123456789.eE-n ', max_size=4))
    path = tmp_path_factory.mktemp("m") / "m.json"
    path.write_text(text[:at] + put + text[at + 1 :])
    try:
        found = read_model(path)
        predict_with(found, {"n": 2.0, "ranks": 2.0})
    except InputError as error:
        assert "\n" not in str(error)
