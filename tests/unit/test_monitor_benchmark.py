"""The benchmark of monitors: turns that go on, and tables of what they found."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.shared import monitor_availability as availability
from benchmarks.shared import monitor_sources as sources
from benchmarks.shared.monitor_loads import LOADS


def window(said: float, got: float, others: float) -> availability.Window:
    return availability.Window("1 busy", "2 core(s)", 10.0, said, said, got, others)


def test_each_load_has_a_name_of_its_own_by_which_a_turn_goes_on() -> None:
    assert len({load.name for load in LOADS}) == len(LOADS)


def test_windows_of_former_turns_are_read_again(tmp_path: Path) -> None:
    found = [window(0.5, 0.52, 0.0), window(1.0, 0.9, 0.2)]
    path = tmp_path / "w.jsonl"
    path.write_text("".join(json.dumps(asdict(one)) + "\n" for one in found))
    assert availability._kept(path) == found
    assert availability._kept(tmp_path / "none") == []


def test_the_table_has_a_row_for_windows_without_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    availability._summary([window(0.5, 0.52, 0.0), window(1.0, 0.9, 0.2)])
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line]
    assert rows[1][-5:] == ["2", "6.0", "10.0", "50%", "50%"]
    assert rows[2] == ["without", "others", "1", "2.0", "2.0", "100%", "100%"]


def test_sources_are_compared_by_their_mean_errors(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [
        sources.Estimates("1 busy", 0.5, 0.4, 0.7, 0.5),
        sources.Estimates("1 busy", 0.5, 0.5, 0.5, 0.46),
    ]
    sources._summary(rows)
    said = capsys.readouterr().out.splitlines()
    assert said[2].split() == ["1", "busy", "2", "0.48", "2.0", "7.0", "12.0"]
    assert said[-2].split() == ["within", "5", "points", "100%", "50%", "50%"]
