"""Extra-P's formats: read, written, and read by Extra-P itself where it is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.documents import json_field
from skelgen.errors import InputError, UsageError
from skelgen.store.formats import extrap_json, extrap_text
from skelgen.store.formats.exporting import StoreFormat, files_of
from skelgen.store.formats.extrap import Experiment
from skelgen.store.formats.extrap_experiment import experiment_of
from skelgen.store.formats.extrap_runs import runs_of
from skelgen.store.formats.typed_values import NOTHING, TypedValues
from skelgen.store.rows import Run, RunPart
from tests.store_files import EXTRAP_JSON, EXTRAP_LINES, EXTRAP_OLDER, EXTRAP_TEXT

FILE = Path("x.txt")
READS = """
import json, sys
from extrap.fileio.file_reader.json_file_reader import JsonFileReader
from extrap.fileio.file_reader.text_file_reader import TextFileReader
reader = (JsonFileReader if sys.argv[1].endswith("json") else TextFileReader)()
reader.keep_values = True
found = reader.read_experiment(sys.argv[1])
print(json.dumps([[p.name for p in found.parameters], sorted(
    [path.name, metric.name, list(one.coordinate), [*map(float, one.values)]]
    for (path, metric), measured in found.measurements.items() for one in measured
)]))
"""


def document(value: object):
    return extrap_json.read_document(json_field(json.dumps(value), FILE))


def read(value: str, columns=None, known: TypedValues = NOTHING) -> list[Run]:
    return runs_of(FILE, extrap_text.read_text(FILE, value), columns or {}, known)


def test_regions_become_parts_and_repeats_become_runs():
    runs = read(EXTRAP_TEXT, {"ranks": "p"})
    assert [one.time_s for one in runs] == [10, 10.5, 6, 6.25, 4]
    assert [one.ranks for one in runs] == [1, 1, 2, 2, 4]
    first = runs[0]
    assert (first.application, first.inputs) == ("main", (("n", 100.0),))
    assert first.parts == (RunPart("solve", "function", 1.6, 5.0, 0.8),)


def test_regions_without_those_inside_them_are_summed():
    text = EXTRAP_TEXT.replace("DATA 10 10.5", "DATA 2 2.5")
    runs = read(text)
    assert runs[0].time_s == 10.0  # 2 s of its own and 8 s of solve
    assert runs[-1].time_s == 6.0


def test_regions_beside_each_other_are_summed_and_need_a_name():
    text = EXTRAP_TEXT.replace("main->solve", "solve")
    with pytest.raises(InputError, match="name it with --app"):
        read(text)
    run = read(text, known=TypedValues("heat"))[0]
    assert run.time_s == 18.0
    assert [one.name for one in run.parts] == ["main", "solve"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("METRIC time", "METRIC bytes", "no metric or several say the time; it has by"),
        ("PARAMETER p", "PARAMETER p q", "line 4: read the point .* expected 3"),
        ("DATA 4\n", "DATX 4\n", "line 10: read 'DATX', expected one of"),
        ("DATA 4\n", "DATA 4\nDATA 5\n", "more DATA than POINTS"),
        ("DATA 4\n", "DATA nan\n", "line 10: read 'nan', expected a number"),
        ("DATA 4\n", "DATA 1e308\n", r"line 10: read 1e\+308"),
        (
            "DATA 4\n",
            "DATA -4\n",
            r"time of 'main' at \(4, 100\) is -4, expected a number of at least 0",
        ),
        ("POINTS (4 100)", "POINTS (4 100", "expected points such as"),
        ("PARAMETER n", "PARAMETER p", "line 3: the parameter 'p' is there twice"),
        ("PARAMETER n", "PARAMETER n a b c", "line 3: read 5 parameters"),
        ("PARAMETER n\n", "", "expected 1: one for each parameter"),
    ],
)
def test_a_mistake_in_text_is_named_by_its_line(old, new, said):
    with pytest.raises(InputError, match=said):
        read(EXTRAP_TEXT.replace(old, new))


def test_another_parameter_or_metric_is_named_with_those_that_are_there():
    with pytest.raises(InputError, match="no parameter 'np' for ranks; it has p, n"):
        read(EXTRAP_TEXT, {"ranks": "np"})
    with pytest.raises(InputError, match="no metric 'wall' for time; it has time, vi"):
        read(EXTRAP_TEXT, {"time": "wall"})
    with pytest.raises(InputError, match=r"ranks is 2.5, expected an integer"):
        read(EXTRAP_TEXT.replace("( 2 100 )", "( 2.5 100 )"), {"ranks": "p"})


def test_a_metric_may_have_another_unit():
    text = EXTRAP_TEXT.replace("METRIC time", "METRIC runtime")
    assert read(text, {"time_ms": "runtime"})[0].time_s == pytest.approx(0.01)
    text = EXTRAP_TEXT.replace("METRIC time", "METRIC time_ms")
    assert read(text)[0].time_s == pytest.approx(0.01)


def test_both_versions_of_json_and_its_lines_are_read():
    newer = runs_of(FILE, document(EXTRAP_JSON), {}, NOTHING)
    assert [one.time_s for one in newer] == [10, 10.5, 6, 6.25]
    assert [len(one.parts) for one in newer] == [1, 1, 0, 0]
    older = runs_of(FILE, document(EXTRAP_OLDER), {}, NOTHING)
    assert [(one.ranks, one.time_s) for one in older] == [(8, 3.5), (16, 2.5)]
    fields = [
        (n, json_field(json.dumps(line), FILE, f"line {n}"))
        for n, line in enumerate(EXTRAP_LINES, start=1)
    ]
    lines = runs_of(FILE, extrap_json.read_lines(fields), {}, TypedValues("app"))
    assert [(one.ranks, one.time_s) for one in lines] == [(2, 1.5), (4, 0.75), (4, 0.8)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"measurements": {"a": {"time": [{"point": [1], "values": [1]}]}}},
            "1 values",
        ),
        ({"parameters": ["p", "p"]}, "the parameter 'p' is there twice"),
        ({"parameters": []}, "read 2 values, expected 0"),
        ({"measurements": {}}, "holds no parameter or no point"),
        ({"measurements": []}, "expected a mapping"),
        ({"measurements": {"a": {"time": [{"point": [1, 2]}]}}}, "'values' is missing"),
    ],
)
def test_a_mistake_in_json_is_named_by_its_place(change, said):
    with pytest.raises(InputError, match=said):
        document(EXTRAP_JSON | change)


def test_older_json_that_refers_to_nothing_is_refused():
    broken = EXTRAP_OLDER | {"metrics": [{"id": 7, "name": "time"}]}
    with pytest.raises(InputError, match="read 1, which no part of the file has"):
        document(broken)


RUN = Run("heat 2d", 10.0, ranks=4, inputs=(("n", 100.0), ("solver", "cg")))
PARTS = (RunPart("solve", "function", 2.0, 4.0, 0.8), RunPart("copy", "function", 0.5))
RUNS = [
    replace(RUN, identity="a", parts=PARTS),
    replace(RUN, identity="b", time_s=10.5, parts=PARTS),
    replace(RUN, identity="c", ranks=8, time_s=6.125, parts=PARTS[:1]),
]


def written(format_: StoreFormat, runs=RUNS) -> tuple[str, str]:
    (file,) = files_of(runs, format_)
    return file.name, file.text


def test_parts_that_some_run_lacks_are_left_out_and_told(caplog):
    name, text = written(StoreFormat.EXTRAP_TEXT)
    assert name == "heat_2d.txt"
    assert "REGION heat 2d->solve" in text
    assert "copy" not in text
    assert "1 parts left out" in caplog.text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([{"inputs": (("n", 1.0),)}, {"inputs": (("m", 1.0),)}], "some runs lack m, n"),
        (
            [{"inputs": (("n", 1.0),)}, {"inputs": (("n", "x"),)}],
            "the input n is a word",
        ),
        ([{"inputs": (), "ranks": 0}], "these runs have no input and no ranks"),
        ([{"application": "a\nb"}], "the name 'a\\\\nb' has spaces or newlines"),
        ([{"inputs": (("n m", 1.0),)}], "the name 'n m' has spaces"),
        ([{"status": "exit 1"}], "no run ended well"),
    ],
)
def test_what_extrap_cannot_hold_is_refused(changes, said):
    runs = [replace(RUN, **one) for one in changes]
    with pytest.raises(UsageError, match=said):
        written(StoreFormat.EXTRAP_TEXT, runs)


def test_more_parameters_than_text_takes_are_refused_and_constants_dropped():
    many = tuple((name, 1.0) for name in "abcdef")
    runs = [replace(RUN, inputs=many), replace(RUN, inputs=many, ranks=8)]
    assert (
        "PARAMETER ranks\nPOINTS (4) (8)\n" in written(StoreFormat.EXTRAP_TEXT, runs)[1]
    )
    runs.append(replace(RUN, inputs=tuple((name, 2.0) for name in "abcdef")))
    with pytest.raises(UsageError, match="--format extrap-json"):
        written(StoreFormat.EXTRAP_TEXT, runs)
    assert len(json.loads(written(StoreFormat.EXTRAP_JSON, runs)[1])["parameters"]) == 7


def test_two_applications_are_two_files_even_if_they_are_called_alike():
    runs = [RUN, replace(RUN, application="heat_2d"), replace(RUN, application="..")]
    names = [one.name for one in files_of(runs, StoreFormat.EXTRAP_JSON)]
    assert names == ["application.json", "heat_2d.json", "heat_2d-2.json"]


TIMES = st.floats(1e-6, 1e6)
POINTS = st.tuples(st.integers(1, 4), st.floats(-1e9, 1e9).map(lambda x: x + 0.0))
SETS = st.dictionaries(
    POINTS,
    st.lists(st.tuples(TIMES, st.floats(0, 1), st.integers(1, 9)), min_size=1),
    min_size=1,
    max_size=4,
)


@given(SETS, st.sampled_from([StoreFormat.EXTRAP_TEXT, StoreFormat.EXTRAP_JSON]))
def test_points_and_repeats_come_back_in_each_format(sets, format_):
    runs = [
        replace(
            RUN,
            time_s=time_s,
            ranks=ranks,
            inputs=(("n", n),),
            parts=(RunPart("solve", "function", time_s * share / weight, weight),),
        )
        for (ranks, n), repeats in sets.items()
        for time_s, share, weight in repeats
    ]
    _, text = written(format_, runs)
    if format_ is StoreFormat.EXTRAP_TEXT:
        found = extrap_text.read_text(FILE, text)
    else:
        found = extrap_json.read_document(json_field(text, FILE))
    back = runs_of(FILE, found, {}, NOTHING)

    def facts(run: Run):
        return run.application, run.time_s, run.ranks, run.inputs

    assert sorted(map(facts, back)) == sorted(map(facts, runs))
    weights = sorted(part.weight for run in runs for part in run.parts)
    assert sorted(part.weight for run in back for part in run.parts) == weights
    totals = sorted(p.time_s * p.weight for run in back for p in run.parts)
    assert totals == pytest.approx(
        sorted(p.time_s * p.weight for run in runs for p in run.parts), rel=1e-12
    )


@pytest.fixture(scope="module")
def extrap() -> str:
    """Return a Python with Extra-P; SKELGEN_EXTRAP names one."""
    python = os.environ.get("SKELGEN_EXTRAP", sys.executable)
    words = [python, "-c", "import extrap.fileio.file_reader.text_file_reader"]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip(f"{python} has no extrap; SKELGEN_EXTRAP names a Python that has")
    return python


def values_of(found: Experiment):
    return [
        list(found.parameters),
        sorted(
            [region, metric, list(point), values]
            for (region, metric), points in found.values.items()
            for point, values in points.items()
        ),
    ]


@pytest.mark.parametrize("format_", [StoreFormat.EXTRAP_TEXT, StoreFormat.EXTRAP_JSON])
def test_extrap_itself_reads_what_is_written(extrap, format_, tmp_path):
    _, text = written(format_)
    file = tmp_path / ("x.txt" if format_ is StoreFormat.EXTRAP_TEXT else "x.json")
    file.write_text(text)
    done = subprocess.run(
        [extrap, "-c", READS, str(file)], capture_output=True, text=True, check=True
    )
    wanted = values_of(experiment_of(RUNS, text=format_ is StoreFormat.EXTRAP_TEXT))
    assert json.loads(done.stdout) == wanted


@pytest.mark.parametrize("content", [EXTRAP_TEXT, EXTRAP_JSON, EXTRAP_OLDER])
def test_extrap_itself_reads_the_same_from_a_file(extrap, content, tmp_path):
    if isinstance(content, str):
        file, found = tmp_path / "x.txt", extrap_text.read_text(FILE, content)
        file.write_text(content)
    else:
        if len(content["parameters"]) == 2:  # Extra-P wants all regions at all points
            whole = {"main": content["measurements"]["main"]}
            content = content | {"measurements": whole}
        file, found = tmp_path / "x.json", document(content)
        file.write_text(json.dumps(content))
    done = subprocess.run(
        [extrap, "-c", READS, str(file)], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == values_of(found)
