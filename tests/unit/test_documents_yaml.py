"""YAML with checksums, and names that are not UTF-8 in it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skelgen.documents import read_document, sealed_yaml
from skelgen.documents.text_of_bytes import escaped, unescaped
from skelgen.errors import InputError
from skelgen.signature import store
from skelgen.signature.write import quoted, signature_text
from tests.golden.rewrite import CASES, signature_of

TEXT = 'name: "heat"\ntable: |\n  1 2 3\n  4 5 6\nlast: [1, 2]\n'


def test_a_sealed_document_is_read_and_one_without_seal_too(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    for text in (sealed_yaml(TEXT), TEXT):
        file.write_text(text)
        assert read_document(file) == {
            "name": "heat",
            "table": "1 2 3\n4 5 6\n",
            "last": ["1", "2"],
        }


def test_each_flipped_bit_of_a_document_is_noticed_or_harmless(tmp_path: Path):
    data, file = sealed_yaml(TEXT).encode(), tmp_path / "a.yaml"
    for bit in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(damaged)
        try:
            found = read_document(file)
        except InputError as error:
            assert "\n" not in str(error)
        else:
            assert isinstance(found, dict)
            assert found["table"] == "1 2 3\n4 5 6\n"


def test_a_document_that_was_cut_is_noticed_wherever_it_was_cut(tmp_path: Path):
    data, file = sealed_yaml(TEXT).encode(), tmp_path / "a.yaml"
    for length in range(len(data)):
        file.write_bytes(data[:length])
        with pytest.raises(InputError):
            read_document(file)


def test_an_edit_on_purpose_is_one_deleted_line_away(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    text = sealed_yaml(TEXT).replace("4 5 6", "4 5 7")
    file.write_text(text)
    with pytest.raises(InputError, match="edited it on purpose, delete its first line"):
        read_document(file)
    file.write_text(text.partition("\n")[2])
    assert read_document(file)


def test_a_zero_byte_in_a_word_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text('command: ["a\\0b"]')
    with pytest.raises(InputError, match="line 1: read a zero byte"):
        read_document(tmp_path / "a.yaml")


@given(raw=st.binary(max_size=8) | st.text(max_size=4).map(os.fsencode))
def test_any_bytes_of_a_name_come_back_from_yaml(tmp_path: Path, raw: bytes) -> None:
    text = os.fsdecode(raw.replace(b"\0", b"-"))
    assert unescaped(escaped(text)) == text
    escaped(text).encode("utf-8")
    (tmp_path / "a.yaml").write_text(f"- {quoted(text)}\n", encoding="utf-8")
    assert read_document(tmp_path / "a.yaml") == [text]


def test_an_argument_that_is_not_utf_8_survives_in_a_signature(tmp_path: Path) -> None:
    case = CASES[0]
    signature = signature_of((case / "trace.txt").read_text(), case.name)
    words = ("./app", os.fsdecode(b"caf\xe9"), "\ufdd0e9", "naïve")
    known = replace(signature.provenance, command=words)
    file = tmp_path / "signature.yaml"
    store.save(replace(signature, provenance=known), file)
    again = store.load(file)
    assert again.provenance.command == words
    assert os.fsencode(again.provenance.command[1]) == b"caf\xe9"
    assert signature_text(again) == file.read_text(encoding="utf-8")
