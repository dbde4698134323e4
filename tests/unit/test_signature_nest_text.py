"""Nests as text: loops may skip, and no file can ask for endless skipping."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from skelgen.documents.document import read_document
from skelgen.documents.document_field import Field
from skelgen.errors import InputError
from skelgen.loops import fold_with_skips, same
from skelgen.signature.nest_text import nest_lines, read_nest
from tests import skipping_steps

SYMBOLS = {"send": 0, "wait": 1}


def field_of(folder: Path, text: str) -> Field:
    file = folder / "nest.yaml"
    file.write_text(text)
    return Field(file, "nest", read_document(file))


@settings(max_examples=30, deadline=None)
@given(skipping_steps.strings.filter(len))
def test_nests_that_skip_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, symbols: list[int]
) -> None:
    names = [f"call-{number}" for number in range(max(symbols) + 1)]
    nest = fold_with_skips(np.array(symbols, np.int32))
    text = "\n".join(nest_lines(nest, names, ""))
    rows = {name: row for row, name in enumerate(names)}
    found = read_nest(field_of(tmp_path_factory.mktemp("nest"), text), rows)
    assert same(found.nest, nest)
    assert found.count.sum() == len(symbols)


def skipping(trips: str, outer: int) -> str:
    body = f"  - wait\n  - loop: {trips}\n    body:\n    - send"
    return f"- loop: {outer}\n  body:\n{body}"


def test_calls_that_are_skipped_are_counted_as_what_they_are(tmp_path: Path) -> None:
    found = read_nest(field_of(tmp_path, skipping("0*3 2 0", 5)), SYMBOLS)
    assert found.count.tolist() == [5, 2]


@pytest.mark.parametrize(
    ("trips", "outer", "message"),
    [
        ("0*4 0", 5, "the loop never runs, expected at least one trip"),
        ("0", 5, "read 0, expected 1 to"),
        ("0*3 1", 5, "read trip counts of 4 executions"),
        ("0*899999999 1", 900_000_000, "executions of loops take about"),
    ],
)
def test_loops_that_only_skip_are_refused(
    tmp_path: Path, trips: str, outer: int, message: str
) -> None:
    with pytest.raises(InputError, match=r"^[^\n]*$") as caught:
        read_nest(field_of(tmp_path, skipping(trips, outer)), SYMBOLS)
    assert message in str(caught.value)
