"""The schema for editors says the same as the reader, on signatures that we write."""

import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from skelgen.errors import InputError
from skelgen.events.touched_memory import Touched
from skelgen.signature.store import load
from skelgen.signature.write import signature_text
from tests.random_programs import random_program
from tests.summaries import build
from tests.unit.test_trust_recording_doubts import EVERYTHING

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "signature.schema.json").read_text()
)
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
}


def fits(value, schema):
    """Check the few words of JSON Schema that ours uses."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].split("/")[-1]]
    if "const" in schema:
        return value == schema["const"]
    if "oneOf" in schema:
        return sum(fits(value, one) for one in schema["oneOf"]) == 1
    if not isinstance(value, TYPES[schema["type"]]) or isinstance(value, bool):
        return False
    if isinstance(value, dict):
        known = schema.get("properties", {})
        others = schema["additionalProperties"]
        return all(name in value for name in schema.get("required", ())) and all(
            fits(part, known[name])
            if name in known
            else others is not False and fits(part, others)
            for name, part in value.items()
        )
    if isinstance(value, list):
        items = schema.get("prefixItems") or [schema["items"]] * len(value)
        return len(value) >= schema.get("minItems", 0) and all(
            fits(part, one) for part, one in zip(value, items, strict=True)
        )
    if isinstance(value, str):
        return re.search(schema.get("pattern", ""), value) is not None
    return schema.get("minimum", value) <= value <= schema.get("maximum", value)


@pytest.mark.parametrize("seed", range(20))
def test_signatures_that_we_write_fit_the_schema(seed):
    text = signature_text(build(random_program(random.Random(seed))).signature)
    assert fits(yaml.safe_load(text), SCHEMA)


#: What a signature has only where there is something to say.
RARE = {
    "usage_queries": 5,
    "usage_gaps": (*range(16),),
    "concurrent_ranks": 2,
    "not_computed": (("slept", 1.5), ("disks", 0.25)),
    "unseen": EVERYTHING,
    "touched": Touched(1234.5, 4 << 20, 26, 0.75),
}


def test_what_is_rare_fits_the_schema():
    plain = build(random_program(random.Random(1))).signature
    document = yaml.safe_load(signature_text(replace(plain, **RARE)))
    assert document.keys() >= RARE.keys()
    assert fits(document, SCHEMA)
    for name in RARE:
        assert not fits({**document, name: "another"}, SCHEMA)


@pytest.fixture
def document():
    text = signature_text(build(random_program(random.Random(1))).signature)
    return yaml.safe_load(text)


@pytest.mark.parametrize("place", [(), ("provenance",), ("groups", 0), ("families", 0)])
def test_schema_and_reader_want_the_same_fields(document, place, tmp_path):
    part = document
    for step in place:
        part = part[step]
    path = tmp_path / "signature.yaml"
    for name in [*part, "another"]:
        optional = name in ("peers", "vectors", "polls")
        kept = part.pop(name, None)
        if name == "another":
            part[name] = 1
        path.write_text(yaml.safe_dump(document, sort_keys=False))
        assert fits(document, SCHEMA) == optional
        if not optional:
            with pytest.raises(InputError, match=name):
                load(path)
        part[name] = kept
