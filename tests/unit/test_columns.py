"""Long columns lie in files that nobody sees, and change nothing."""

from __future__ import annotations

import errno
import mmap
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skelgen import columns
from skelgen.columns import copied_column, empty_column, joined_columns, zero_column
from skelgen.pipeline.compile import WantedSimilarity, signature_of_run
from skelgen.signature.write import signature_text
from skelgen.skeleton.emit.skeleton_files import render
from skelgen.skeleton.plan import plan
from tests.plans import CALIBRATION
from tests.trace_samples import anything, ring


@pytest.fixture
def in_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let every column be a long one; return the folder for their files."""
    folder = tmp_path / "columns"
    folder.mkdir()
    monkeypatch.setattr(columns, "LEAST_BYTES", 1)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def is_mapped(column: np.ndarray) -> bool:
    """Return whether a column lies in a file."""
    base: Any = column
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(getattr(base, "obj", base), mmap.mmap)


def test_a_long_column_is_an_array_like_others(in_files: Path) -> None:
    column = zero_column(1000, np.uint32)
    assert is_mapped(column)
    assert column.tolist() == [0] * 1000
    column[:] = np.arange(1000)
    other = copied_column(column)
    column[5] = 7
    assert is_mapped(other)
    assert other.tolist() == list(range(1000))
    both = joined_columns([column[:6], other[:2]])
    assert is_mapped(both)
    assert both.tolist() == [0, 1, 2, 3, 4, 7, 0, 1]
    assert empty_column(3, np.float32).dtype == np.float32
    assert list(in_files.iterdir()) == []  # nothing to clean up, however we end


def test_short_columns_and_none_at_all_are_in_memory(in_files: Path) -> None:
    assert not is_mapped(empty_column(0, np.int64))
    columns.LEAST_BYTES = 81
    assert not is_mapped(zero_column(10, np.int64))
    assert is_mapped(zero_column(11, np.int64))


def test_without_room_on_the_disk_columns_are_in_memory(
    in_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    column = zero_column(9, np.int64)
    assert not is_mapped(column)
    assert column.tolist() == [0] * 9


def test_without_a_folder_columns_are_in_memory(in_files: Path) -> None:
    in_files.rmdir()
    assert not is_mapped(zero_column(9, np.int64))


def signature_and_skeleton(
    folder: Path, least: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, ...]:
    """Return what is built where columns of so many bytes lie in files."""
    monkeypatch.setattr(columns, "LEAST_BYTES", least)
    signature = signature_of_run(folder, WantedSimilarity(None, 2.0, None))
    if "anything" in folder.name:  # its calls have no partners
        return (signature_text(signature),)
    files = render(plan(signature, 2), calibration=CALIBRATION)
    return signature_text(signature), files["skeleton.c"]


@pytest.mark.parametrize("seed", range(4))
def test_a_build_is_the_same(
    tmp_path: Path, in_files: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    folder = tmp_path / ("anything" if seed else "ring")
    folder.mkdir()
    for rank in range(3):
        own = anything(random.Random(seed), rank, 3, 150) if seed else ring(rank, 3)
        own.save(folder)
    mapped, in_memory = (
        signature_and_skeleton(folder, least, monkeypatch) for least in (1, 1 << 60)
    )
    assert mapped == in_memory
