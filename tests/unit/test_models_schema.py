"""The schema of models, files of earlier versions, and files that are hostile."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from skelgen.documents import sealed_json
from skelgen.errors import InputError
from skelgen.models.families import FamilySettings
from skelgen.models.formulas import parse
from skelgen.models.model import fit_model, predict_with
from skelgen.models.model_file import model_facts, read_model
from tests.unit.test_models_parts import ROWS, N, P, RunTable, fitted, times

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "model.schema.json").read_text())
GOLDEN = ROOT / "tests" / "golden_models" / "version1.json"
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
}
HOSTILE = (
    *(0, -1, 1e308, -1e308, 1e-320, float("nan"), float("inf"), 10**40, "", "\0"),
    *("x" * 3000, "(" * 3000, "n^" * 2000 + "1", "1/0", "n^n^n^n^9", [], {}, None),
    *(True, [[]], {"model": {}}, "99999^99999^99999", "exp(1e9*n)"),
)


def fits(value, schema):
    """Check the few words of JSON Schema that ours uses."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].split("/")[-1]]
    if "const" in schema:
        return value == schema["const"]
    if not isinstance(value, TYPES[schema["type"]]) or isinstance(value, bool):
        return False
    if isinstance(value, dict):
        known = schema["properties"]
        return all(name in value for name in schema["required"]) and all(
            name in known and fits(part, known[name]) for name, part in value.items()
        )
    if isinstance(value, list):
        return all(fits(part, schema["items"]) for part in value)
    if isinstance(value, str):
        return re.search(schema.get("pattern", ""), value) is not None
    return schema.get("minimum", value) <= value <= schema.get("maximum", value)


@pytest.fixture(scope="module")
def written():
    whole = sum(times(0.02).values())
    table = RunTable.gather((N, P), ROWS, whole)
    found = [fit_model(table, family) for family in ("normal-form", "power", "linear")]
    said = FamilySettings(template=parse("a*n^3/ranks + f*n"), facts={"f": 1e-6})
    found.append(fit_model(table, "template", said))
    return [*map(model_facts, found), model_facts(fitted(times(0.02)))]


def test_models_that_we_write_fit_the_schema(written):
    for facts in written:
        assert fits(json.loads(sealed_json(facts)), SCHEMA)


def test_a_member_that_is_wrong_does_not_fit_the_schema(written):
    for change in ({"more": 1}, {"family": 3}, {"skelgen_model": 2}, {"inputs": [1]}):
        assert not fits(written[0] | change, SCHEMA)


def test_a_model_of_version_1_is_read_and_says_what_it_said():
    found = predict_with(read_model(GOLDEN), {"n": 6000.0, "ranks": 16.0})
    known = json.loads(GOLDEN.with_suffix(".answer").read_text())
    interval = found.interval
    assert [interval.p5, interval.p50, interval.p95] == pytest.approx(known, rel=1e-9)


def mutated(facts, source):
    """Replace a value somewhere, or leave out a member."""
    facts = json.loads(json.dumps(facts))
    place = facts
    while True:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        if not keys:
            return facts
        key = source.choice(list(keys))
        inner = place[key]
        if isinstance(inner, dict | list) and inner and source.random() < 0.8:
            place = inner
        elif source.random() < 0.1:
            del place[key]
            return facts
        else:
            place[key] = source.choice(HOSTILE)
            return facts


@pytest.mark.parametrize("seed", range(3))
def test_hostile_models_are_models_or_one_line(written, tmp_path, seed):
    source = random.Random(seed)
    path = tmp_path / "m.json"
    refused = 0
    for _ in range(150):
        path.write_text(json.dumps(mutated(source.choice(written), source)))
        try:
            predict_with(read_model(path), {"n": 2e3, "ranks": 4.0})
        except InputError as error:
            refused += 1
            assert "\n" not in str(error)
            assert len(str(error)) < 1000
    assert refused > 50


@pytest.mark.parametrize("depth", [10, 100_000])
def test_deep_models_are_one_line(tmp_path, depth):
    path = tmp_path / "m.json"
    begin = '{"skelgen_model": 1, "parts": [{"model": '
    path.write_text(begin * depth + "1" + "}]}" * depth)
    with pytest.raises(InputError) as error:
        read_model(path)
    assert "\n" not in str(error.value)
