"""Files of many kinds become runs, and runs become files without loss."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.errors import SkelgenError
from skelgen.store import Part, Prediction, Row, Run
from skelgen.store.formats.columns import parse_mapping
from skelgen.store.formats.exporting import Format, files_of
from skelgen.store.formats.known import NOTHING, Known
from skelgen.store.formats.reading import read_content
from tests.store_rows import ROWS, same

HERE = Path("runs.csv")
HEAT = Known(application="heat")


def rows(
    content: bytes | str, known: Known = HEAT, mapping: str = "", *, made: float = 1.0
) -> list[Row]:
    raw = content.encode() if isinstance(content, str) else content
    return list(read_content(HERE, raw, known, parse_mapping(mapping), made=made).rows)


def refusal(content: bytes | str, mapping: str = "", known: Known = HEAT) -> str:
    with pytest.raises(SkelgenError) as caught:
        rows(content, known, mapping)
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_columns_are_read_by_the_names_that_they_are_given():
    (first, second) = rows(
        "size,np,t_ms,note\n1000,2,3500,a\n2000,4,1.5e4,b\n",
        mapping="time=t_ms,ranks=np,n=size",
    )
    assert (first.time_s, first.ranks, first.inputs) == (3.5, 2, (("n", 1000.0),))
    assert (second.time_s, second.ranks) == (15.0, 4)
    assert first.identity != second.identity


def test_columns_with_usual_names_need_no_mapping():
    (run,) = rows("app,time_s,ranks,hosts,n\nwrf,7,4,n1 n2,300\n", NOTHING)
    assert (run.application, run.time_s, run.ranks) == ("wrf", 7.0, 4)
    assert (run.hosts, run.inputs) == (("n1", "n2"), (("n", 300.0),))


def test_a_file_that_is_read_again_gives_the_same_identities():
    text = "time_s,n\n1,2\n1,2\n3,2\n"
    first, again = rows(text), rows(text)
    assert [one.identity for one in first] == [one.identity for one in again]
    assert len({one.identity for one in first}) == 3, "two equal repeats are two runs"


@pytest.mark.parametrize(
    ("content", "mapping", "said"),
    [
        ("n,np\n1,2\n", "", "time"),
        ("time_s,n\n1\n", "", "line 2"),
        ("time_s,n\n1e308,1\n", "", "1e\\+308"),
        ("time_s,n\n1,1e308\n", "", "1e\\+308"),
        ("time_s,n\nnan,1\n", "", "line 2"),
        ("time_s,n\n-1,1\n", "", "-1"),
        ("time_s,n\n0,1\n", "", "time of 0"),
        ("time,n\n3 s,1\n4 ms,1\n", "", "(?i)unit|mixed"),
        ("time_s,n\n\"3,5\",1\n", "", "point, not a comma"),
        ("time_s,n\n1,2\n", "time=t_sec", "t_sec"),
        ("time_s,time_s\n1,2\n", "", "time_s"),
        ("time_s,ranks\n1,2.5\n", "", "expected an integer"),
        ("time_s,n\n1,a\0b\n", "", "line 2|zero byte"),
        ("time_s;n\n1;2\n3;4\n".encode("utf-16"), "", "UTF-8"),
        ("time_s,n\n1,\xe9\n".encode("latin-1"), "", "UTF-8"),
        ("", "", "runs.csv"),
        ('{"time": 1, "n": [1]}\n{"time": 2}\n', "", "line 1"),
        ('{"time_s": 1e400}\n', "", "runs.csv"),
        ("[" * 100_000, "", "runs.csv"),
        ("{" * 100_000, "", "runs.csv"),
        ("PARAMETER p\nPOINTS 1 2\nMETRIC time\nDATA x\n", "", "runs.csv"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_place(content, mapping, said):
    import re

    found = refusal(content, mapping)
    assert re.search(said, found), found
    assert "runs.csv" in found


def test_what_is_typed_may_not_contradict_the_file():
    found = refusal("time_s,ranks\n1,2\n", known=Known("heat", ranks=4))
    assert "its ranks is 2, --ranks says 4" in found


def test_a_run_without_an_application_is_refused():
    assert "--app" in refusal("time_s,n\n1,2\n", known=NOTHING)


def test_only_the_lines_that_are_no_rows_are_refused():
    good = json.dumps({"row": "run", "application": "a", "time_s": 1.0})
    found = read_content(
        HERE, f'{good}\n{{"row": "run"}}\nnoise\n'.encode(), NOTHING, {}, made=1.0
    )
    assert [one.application for one in found.rows if isinstance(one, Run)] == ["a"]
    assert [one.run for one in found.refused] == ["line 2", "line 3"]


@given(st.lists(ROWS, max_size=4))
def test_all_rows_come_back_from_json_lines(written: list[Row]):
    back = [
        row
        for file in files_of(written, Format.JSONL)
        for row in read_content(
            HERE, file.text.encode("utf-8", "surrogateescape"), NOTHING, {}, made=1.0
        ).rows
    ]
    runs = [one for one in written if isinstance(one, Run) and sane(one)]
    assert sorted(map(repr, (one for one in back if isinstance(one, Run)))) == sorted(
        map(repr, runs)
    )


def sane(run: Run) -> bool:
    from skelgen.store.formats.limits import LimitError, check_run

    try:
        check_run(run)
    except LimitError:
        return False
    return True


NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: name not in ("time", "n_s")
)
NUMBERS = st.floats(1e-6, 1e6)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])).filter(
    lambda text: len(text) < 100
)
#: Runs as CSV holds them; it has no place for parts.
TABLE_RUNS = st.builds(
    Run,
    application=NAMES,
    time_s=NUMBERS,
    ranks=st.integers(0, 9999),
    nodes=st.integers(0, 99),
    inputs=st.dictionaries(
        NAMES.map(lambda name: f"x_{name}"), st.one_of(NUMBERS, WORDS), max_size=3
    ).map(lambda found: tuple(sorted(found.items()))),
    hosts=st.lists(st.sampled_from(["n1", "n2", "node-17"]), unique=True).map(tuple),
    started=st.one_of(st.just(math.nan), st.floats(1, 1e9)),
    status=st.sampled_from(["ok", "exit 3", "signal 9"]),
    identity=st.uuids().map(str),
)


@given(st.lists(TABLE_RUNS, min_size=1, max_size=4))
def test_runs_come_back_from_csv(written: list[Run]):
    (file,) = files_of(written, Format.CSV)
    back = rows(file.text, NOTHING)
    key = lambda run: run.identity  # noqa: E731
    for one, other in zip(sorted(written, key=key), sorted(back, key=key), strict=True):
        assert same(_facts(one), _facts(other))


def _facts(run: Run) -> tuple[object, ...]:
    return (
        run.application,
        run.time_s,
        run.ranks,
        run.nodes,
        run.inputs,
        run.hosts,
        run.started,
        run.status,
        run.identity,
    )


@pytest.mark.parametrize("format_", [Format.EXTRAP_TEXT, Format.EXTRAP_JSON])
def test_runs_and_their_parts_come_back_from_extra_p(format_: Format):
    part = Part("halo", "phase", 0.5, 1.0, 0.0)
    written = [
        Run(
            "heat",
            10.0 * n / p + repeat,
            ranks=p,
            inputs=(("n", float(n)),),
            parts=(part,),
            identity=f"{n}-{p}-{repeat}",
        )
        for n in (1, 2)
        for p in (2, 4)
        for repeat in (0.0, 0.25)
    ]
    (file,) = files_of(written, format_)
    back = rows(file.text, NOTHING if "heat" in file.text else HEAT)
    found = sorted((dict(one.inputs)["n"], one.ranks, one.time_s) for one in back)
    assert found == sorted((dict(r.inputs)["n"], r.ranks, r.time_s) for r in written)
    assert {p.name for run in back for p in run.parts} == {"halo"}


def test_a_text_of_extra_p_is_read():
    text = (
        "PARAMETER p\nPARAMETER n\nPOINTS ( 2 10 ) ( 4 10 )\n"
        "REGION main\nMETRIC time\nDATA 1 1.5\nDATA 0.5\n"
    )
    found = rows(text)
    assert sorted(one.time_s for one in found) == [0.5, 1.0, 1.5]
    assert {dict(one.inputs).get("n") for one in found} == {10.0}


def test_the_answer_of_predict_is_a_prediction():
    answer: Mapping[str, object] = {
        "format": 2,
        "failed": [],
        "sets": [
            {
                "hosts": ["n1", "n2"],
                "predicted_s": 10.0,
                "p5_s": 9.0,
                "p95_s": 11.0,
                "measured_p5_s": 9.5,
                "measured_p95_s": 10.5,
                "verdict": "trust",
                "doubts": [],
                "runs_s": [1.0],
            }
        ],
    }
    found = read_content(HERE, json.dumps(answer).encode(), HEAT, {}, made=5.0).rows
    (one,) = found
    assert isinstance(one, Prediction)
    assert (one.interval.p50, one.hosts, one.made) == (10.0, ("n1", "n2"), 5.0)


SEEDS = [
    b"app,time_s,ranks,hosts,n\nwrf,7,4,n1 n2,300\nwrf,8 s,4,n1,1e3\n",
    b'{"time_s": 3, "n": 4}\n{"time_s": 5, "n": 6}\n',
    b'{"row": "run", "application": "a", "time_s": 1.0, "hosts": ["n1"]}\n',
    b"PARAMETER p\nPOINTS 2 4\nREGION m\nMETRIC time\nDATA 1 1.5\nDATA 0.5\n",
    b'{"params":{"x":1,"y":2},"metric":"time","value":2.5}\n',
    b'{"parameters": ["p"], "measurements": {"m": {"time": [{"point": [2], '
    b'"values": [1, 2]}]}}}',
]
EDITS = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.integers(0, 3),
        st.sampled_from(
            [
                b"",
                b"\0",
                b"\xff",
                b"1e308",
                b"-",
                b",",
                b"\n",
                b'"',
                b"{",
                b"]",
                b"nan",
                b"null",
                b"\xed\xa0\x80",
                b"9" * 400,
                b"[" * 2000,
                b"\r",
                b":",
            ]
        ),
    ),
    min_size=1,
    max_size=4,
)


@given(st.sampled_from(SEEDS), EDITS)
def test_damaged_files_end_in_one_line(seed: bytes, edits):
    content = seed
    for where, cut, piece in edits:
        at = int(where * len(content))
        content = content[:at] + piece + content[at + cut :]
    try:
        rows(content)
    except SkelgenError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 2000
