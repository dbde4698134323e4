"""Lines of a monitor's files."""

import json
import math
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.monitor.records import (
    LineError,
    SampleMark,
    SampleRow,
    columns_of,
    read_line,
    row_of,
    text_of,
    wrong,
)
from skelgen.monitor.sensor import Sample

SAMPLE = Sample(
    0.987654,
    0.9,
    1.256,
    0.01,
    0.0,
    23794068480.0,
    received=(("eth0", 1e6),),
    sent=(("eth0", 12.4),),
)


def sealed(text: str) -> str:
    return f"{text}\t{zlib.crc32(text.encode()):08x}"


def test_a_sample_comes_back_as_it_was_to_the_digits_that_are_kept() -> None:
    row, refused = row_of(SAMPLE, 1764000000.04)
    line = text_of(row, columns_of(SAMPLE))
    assert not refused
    assert line.endswith("\n") and len(line) < 100
    back = read_line(line.rstrip("\n"), columns_of(SAMPLE))
    assert isinstance(back, SampleRow)
    found = dict(zip(columns_of(SAMPLE), back.values, strict=True))
    assert found == {
        "cpu": 0.9877,
        "run_queue": 1.26,
        "pressure": 0.01,
        "steal": 0.0,
        "memory_bytes": 23790000000.0,
        "traffic_bytes_per_s": None,
        "received_bytes_per_s:eth0": 1e6,
        "sent_bytes_per_s:eth0": 12.0,
    }


@pytest.mark.parametrize("cpu", [math.nan, math.inf, -0.2, 1.3])
def test_a_sensor_that_says_nonsense_is_not_kept_but_said(cpu: float) -> None:
    row, refused = row_of(Sample(cpu, cpu, 1.0), 1.0)
    assert row.values[:2] == (None, 1.0)
    (said,) = refused
    assert said.startswith("cpu is ") and ", expected " in said


def test_a_quantity_that_the_node_lacks_is_no_nonsense() -> None:
    assert row_of(Sample(0.5, 0.5), 1.0)[1] == []


@pytest.mark.parametrize(
    "mark",
    [
        SampleMark("begin", 1.5),
        SampleMark("columns", 1.5, ("cpu", "steal"), 10.0),
        SampleMark("gap", 2.5, length_s=30.0),
        SampleMark("back", 2.5, length_s=3600.0),
        SampleMark("refused", 3.0, reason="cpu is 130 %"),
    ],
)
def test_a_mark_comes_back(mark: SampleMark) -> None:
    back = read_line(text_of(mark).rstrip("\n"), ())
    assert isinstance(back, SampleMark)
    assert (back.kind, back.time, back.columns) == (mark.kind, mark.time, mark.columns)
    assert back.reason == mark.reason
    if mark.kind in ("gap", "back"):
        assert back.length_s == mark.length_s


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "7",
        "[NaN,0.5]",
        "[1.0,1.3]",
        "[1.0,NaN]",
        "[1.0,1e999]",
        '[1.0,"a"]',
        "[1.0,0.5,0.5]",
        "[true,0.5]",
        "[1.0,[0],0.5]",
        "[1.0,[1,2],0.5]",
        '{"what": 1}',
        '{"gap": 1, "s": "long"}',
        '{"columns": 1, "version": 99, "names": [], "interval_s": 1}',
        '{"columns": 1, "version": 1, "names": ["a", "a"], "interval_s": 1}',
        '{"columns": 1, "version": 1, "names": 7, "interval_s": 1}',
        '{"columns": 1, "version": 1, "names": [], "interval_s": -1}',
        "[" * 5000,
        "1" * 5000,
        "{",
    ],
)
def test_what_is_sealed_but_wrong_is_refused(text: str) -> None:
    with pytest.raises(LineError):
        read_line(sealed(text), ("cpu",))


@given(st.data())
def test_a_changed_character_is_noticed(data: st.DataObject) -> None:
    line = text_of(row_of(SAMPLE, 5.0)[0], columns_of(SAMPLE)).rstrip("\n")
    at = data.draw(st.integers(0, len(line) - 1))
    other = data.draw(st.characters().filter(lambda one: one != line[at]))
    with pytest.raises(LineError):
        read_line(line[:at] + other + line[at + 1 :], columns_of(SAMPLE))


@given(st.text())
def test_no_line_does_more_than_be_refused(text: str) -> None:
    for line in (text, sealed(text.encode("utf-8", "replace").decode())):
        try:
            read_line(line, ("cpu",))
        except LineError:
            continue


def test_a_refusal_says_what_was_found() -> None:
    assert wrong("steal", 1.3) == "steal is 130 %, expected 0 to 100 %"
    assert json.dumps(wrong("run_queue", -1.0))
    assert wrong("cpu", 1.0) == wrong("run_queue", 7.0) == ""
