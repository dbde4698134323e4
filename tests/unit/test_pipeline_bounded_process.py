"""Answers that are computed in a process of their own."""

from __future__ import annotations

import pytest

from skelgen.errors import MachineError
from skelgen.pipeline import bounded_process
from skelgen.pipeline.bounded_process import run_apart


def test_others_are_asked_to_come_again_and_may_then(monkeypatch):
    monkeypatch.setattr(bounded_process, "_PATIENCE_S", 0.0)
    words = ("model", "predict", "--help")
    again = pytest.raises(MachineError, match="again in a few seconds")
    with bounded_process._AT_ONCE, bounded_process._AT_ONCE, again:
        run_apart("skelgen", words, None)
    assert "Usage" in run_apart("skelgen", words, None)
