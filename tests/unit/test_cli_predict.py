"""calibrate and predict from the command line, with a launcher that is a script."""

from __future__ import annotations

import json
import platform
from dataclasses import replace
from pathlib import Path

import pytest

from skelgen.cli.main import run
from skelgen.prediction.skeleton_file import load
from skelgen.prediction.trials import Trials
from skelgen.prediction.types import Timed
from tests import fake_mpi
from tests.known_skeleton import FACTS
from tests.unit.test_prediction_campaign import LAUNCHER, PRINTS
from tests.unit.test_prediction_skeleton_file import save


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


def launches(folder: Path) -> list[str]:
    return (folder.parent / "bin/mpirun.log").read_text().splitlines()


def test_predict_prints_the_keys_that_others_rely_on(capsys, folder: Path):
    (only,) = predicted(capsys, str(folder))["sets"]
    assert only["hosts"] == [platform.node()]
    assert only["skeleton_s"] == 2.0
    assert only["ratio"] == pytest.approx(10.0)
    assert only["predicted_s"] == pytest.approx(20.0)
    assert only["p5_s"] < 20.0 < only["p95_s"]
    assert only["verdict"] == "trust"
    assert only["doubts"] == []


def test_predict_says_where_others_had_the_cores(capsys, folder: Path):
    """Runs of the call before keep what the skeleton said."""
    assert predicted(capsys, str(folder))["sets"][0]["cores"] == "shared"
    assert run(["predict", str(folder)]) == 0
    assert "this machine: other processes had the cores" in capsys.readouterr().out
    print_queued = 'echo "{\\"seconds\\": 2.0, \\"queued_s\\": [0.0, 0.05]}"'
    fake_mpi.script(folder / "skeleton", print_queued)
    for more in ((), ("--resume",)):
        assert predicted(capsys, str(folder), *more)["sets"][0]["cores"] == "own"
    assert len(launches(folder)) == 9
    assert run(["predict", str(folder)]) == 0
    assert "other processes" not in capsys.readouterr().out


def test_predict_names_a_disturbed_run_and_makes_it_again(
    capsys, folder: Path, tmp_path: Path
):
    count = tmp_path / "count"
    fake_mpi.script(
        folder / "skeleton",
        f"echo x >> {count}; t=2.0; c=1.5; "
        f"[ $(wc -l < {count}) -eq 2 ] && t=2.9 && c=2.4; "
        'echo "{\\"seconds\\": $t, \\"compute_s\\": [0.5, $c]}"',
    )
    save(replace(FACTS, planned_compute_s=1.4), folder)
    (only,) = predicted(capsys, str(folder), "--interval", "20%")["sets"]
    assert only["runs_s"][:4] == [2.0, 2.9, 2.0, 2.0]
    assert only["computed_s"][:4] == [1.5, 2.4, 1.5, 1.5]
    assert only["planned_compute_s"] == 1.4
    assert only["disturbed"] == [1]
    assert only["predicted_s"] == pytest.approx(20.0)
    made = len(only["runs_s"])
    assert run(["predict", str(folder), "--interval", "20%", "--resume"]) == 0
    out = capsys.readouterr().out
    assert f"this machine: run 2 of {made} was disturbed: it computed 1.60 times" in out
    assert "(2.4 s, planned 1.4 s); it hardly counts" in out


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
    assert [one["code"] for one in only["doubts"]] == ["other-hosts"]
    assert only["doubts"][0]["text"] == "recorded on 1 host, run on 2 hosts"
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


def test_a_calibration_that_contradicts_the_recording_changes_nothing(
    capsys, folder: Path
):
    before = load(folder).calibration
    fake_mpi.script(folder / "skeleton", PRINTS.replace("2.0", "0.2"))
    words = ["calibrate", str(folder), "--application-time", "recorded"]
    assert run(words) == 3
    err = capsys.readouterr().err
    assert "the ratio is 102, expected was 9.76 " in err
    assert "--force" in err
    assert load(folder).calibrations == (before,)
    assert run([*words, "--force"]) == 0
    assert [round(one.ratio) for one in load(folder).calibrations] == [10, 102]


