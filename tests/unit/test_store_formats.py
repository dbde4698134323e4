"""What files of every kind become in a store, and what is refused of them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.errors import InputError, UsageError
from skelgen.pipeline.store_sources import content_of
from skelgen.progress import NO_PROGRESS
from skelgen.store.formats.columns import parse_mapping, split_unit
from skelgen.store.formats.csv_text import csv_text, read_csv
from skelgen.store.formats.typed_values import NOTHING, TypedValues
from skelgen.store.rows import Run, RunPart, StoredPrediction
from skelgen.trust import Interval
from tests.store_files import ROWS, write_all

HEAT = TypedValues("heat")
FILE = Path("runs.csv")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_all(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows_in(source: str, known: TypedValues = NOTHING, columns: str = ""):
    content = content_of(source, known, parse_mapping(columns), NO_PROGRESS)
    assert not content.refused
    return content.rows


def told(content: str | bytes, known: TypedValues = HEAT, columns: str = "") -> str:
    """Return what is said of a table with a mistake."""
    raw = content.encode() if isinstance(content, str) else content
    with pytest.raises(InputError) as error:
        read_csv(FILE, raw, parse_mapping(columns), known)
    assert "\n" not in str(error.value)
    return str(error.value)


def table(text: str, known: TypedValues = HEAT, columns: str = "") -> list[Run]:
    return read_csv(FILE, text.encode(), parse_mapping(columns), known)[0]


def test_a_table_is_read_with_units_dates_hosts_and_words(here):
    first, second, third = rows_in("runs.csv")
    assert (first.application, first.time_s, first.ranks) == ("heat", 12.3, 8)
    assert first.inputs == (("n", 2000.0), ("solver", "cg"))
    assert first.hosts == ("n1", "n2")
    assert first.started == 1769860800.0
    assert (second.status, second.started) == ("exit 3", 1769860900.25)
    assert (third.status, third.hosts) == ("signal 9", ("n1", "n2"))
    assert dict(third.inputs)["solver"] == 'a "b"\nc'
    assert math.isnan(third.started)
    assert [one.source for one in (first, second, third)] == [
        f"runs.csv line {line}" for line in (2, 3, 4)
    ]


def test_a_mapping_names_columns_and_the_unit_comes_from_either_side():
    text = "t_sec;np;size;note\n12.5;8;2000;x\n"
    mapped = table(text, columns="time=t_sec,ranks=np,n=size")[0]
    assert (mapped.time_s, mapped.ranks, mapped.inputs) == (12.5, 8, (("n", 2000.0),))
    assert table("t\n12500\n", columns="time_ms=t")[0].time_s == 12.5
    assert table("t_ms\n12500\n", columns="time=t_ms")[0].time_s == 12.5
    assert table("time [min]\n2\n")[0].time_s == 120.0
    assert table("time\n250 ms\n500ms\n")[1].time_s == 0.5


def test_columns_that_nobody_asked_for_are_named(here, caplog):
    Path("t.csv").write_text("t,np,colour\n1,2,red\n")
    rows_in("t.csv", HEAT, "time=t")
    assert "columns left out: np, colour" in caplog.text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("time_ms,n\n1,2\n3 s,2\n", "line 3, column 'time_ms': read '3 s', but ms in"),
        ("time,n\n1,2\n3 s,2\n", "line 3, column 'time': read '3 s', but no unit in"),
        ("time,n\n1 s,2\n3,2\n", "line 3, column 'time': read '3' without a unit"),
        ("time,n\n1,2\n3 pt,2\n", "line 3, column 'time': read the unit 'pt'"),
        ("a,b\n1,2\n", "line 1: no column says the time; it has a, b"),
        ("time,n\n1e308,2\n", "line 2, column 'time': read 1e+308"),
        ("time,n\n1,1e308\n", "line 2, column 'n': read 1e+308"),
        ("time,n\n1e400,1\n", "line 2, column 'time': read '1e400', expected a number"),
        ("time,n\n0,1\n", "line 2, column 'time': read a time of 0 s"),
        ("time,n\n-1,1\n", "line 2, column 'time': read a time of -1 s"),
        ("time,n\nnan,1\n", "line 2, column 'time': read 'nan', expected a number"),
        ("time,n\n1,nan\n", "line 2, column 'n': read 'nan'"),
        ("time;n\n1,5;1\n", "line 2, column 'time': read '1,5'"),
        ("time,n\n,1\n", "line 2, column 'time': read nothing, expected a time"),
        ("time,n\n1,2,3\n", "line 2: read 3 columns, expected the 2 of line 1"),
        ("time,time_ms\n1,2\n", "columns 'time' and 'time_ms' are both time"),
        ("time,n,n\n1,2,3\n", "line 1: two columns are called 'n'"),
        ("time,,n\n1,2,3\n", "line 1: column 2 has no name"),
        ("time,ranks\n1,2.5\n", "line 2, column 'ranks': read '2.5'"),
        ("time,ranks\n1,-2\n", "line 2, column 'ranks': read -2"),
        ("time,started\n1,soon\n", "line 2, column 'started': read 'soon'"),
        ("time,status\n1,broken\n", "line 2, column 'status': read 'broken'"),
        ("time,hosts\n1,n[1-\n", "line 2, column 'hosts': "),
        ('time,n\n1,"2\n', "line 2: is not CSV"),
        ("", "line 1: is empty"),
        ("\n\n", "line 1: is empty"),
        (b"time,n\n1,2\n1,caf\xe9\n", "line 3, column 2: byte 0xe9 is not UTF-8"),
        ("time,n\n1,2\n".encode("utf-16"), "byte 0xff is not UTF-8 text; convert"),
        (b"time,n\n1,\x00\n", "byte 0x00 is not UTF-8 text; is the file whole"),
        ("time,started\n1,31/01/2026\n", "'started': read '31/01/2026', expected a da"),
        (f"time,n\n1,{'x' * 2000}\n", "column 'n': read a word of 2000 characters"),
    ],
)
def test_a_mistake_is_named_by_line_and_column(content, said):
    assert said in told(content)


def test_a_mapping_to_a_missing_column_says_which_there_are():
    said = told("a,b\n1,2\n", columns="time=t")
    assert "no column 't' for time; it has a, b" in said
    with pytest.raises(UsageError, match="is not a name and its column"):
        parse_mapping("time")


def test_two_units_in_mapping_and_header_are_refused():
    assert "is in ms, --columns time_s=t_ms says s" in told(
        "t_ms\n1\n", columns="time_s=t_ms"
    )


def test_a_run_without_application_asks_for_one():
    assert "name it with --app" in told("time\n1\n", NOTHING)


def test_what_is_typed_must_not_contradict_the_file():
    assert "--ranks says 4" in told("time,ranks\n1,2\n", TypedValues("a", ranks=4))
    assert "--input says 3.0" in told("time,n\n1,2\n", TypedValues("a", (("n", 3.0),)))
    run = table("time\n1\n", TypedValues("a", (("n", 3.0),), ranks=4))[0]
    assert (run.ranks, run.inputs) == (4, (("n", 3.0),))


def test_equal_lines_are_repeats_and_the_same_file_again_is_known():
    text = "time,ranks\n1,2\n1,2\n"
    first, again = table(text), table(text)
    assert first[0].identity != first[1].identity
    assert [one.identity for one in first] == [one.identity for one in again]
    other = read_csv(Path("b.csv"), text.encode(), {}, HEAT)[0]
    assert not {one.identity for one in first} & {one.identity for one in other}


def test_a_start_makes_a_run_the_same_in_every_file():
    text = b"time,started\n1,1e9\n"
    one, other = (read_csv(Path(f), text, {}, HEAT)[0][0] for f in ("a.csv", "b.csv"))
    assert one.identity == other.identity


NAMES = st.text(
    st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), min_size=1
).filter(lambda text: len(text) < 30)
NUMBERS = st.floats(-1e100, 1e100).map(lambda x: x + 0.0)
HOSTS = st.lists(st.sampled_from(["n1", "n2", "gpu-7", "a.b"]), unique=True).map(tuple)


def pairs(values):
    found = st.dictionaries(NAMES.filter(lambda n: n == n.strip()), values, max_size=3)
    return found.map(lambda items: tuple(sorted(items.items())))


RUNS = st.builds(
    Run,
    application=NAMES,
    time_s=st.floats(1e-6, 1e6),
    ranks=st.integers(0, 1000),
    nodes=st.integers(0, 1000),
    inputs=pairs(st.one_of(NUMBERS, NAMES)),
    hosts=HOSTS,
    allocation=NAMES,
    started=st.one_of(st.just(math.nan), st.floats(0, 1e10)),
    status=st.sampled_from(["ok", "exit 3", "signal 9"]),
    loads=pairs(NUMBERS),
    parts=st.lists(st.builds(RunPart, NAMES, NAMES, st.floats(0, 1e6)), max_size=2).map(
        tuple
    ),
    mpi=NAMES,
    source=NAMES,
    identity=st.uuids().map(str),
)


def test_a_table_holds_nothing_that_a_terminal_obeys():
    bad = "\x1b[2J\n\u202e"
    run = Run(bad, 1.0, hosts=(bad,), inputs=((bad, bad),), source=bad, identity="1")
    text = csv_text([run])
    assert text.replace("\n", "").isprintable()
    assert len(text.splitlines()) == 2
    assert read_csv(FILE, text.encode(), {}, NOTHING)[0] == [run]


@given(st.lists(RUNS, min_size=1, max_size=4))
def test_a_table_gives_back_what_was_written(runs):
    back = read_csv(FILE, csv_text(runs).encode(), {}, NOTHING)[0]
    assert list(map(repr, back)) == list(map(repr, runs))  # nan is not nan


def test_units_are_told_from_names_that_end_alike():
    assert split_unit("items") == ("items", "")
    assert split_unit("s") == ("s", "")
    assert split_unit("my_hosts") == ("my_hosts", "")


def test_objects_are_a_table_too(here):
    first, second = rows_in("objects.jsonl")
    assert first.inputs == (("n", 2000.0), ("solver", "cg"))
    assert (second.time_s, second.inputs) == (4.5, (("n", 1000.0),))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"time": 1, "n": [1]}', "line 2, column 'n': read a list"),
        ('{"time": 1e308}', "line 2, column 'time': read 1e+308"),
        ('{"time": true}', "line 2, column 'time': read true, expected a number"),
        ('{"time": 1e999}', "line 2: is not JSON"),
        ('{"time": "2 h"}', "line 2, column 'time': read '2 h', but no unit"),
        ("{", "line 2: is not JSON"),
        ("[1]", "line 2: read a list, expected a mapping"),
    ],
)
def test_a_mistake_in_an_object_is_named_by_line_and_column(here, line, said):
    Path("t.jsonl").write_text('{"time": 1}\n' + line + "\n")
    with pytest.raises(InputError) as error:
        content_of("t.jsonl", HEAT, {}, NO_PROGRESS)
    assert said in str(error.value)


def test_own_lines_are_the_rows_that_were_written(here):
    assert list(map(repr, rows_in("own.jsonl"))) == list(map(repr, ROWS))


def test_a_bad_own_line_is_refused_and_the_others_are_read(here):
    text = Path("own.jsonl").read_text().splitlines()
    text[1:1] = ['{"row": "run", "time_s": 3}', '{"row": "run", "application": "a", ']
    text += ['{"row": "run", "application": "a", "time_s": 1e300}']
    Path("own.jsonl").write_text("\n".join(text))
    content = content_of("own.jsonl", NOTHING, {}, NO_PROGRESS)
    assert len(content.rows) == len(ROWS)
    assert [one.run for one in content.refused] == ["line 2", "line 3", "line 7"]
    assert "1e+300" in content.refused[2].reason


def test_a_recorded_run_has_ranks_hosts_mpi_and_time(here):
    (run,) = rows_in("run", TypedValues(inputs=(("n", 300.0),)))
    assert (run.application, run.ranks, run.status) == ("app", 2, "ok")
    assert run.inputs == (("n", 300.0),)
    assert (run.nodes, run.ranks_per_node, len(run.hosts)) == (1, 2, 1)
    assert run.mpi
    assert run.time_s > 0
    assert dict(run.costs)["wall_s"] == 1.5
    assert rows_in("run")[0].identity == run.identity


def test_a_phase_signature_is_the_same_run_with_its_phases(here, capsys):
    from skelgen.cli.main import run as command

    assert command(["phases", "show", "run", "-o", "sig"]) == 0
    (plain,), (signed,) = rows_in("run"), rows_in("sig")
    assert signed.identity == plain.identity
    assert math.isclose(signed.time_s, plain.time_s)
    assert signed.parts
    assert sum(one.share for one in signed.parts) == pytest.approx(1, abs=0.2)
    assert {one.kind for one in signed.parts} == {"phase"}
    Path("sig/phases.yaml").rename("run/phases.yaml")
    assert rows_in("run")[0].parts == signed.parts


def test_a_phase_signature_of_another_run_is_refused(here, capsys):
    from skelgen.cli.main import run as command
    from tests.fuzz_cases import _recorded

    _recorded(here / "other", 600)
    assert command(["phases", "show", "other", "-o", "sig"]) == 0
    Path("sig/phases.yaml").rename("run/phases.yaml")
    with pytest.raises(InputError, match="the phase signature is of a run of"):
        rows_in("run")


def test_each_workload_of_a_study_is_a_run_but_measured_ones_are_predictions(here):
    run, prediction = rows_in("study.yaml")
    assert (run.application, run.time_s, run.inputs) == ("app", 2.5, (("n", 100.0),))
    (part,) = run.parts
    assert (part.name, part.weight) == ("a", 5.0)
    assert part.time_s * part.weight == pytest.approx(2.25)
    assert part.share == pytest.approx(0.9)
    assert prediction.interval == Interval(4.5, 5.0, 5.5)
    assert prediction.inputs == (("n", 200.0),)


def test_answers_are_predictions_of_the_application_that_is_named(here):
    (measured,) = rows_in("measured.json", HEAT)
    assert (measured.method, measured.ranks) == ("phases", 2)
    assert measured.interval == Interval(1.5, 1.6, 1.7)
    assert (measured.verdict, measured.doubts) == ("do not trust", ("busy",))
    first, second = rows_in("predicted.json", replace(HEAT, ranks=4))
    assert (first.method, first.hosts, first.ranks) == ("whole-events", ("n1", "n2"), 4)
    assert second.hosts == ("n3",)
    (other,) = rows_in("workload.json", HEAT)
    assert (other.method, other.inputs) == ("workload", (("n", 400.0),))
    assert all(isinstance(one, StoredPrediction) for one in (measured, first, other))
    with pytest.raises(InputError, match="name it with --app"):
        rows_in("predicted.json")


def test_an_answer_says_its_method_and_application_itself(here):
    about = {"method": "paper2005", "application": "heat", "ranks": 4}
    told = json.loads(Path("predicted.json").read_text()) | about
    Path("told.json").write_text(json.dumps(told | {"inputs": {"n": 8, "mesh": "a"}}))
    first, _ = rows_in("told.json")
    assert (first.method, first.application, first.ranks) == ("paper2005", "heat", 4)
    assert first.inputs == (("mesh", "a"), ("n", 8.0))
    first, _ = rows_in("told.json", TypedValues("lu", (("n", 9.0),)))
    assert (first.application, first.inputs[1]) == ("lu", ("n", 9.0))
    Path("null.json").write_text(json.dumps(told | {"application": None}))
    with pytest.raises(InputError, match="name it with --app"):
        rows_in("null.json")


def test_an_answer_whose_times_do_not_rise_is_refused(here):
    Path("m.json").write_text(json.dumps({"paet_s": 1.0, "p5_s": 2.0, "p95_s": 3.0}))
    with pytest.raises(InputError, match="paet_s: read 1, expected a time from p5_s"):
        rows_in("m.json", HEAT)


def test_a_folder_of_nothing_and_a_file_that_is_not_there_are_named(here):
    (here / "empty").mkdir()
    with pytest.raises(InputError, match="holds no recorded run"):
        rows_in("empty")
    with pytest.raises(InputError, match="there is no such file"):
        rows_in("none.csv")


@pytest.mark.parametrize("text", ["=cmd\r\n\nx", "n=a\nb,n=c", "x\n" * 500])
def test_a_mapping_of_several_lines_is_refused_in_one(text):
    with pytest.raises(UsageError) as refused:
        parse_mapping(text)
    assert len(str(refused.value).splitlines()) == 1
    assert len(str(refused.value)) < 300
