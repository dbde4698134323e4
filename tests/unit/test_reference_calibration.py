"""What computation consists of, and its speed, as files have them."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from skelgen.documents import Field
from skelgen.errors import UsageError
from skelgen.reference.calibration import ComputeCalibration, Mix, read_calibration


@pytest.mark.parametrize(
    "shares", [(0.5, 0.5, 0.5), (1.5, -0.5, 0.0), (0, 0, 0), (float("nan"), 0, 1)]
)
def test_shares_that_are_no_mix_are_refused(shares) -> None:
    with pytest.raises(UsageError, match="sum 1"):
        Mix(*shares)


def test_a_working_set_beyond_reason_is_refused() -> None:
    with pytest.raises(UsageError, match="working set"):
        Mix(working_set_bytes=12)


def test_a_calibration_comes_back_and_older_ones_do_too() -> None:
    speed = ComputeCalibration(Mix(), (615.0, 0.0, 0.0), 0.01, 0.05, 1, "h", "CPU", 0.7)
    kept = json.loads(json.dumps(asdict(speed)))
    assert read_calibration(Field(Path("speed"), "", kept, typed=True)) == speed
    del kept["query_us"]
    assert read_calibration(Field(Path("speed"), "", kept, typed=True)) == replace(
        speed, query_us=0.0
    )
