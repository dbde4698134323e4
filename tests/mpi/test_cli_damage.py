"""Damaged runs from the command line: one clear line, the right exit code."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from skelgen.cli.main import run
from tests.mpi.test_cli_record import skelgen
from tests.mpis import MPIS

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not MPIS, reason="no mpicc with its mpirun was found"),
]

EXAMPLES = Path(__file__).parents[2] / "examples"
MUTATIONS = 60


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record one short run; return its folder."""
    folder = tmp_path_factory.mktemp("recorded")
    line = [MPIS[0].compiler, "-O2", "-o", "heat2d", EXAMPLES / "heat2d.c", "-lm"]
    subprocess.run(line, cwd=folder, check=True)
    command = [*MPIS[0].launcher, "-n", "2", "./heat2d", "60", "40"]
    for name in ("run", "other"):
        done = skelgen("record", "-o", name, "--", *command, folder=folder)
        assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.fixture
def copy(recorded: Path, tmp_path: Path) -> Path:
    return shutil.copytree(recorded, tmp_path / "run")


def described(capsys, folder: Path) -> tuple[int, str, str]:
    code = run(["info", str(folder), "--json"])
    out, err = capsys.readouterr()
    assert all(line.startswith("skelgen: ") for line in err.splitlines())
    return code, out, err


def test_a_missing_rank_file_is_named_and_the_rest_is_used(capsys, copy: Path):
    (copy / "rank-000001.skt").unlink()
    code, out, err = described(capsys, copy)
    assert code == 0
    assert json.loads(out)["events"] > 0
    assert "1 of 2 ranks have no usable file: 1" in err


def test_a_truncated_rank_file_is_used_up_to_there(capsys, copy: Path):
    whole = json.loads(described(capsys, copy)[1])["events"]
    path = copy / "rank-000001.skt"
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    code, out, err = described(capsys, copy)
    assert code == 0
    assert 0 < json.loads(out)["events"] < whole
    assert "rank" in err


@pytest.mark.parametrize("command", [["info"], ["build", "--scale", "4", "-o", "skel"]])
@pytest.mark.parametrize(
    "damage", ["another version", "no trace", "empty files", "no files", "two runs"]
)
def test_what_is_no_run_is_an_input_error(
    capsys, copy: Path, recorded: Path, monkeypatch, command, damage
):
    monkeypatch.chdir(copy.parent)
    for path in sorted(copy.glob("*.skt")):
        content = bytearray(path.read_bytes())
        if damage == "another version":
            content[8] = 99
        elif damage == "no trace":
            content[:8] = b"notatrac"
        elif damage == "empty files":
            content.clear()
        elif damage == "no files":
            path.unlink()
            continue
        elif damage == "two runs" and path.name == "rank-000000.skt":
            content = bytearray((recorded.parent / "other" / path.name).read_bytes())
        path.write_bytes(content)
    assert run([command[0], str(copy), *command[1:]]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("skelgen: error: ") == 1
    assert str(copy) in err
    assert not Path("skel").exists()


def test_a_damaged_run_description_is_an_input_error(capsys, copy: Path, monkeypatch):
    monkeypatch.chdir(copy.parent)
    (copy / "run.json").write_text("{")
    assert run(["build", str(copy), "--scale", "4", "-o", "skel"]) == 3
    assert "run.json" in capsys.readouterr().err


def test_mutated_rank_files_never_end_in_a_traceback(
    capsys, copy: Path, recorded: Path, monkeypatch
):
    monkeypatch.chdir(copy.parent)
    rng = random.Random(5)
    codes: set[int] = set()
    for number in range(MUTATIONS):
        for path in recorded.glob("*.skt"):
            content = bytearray(path.read_bytes())
            for _ in range(rng.choice((0, 1, 1, 2, 8))):
                content[rng.randrange(len(content))] = rng.randrange(256)
            if rng.random() < 0.2:
                del content[rng.randrange(len(content)) :]
            (copy / path.name).write_bytes(content)
        words = ["info"] if number % 2 else ["build", "--scale", "4", "-o", "skel"]
        codes.add(run([words[0], str(copy), *words[1:], "--json"]))
        shutil.rmtree("skel", ignore_errors=True)
        capsys.readouterr()
    assert 0 in codes
    assert codes <= {0, 2, 3}
