"""Answers of commands: their schemas, and what commands print against these."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import jsonschema_rs
import pytest

from skelgen.cli.main import run
from skelgen.results import Result, schema_of, to_json
from skelgen.results.__main__ import main
from skelgen.results.base import known_only, plain_fields
from skelgen.results.stores import StoreListResult
from skelgen.results.table import RESULTS
from skelgen.results.workloads import WorkloadPlanResult
from skelgen.server.openapi import described
from skelgen.server.routes import ROUTES
from tests.answers import SCHEMAS, check_answer
from tests.trace_samples import save_ring


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part."""

    size: int
    more: float | None = known_only()


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(Result):
    """A whole.

    Attributes
    ----------
    name, other : str
        Words
        on two lines.
    """

    result: ClassVar[str] = "record"

    name: str
    other: str
    parts: tuple[Part, ...] = ()
    pair: tuple[int, str] = (1, "a")
    either: Literal["a", "b"] = "a"
    place: Path | None = None


def test_the_files_are_those_of_the_types(tmp_path):
    main(tmp_path)
    new = {file.name: file.read_text() for file in tmp_path.iterdir()}
    kept = {file.name: file.read_text() for file in SCHEMAS.iterdir()}
    assert new == kept, "run: make schemas"


@pytest.mark.parametrize("kind", RESULTS, ids=lambda kind: kind.result)
def test_a_schema_says_what_each_field_is(kind):
    schema = schema_of(kind)
    jsonschema_rs.meta.validate(schema)
    head, fields = {"format", "result"}, schema["properties"]
    unsaid = {name for name, one in fields.items() if "description" not in one}
    assert unsaid == head


def test_words_types_and_parts_become_a_schema():
    schema = schema_of(Whole)
    properties = schema["properties"]
    assert properties["name"] == {
        "type": "string",
        "description": "Words on two lines.",
    }
    assert properties["other"]["description"] == "Words on two lines."
    assert properties["either"] == {"enum": ["a", "b"]}
    assert schema["$defs"]["Part"]["required"] == ["size"]
    assert schema["$defs"]["Part"]["properties"]["more"] == {"type": "number"}


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ({"size": 1}, True),
        ({"size": 1, "more": 2.0, "later": []}, True),
        ({"size": 1.5}, False),
        ({}, False),
        ({"size": 1, "more": None}, False),
    ],
)
def test_a_schema_takes_what_the_type_prints_and_nothing_else(value, fits):
    answer = {"format": 2, "result": "record", "name": "a", "other": "b"}
    rest = {"parts": [value], "pair": [1, "a"], "either": "b", "place": None}
    validator = jsonschema_rs.validator_for(schema_of(Whole))
    assert validator.is_valid(answer | rest) is fits


def test_what_is_not_known_is_left_out_and_the_rest_is_plain():
    whole = Whole(name="a", other="b", parts=(Part(size=1),), place=Path("/x"))
    said = {"name": "a", "other": "b", "parts": [{"size": 1}], "pair": [1, "a"]}
    assert plain_fields(whole) == said | {"either": "a", "place": "/x"}


def test_what_is_no_number_becomes_null():
    answer = to_json(
        WorkloadPlanResult(
            workload=None, reason="", uncertainty=math.nan, recorded=0, commands=()
        )
    )
    assert (answer["result"], answer["uncertainty"]) == ("workload-plan", None)


def test_a_type_that_json_does_not_have_is_refused():
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Odd(Result):
        """Odd."""

        result: ClassVar[str] = "odd"
        what: set

    with pytest.raises(TypeError, match="has no JSON Schema"):
        schema_of(Odd)


@pytest.mark.parametrize(
    ("words", "result"),
    [
        (["info", "RUN"], "info"),
        (["export", "RUN", "--format", "perfetto", "-o", "OUT"], "export"),
        (["share", "RUN", "-o", "OUT"], "share"),
        (["phases", "show", "RUN"], "phases-show"),
        (["phases", "diff", "RUN", "RUN"], "phases-diff"),
        (["phases", "ticks", "RUN"], "phases-ticks"),
    ],
)
def test_a_command_prints_what_its_schema_says(tmp_path, capsys, words, result):
    folder = tmp_path / "run"
    folder.mkdir()
    save_ring(folder)
    places = {"RUN": str(folder), "OUT": str(tmp_path / "out")}
    assert run([*(places.get(word, word) for word in words), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["result"] == result
    check_answer(answer)


def test_the_server_describes_the_same_types():
    described_parts: Any = described(ROUTES, "")["components"]
    known = described_parts["schemas"]
    kinds = [one.answers for one in ROUTES if one.answers is not None]
    assert StoreListResult in kinds
    for kind in kinds:
        text = json.dumps(schema_of(kind))
        own = json.loads(text.replace("#/$defs/", "#/components/schemas/"))
        parts = own.get("$defs", {})
        assert known[kind.__name__]["properties"] == own["properties"]
        assert {name: known[name] for name in parts} == parts


def test_the_help_loads_no_results():
    program = """if True:
        import sys
        from skelgen.cli.main import run
        assert run(["--help"]) == 0
        print([name for name in sys.modules if name.startswith("skelgen.results")])
    """
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
