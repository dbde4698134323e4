"""JSON from anybody: what is refused, by which place, and what comes back."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.documents import json_field, read_json, sealed_json
from skelgen.errors import InputError, NoFileError
from skelgen.launch.json_lines import JsonLines

PLACE = Path("file.json")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not JSON"),
        ('{"a": 1e400}', "read 1e400, expected a finite number"),
        ('{"a": ' + "1" * 401 + "}", "expected at most 18 digits"),
        ('{"a": -' + "1" * 5000 + "}", "expected at most 18 digits"),
        ('{"a": NaN}', "read NaN"),
        ('{"a": [-Infinity]}', "read -Infinity"),
        ('{"a": "\\ud800"}', "half of a character"),
        ('{"\\udfff": 1}', "half of a character"),
        ('["a\\u0000b"]', "zero byte"),
        ('{"a": 1, "a": 2}', "the name 'a' twice"),
        ("[" * 200 + "]" * 200, "more than 100 levels"),
        ("[" * 100_000, "more than 100 levels"),
        ('{"a":' * 100_000, "more than 100 levels"),
    ],
)
def test_what_is_no_plain_value_is_one_clear_line(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        json_field(text, PLACE)
    assert said in str(caught.value)
    assert str(caught.value).startswith("file.json: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "reader"),
    [
        ('"5"', lambda field: field.integer(0, 9)),
        ("true", lambda field: field.integer(0, 9)),
        ("5.0", lambda field: field.integer(0, 9)),
        ("10", lambda field: field.integer(0, 9)),
        ('"5"', lambda field: field.number()),
        ("false", lambda field: field.number()),
        ("-1", lambda field: field.amount()),
        ("0", lambda field: field.positive()),
        ("1", lambda field: field.truth()),
        ('"true"', lambda field: field.truth()),
        ("5", lambda field: field.text()),
        ("null", lambda field: field.text()),
        ("null", lambda field: field.items()),
        ("[1]", lambda field: field.texts()),
        ("[]", lambda field: field.mapping()),
        ('{"a": 1}', lambda field: field.pairs()),
    ],
)
def test_a_value_of_another_type_is_refused_with_what_was_read(text, reader) -> None:
    with pytest.raises(InputError, match="expected"):
        reader(json_field(text, PLACE))


def test_values_come_back_with_their_types() -> None:
    field = json_field('{"a": [1, 2.5, true, null, "x"], "b": {"c": "d"}}', PLACE)
    fields = field.mapping(("a", "b"))
    one, number, truth, nothing, word = fields["a"].items()
    assert one.integer(0, 1) == 1
    assert one.number() == 1.0
    assert number.positive() == 2.5
    assert truth.truth()
    assert nothing.is_null()
    assert word.text() == "x"
    assert fields["b"].pairs() == (("c", "d"),)


def test_a_file_that_is_not_there_is_told_from_one_that_is_damaged(tmp_path: Path):
    with pytest.raises(NoFileError):
        read_json(tmp_path / "none")
    (tmp_path / "file").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(NoFileError):
        read_json(tmp_path / "file" / "none")
    with pytest.raises(InputError, match="byte 7 is not UTF-8"):
        read_json(tmp_path / "file")
    with pytest.raises(InputError, match="Is a directory"):
        read_json(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        read_json(tmp_path / "pipe")


def test_a_file_beyond_reason_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 40)  # takes no room on the disk
    with pytest.raises(InputError, match="longer than 256"):
        read_json(tmp_path / "huge")


def values() -> st.SearchStrategy:
    return st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(10**17), 10**17)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.binary(max_size=5).map(lambda raw: os.fsdecode(raw.replace(b"\0", b"-"))),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from("abcde"), inner, max_size=3)
        ),
        max_leaves=5,
    )


@given(value=st.dictionaries(st.sampled_from("xyz"), values()), indent=st.booleans())
def test_what_is_sealed_comes_back_whatever_bytes_its_names_hold(value, indent):
    text = sealed_json(value, indent=1 if indent else None)
    assert json_field(text, PLACE).value == value
    assert list(json.loads(text))[-1] == "checksum"
    assert sealed_json(json.loads(text)) == sealed_json(value)
    laid_out = json.dumps(json.loads(text), indent=7, sort_keys=True)
    assert json_field(laid_out, PLACE).value == value


def test_each_flipped_bit_of_a_sealed_file_is_noticed_or_harmless(tmp_path: Path):
    content = {"name": "héat", "times": [1.25, 3e-7], "whole": True, "ranks": 2}
    data = sealed_json(content).encode()
    file, noticed = tmp_path / "file.json", 0
    for bit in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(damaged)
        try:
            found = read_json(file).value
        except InputError:
            noticed += 1
        else:
            assert {name: found[name] for name in content} == content
    assert noticed > 0.8 * 8 * len(data)


def test_an_edited_file_says_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    file.write_text(sealed_json({"a": 1}).replace("1", "2", 1))
    with pytest.raises(InputError, match=r"restore the file .* delete its 'checksum'"):
        read_json(file)
    file.write_text('{"a": 2}')
    assert read_json(file).value == {"a": 2}


def test_a_damaged_line_of_results_is_named(tmp_path: Path) -> None:
    lines = JsonLines(tmp_path / "runs.jsonl")
    lines.append({"seconds": 1.5})
    lines.append({"seconds": 2.5})
    assert lines.values() == [{"seconds": 1.5}, {"seconds": 2.5}]
    text = lines.path.read_text()
    assert text.count("checksum") == 2
    lines.path.write_text(text.replace("2.5", "7.5"))
    with pytest.raises(InputError, match=r"line 2 is no result .*is damaged"):
        lines.read()
