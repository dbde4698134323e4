"""Judgements of a stage stand in one file of it, each with its reason."""

from __future__ import annotations

import ast
import re

import pytest

from tests import thresholds
from tests.readability import PACKAGE, modules

FILES = [f"{stage}/thresholds.py" for stage in thresholds.stages()]
STAGES = {
    *("events", "forecasts", "loops", "matching", "models", "monitor"),
    *("phase_execution", "phases"),
    *("prediction", "reference", "signature", "skeleton", "symbols", "trust"),
    *("workload",),
}


def test_the_stages_have_a_file_of_judgements() -> None:
    assert set(thresholds.stages()) == STAGES


def test_numbers_that_look_like_judgements_stand_there_or_are_listed() -> None:
    found = thresholds.elsewhere(modules(), thresholds.stages())
    assert sorted(set(found) - set(thresholds.listed())) == []
    assert sorted(set(thresholds.listed()) - set(found)) == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("_TOLERANCE = 0.12", ["skeleton/new.py _TOLERANCE"]),
        ("FEWEST: int = 3", ["skeleton/new.py FEWEST"]),
        ("_NEAR = 1 / 16", ["skeleton/new.py _NEAR"]),
        (
            "_FEW, _MUCH = 3, 2.5",
            ["skeleton/new.py _FEW", "skeleton/new.py _MUCH"],
        ),
        ("_BYTES = 1 << 20", []),
        ("_TINY = 1e-9", []),
        ("_NONE = -1", []),
        ("_NAME = 'x'", []),
        ("_SUM = other + 2", []),
    ],
)
def test_a_judgement_in_another_module_is_found(line: str, found: list[str]) -> None:
    planted = {"skeleton/new.py": ast.parse(line), "web/new.py": ast.parse(line)}
    assert thresholds.elsewhere(planted, ["skeleton"]) == found


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_judgements_has_numbers_only_each_with_its_reason(name: str) -> None:
    tree = modules()[name]
    rest = [one for one in tree.body if not isinstance(one, ast.Assign | ast.AnnAssign)]
    assert [type(one) for one in rest] == [ast.Expr, ast.ImportFrom]
    lines = (PACKAGE / name).read_text().split("\n")
    for node in tree.body[2:]:
        assert lines[node.lineno - 2].startswith("#"), lines[node.lineno - 1]


@pytest.mark.parametrize("name", FILES)
def test_each_judgement_is_used(name: str) -> None:
    stage = name.partition("/")[0]
    texts = {path: (PACKAGE / path).read_text() for path in modules()}
    others = "\n".join(
        text
        for path, text in texts.items()
        if path.startswith(f"{stage}/") or f"{stage}.thresholds import" in text
    )
    for one, _ in thresholds.constants(modules()[name]):
        assert len(re.findall(rf"\b{one}\b", others)) > 1, one
