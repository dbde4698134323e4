"""The accuracy run's arithmetic: errors, baselines, what a stopped run keeps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.accuracy.applications import read_applications
from benchmarks.accuracy.judge import baselines, skeletons
from benchmarks.accuracy.report import report
from benchmarks.accuracy.results import Key, Log, Results, read

APPLICATIONS = Path(__file__).parents[2] / "benchmarks/accuracy/applications.yaml"


def results(**times: dict[str, dict[str, float]]) -> Results:
    """Write runs as application, scenario, what: seconds; a number is a length."""
    seconds = {}
    for name, scenarios in times.items():
        for scenario, runs in scenarios.items():
            for what, taken in runs.items():
                length_s = float(what) if what[0].isdigit() else 0.0
                kind = "skeleton" if length_s else what
                for repeat, factor in enumerate((0.999, 1.0, 1.001)):
                    key = Key(name, scenario, kind, length_s, repeat)
                    seconds[key] = taken * factor
    return Results(seconds, ())


TWO = results(
    a={
        "quiet": {"application": 20.0, "2": 2.0, "small": 1.0},
        "busy": {"application": 40.0, "2": 4.4, "small": 3.0},
    },
    b={
        "quiet": {"application": 10.0, "2": 2.5},
        "busy": {"application": 30.0, "2": 7.5},
    },
)


def test_a_prediction_is_time_there_by_the_quiet_ratio() -> None:
    found = skeletons(TWO, np.random.default_rng(0))
    assert [(one.application, one.length_s) for one in found] == [
        ("a", 2.0),
        ("b", 2.0),
    ]
    assert [one.error for one in found] == pytest.approx([0.10, 0.0], abs=1e-9)
    assert [one.slowdown for one in found] == pytest.approx([2.0, 3.0])
    assert [one.held for one in found] == [False, True]


def test_baselines_know_other_applications_and_small_inputs_only() -> None:
    found = {(one.application, one.method): one.error for one in baselines(TWO)}
    assert found == {
        ("a", "average"): pytest.approx(3 / 2 - 1),
        ("b", "average"): pytest.approx(2 / 3 - 1),
        ("a", "small input"): pytest.approx(3 / 2 - 1),
    }


def test_the_report_names_large_errors_one_by_one() -> None:
    text = report(TWO)
    assert "| skeleton 2 s | 2 | 5.0 % | 9.0 % | 10.0 % | 50 % |" in text
    assert "| a | busy | 2 s | +10.0% |" in text
    assert "| b | busy | 2 s |" not in text


def test_a_line_cut_by_a_crash_is_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    keys = [Key("a", "quiet", "application", 0.0, repeat) for repeat in range(3)]
    log = Log(path)
    log.provenance({"mpi": "some"})
    for key in keys[:2]:
        log.run(key, 1.5)
    log.close()
    path.write_bytes(path.read_bytes()[:-9])
    assert list(read(path).seconds) == keys[:1]
    log = Log(path)
    log.run(keys[1], 1.25)
    log.close()
    assert read(path).seconds == {keys[0]: 1.5, keys[1]: 1.25}
    assert read(path).provenance == ({"mpi": "some"},)


def test_every_application_of_the_list_can_be_read() -> None:
    every = read_applications(APPLICATIONS, [])
    assert len({one.name for one in every}) == len(every) >= 7
    assert all(one.small and one.prepare and one.install for one in every)


def test_an_unknown_application_is_named_with_those_there_are() -> None:
    with pytest.raises(SystemExit, match=r"has no fluent; it has lammps-lj, "):
        read_applications(APPLICATIONS, ["fluent"])
