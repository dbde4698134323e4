"""The description of a skeleton on disk."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.prediction.store import FACTS_FILE, load, save
from tests.unit.test_prediction_predict import FACTS


@pytest.mark.parametrize("facts", [FACTS, replace(FACTS, calibration=None)])
def test_what_is_saved_is_loaded(tmp_path: Path, facts):
    save(facts, tmp_path)
    assert load(tmp_path) == facts
    assert [path.name for path in tmp_path.iterdir()] == [FACTS_FILE]


def test_the_same_facts_give_the_same_bytes(tmp_path: Path):
    save(FACTS, tmp_path)
    first = (tmp_path / FACTS_FILE).read_bytes()
    save(FACTS, tmp_path)
    assert (tmp_path / FACTS_FILE).read_bytes() == first


def test_a_folder_without_skeleton_is_named(tmp_path: Path):
    with pytest.raises(InputError, match="skelgen build"):
        load(tmp_path)
    with pytest.raises(InputError, match="skelgen build"):
        load(tmp_path / "none")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is a file"):
        load(tmp_path / "file")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"format": 2}', '{"format": 1}', "\x00\xff"]
)
def test_a_damaged_description_is_an_input_error(tmp_path: Path, text):
    (tmp_path / FACTS_FILE).write_text(text)
    with pytest.raises(InputError, match="skeleton") as caught:
        load(tmp_path)
    assert "\n" not in str(caught.value)


def values() -> st.SearchStrategy:
    return st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        ),
        max_leaves=4,
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_edited_value_is_loaded_or_refused(tmp_path: Path, data):
    save(FACTS, tmp_path)
    content = json.loads((tmp_path / FACTS_FILE).read_text())
    where = content if data.draw(st.booleans()) else content["calibration"]
    where[data.draw(st.sampled_from(sorted(where)))] = data.draw(values())
    (tmp_path / FACTS_FILE).write_text(json.dumps(content))
    try:
        facts = load(tmp_path)
    except InputError:
        return
    assert facts.ranks > 0
