"""Every text in a document: found in what skelgen itself has written."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import yaml

#: The way to a text: keys and indices, and at its end perhaps `KEY`.
Way = tuple[Any, ...]
KEY = "<key>"


def ways(document: Any, way: Way = ()) -> Iterator[Way]:
    """Yield the way to each text of a document, and to each key of its mappings."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield (*way, key, KEY)
            yield from ways(value, (*way, key))
    elif isinstance(document, list):
        for number, value in enumerate(document):
            yield from ways(value, (*way, number))
    else:
        yield way


def pattern(way: Way) -> Way:
    """Return a way without its numbers: those that differ in them are of one field."""
    return tuple("*" if isinstance(step, int) else step for step in way)


def samples(document: Any) -> list[Way]:
    """Return a few ways to each field: the first two and the last one."""
    found: dict[Way, list[Way]] = {}
    for way in ways(document):
        found.setdefault(pattern(way), []).append(way)
    return [
        way for all_ in found.values() for way in dict.fromkeys((*all_[:2], all_[-1]))
    ]


def put(document: Any, way: Way, text: str) -> Any:
    """Return a document with another text in one place."""
    document = copy.deepcopy(document)
    *steps, last = way
    if last == KEY:
        *steps, key = steps
        place = _at(document, steps)
        pairs = [
            (text if name == key else name, value) for name, value in place.items()
        ]
        place.clear()
        place.update(pairs)
    else:
        _at(document, steps)[last] = text
    return document


def _at(document: Any, steps: list[Any]) -> Any:
    for step in steps:
        document = document[step]
    return document


def read_yaml(text: str) -> Any:
    return yaml.load(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))


def write_yaml(document: Any) -> str:
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return str(
        yaml.dump(
            document, Dumper=dumper, sort_keys=False, allow_unicode=True, width=1 << 20
        )
    )


def read_json(text: str) -> Any:
    return _without_seal(json.loads(text))


def write_json(document: Any) -> str:
    return json.dumps(document) + "\n"


def read_lines(text: str) -> Any:
    return [_without_seal(json.loads(line)) for line in text.splitlines()]


def write_lines(document: Any) -> str:
    return "".join(json.dumps(line) + "\n" for line in document)


def _without_seal(document: Any) -> Any:
    from skelgen.documents.seal import MEMBER

    return {name: value for name, value in document.items() if name != MEMBER}
