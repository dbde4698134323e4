"""Results that are kept line by line are private and replace nothing else."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from skelgen.errors import UsageError
from skelgen.launch.json_lines import JsonLines


def test_results_are_private_and_replace_nothing_else(tmp_path: Path):
    lines = JsonLines(tmp_path / "select/runs.jsonl")
    lines.begin(keep=False)
    lines.append({"seconds": 1.0})
    places = (lines.path.parent, lines.path)
    assert [stat.S_IMODE(path.stat().st_mode) for path in places] == [0o700, 0o600]
    lines.begin(keep=False)
    assert list(lines.read()) == []
    lines.path.write_text("my notes")
    with pytest.raises(UsageError, match="no file of results"):
        lines.begin(keep=False)
    assert lines.path.read_text() == "my notes"
