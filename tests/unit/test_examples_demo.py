"""What the demo says of a prediction and of the runs that it is compared with."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

DEMO = Path(__file__).parents[2] / "examples/demo.py"


@pytest.fixture
def demo(monkeypatch, tmp_path: Path) -> ModuleType:
    """Load the demo, with a folder of its own and a prediction that is doubted."""
    spec = importlib.util.spec_from_file_location("skelgen_demo", DEMO)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "skelgen_demo", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "DEMO", tmp_path)
    times_s = dict.fromkeys(("skeleton_s", "p5_s", "p95_s"), 1.0)
    only = {**times_s, "predicted_s": 11.0, "verdict": "do not trust"}
    only["doubts"] = [{"code": "too-short", "text": "too short: 0.1 s"}]
    for name in ("quiet", "busy"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"sets": [only]}))
    return module


def runs(monkeypatch, demo: ModuleType, times_s: list[float], queued_s: float) -> None:
    """Let the application take these times."""
    times = iter(times_s)
    facts = {"computed_s": 10.0, "queued_s": queued_s}
    monkeypatch.setattr(
        demo, "application", lambda name: {**facts, "application_s": next(times)}
    )


def test_the_demo_prints_error_and_verdict(monkeypatch, capsys, demo: ModuleType):
    runs(monkeypatch, demo, [10.0, 10.0, 10.2], queued_s=0.1)
    demo.show([demo.compare("quiet")], 9.5)
    out = capsys.readouterr().out
    assert "+10.0 %" in out
    assert "do not trust" in out
    assert "quiet: too short: 0.1 s" in out


@pytest.mark.parametrize(
    ("times_s", "queued_s", "why"),
    [
        ([10.0, 10.0, 11.0], 0.1, "the application's own runs differ by 10%"),
        ([10.0, 10.0, 10.0], 2.0, "its ranks waited for cores for 20% of their"),
    ],
)
def test_the_demo_prints_no_error_of_disturbed_runs(
    monkeypatch, capsys, demo: ModuleType, times_s, queued_s, why
):
    runs(monkeypatch, demo, times_s, queued_s)
    demo.show([demo.compare("quiet")], 9.5)
    out = capsys.readouterr().out
    assert f"quiet: no error is shown, for {why}" in out
    assert "disturbed" in out
    assert "+10.0 %" not in out


def test_the_busy_process_of_the_demo_is_no_disturbance(monkeypatch, demo: ModuleType):
    runs(monkeypatch, demo, [10.0, 10.0, 10.0], queued_s=5.0)
    assert demo.compare("busy").row.error == "+10.0 %"
