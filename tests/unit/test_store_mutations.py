"""Damaged files of every kind that a store reads: rows, or an error of one line."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from skelgen.errors import SkelgenError
from skelgen.pipeline.store_sources import content_of
from skelgen.progress import NO_PROGRESS
from skelgen.store.formats.columns import parse_mapping
from skelgen.store.formats.exporting import StoreFormat, files_of
from skelgen.store.formats.typed_values import TypedValues
from skelgen.store.lines import to_line
from skelgen.store.rows import Run
from tests.fuzz_cases import DAMAGES
from tests.store_files import NAMES, write_all

#: Damaged copies of each file.
COPIES = int(os.environ.get("SKELGEN_COPIES", "60"))
#: What is put into files in place of a word.
WORDS = (
    *("1e308", "-1e308", "1e-320", "nan", "inf", "", "0", "-0.0", "1,5", "12 ms"),
    *("\0", "\ufeff", "\udcff", "\r", "\n", '"', "'", ",", ";", "\t", "(", ")", "->"),
    *("9" * 400, "1" * 30, "true", "null", "[]", "{}", "é", "n[1-9999999]", "x" * 3000),
    *("POINTS", "PARAMETER", "REGION", "DATA", "METRIC", "#", "row", "time", "time_ms"),
)
MAPPINGS = ("", "time=time", "ranks=p", "time_ms=time,n=p", "time=t,ranks=np")


def damaged(rng: random.Random, raw: bytes) -> bytes:
    text = raw.decode("utf-8", "surrogateescape")
    if rng.random() < 0.5:
        return rng.choice(DAMAGES)(rng, text)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(text) + 1)
        end = at + rng.choice((0, 0, 1, 3, 10))
        text = text[:at] + rng.choice(WORDS) + text[end:]
    return text.encode(
        "utf-8", "surrogatepass" if "\ud800" in text else "surrogateescape"
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_file_is_rows_that_can_be_kept_or_one_line(
    name, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write_all(tmp_path)
    monkeypatch.chdir(tmp_path)
    good = Path(name).read_bytes()
    file = Path(f"bad{Path(name).suffix}")
    for number in range(COPIES):
        rng = random.Random(f"{name} {number}")
        file.write_bytes(damaged(rng, good))
        known = TypedValues(rng.choice(("", "app")))
        try:
            content = content_of(
                file.name, known, parse_mapping(rng.choice(MAPPINGS)), NO_PROGRESS
            )
        except SkelgenError as error:
            assert str(error)
            continue
        assert all(to_line(row) for row in content.rows)
        runs = [row for row in content.rows if isinstance(row, Run)]
        for format_ in StoreFormat:
            try:
                assert all(one.text.encode() for one in files_of(runs, format_))
            except SkelgenError as error:
                assert str(error)
