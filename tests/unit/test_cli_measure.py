"""The measure command: its keys, its table and what it refuses at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skelgen.cli.main import run
from skelgen.phase_execution.estimate import Estimate, PhaseTime
from skelgen.pipeline.keep_predictions import Subject
from skelgen.pipeline.measure import Measurement
from skelgen.trust import Doubt, Interval


def measurement(*doubts: Doubt, aet_s: float | None = 9.0) -> Measurement:
    phases = (PhaseTime(3, 100, 0.09, 0.02, 15, 0.9), PhaseTime(1, 1, 1.0, 0.0, 1, 0.1))
    found = Estimate(
        phases, Interval(9.5, 10.0, 10.5), Interval(9.8, 10.0, 10.2), doubts
    )
    about = Subject("phases", "heat2d", "", 9.0, 2, "", Path("sig"), (("n", 4.0),))
    return Measurement(found, 0.8, aet_s, "live", about)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch):
    """Return a function that says what will be measured."""

    def say(found: Measurement) -> None:
        monkeypatch.setattr("skelgen.pipeline.measure.measure", lambda *_, **__: found)

    return say


def test_json_has_the_keys_that_are_promised(capsys, measured):
    measured(measurement())
    assert run(["measure", "sig", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert set(said) == {
        *("phases", "paet_s", "p5_s", "p95_s", "set_s", "aet_s", "verdict"),
        *("measured_p5_s", "measured_p95_s", "format", "doubts", "ranks", "structures"),
        *("method", "application", "inputs", "result", "skeleton", "scaling_factor"),
        *("mpi", "calibration", "date", "load"),
    }
    assert (said["method"], said["application"]) == ("phases", "heat2d")
    assert (said["inputs"], said["ranks"]) == ({"n": 4.0}, 2)
    assert said["phases"][0] == {"id": 3, "weight": 100, "pet_s": 0.09, "share": 0.9}
    assert (said["paet_s"], said["verdict"]) == (10.0, "trust")


def test_the_application_time_is_told_only_where_it_is_known(capsys, measured):
    measured(measurement(aet_s=None))
    assert run(["measure", "sig", "--json"]) == 0
    assert "aet_s" not in json.loads(capsys.readouterr().out)


def test_the_table_compares_with_the_recording(capsys, measured):
    measured(measurement())
    assert run(["measure", "sig"]) == 0
    out = capsys.readouterr().out
    assert "+11.11%" in out
    assert "live" in out


def test_doubts_are_part_of_the_result_and_strict_fails(capsys, measured):
    measured(measurement(Doubt("moon", "the moon is full", "wait")))
    assert run(["measure", "sig", "--json"]) == 0
    said = capsys.readouterr()
    told = json.loads(said.out)
    assert told["verdict"] == "do not trust"
    assert told["doubts"] == [
        {"code": "moon", "text": "the moon is full", "remedy": "wait"}
    ]
    assert said.err == ""
    assert run(["measure", "sig"]) == 0
    assert "do not trust: the moon is full; wait [moon]" in capsys.readouterr().out
    assert run(["measure", "sig", "--strict"]) == 6
    assert "the moon is full" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--backend", "magic"], "--backend magic: expected auto, live"),
        (["--share", "200%"], "--share 200%: expected a share above 0%, up to 100%"),
        (["--hosts", "a", "--hostfile", "b"], "not both"),
        (["--backend", "live", "--restores", "2"], "live makes no images"),
        (["--backend", "live", "--images", "d"], "live makes no images"),
    ],
)
def test_words_that_make_no_sense_are_refused(capsys, words, text):
    assert run(["measure", "sig", *words]) == 2
    assert text in capsys.readouterr().err


def test_all_of_the_application_s_time_may_be_measured(monkeypatch):
    asked = []

    def measure(*_, extent, **__):
        asked.append(extent.share)
        return measurement()

    monkeypatch.setattr("skelgen.pipeline.measure.measure", measure)
    assert run(["measure", "sig", "--share", "100%"]) == 0
    assert asked == [1.0]


def test_a_signature_that_is_not_there_is_named(capsys, tmp_path):
    assert run(["measure", str(tmp_path / "none")]) == 3
    assert "does not exist" in capsys.readouterr().err
