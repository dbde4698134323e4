"""The commands of the store: keys, tables, round trips and what is refused."""

from __future__ import annotations

import io
import json
import stat
import sys
from pathlib import Path

import pytest

from skelgen.cli.main import run
from skelgen.store import Run, open_store
from tests.store_files import NAMES, ROWS, write_all


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_all(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKELGEN_STORE", str(tmp_path / "store.db"))
    for name in ("SLURM_JOB_ID", "PBS_JOBID", "SLURM_JOB_NODELIST", "PBS_NODEFILE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def asked(here, capsys):
    """Return a function that runs a command with --json and returns its answer."""

    def ask(*words: str, code: int = 0):
        capsys.readouterr()
        assert run([*words, "--json"]) == code
        return json.loads(capsys.readouterr().out)

    return ask


def test_the_answer_to_add_has_the_keys_that_are_promised(asked):
    said = asked("store", "add", "own.jsonl", "runs.csv", "none.csv", code=3)
    assert {*said} == {"format", "result", "added", "already", "refused", "pages"}
    assert {*said["added"][0]} == {"source", "run", "reason"}
    assert [one["run"] for one in said["added"][:2]] == ["r1", "r2"]
    assert said["refused"][0]["source"] == "none.csv"
    again = asked("store", "add", "own.jsonl", "runs.csv")
    assert (again["added"], len(again["already"])) == ([], 7)


def test_the_answer_to_list_has_the_keys_that_are_promised(asked):
    asked("store", "add", "own.jsonl", "runs.csv")
    said = asked("store", "list", "--app", "heat", "--where", "n>=1500")
    assert said["total"] == 1
    assert list(said["runs"][0]) == [
        *("id", "app", "inputs", "ranks", "nodes", "ranks_per_node", "hosts"),
        *("started", "time_s", "status", "system", "cpu_avg_min"),
        *("bandwidth_avg_min", "parts"),
    ]
    assert said["runs"][0]["started"] == "2026-01-31T12:00:00Z"
    assert asked("store", "list", "--where", "time<2")["total"] == 1
    last = asked("store", "list", "--limit", "2")
    assert (len(last["runs"]), last["total"]) == (2, 5)


@pytest.mark.parametrize("name", [*NAMES, "run"])
def test_each_kind_of_file_is_added_and_exported_and_added_again(asked, here, name):
    named = () if name == "own.jsonl" else ("--app", "heat")
    first = asked("store", "add", name, *named)
    assert first["added"]
    assert not first["refused"]
    asked("store", "export", "-o", "out")
    other = ("--store", "other.db")
    again = asked("store", "add", "out", *other)
    assert len(again["added"]) == len(first["added"])
    asked("store", "export", "-o", "out2", *other)
    files = sorted(path.name for path in Path("out").iterdir())
    assert files == sorted(path.name for path in Path("out2").iterdir())
    for file in files:
        assert Path("out", file).read_bytes() == Path("out2", file).read_bytes()


def test_the_same_rows_come_back_from_an_export(asked, here):
    with open_store(str(here / "store.db")) as store:
        store.add(ROWS)
        rows = [*store.runs(), *store.facts(), *store.series()]
    asked("store", "export", "-o", "out", "--format", "jsonl")
    asked("store", "add", "out", "--store", "other.db")
    with open_store("other.db") as store:
        back = [*store.runs(), *store.facts(), *store.series()]
    assert list(map(repr, back)) == list(map(repr, rows))
    assert stat.S_IMODE(Path("out/runs.jsonl").stat().st_mode) == 0o600
    assert stat.S_IMODE(Path("out").stat().st_mode) == 0o700


def test_a_csv_export_gives_the_same_runs(asked):
    asked("store", "add", "own.jsonl", "runs.csv")
    asked("store", "export", "-o", "out", "--format", "csv")
    asked("store", "add", "out/runs.csv", "--store", "other.db")
    mine = asked("store", "list")["runs"]
    assert asked("store", "list", "--store", "other.db")["runs"] == mine


def test_an_export_is_not_replaced_unless_forced_and_never_what_is_not_ours(asked):
    asked("store", "add", "runs.csv")
    asked("store", "export", "-o", "out")
    assert run(["store", "export", "-o", "out"]) == 2
    asked("store", "export", "-o", "out", "--force")
    Path("out/runs.jsonl").write_text("mine\n")
    Path("out/notes").write_text("mine\n")
    assert run(["store", "export", "-o", "out", "--force"]) == 2
    assert Path("out/runs.jsonl").read_text() == "mine\n"
    assert Path("out/notes").read_text() == "mine\n"


def test_a_file_of_rows_that_are_gone_goes_with_the_next_export(asked):
    asked("store", "add", "own.jsonl")
    asked("store", "export", "-o", "out")
    assert Path("out/facts.jsonl").exists()
    asked("store", "export", "-o", "out", "--force", "--app", "a")
    assert not Path("out/facts.jsonl").exists()


def test_a_typed_run_is_a_new_one_each_time(asked):
    words = ("store", "add", "--app", "a", "--time", "12.3", "--ranks", "8")
    words += ("--input", "n=2000,solver=cg", "--hosts", "n[1-2]")
    assert len(asked(*words)["added"]) == len(asked(*words)["added"]) == 1
    said = asked("store", "list")
    assert said["total"] == 2
    one = said["runs"][0]
    assert (one["nodes"], one["ranks_per_node"]) == (2, 4)
    assert one["inputs"] == {"n": 2000.0, "solver": "cg"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("add", "nothing to add"),
        ("add runs.csv --time 3", "not both"),
        ("add runs.csv --status ok", "--status is for a run that --time describes"),
        ("add --time 3", "give --app"),
        ("add --time 3 --app a --status gone", "expected ok, exit 3 or signal 9"),
        ("add --time 3min3 --app a", "--time: "),
        ("add --time 99999999999 --app a", "read a time of"),
        ("add --time 3 --app a --input n", "is not an input and its value"),
        ("add --time 3 --app a --input n=1,n=2", "n is given twice"),
        ("add --time 3 --app a --input ranks=8", "give --ranks 8"),
        ("add --time 3 --app a --input n=1e308", "read 1e+308"),
        ("add --time 3 --app a --started soon", "--started: read 'soon'"),
        ("add runs.csv --columns time", "is not a name and its column"),
        ("list --mean", "give --repeats as well"),
        ("list --where n", "read the condition 'n'"),
        ("export -o out --format xml", "expected jsonl, csv, extrap-text, extrap-json"),
    ],
)
def test_words_that_do_not_fit_are_told_in_one_line(here, capsys, words, said):
    assert run(["store", *words.split()]) == 2
    errors = capsys.readouterr().err
    assert said in errors
    assert errors.count("\n") == 1
    assert not Path("store.db").exists()


def test_without_a_store_list_says_how_one_is_made_and_makes_none(here, capsys):
    for words in (["list"], ["export", "-o", "out"], ["show", "r1"]):
        assert run(["store", *words]) == 3
        assert "there is no store yet" in capsys.readouterr().err
    assert not Path("store.db").exists()
    assert not Path("out").exists()


def test_a_source_that_is_refused_makes_no_store_and_stops_no_other(asked):
    asked("store", "add", "none.csv", code=3)
    assert not Path("store.db").exists()
    Path("bad.csv").write_text("time_s,n\n1,2\n1 ms,2\n")
    said = asked("store", "add", "bad.csv", "runs.csv", "--app", "heat", code=3)
    assert len(said["added"]) == 3
    assert "line 3, column 'time_s'" in said["refused"][0]["reason"]


def test_standard_input_takes_lines_of_our_own_format(asked, monkeypatch):
    raw = Path("own.jsonl").read_bytes() + b'{"row": "run"}\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    said = asked("store", "add", "-", code=3)
    assert len(said["added"]) == len(ROWS)
    assert said["refused"][0]["run"] == f"line {len(ROWS) + 1}"


def test_show_and_remove_take_the_beginning_of_an_id(asked, capsys):
    asked("store", "add", "own.jsonl", "runs.csv")
    shown = asked("store", "show", "r2")
    assert (shown["row"], shown["parts"][0]["name"]) == ("run", "k")
    assert run(["store", "show", "r"]) == 3
    assert "begin so; write more" in capsys.readouterr().err
    assert run(["store", "remove", "r1", "none"]) == 3
    assert asked("store", "list")["total"] == 5
    assert asked("store", "remove", "r1", "r2")["removed"] == 2
    assert asked("store", "list")["total"] == 3
    assert run(["store", "show", "%"]) == 3


def test_repeats_are_told_with_their_spread_and_where_they_ran(asked, capsys):
    for time_s, hosts in ((10.0, "n1"), (10.1, "n1"), (10.2, "n1"), (14.0, "n2")):
        words = ("--app", "a", "--ranks", "2", "--hosts", hosts, "--input", "n=1")
        asked("store", "add", "--time", str(time_s), *words)
    (one,) = asked("store", "list", "--repeats")["repeats"]
    assert one["time_s"] == pytest.approx(10.15)
    assert one["spread"] == pytest.approx(0.4)
    assert (one["wide"], one["same_nodes"], one["same_allocation"]) == (
        True,
        False,
        None,
    )
    (mean,) = asked("store", "list", "--repeats", "--mean")["repeats"]
    assert mean["time_s"] == pytest.approx(10.1)
    assert run(["store", "list", "--repeats"]) == 0
    assert "4 runs differ by 40%" in capsys.readouterr().out


def test_a_start_that_no_calendar_has_is_a_number(asked, here):
    with open_store() as store:
        store.add([Run("a", 1.0, started=1e300, identity="r")])
    (run_,) = asked("store", "list")["runs"]
    assert run_["started"] == "1e+300"
    asked("store", "export", "--format", "csv", "-o", "out")
    assert ",1e+300," in Path("out/runs.csv").read_text()


def test_path_says_which_store_and_why(asked, monkeypatch):
    said = asked("store", "path")
    assert (said["store"], said["why"]) == (
        str(Path.cwd() / "store.db"),
        "SKELGEN_STORE",
    )
    assert said["exists"] is False
    assert asked("store", "path", "--store", "x.db")["why"] == "--store"


def test_tables_show_no_escape_sequence(here, capsys):
    words = ["--app", "a\x1b[2J", "--time", "1", "--input", "n=\x1b[31m"]
    assert run(["store", "add", *words]) == 0
    for one in (["list"], ["export", "-o", "out\x1b[2J"]):
        assert run(["store", *one]) == 0
        assert "\x1b" not in capsys.readouterr().out


def test_time_keeps_a_run_and_passes_its_exit_code_on(here, capfd):
    assert run(["time", "--input", "n=3", "--", "sh", "-c", "echo hello; exit 7"]) == 7
    out, errors = capfd.readouterr()
    assert out == "hello\n"
    assert "sh took" in errors
    with open_store() as store:
        (one,) = store.runs()
    assert (one.application, one.status, one.inputs) == ("sh", "exit 7", (("n", 3.0),))
    assert len(one.executable) == 64
    assert one.time_s > 0
    assert one.started > 1e9
    assert len(one.hosts) == 1


def test_time_tells_a_signal(here, capfd):
    assert run(["time", "--", "sh", "-c", "kill -9 $$"]) == 137
    with open_store() as store:
        assert store.runs()[0].status == "signal 9"


def test_time_runs_the_program_though_the_store_cannot_be_written(here, capfd):
    Path("store.db").write_text("no store at all, but some text" * 100)
    assert run(["time", "--", "sh", "-c", "echo hello; exit 4"]) == 4
    out, errors = capfd.readouterr()
    assert out == "hello\n"
    assert "the run is not kept: " in errors


def test_time_answers_in_json_and_sends_the_output_elsewhere(here, capfd):
    assert run(["time", "--json", "--app", "heat", "--", "echo", "hello"]) == 0
    out, errors = capfd.readouterr()
    said = json.loads(out)
    assert (said["exit_code"], said["kept"], said["app"]) == (0, True, "heat")
    assert "hello" in errors


def test_time_without_a_program_is_refused(here, capsys):
    assert run(["time", "--", "no-such-program-at-all"]) == 4
    assert not Path("store.db").exists()


def test_a_run_that_somebody_else_keeps_stays_private(asked):
    asked("store", "add", "runs.csv")
    assert stat.S_IMODE(Path("store.db").stat().st_mode) == 0o600
    with open_store() as store:
        assert all(isinstance(one, Run) for one in store.runs())
