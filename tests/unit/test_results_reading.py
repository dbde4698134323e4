"""Results read from what a command printed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from skelgen.results.base import Result, known_only, plain_fields
from skelgen.results.reading import from_json
from skelgen.results.server_answers import (
    ApplicationRuns,
    ServerApplicationsResult,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A part of one kind."""

    radius: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Square:
    """A part of another kind."""

    side: float
    more: Round | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn(Result):
    """What has all that results have."""

    result: ClassVar[str] = "drawn"

    file: Path
    parts: Sequence[Round | Square]
    named: Mapping[str, Square]
    pairs: Sequence[tuple[int, Round]]
    words: Sequence[str] | None
    open: Mapping[str, Any]
    at: str | None = known_only()


def printed(found: Result) -> Any:
    return json.loads(json.dumps(plain_fields(found)))


WHOLE = Drawn(
    file=Path("a/b"),
    parts=(Square(side=1.0), Round(radius=2.0), Square(side=3.0, more=Round(radius=4))),
    named={"x": Square(side=5.0)},
    pairs=((1, Round(radius=6.0)), (2, Round(radius=7.0))),
    words=("a", "b"),
    open={"list": [1, {"deep": None}]},
)


@pytest.mark.parametrize("at", [None, "here"])
def test_what_is_read_is_what_was_printed(at):
    whole = replace(WHOLE, at=at)
    assert from_json(Drawn, printed(whole)) == whole


def test_names_of_a_later_version_are_left_out():
    more = printed(WHOLE) | {"format": 2, "result": "drawn", "later": [{}]}
    assert from_json(Drawn, more) == WHOLE


def test_what_is_missing_is_a_fault():
    fewer = printed(WHOLE)
    del fewer["file"]
    with pytest.raises(TypeError, match="file"):
        from_json(Drawn, fewer)


def test_an_answer_of_the_server_is_read():
    found = ServerApplicationsResult(
        applications=(ApplicationRuns(app="heat", runs=3, last=None),),
        counts={"run": 3},
    )
    assert from_json(ServerApplicationsResult, printed(found)) == found
