"""Answers that are computed in a process of their own."""

from __future__ import annotations

import pytest

from skelgen.errors import MachineError
from skelgen.pipeline import apart
from skelgen.pipeline.apart import run_apart


def test_others_are_asked_to_come_again_and_may_then(monkeypatch):
    monkeypatch.setattr(apart, "_PATIENCE_S", 0.0)
    words = ("model", "predict", "--help")
    again = pytest.raises(MachineError, match="again in a few seconds")
    with apart._AT_ONCE, apart._AT_ONCE, again:
        run_apart("skelgen", words, None)
    assert "Usage" in run_apart("skelgen", words, None)
