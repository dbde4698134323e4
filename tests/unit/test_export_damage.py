"""Traces that make no sense are exported as far as they do, or refused in one line."""

import random

import pytest

from skelgen.errors import MachineError, SkelgenError
from skelgen.export.otf2_library import library
from skelgen.pipeline.export import export
from tests.broken_bytes import broken
from tests.trace_samples import anything

FORMATS = ["perfetto", "paraver", "tit", "otf2"]


def available(name):
    if name != "otf2":
        return True
    try:
        library()
    except MachineError:
        return False
    return True


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("seed", range(3))
def test_random_calls_that_match_nothing_are_written(tmp_path, name, seed):
    if not available(name):
        pytest.skip("no OTF2 library")
    rng = random.Random(seed)
    for rank in range(3):
        anything(rng, rank, 3, 200).save(tmp_path)
    result = export(tmp_path, name, tmp_path / "out")
    assert result.size_bytes > 0
    assert result.events > 0


@pytest.mark.parametrize("seed", range(12))
def test_broken_files_end_in_one_line_or_in_what_is_sound(tmp_path, seed):
    rng = random.Random(seed)
    for rank in range(2):
        path = anything(rng, rank, 2, 60).save(tmp_path)
        path.write_bytes(broken(rng, path.read_bytes()))
    for name in filter(available, FORMATS):
        try:
            result = export(tmp_path, name, tmp_path / name)
        except SkelgenError as error:
            assert "\n" not in str(error)
        else:
            assert result.opens.exists()
