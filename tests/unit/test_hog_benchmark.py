"""What a memory hog costs here: a row for each size."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.hog import SIZES_MIB

ROOT = Path(__file__).parents[2]
LINE = [sys.executable, str(ROOT / "benchmarks/hog.py"), "--seconds", "0"]


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_each_size_has_a_row() -> None:
    made = subprocess.run(LINE, capture_output=True, text=True, check=True)
    rows = re.findall(r"^ *([\d.]+) MiB +1 +([\d.]+)x", made.stdout, re.MULTILINE)
    assert [float(size) for size, _ in rows] == list(SIZES_MIB)
    assert all(float(mean) > 0 for _, mean in rows)


def test_a_single_core_is_told_in_a_line() -> None:
    core = min(os.sched_getaffinity(0))
    line = ["taskset", "-c", str(core), *LINE]
    made = subprocess.run(line, capture_output=True, text=True, check=False)
    assert made.returncode == 1
    assert made.stderr.startswith("hog: there is one core only")
    assert made.stderr.count("\n") == 1
