"""Which way phases are executed when the first one fails."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from skelgen.errors import ApplicationError
from skelgen.phase_execution import execute
from skelgen.phase_execution.plan import ExecutedExtent
from skelgen.pipeline.measure import measure

#: Where `measure` finds what it calls.
MEASURE = "skelgen.pipeline.measure"


STORED = Path(__file__).parents[2] / "signatures/lammps-lj-2r"


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the ways that were tried: one with images fails."""
    tried: list[str] = []

    def choose(name, *_, **__):
        return SimpleNamespace(name="criu" if name == "auto" else name), None

    def run(backend, *_, **__):
        tried.append(backend.name)
        if backend.name == "criu":
            raise ApplicationError("a graphics card is open")
        return execute.Execution((), 1.0)

    monkeypatch.setattr(f"{MEASURE}.choose", choose)
    monkeypatch.setattr(f"{MEASURE}.execute", run)
    here = SimpleNamespace(runner=None, elsewhere=False, hosts=(), mpi="")
    monkeypatch.setattr(
        "skelgen.pipeline.measure.application_of", lambda *_, **__: (here, ())
    )
    found = SimpleNamespace(doubts=(), time_s=None, measured_s=1.0)
    monkeypatch.setattr(f"{MEASURE}.estimate", lambda *_: found)
    return tried


def test_without_a_checkpoint_the_application_runs_until_its_phases(executed, caplog):
    assert measure(STORED).backend == "live"
    assert executed == ["criu", "live"]
    assert "a graphics card is open; running until" in caplog.text


def test_images_that_are_not_made_are_told(executed, caplog, tmp_path):
    measure(STORED, backend="live")
    assert "no effect" not in caplog.text
    for given in ({"restores": 2}, {"images": tmp_path}):
        caplog.clear()
        measure(STORED, backend="live", **given)
        assert "--restores and --images have no effect" in caplog.text


def test_occurrences_that_images_do_not_hold_are_told(executed, caplog):
    measure(STORED, extent=ExecutedExtent(warm_up=3))
    measure(STORED, backend="live", extent=ExecutedExtent(fewest=5))
    assert "no effect" not in caplog.text
    for given in (ExecutedExtent(fewest=5), ExecutedExtent(share=0.1)):
        caplog.clear()
        measure(STORED, extent=given)
        assert "--occurrences and --share have no effect" in caplog.text


def test_a_way_that_was_named_is_the_only_one(executed):
    with pytest.raises(ApplicationError, match="graphics"):
        measure(STORED, backend="criu")
    assert executed == ["criu"]
