"""The export command: what it writes, prints and refuses."""

import gzip
import json

import pytest

from skelgen.cli.main import run
from tests.export_samples import save_mixed


@pytest.fixture
def recorded(tmp_path):
    return save_mixed(tmp_path / "run")


def failure(capsys, *words):
    code = run(["export", *map(str, words)])
    out, err = capsys.readouterr()
    assert out == ""
    lines = [line for line in err.splitlines() if "error" in line]
    assert len(lines) == 1
    return code, lines[0]


@pytest.mark.parametrize(
    ("name", "opens"),
    [
        ("perfetto", "run.perfetto.json"),
        ("paraver", "run-paraver/run.prv"),
        ("tit", "run-tit/run.tit"),
    ],
)
def test_output_stands_beside_the_run_under_its_name(
    capsys, recorded, tmp_path, name, opens
):
    assert run(["export", str(recorded), "--format", name]) == 0
    out = capsys.readouterr().out
    assert str(tmp_path / opens) in out
    assert (tmp_path / opens).stat().st_size > 0
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"run", opens.partition("/")[0]}


def test_json_says_what_was_written(capsys, recorded, tmp_path):
    target = tmp_path / "deep" / "a.json.gz"
    words = ["--format", "perfetto", "-o", str(target), "--json"]
    assert run(["export", str(recorded), *words]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["output"] == result["opens"] == str(target)
    assert result["size_bytes"] == target.stat().st_size
    assert result["events"] == result["records"]["slices"] > 100
    assert result["notes"] == []
    assert json.loads(gzip.decompress(target.read_bytes()))["traceEvents"]


def test_what_exceeds_the_limit_is_left_out_and_said(capsys, recorded, tmp_path):
    words = ["--format", "perfetto", "--max-events", "100"]
    assert run(["export", str(recorded), *words]) == 0
    out = capsys.readouterr().out
    assert "left out" in out
    assert "(--max-events)" in out
    records = json.loads((tmp_path / "run.perfetto.json").read_text())["traceEvents"]
    assert 50 < sum(record["ph"] == "X" for record in records) <= 100


def test_a_part_of_a_run_is_not_written_for_a_replay(capsys, recorded):
    code, line = failure(
        capsys, recorded, "--format", "tit", "--max-events", "100"
    )  # fmt: skip
    assert code == 2
    assert "--max-events" in line


@pytest.mark.parametrize("name", ["perfetto", "paraver"])
def test_nothing_is_replaced_without_force(capsys, recorded, tmp_path, name):
    words = [str(recorded), "--format", name, "-o", str(tmp_path / "out")]
    assert run(["export", *words]) == 0
    capsys.readouterr()
    code, line = failure(capsys, *words)
    assert code == 2
    assert "--force" in line
    assert run(["export", *words, "--force"]) == 0


def test_an_unknown_format_is_told_with_the_known_ones(capsys, recorded):
    code, line = failure(capsys, recorded, "--format", "vcd")
    assert code == 2
    assert all(name in line for name in ("vcd", "perfetto", "paraver", "tit", "otf2"))


def test_a_folder_without_a_run_is_told(capsys, tmp_path):
    code, line = failure(capsys, tmp_path, "--format", "tit")
    assert code == 3
    assert "holds no rank file" in line
    code, line = failure(capsys, tmp_path / "nothing", "--format", "tit")
    assert code == 3
    assert "does not exist" in line


@pytest.mark.parametrize(("name", "in_the_way"), [("tit", "file"), ("perfetto", "dir")])
def test_an_output_of_the_wrong_kind_is_told(
    capsys, recorded, tmp_path, name, in_the_way
):
    target = tmp_path / "out"
    target.write_text("") if in_the_way == "file" else target.mkdir()
    code, line = failure(capsys, recorded, "--format", name, "-o", target)
    assert code == 2
    assert str(target) in line


def test_a_folder_that_is_a_file_further_up_is_told(capsys, recorded, tmp_path):
    (tmp_path / "file").write_text("")
    target = tmp_path / "file" / "a.json"
    code, line = failure(capsys, recorded, "--format", "perfetto", "-o", target)
    assert code == 2
    assert str(target) in line


def test_a_full_disk_is_one_line_and_leaves_nothing(capsys, recorded, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("skelgen.export.perfetto.write", full)
    code, line = failure(capsys, recorded, "--format", "perfetto")
    assert code == 4
    assert "No space left on device" in line
    assert {path.name for path in recorded.parent.iterdir()} == {"run"}
