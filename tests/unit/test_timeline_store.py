"""A timeline that is stored comes back; a file of somebody else is checked."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.timeline import timeline_of
from skelgen.timeline.store import TIMELINE_FILE, load, text_of
from tests.timelines import run_of


def made():
    calls = [(100 + n % 7, 40, n % 4) for n in range(200)]
    return timeline_of(run_of([calls, calls[:50]]), np.full(250, 10))


def write(folder: Path, **changes) -> None:
    content = json.loads(text_of(made()))
    del content["checksum"]
    content |= changes
    (folder / TIMELINE_FILE).write_text(json.dumps(content))


def test_a_timeline_comes_back(tmp_path: Path):
    (tmp_path / TIMELINE_FILE).write_text(text_of(made()))
    assert load(tmp_path) == made()


def test_a_folder_without_one_has_none(tmp_path: Path):
    assert load(tmp_path) is None


def test_damage_is_noticed(tmp_path: Path):
    text = text_of(made()).replace('"span_ns": ', '"span_ns": 1')
    (tmp_path / TIMELINE_FILE).write_text(text)
    with pytest.raises(InputError, match="is damaged or was edited"):
        load(tmp_path)


LANE = {"first": 0, "last": 0, "pieces": 1, "times_s": [0] * 7}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format", 2),
        ("span_ns", 0),
        ("span_ns", -5),
        ("unit_ns", 1.5),
        ("width_ns", "1"),
        ("is_complete", 1),
        ("things", {}),
        ("things", [[0, ""]]),
        ("things", [[7, ""], [0, ""]]),
        ("things", [[0, 5]]),
        ("things", [[0]]),
        ("things", [[0, ""]] * 300),
        ("lanes", []),
        ("lanes", [LANE]),
        ("lanes", [LANE] * 1000),
        ("lanes", [LANE | {"pieces": 1 << 40}]),
        ("lanes", [LANE | {"times_s": [0] * 6}]),
        ("lanes", [LANE | {"times_s": [-1] * 7}]),
        ("data", "no base 64!"),
        ("data", ""),
        ("data", "AAAA"),
        ("data", None),
    ],
)
def test_what_makes_no_sense_is_one_error_with_its_place(tmp_path, field, value):
    write(tmp_path, **{field: value})
    with pytest.raises(InputError) as caught:
        load(tmp_path)
    assert TIMELINE_FILE in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_timeline_of_no_ranks_is_refused(tmp_path: Path):
    nothing = base64.b64encode(zlib.compress(b"")).decode()
    write(tmp_path, lanes=[], data=nothing)
    with pytest.raises(InputError, match="expected a row for each rank"):
        load(tmp_path)
