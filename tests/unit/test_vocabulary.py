"""docs/vocabulary.md is the glossary: code, options and answers keep to it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from skelgen.cli.main import _Commands
from skelgen.cli.on_demand import load
from tests.readability import PACKAGE, ROOT, documents

PAGE = ROOT / "docs/vocabulary.md"
#: What has one name elsewhere: the glossary's word is on the right.
SYNONYMS = {
    "k_factor": "scaling_factor",
    "scale_factor": "scaling_factor",
    "machine": "node",
    "processor": "core",
    "cpu_time": "a quantity with its unit",
    "threshold": "similarity_threshold",
    "period": "phase",
    "confidence": "interval",
    "candidate": "node set",
}
#: Parts of names that say which quantity it is, and the units that they may carry.
QUANTITY = re.compile(r"(^|_)(time|duration|latency|bytes|bandwidth|size)(_|$)")
UNIT = re.compile(r"_(s|ns|us|bytes|bytes_per_s|per_s|MiB)$|^bytes_per_event$")
#: Shares from 0 to 1, columns of a forecast or a fit, and words about times.
NO_UNIT = {
    *("bandwidth", "bandwidth_avg_min", "bandwidth_p5", "bandwidth_p95"),
    *("time", "times", "size", "time_error", "time_flags", "time_function"),
}


def keys(schema: Any) -> Iterator[str]:
    """Return the names of all members that a schema describes."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        schema = list(schema.values())
    if isinstance(schema, list):
        for one in schema:
            yield from keys(one)


def answers() -> dict[str, set[str]]:
    """Return the keys of each command's answer, by the file of its schema."""
    folder = ROOT / "docs/schemas"
    found = sorted(folder.glob("*.schema.json"))
    return {one.name: set(keys(json.loads(one.read_text()))) for one in found}


def options() -> Iterator[tuple[str, str]]:
    """Return each command with each of its long options."""

    def of(command: Any, name: str) -> Iterator[tuple[str, str]]:
        for one in command.params:
            yield from ((name, word) for word in one.opts if word.startswith("--"))
        for inner, each in getattr(command, "commands", {}).items():
            yield from of(each, f"{name} {inner}")

    for one in _Commands.table:
        yield from of(load(one), one.name)


def words() -> list[str]:
    """Return the words that the glossary explains."""
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \|", PAGE.read_text(), re.MULTILINE)
    cells = [one.replace("`", "") for one in rows if one not in ("use", "---")]
    return [word.strip() for one in cells for word in one.split(", ")]


@pytest.mark.parametrize("word", words())
def test_a_word_of_the_glossary_is_used(word: str) -> None:
    bare = re.sub(r" \(.*\)$", "", word).removesuffix(" K").removesuffix(" Q")
    wanted = re.compile(re.escape(bare).replace(r"\ ", r"[ _]"), re.IGNORECASE)
    pages = [one for one in documents() if one != PAGE]
    assert any(
        wanted.search(one.read_text()) for one in (*pages, *PACKAGE.rglob("*.py"))
    )


def test_options_and_answers_have_the_words_of_the_glossary() -> None:
    given = [(name, word.strip("-").replace("-", "_")) for name, word in options()]
    given += [(name, key) for name, found in answers().items() for key in found]
    assert len(given) > 800
    assert [(name, one) for name, one in given if one in SYNONYMS] == []


def test_k_has_one_name() -> None:
    known = answers()
    for name in ("build.schema.json", "predict.schema.json"):
        assert "scaling_factor" in known[name]
        assert not {"scale", "k", "factor"} & known[name]
    assert ("build", "--scaling-factor") in set(options())


@pytest.mark.parametrize("name", answers())
def test_a_quantity_carries_its_unit(name: str) -> None:
    found = {key for key in answers()[name] if QUANTITY.search(key)}
    assert {key for key in found - NO_UNIT if not UNIT.search(key)} == set()
