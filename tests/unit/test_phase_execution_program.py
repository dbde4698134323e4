"""A phase signature as what a prediction runs: how its runs end, and their time."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from skelgen.errors import ApplicationError
from skelgen.launch.process import NO_RESULT, Finished
from skelgen.phase_execution import program
from skelgen.phase_execution.program import PhaseRun
from skelgen.prediction.types import Timed

STOPPED = Finished(("app",), 143, 1.0, "noise {", "killed")


def run_of(monkeypatch: pytest.MonkeyPatch, time_s: float | ApplicationError):
    """Make a run whose phases were measured, and tell this time or fail so."""

    def paet_s(*_: object) -> float:
        if isinstance(time_s, ApplicationError):
            raise time_s
        return time_s

    live = SimpleNamespace(poll=lambda: STOPPED, measured=lambda: (), probes_s=())
    monkeypatch.setattr(program, "LiveRun", lambda *_: live)
    monkeypatch.setattr(program, "paet_s", paet_s)
    provenance = SimpleNamespace(application="app")
    made = SimpleNamespace(
        signature=SimpleNamespace(provenance=provenance),
        plan=SimpleNamespace(wanted=()),
    )
    return PhaseRun(made, None, 1.0)  # type: ignore[arg-type]


def test_a_run_that_was_stopped_for_its_phases_is_good(monkeypatch):
    run = run_of(monkeypatch, 12.5)
    done = run.poll()
    assert (done.exit_code, done.output, done.errors) == (0, "", "")
    assert run.timed(done) == Timed(12.5)


def test_a_run_whose_phases_were_not_met_failed(monkeypatch):
    done = run_of(monkeypatch, ApplicationError("phase 3 never came")).poll()
    assert (done.exit_code, done.errors) == (NO_RESULT, "phase 3 never came")


@pytest.mark.parametrize("time_s", [0.0, float("nan"), float("inf")])
def test_phases_that_tell_no_time_are_an_error(monkeypatch, time_s):
    run = run_of(monkeypatch, time_s)
    done = run.poll()
    with pytest.raises(ApplicationError, match="the phases of app tell no time"):
        run.timed(done)
