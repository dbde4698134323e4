"""What the computation of a skeleton consists of: the best that is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skelgen.errors import UsageError
from skelgen.events.touched_memory import Touched
from skelgen.pipeline import computation
from skelgen.pipeline.computation import Computation, computation_of
from skelgen.pipeline.mix import MIX_FILE, mix_text
from skelgen.reference.calibration import ComputeCalibration, Mix
from skelgen.reference.mix_fit import Fit
from skelgen.signature import Signature
from tests import builders
from tests.summaries import build

FITTED = Mix(0.5, 0.25, 0.25, 4 << 20)
STREAMING = Mix(0.9, 0.1, 0.0, 1 << 20)
SEEN = Touched(1000.0, 1 << 20, 20)


def speed(mix: Mix) -> ComputeCalibration:
    return ComputeCalibration(mix, (1.0, 0.0, 0.0), 0.0, 0.0, 1, "h", "CPU")


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Signature:
    """Return a signature whose recorder saw memory; nothing is measured."""
    monkeypatch.setattr(computation, "speed_of", lambda _, mix: speed(mix or Mix()))
    monkeypatch.setattr(computation, "speed_touching", lambda *_: speed(STREAMING))
    text = "ranks 2\nrank *\n  repeat 3 {\n    100 Barrier\n  }\n"
    return replace(build(builders.events(text)).signature, touched=SEEN)


def of(folder: Path, signature: Signature, *asked, method="whole-events"):
    found = computation_of(folder, signature, *(asked or (None,)), method)
    return found.origin, found.speed.mix


def test_memory_that_was_seen_comes_before_arithmetic(known, tmp_path) -> None:
    assert of(tmp_path, known) == ("touched", STREAMING)
    assert of(tmp_path, replace(known, touched=None)) == ("arithmetic", Mix())


def test_what_was_fitted_comes_before_memory(known, tmp_path) -> None:
    fit = Fit(FITTED, (1.1, 1.3), (1.1, 1.3), 2, 0.01)
    (tmp_path / MIX_FILE).write_text(mix_text(fit))
    assert of(tmp_path, known) == ("fitted", FITTED)
    found: Computation = computation_of(tmp_path, known, None, "whole-events")
    assert found.fitted == fit
    assert found.mix_error == pytest.approx(0.01)
    assert of(tmp_path, known, "touched") == ("touched", STREAMING)


def test_what_is_typed_comes_before_all(known, tmp_path) -> None:
    (tmp_path / MIX_FILE).write_text("damaged")
    assert of(tmp_path, known, Mix()) == ("typed", Mix())


def test_the_rules_of_2005_know_arithmetic(known, tmp_path) -> None:
    assert of(tmp_path, known, method="paper2005") == ("arithmetic", Mix())


def test_memory_that_nobody_saw_is_one_clear_line(known, tmp_path) -> None:
    with pytest.raises(UsageError, match=r"--compute-mix touched: .* skelgen mix"):
        of(tmp_path, replace(known, touched=None), "touched")