def test_calibrate_runs_on_hosts(capsys, folder: Path):
    words = ["calibrate", str(folder), "--application-time", "recorded"]
    assert run([*words, "--hosts", "g1,g2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hosts"] == ["g1:1", "g2:1"]
    assert load(folder).calibration.hosts == ("g1:1", "g2:1")
    assert sum("-hosts g1:1,g2:1" in line for line in launches(folder)) == 3
    assert run([*words, "--hosts", "g1", "--hosts", "g2"]) == 2
    assert "calibrate on one at a time" in capsys.readouterr().err


def test_predict_says_which_calibration_it_uses(capsys, folder: Path):
    dated = replace(FACTS.calibration, date="2026-11-23T22:00:00+00:00")
    save(replace(FACTS, calibration=dated), folder)
    assert run(["predict", str(folder)]) == 0
    assert "calibrated 2026-11-23T22:00:00+00:00 on " in capsys.readouterr().out
    (only,) = predicted(capsys, str(folder))["sets"]
    assert only["calibration"]["date"] == dated.date
    assert only["calibration"]["ratio"] == pytest.approx(10.0)


def test_calibrate_shows_every_run_to_people(capsys, folder: Path):
    words = ["calibrate", str(folder), "--application-time", "recorded", "--runs", "2"]
    assert run(words) == 0
    assert "(2 s, 2 s)" in capsys.readouterr().out


def test_a_failed_calibration_goes_on_with_the_runs_before(capsys, folder: Path):
    fails_second = (
        'if [ ! -e "$0.1" ]; then : > "$0.1"; '
        'elif [ ! -e "$0.2" ]; then : > "$0.2"; exit 3; fi\n'
    )
    fake_mpi.script(folder / "skeleton", fails_second + PRINTS)
    save(replace(FACTS, calibration=None), folder)
    words = ["calibrate", str(folder), "--application-time", "recorded"]
    assert run(words) == 5
    assert "runs made before: 1; --resume goes on with them" in capsys.readouterr().err
    assert load(folder).calibration is None
    assert run([*words, "--resume"]) == 0
    assert "going on after 1 runs" in capsys.readouterr().err
    assert load(folder).calibration.skeleton_runs_s == (2.0, 2.0, 2.0)
    assert len(launches(folder)) == 4
    assert run([*words, "--resume", "--runs", "5"]) == 0
    assert len(launches(folder)) == 6
    fake_mpi.script(folder / "skeleton", PRINTS)
    assert run([*words, "--resume"]) == 0
    assert "going on after 0 runs" in capsys.readouterr().err


def test_a_calibration_writes_its_trace_where_all_hosts_see_it(
    folder: Path, monkeypatch
):
    def again(*words, place: Path, **options) -> Timed:
        places.append(place)
        return Timed(20.0)

    places: list[Path] = []
    monkeypatch.setattr("skelgen.pipeline.calibrate.again", again)
    launch = ["mpirun", "-n", "2", f"{folder}/skeleton"]
    assert run(["calibrate", str(folder), "--runs", "1", "--", *launch]) == 0
    assert places == [folder]


def test_an_interrupted_prediction_goes_on_with_the_runs_before(
    capsys, folder: Path, monkeypatch
):
    before = Trials.make

    def make(trials: Trials, program, sets, count: int) -> None:
        if count == 3:
            raise KeyboardInterrupt
        before(trials, program, sets, count)

    with monkeypatch.context() as patched:
        patched.setattr(Trials, "make", make)
        assert run(["predict", str(folder)]) == 130
    assert "runs made before: 2; --resume goes on with them" in capsys.readouterr().err
    (only,) = predicted(capsys, str(folder), "--resume")["sets"]
    assert only["runs_s"] == [2.0, 2.0, 2.0]
    assert len(launches(folder)) == 3
    monkeypatch.setattr(platform, "node", lambda: "another")
    predicted(capsys, str(folder), "--resume")
    assert len(launches(folder)) == 6


def test_a_skeleton_that_others_own_is_predicted_all_the_same(
    capsys, folder: Path, monkeypatch
):
    monkeypatch.setattr("skelgen.pipeline.predict.writable", lambda home: False)
    assert predicted(capsys, str(folder))["sets"]
    assert not (folder / "predict.jsonl").exists()


def test_calibrate_needs_to_know_the_launch(capsys, folder: Path):
    save(replace(FACTS, command=()), folder)
    assert run(["calibrate", str(folder)]) == 2
    assert "recorded by hand" in capsys.readouterr().err


def test_calibrate_refuses_a_launch_of_other_ranks_before_the_first_run(
    capsys, folder: Path
):
    launch = ["mpirun", "-n", "4", "./app"]
    words = ["calibrate", str(folder), "--application-time", "recorded", "--", *launch]
    assert run(words) == 2
    assert "starts 4 ranks, the skeleton has 2" in capsys.readouterr().err
    assert not (folder.parent / "bin/mpirun.log").exists()


def test_calibrate_runs_a_skeleton_of_several_programs_whole(capsys, folder: Path):
    launch = ["mpirun", "-n", "1", "./a", ":", "-n", "1", "./b"]
    words = ["calibrate", str(folder), "--application-time", "recorded", "--runs", "1"]
    assert run([*words, "--", *launch]) == 0
    assert launches(folder) == [f"-n 2 {folder}/skeleton"]


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
