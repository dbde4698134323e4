"""The signatures that come with skelgen load and become skeletons."""

from __future__ import annotations

from pathlib import Path

import pytest

from skelgen.phases import store as phase_store
from skelgen.signature import store
from skelgen.signature.write import signature_text
from skelgen.skeleton.plan import plan

STORED = sorted(
    (Path(__file__).resolve().parent.parent.parent / "signatures").iterdir()
)


@pytest.mark.parametrize("folder", STORED, ids=lambda folder: folder.name)
def test_a_stored_signature_becomes_a_skeleton_without_its_trace(folder: Path) -> None:
    signature = store.load(folder)
    assert signature_text(signature) == (folder / "signature.yaml").read_text()
    report = plan(signature, 100).report
    expected_s = signature.application_s / 100
    assert report.expected_s == pytest.approx(expected_s, rel=0.1)


@pytest.mark.parametrize("folder", STORED, ids=lambda folder: folder.name)
def test_stored_phases_are_of_the_same_run_and_give_back_its_time(folder: Path) -> None:
    signature, phases = store.load(folder), phase_store.load(folder)
    assert phase_store.text_of(phases) == (folder / "phases.yaml").read_text()
    assert phases.provenance == signature.provenance
    assert phases.application_s == signature.application_s
    assert phases.predicted_s == pytest.approx(phases.application_s, rel=0.02)


def test_there_is_a_stored_signature() -> None:
    assert STORED
