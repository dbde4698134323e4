"""calibrate and predict from the command line, with a launcher that is a script."""

from __future__ import annotations

import json
import platform
from dataclasses import replace
from pathlib import Path

import pytest

from skelgen.cli.main import run
from skelgen.prediction.store import load
from tests import fake_mpi
from tests.unit.test_prediction_campaign import LAUNCHER, PRINTS
from tests.unit.test_prediction_predict import FACTS
from tests.unit.test_prediction_store import save


@pytest.fixture
def folder(monkeypatch, tmp_path: Path) -> Path:
    """Give a compiled and calibrated skeleton on a machine with an MPI."""
    fake_mpi.hydra(tmp_path / "bin", body=LAUNCHER)
    fake_mpi.only_path(monkeypatch, tmp_path, tmp_path / "bin")
    fake_mpi.script(tmp_path / "skel/skeleton", PRINTS)
    save(FACTS, tmp_path / "skel")
    return tmp_path / "skel"


def predicted(capsys, *words: str) -> dict:
    assert run(["predict", "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)


def test_predict_prints_the_keys_that_others_rely_on(capsys, folder: Path):
    (only,) = predicted(capsys, str(folder))["sets"]
    assert only["hosts"] == [platform.node()]
    assert only["skeleton_s"] == 2.0
    assert only["ratio"] == pytest.approx(10.0)
    assert only["predicted_s"] == pytest.approx(20.0)
    assert only["p5_s"] < 20.0 < only["p95_s"]
    assert only["verdict"] == "trust"
    assert only["reasons"] == []


def test_predict_compares_node_sets_and_names_the_one_that_fails(capsys, folder: Path):
    words = [str(folder), "--hosts", "g1,g2", "--hosts", "g1,bad", "--json"]
    assert run(["predict", *words]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert [one["hosts"] for one in found["sets"]] == [["g1", "g2"]]
    assert [one["hosts"] for one in found["failed"]] == [["g1", "bad"]]
    assert "host bad" in err


def test_predict_prints_a_table_for_people(capsys, folder: Path):
    assert run(["predict", str(folder), "--hosts", "g1:2"]) == 0
    out = capsys.readouterr().out
    assert "g1:2" in out
    assert "20 s" in out
    assert "trust" in out


def test_a_hostfile_is_a_node_set(capsys, folder: Path, tmp_path: Path):
    (tmp_path / "hosts").write_text("g1 slots=1\ng2 slots=1\n")
    (only,) = predicted(capsys, str(folder), "--hostfile", f"{tmp_path}/hosts")["sets"]
    assert only["hosts"] == ["g1", "g2"]


def test_fewer_hosts_than_ranks_is_exit_code_7(capsys, folder: Path):
    assert run(["predict", str(folder), "--hosts", "g1"]) == 7
    assert "2 ranks need 2 slots" in capsys.readouterr().err


def test_no_node_set_left_is_exit_code_5(capsys, folder: Path):
    assert run(["predict", str(folder), "--hosts", "g1,bad", "--json"]) == 5
    out, err = capsys.readouterr()
    assert json.loads(out)["sets"] == []
    assert "skelgen: error: g1,bad: host bad" in err


def test_a_doubtful_prediction_is_exit_code_6_when_strict(capsys, folder: Path):
    words = [str(folder), "--hosts", "g1,g2", "--strict", "--json"]
    assert run(["predict", *words]) == 6
    out, err = capsys.readouterr()
    (only,) = json.loads(out)["sets"]
    assert only["verdict"] == "do not trust"
    assert only["reasons"] == ["recorded on 1 host, run on 2 hosts"]
    assert "do not trust" in err


def test_a_machine_without_mpi_is_exit_code_4(capsys, folder: Path, monkeypatch):
    fake_mpi.only_path(monkeypatch, folder.parent, folder.parent / "empty")
    assert run(["predict", str(folder)]) == 4
    assert "pip install mpich" in capsys.readouterr().err


def test_calibrate_with_the_recorded_time_stores_the_ratio(capsys, folder: Path):
    save(replace(FACTS, calibration=None), folder)
    words = ["calibrate", str(folder), "--application-time", "recorded", "--json"]
    assert run(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ratio"] == pytest.approx(FACTS.application_s / 2.0)
    assert found["application_s"] == FACTS.application_s
    assert found["skeleton_s"] == 2.0
    assert load(folder).calibration.skeleton_runs_s == (2.0, 2.0, 2.0)


def test_calibrate_shows_every_run_to_people(capsys, folder: Path):
    words = ["calibrate", str(folder), "--application-time", "recorded", "--runs", "2"]
    assert run(words) == 0
    assert "(2 s, 2 s)" in capsys.readouterr().out


def test_calibrate_needs_to_know_the_launch(capsys, folder: Path):
    save(replace(FACTS, command=()), folder)
    assert run(["calibrate", str(folder)]) == 2
    assert "recorded by hand" in capsys.readouterr().err


def test_a_damaged_description_is_exit_code_3(capsys, folder: Path):
    (folder / "skeleton.json").write_text('{"format": 1, "ranks": "two"}')
    assert run(["predict", str(folder)]) == 3
    assert "build it again" in capsys.readouterr().err


def test_options_for_jobs_are_refused_where_they_mean_nothing(capsys, folder: Path):
    assert run(["predict", str(folder), "--batch-options", "-p short"]) == 2
    assert "-p short: nothing is submitted here" in capsys.readouterr().err
    assert run(["predict", str(folder), "--batch-options", "-p 'short"]) == 2
    assert "No closing quotation" in capsys.readouterr().err
    assert run(["predict", str(folder), "--through", "slurm"]) == 4
    assert "--through slurm: no sbatch on PATH" in capsys.readouterr().err
