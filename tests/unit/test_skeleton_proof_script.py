"""Scripts, filled operation by operation, against a twin that adds row after row."""

from __future__ import annotations

import random
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from skelgen.skeleton.plan import Plan, plan
from skelgen.skeleton.proof.channels import Channels, FilledRows, MemberPlaces
from skelgen.skeleton.proof.script import script_of
from tests import builders
from tests.random_programs import random_program
from tests.skeletons import signature
from tests.twins import skeleton_proof_script as twin

GOLDEN = Path(__file__).parent.parent / "golden"
CASES = sorted(trace.parent.name for trace in GOLDEN.glob("*/trace.txt"))


def compare(made: Plan) -> None:
    given = made.programs, made.functions, made.symbols, made.signature.families
    one, other = script_of(*given), twin.script_of(*given)
    for name in (field.name for field in fields(one)):
        found, wanted = getattr(one, name), getattr(other, name)
        if isinstance(wanted, np.ndarray):
            assert found.dtype == wanted.dtype, name
            np.testing.assert_array_equal(found, wanted, name)
        else:
            assert found == wanted, name


@pytest.mark.parametrize("seed", range(16))
def test_scripts_of_random_programs_are_those_of_the_twin(seed: int) -> None:
    rng = random.Random(seed)
    events = random_program(rng, calls=rng.choice((40, 300)))
    compare(plan(signature(events), rng.choice((1.5, 3, 10))))


@pytest.mark.parametrize("case", CASES)
def test_scripts_of_golden_traces_are_those_of_the_twin(case: str) -> None:
    events = builders.events((GOLDEN / case / "trace.txt").read_text())
    compare(plan(signature(events), 4))


def test_a_script_without_programs_is_empty() -> None:
    made = plan(signature("ranks 2\nrank *\nrepeat 8 {\nBarrier\n}"), 2)
    given = (), made.functions, made.symbols, made.signature.families
    for found in (script_of(*given), twin.script_of(*given)):
        assert found.first.tolist() == [0]
        assert len(found.row) == len(found.kind) == len(found.send_channel) == 0


def test_rows_that_nobody_put_are_empty() -> None:
    rows = FilledRows(4)
    rows.put(np.array([3, 1]), np.array([[5, 6], [7, 8]]))
    first, values = rows.arrays()
    assert first.tolist() == [0, 0, 2, 2, 4]
    assert values.tolist() == [7, 8, 5, 6]


def test_channels_are_numbered_by_row_and_what_is_sent_first() -> None:
    made = plan(signature("ranks 3\nrank *\nrepeat 8 {\nBarrier\n}"), 2)
    places, channels = MemberPlaces(made.signature.families), Channels(3)
    ranks, right, left = np.arange(3), np.array([1]), np.array([2])
    channels.put(ranks, places.meet(0, ranks, left), 7, sends=False)
    channels.put(ranks, places.meet(0, ranks, right), 7, sends=True)
    first, send, receive, found = channels.numbered()
    assert first.tolist() == [0, 1, 2, 3]
    assert send.tolist() == [0, 2, 1]
    assert receive.tolist() == [1, 0, 2]
    assert found == ((0, 0, 1, 7), (0, 2, 0, 7), (0, 1, 2, 7))
