"""The simulated benchmark of models: other tools, and loads that are forecast."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.models import asking, others, quantities, systems
from benchmarks.models.__main__ import main
from benchmarks.models.asking import Said
from benchmarks.models.cases import Problem, problems
from benchmarks.models.law import Before
from benchmarks.models.simulated import answer
from skelgen.errors import InputError, MachineError
from skelgen.models.quantities import QuantityKind

WORKER = Path(others.__file__).with_name("others_worker.py")


def said_by_the_worker(*questions: object) -> list[dict[str, object]]:
    made = subprocess.run(
        [sys.executable, str(WORKER)],
        input="\n".join(map(json.dumps, questions)),
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in made.stdout.splitlines()]


@pytest.fixture(scope="module")
def under_load() -> Problem:
    return next(problems(1000, ["S1"]))


def test_a_worker_says_in_a_line_what_it_cannot_do_and_goes_on() -> None:
    ranks_missing = {"meanings": ["size"], "at": [[1.0]], "values": [1.0]}
    first, second = said_by_the_worker(
        {"fit": "extra-p-tp", **ranks_missing}, {"fit": "no-such", **ranks_missing}
    )
    assert first == {
        "failed": "ValueError: T p needs ranks, or nodes, among the inputs"
    }
    assert "no-such" in str(second["failed"])


def test_without_a_network_one_line_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(
        MachineError, match=r"pip cannot install extrap.*network"
    ) as one:
        others.ready(tmp_path / "others")
    assert "\n" not in str(one.value)
    assert not (tmp_path / "others/packages").exists()


def test_the_loads_of_a_steady_hour_are_forecast_as_they_were() -> None:
    times = np.arange(0.0, 3600.0, 120.0)
    hour = Before(times, np.full((30, 3), [1.0, 0.4, 0.8]), np.full((30, 2), 0.25))
    cpu, bandwidth = asking.loads(hour, 900.0)
    assert (cpu, bandwidth) == pytest.approx((0.4, 0.25), rel=0.01)


def test_a_forecast_is_for_as_long_as_the_answer_says(
    under_load: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def loads(before: Before, horizon_s: float) -> tuple[float, float]:
        asked.append(horizon_s)
        return 0.5, 0.5

    monkeypatch.setattr(asking, "loads", loads)
    asking.forecasted(under_load, lambda row: Said(3000.0 * row["cpu"]))
    assert len(asked) > len(under_load.asked)
    assert asked[-1] == pytest.approx(1500.0, rel=0.05)


def test_a_model_of_forecast_loads_is_not_given_the_measured_ones(
    under_load: Problem,
) -> None:
    seen = asking.measured(under_load, lambda row: Said(row["cpu"]))
    forecast = asking.forecasted(under_load, lambda row: Said(row["cpu"] * 1000.0))
    given = [one.value / 1000.0 for one in forecast]
    assert [one.value for one in seen] == under_load.asked.columns["cpu"].tolist()
    assert not np.isclose(given, [one.value for one in seen], rtol=1e-6).any()


def test_runs_where_nothing_else_ran_have_no_load_to_forecast() -> None:
    quiet = next(problems(1000, ["S3 processes, no knee"]))
    with pytest.raises(InputError, match="no load to forecast"):
        asking.forecasted(quiet, lambda row: Said(1.0))


def test_the_floor_with_forecast_loads_is_the_law_at_these(
    under_load: Problem,
) -> None:
    measured = answer(under_load, "floor", None, by_forecast=False)
    forecast = answer(under_load, "floor", None, by_forecast=True)
    assert measured is not None
    assert forecast is not None
    assert np.median(measured.errors) < np.median(forecast.errors)
    assert not measured.inside


def test_a_benchmark_that_there_is_not_is_told_with_those_that_there_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks.models", "unreal"])
    assert main() == 2
    assert (
        "{simulated,next,loads,kernels,multicore,real,speed,mutated,quantities,systems,random}"
        in capsys.readouterr().out
    )


def test_an_error_of_a_benchmark_is_one_line_and_an_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    words = ["benchmarks.models", "real", "--results", str(tmp_path), "--apps", "x"]
    monkeypatch.setattr(sys, "argv", words)
    assert main() == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("benchmarks.models: no program x; there are pdsyev")


def test_speedups_are_judged_by_two_runs():
    found = quantities.errors_of("normal-form", 0)
    assert [len(found[kind]) for kind in quantities.KINDS] == [12, 12]
    assert np.median([error for error, _, _ in found[QuantityKind.SPEEDUP]]) < 0.2


@pytest.mark.parametrize("system", [systems.SYSTEMS[0], systems.SYSTEMS[4]])
def test_a_system_with_few_runs_is_judged_by_other_runs_there(system):
    found = systems.errors_on(system, "normal-form", 0)
    assert len(found) == len(systems.ASKED)
    assert np.median([error for error, *_ in found]) < 0.2
    assert {doubted for *_, doubted in found} <= {True, False}
    if system.about == "1 small":
        assert all(doubted for *_, doubted in found)
