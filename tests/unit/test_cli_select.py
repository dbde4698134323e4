"""select from the command line, with a launcher that is a script."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from skelgen.cli.main import run
from skelgen.prediction.skeleton_file import load
from tests import fake_mpi
from tests.known_skeleton import FACTS, MEASURED
from tests.unit.test_prediction_skeleton_file import save

#: Fails on the host ``bad``; a skeleton takes longer on n1, and on n2 still longer.
LAUNCHER = (
    """echo "$*" >> "$0.log"
case "$*" in *bad*) echo "ssh: Could not resolve hostname bad" >&2; exit 255;; esac
export FACTOR=1
case "$*" in *n2*) FACTOR=3;; *n1*) FACTOR=2;; esac
"""
    + fake_mpi.RUN_PROGRAM
)


#: How many runs fit into a budget shall not depend on the machine.
AT_LEISURE = ("--budget", "1h")


def skeleton(folder: Path, length_s: int) -> None:
    body = f'echo "{{\\"seconds\\": $((FACTOR * {length_s})).0}}"'
    fake_mpi.script(folder / "skeleton", body)
    known = replace(MEASURED, skeleton_runs_s=(float(length_s),) * 3)
    facts = replace(FACTS, expected_s=float(length_s), ranks_per_host=(1, 1))
    save(replace(facts, calibration=known), folder)


@pytest.fixture
def folders(monkeypatch, tmp_path: Path) -> list[str]:
    """Give two skeletons of one application, on a machine with an MPI."""
    fake_mpi.hydra(tmp_path / "bin", body=LAUNCHER)
    fake_mpi.only_path(monkeypatch, tmp_path, tmp_path / "bin")
    (tmp_path / "tools-only/bin/true").symlink_to("/bin/true")
    skeleton(tmp_path / "long", 2)
    skeleton(tmp_path / "short", 1)
    return [str(tmp_path / "long"), str(tmp_path / "short")]


def chosen(capsys, *words: str) -> dict:
    assert run(["select", "--json", *AT_LEISURE, *words]) == 0
    return json.loads(capsys.readouterr().out)


def test_sets_are_ordered_with_the_keys_of_predict(capsys, folders):
    found = chosen(capsys, *folders, "--from", "n[1-4]")
    best, *others = found["sets"]
    assert best["hosts"] == ["n3", "n4"]
    assert best["skeleton_s"] == 2.0
    assert best["predicted_s"] == pytest.approx(20.0)
    assert best["p5_s"] < 20.0 < best["p95_s"]
    assert (best["verdict"], best["doubts"]) == ("trust", [])
    assert best["best_probability"] > 0.99
    assert len(others) == 5
    whole_s = 3 * FACTS.application_s + 20.0 - FACTS.application_s
    assert others[-1]["predicted_s"] == pytest.approx(whole_s)
    assert found["failed"] == []


def test_a_node_that_fails_is_named_and_only_its_sets_are_left_out(
    capsys, folders, tmp_path: Path
):
    words = [*folders, "--from", "n3,bad,n4", "--json", *AT_LEISURE]
    assert run(["select", *words]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert [one["hosts"] for one in found["sets"]] == [["n3", "n4"]]
    assert [one["hosts"] for one in found["failed"]] == [["n3", "bad"], ["bad", "n4"]]
    assert err.count("host bad") == 1
    begun = (tmp_path / "bin/mpirun.log").read_text().splitlines()
    assert [line.split()[-1] == "true" for line in begun if "bad" in line] == [0, 1]


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("slurm", "--nodes=2 --ntasks=2 --ntasks-per-node=1 --nodelist=n3,n4"),
        ("openmpi", "--host n3:1,n4:1 -n 2"),
        ("mpich", "-hosts n3:1,n4:1 -n 2"),
    ],
)
def test_words_for_a_launcher_name_the_best_set(capsys, folders, form, words):
    given = [*folders, "--from", "n[1-4]", "--format", form, *AT_LEISURE]
    assert run(["select", *given]) == 0
    assert capsys.readouterr().out == f"{words}\n"


def test_words_for_a_job_say_how_many_ranks_share_a_node(capsys, folders):
    for folder in folders:
        save(replace(load(Path(folder)), ranks=5), Path(folder))
    words = ["--hosts", "n1:3,n2:3", "--format", "slurm"]
    assert run(["select", *folders, *words]) == 0
    said = "--nodes=2 --ntasks=5 --ntasks-per-node=3 --nodelist=n1,n2\n"
    assert capsys.readouterr().out == said


def test_csv_has_a_line_for_each_set(capsys, folders):
    assert run(["select", *folders, "--from", "n[2-4]", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["hosts"] for row in rows] == ["n3 n4", "n2 n3", "n2 n4"]
    assert float(rows[0]["predicted_s"]) == pytest.approx(20.0)


def test_people_see_a_table_with_the_probability(capsys, folders):
    assert run(["select", *folders, "--hosts", "n1,n2", "--hosts", "n3,n4"]) == 0
    out = capsys.readouterr().out
    assert "best" in out
    assert "100%" in out
    assert out.index("n3,n4") < out.index("n1,n2")


def test_resuming_makes_only_the_runs_that_are_missing(capsys, folders, tmp_path: Path):
    first = chosen(capsys, *folders, "--from", "n[1-4]")["sets"]
    kept = tmp_path / "long/select/runs.jsonl"
    lines = kept.read_text().splitlines(keepends=True)
    kept.write_text("".join(lines[:-2]) + lines[-1][:9])
    log = tmp_path / "bin/mpirun.log"
    log.unlink()
    again = chosen(capsys, *folders, "--from", "n[1-4]", "--resume")["sets"]
    for key in ("hosts", "runs_s", "predicted_s"):
        assert [one[key] for one in again] == [one[key] for one in first]
    assert len(log.read_text().splitlines()) == 2
    assert len(kept.read_text().splitlines()) == len(lines)
    log.unlink()
    chosen(capsys, *folders, "--from", "n[1-4]")
    assert len(log.read_text().splitlines()) == len(lines)


def test_a_damaged_file_of_runs_is_exit_code_3(capsys, folders, tmp_path: Path):
    (tmp_path / "long/select").mkdir()
    (tmp_path / "long/select/runs.jsonl").write_text("{}\nnot a result\n")
    assert run(["select", *folders, "--from", "n[1-2]", "--resume"]) == 3
    assert "line 2 is no result" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "no nodes to choose from"),
        (["--from", "n[1-2],n1"], 2, "n1 is there twice"),
        (["--from", "n[1-2]", "--nodes", "3"], 2, "ask for at most 2 nodes"),
        (["--from", "n1", "--nodes", "2"], 7, "sets of 2 nodes are wanted from 1"),
        (["--from", "n[1-2]", "--nodes", "1"], 7, "2 ranks need 2 slots"),
        (["--from", "n[1-2", "--nodes", "1"], 2, "is not a list of hosts"),
        (["--from", "no/file"], 3, "there is no such file"),
        (["--from", "n[1-2]", "--format", "lsf"], 2, "expected plain, json"),
        (["--from", "n1,bad"], 5, "host bad"),
    ],
)
def test_a_wish_that_cannot_be_met_is_one_line(capsys, folders, words, code, said):
    assert run(["select", *folders, *words]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err.splitlines()[-1]


def test_a_skeleton_without_its_signature_runs_alone(capsys, folders):
    assert run(["select", folders[0], "--from", "n[1-3]", "--format", "csv"]) == 0
    out, err = capsys.readouterr()
    assert out.count("\n") == 4
    assert "no skeleton shorter than" in err
    assert "signature.yaml" in err


def test_skeletons_of_different_applications_are_refused(capsys, folders, tmp_path):
    save(replace(FACTS, application_s=7.0, expected_s=1.0), tmp_path / "short")
    assert run(["select", *folders, "--from", "n[1-2]"]) == 2
    assert "not skeletons of one recorded run" in capsys.readouterr().err


def test_a_set_that_is_given_twice_is_measured_once(capsys, folders):
    words = ["--hosts", "n3,n4", "--hosts", "n4,n3", "--json"]
    assert run(["select", *folders, *words]) == 0
    out, err = capsys.readouterr()
    assert [one["hosts"] for one in json.loads(out)["sets"]] == [["n3", "n4"]]
    assert "given twice" in err
