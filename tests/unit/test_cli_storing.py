"""The commands of the store: their keys, and words that do not fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skelgen.cli.main import run

KEYS = (
    "id app inputs ranks nodes ranks_per_node hosts started time_s status system "
    "cpu_avg_min bandwidth_avg_min parts"
).split()


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKELGEN_STORE", str(tmp_path / "runs.db"))
    return tmp_path / "runs.db"


def told(capsys, *words: str) -> dict:
    assert run(["store", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def add(capsys, time: str = "12.3", *words: str) -> str:
    found = told(capsys, "add", "--app", "heat", "--time", time, *words)
    return found["added"][0]["run"]


def refusal(capsys, *words: str) -> tuple[int, str]:
    code = run(list(words))
    _, err = capsys.readouterr()
    (line,) = [one for one in err.splitlines() if "error" in one]
    return code, line


def test_a_typed_run_is_listed_with_the_keys_that_others_rely_on(capsys):
    identity = add(capsys, "500ms", "--ranks", "8", "--input", "n=2000,kind=big")
    found = told(capsys, "list", "--app", "heat", "--where", "n>=1000")
    (one,) = found["runs"]
    assert list(one) == KEYS
    assert (one["id"], one["time_s"], one["ranks"]) == (identity, 0.5, 8)
    assert one["inputs"] == {"kind": "big", "n": 2000.0}
    assert found["total"] == 1
    assert told(capsys, "list", "--where", "n<1000")["runs"] == []


def test_a_file_is_added_once_and_says_what_was_there(capsys, tmp_path: Path):
    (tmp_path / "runs.csv").write_text("app,time_s,n\na,1,2\na,3,4\n")
    first = told(capsys, "add", "runs.csv")
    again = told(capsys, "add", "runs.csv")
    assert [len(first[key]) for key in ("added", "already", "refused")] == [2, 0, 0]
    assert [len(again[key]) for key in ("added", "already", "refused")] == [0, 2, 0]


def test_of_several_files_those_without_mistakes_are_added(capsys, tmp_path: Path):
    (tmp_path / "good.csv").write_text("app,time_s\na,1\n")
    (tmp_path / "bad.csv").write_text("app,time_s\na,nan\n")
    assert run(["store", "add", "bad.csv", "good.csv", "none.csv", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert len(found["added"]) == 1
    assert [one["source"] for one in found["refused"]] == ["bad.csv", "none.csv"]


def test_an_export_fills_an_empty_store_with_the_same(capsys, tmp_path: Path):
    for number in range(3):
        add(capsys, str(1.5 + number), "--input", f"n={number}", "--hosts", "n[1-2]")
    told(capsys, "export", "-o", "out")
    first = (tmp_path / "out/runs.jsonl").read_bytes()
    assert told(capsys, "add", "out", "--store", "other.db")["refused"] == []
    told(capsys, "export", "-o", "again", "--store", "other.db")
    assert (tmp_path / "again/runs.jsonl").read_bytes() == first


def test_an_export_replaces_only_files_of_its_own(capsys, tmp_path: Path):
    add(capsys)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/runs.jsonl").write_text("a shopping list\n")
    code, line = refusal(capsys, "store", "export", "-o", "out", "--force")
    assert code == 2
    assert "runs.jsonl" in line
    assert (tmp_path / "out/runs.jsonl").read_text() == "a shopping list\n"


def test_runs_that_differ_much_are_told_with_the_remedy(capsys):
    for time in ("10", "13"):
        add(capsys, time, "--hosts", "n1")
    (found,) = told(capsys, "list", "--repeats")["repeats"]
    assert (found["time_s"], found["same_nodes"]) == (11.5, True)
    assert run(["store", "list", "--repeats"]) == 0
    assert "repeat them in one job" in capsys.readouterr().out


def test_a_run_is_shown_and_removed_by_the_begin_of_its_identity(capsys):
    identity = add(capsys)
    assert told(capsys, "show", identity[:6])["time_s"] == 12.3
    assert told(capsys, "remove", identity[:6]) == {"format": 2, "removed": 1}
    assert told(capsys, "list")["total"] == 0


def test_a_sound_store_is_called_so_and_a_damaged_one_is_not(capsys, place: Path):
    add(capsys)
    assert told(capsys, "check") == {
        "format": 2,
        "version": 1,
        "sound": True,
        "problems": [],
    }
    content = place.read_bytes()
    assert b"heat" in content
    place.write_bytes(content.replace(b"heat", b"hear"))
    assert run(["store", "check", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert not found["sound"]
    assert any("checksum" in one for one in found["problems"])


def test_time_keeps_how_long_a_program_took_and_how_it_ended(capsys):
    assert run(["time", "--app", "x", "--", "sh", "-c", "exit 3"]) == 3
    assert run(["time", "--app", "x", "--input", "n=1", "--", "true"]) == 0
    capsys.readouterr()
    first, second = told(capsys, "list")["runs"]
    assert (first["status"], second["status"]) == ("exit 3", "ok")
    assert second["inputs"] == {"n": 1.0}
    assert 0 < second["time_s"] < 60
    assert second["hosts"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["store", "list"], 3, "there is no store yet"),
        (["store", "list", "--mean"], 2, "--repeats"),
        (["store", "add"], 2, "nothing to add"),
        (["store", "add", "--time", "1"], 2, "--app"),
        (["store", "add", "--time", "x", "--app", "a"], 2, "--time"),
        (["store", "add", "none.csv"], 3, "none.csv"),
        (["store", "add", "a", "--time", "1"], 2, "not both"),
        (["store", "add", "a.csv", "--columns", "time"], 2, "--columns"),
        (["store", "add", "--time", "1", "--app", "a", "--input", "n"], 2, "--input"),
        (["store", "export", "-o", "x", "--format", "xml"], 2, "jsonl"),
        (["store", "show", "abc"], 3, "there is no store yet"),
        (["store", "list", "--where", "n~3"], 2, "n~3"),
        (["time", "--", "./none"], 4, "none"),
    ],
)
def test_words_that_do_not_fit_end_in_one_line(capsys, words, code, said):
    found, line = refusal(capsys, *words)
    assert said in line, line
    assert found == code, line
