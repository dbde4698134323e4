"""Doubts: what they say, which kinds there are, and what makes one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from skelgen.trust import Doubt, Interval, too_wide, unmeasured, verdict_of
from skelgen.trust.intervals import interval, whole_draws
from skelgen.trust.skeleton_doubts import NOT_COMPUTED

ROOT = Path(__file__).parents[2]
#: One doubt is made of what ranks did in place of computing.
OF_IDLENESS = "what"
#: And another is read back from the file of a model.
OF_A_FILE = "parts['code'].text()"


def codes_in(source: str) -> list[str]:
    """Return the code of each doubt that a module makes, as it is written there."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    made = [call for call in calls if ast.unparse(call.func).split(".")[-1] == "Doubt"]
    named = [
        (*call.args, *(k.value for k in call.keywords if k.arg == "code"))[0]
        for call in made
    ]
    return [
        one.value if isinstance(one, ast.Constant) else ast.unparse(one)
        for one in named
    ]


def test_the_table_of_doubts_has_all_that_the_code_makes_and_no_other():
    files = sorted((ROOT / "skelgen").rglob("*.py"))
    made = {code for file in files for code in codes_in(file.read_text())}
    made |= set(NOT_COMPUTED)
    made -= {OF_IDLENESS, OF_A_FILE}
    page = (ROOT / "docs/trust.md").read_text()
    section = page.split("## All doubts\n")[1].split("\n## ")[0]
    table = re.findall(
        r"^\| `([a-z-]+)` \| .+ \| .+ \|$",
        section,
        re.MULTILINE,
    )
    assert table == sorted(made)


def test_an_answer_with_a_doubt_is_not_trusted():
    assert verdict_of(()) == "trust"
    assert verdict_of([Doubt("moon", "the moon is full")]) == "do not trust"
    assert str(Doubt("moon", "the moon is full", "wait")) == "the moon is full; wait"


@pytest.mark.parametrize(("p95", "codes"), [(1.09, []), (1.12, ["interval-too-wide"])])
def test_an_interval_is_doubted_from_its_bound_on(p95, codes):
    found = too_wide(Interval(2 - p95, 1.0, p95), "measure more")
    assert [one.code for one in found] == codes


def test_what_was_not_measured_is_doubted_above_a_tenth_and_may_be_half_or_twice():
    assert unmeasured(0.1, "{share} is unknown", "measure it") == ()
    (doubt,) = unmeasured(0.11, "{share} is unknown", "measure it")
    assert str(doubt).startswith("11% is unknown (at most 10% is trusted); measure it")
    whole = interval(whole_draws(0.2, np.random.default_rng(1)), 1.0)
    assert whole.p5 == pytest.approx(0.9, abs=0.003)
    assert whole.p95 == pytest.approx(1.2, abs=0.01)
