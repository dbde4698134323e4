"""Known traces give the signature and the program that was reviewed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.rewrite import CASES, produce


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_known_trace_gives_what_was_reviewed(case: Path) -> None:
    for name, text in produce(case).items():
        assert text == (case / name).read_text(), f"{case.name}/{name}: make golden"


def test_there_are_golden_cases() -> None:
    assert len(CASES) >= 4
