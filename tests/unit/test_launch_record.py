"""The description of a recorded run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.errors import InputError
from skelgen.launch.record import (
    RUN_FILE,
    RunFacts,
    mpi_environment,
    read_facts,
    setting_differences,
    write_facts,
)
from tests.sealed import unsealed_json

FACTS = RunFacts(
    command=("mpirun", "-n", "2", "./app"),
    folder="/somewhere",
    started="2026-01-01T00:00:00+00:00",
    duration_s=1.5,
    exit_code=0,
    mpi="MPICH 5.0.2",
    launcher="/bin/mpirun",
    host="ref",
    ranks=2,
    load=(0.0, 0.1, 0.2),
    environment=(("UCX_TLS", "self,sm"),),
    files=(("/bin/app", "00ff"),),
)


@pytest.mark.parametrize("facts", [FACTS, replace(FACTS, ranks=None, environment=())])
def test_what_is_written_is_read(tmp_path: Path, facts):
    write_facts(facts, tmp_path / RUN_FILE)
    assert read_facts(tmp_path) == facts


def test_a_run_recorded_by_hand_has_no_description(tmp_path: Path):
    assert read_facts(tmp_path) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 9}', '{"format": 1}'])
def test_a_damaged_description_is_named(tmp_path: Path, text):
    (tmp_path / RUN_FILE).write_text(text)
    with pytest.raises(InputError, match=r"run\.json") as caught:
        read_facts(tmp_path)
    assert "\n" not in str(caught.value)


@given(data=st.data())
def test_any_edited_value_is_read_or_refused(tmp_path: Path, data):
    write_facts(FACTS, tmp_path / RUN_FILE)
    content = unsealed_json(tmp_path / RUN_FILE)
    leaf = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
    value = leaf | st.lists(leaf | st.lists(leaf, max_size=3), max_size=3)
    content[data.draw(st.sampled_from(sorted(content)))] = data.draw(value)
    (tmp_path / RUN_FILE).write_text(json.dumps(content))
    try:
        found = read_facts(tmp_path)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert found is not None
        assert all(isinstance(word, str) for word in found.command)


def test_only_settings_of_mpi_are_kept(monkeypatch):
    monkeypatch.setenv("OMPI_MCA_mpi_yield_when_idle", "1")
    monkeypatch.setenv("SECRET_TOKEN", "x")
    names = [name for name, _ in mpi_environment()]
    assert "OMPI_MCA_mpi_yield_when_idle" in names
    assert "SECRET_TOKEN" not in names


def test_equal_settings_are_no_difference(monkeypatch):
    monkeypatch.setenv("UCX_TLS", "self")
    assert setting_differences({"UCX_TLS": "self", "FI_PROVIDER": "shm"}) == ()
    assert len(setting_differences({"UCX_TLS": "tcp"})) == 1
