"""Long programs are told of, and too long ones are not written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from skelgen.errors import InputError
from skelgen.loops import Nest
from skelgen.signature import Signature
from skelgen.skeleton.emit.program_length import check_steps, doubts_of_length
from skelgen.skeleton.plan import plan
from skelgen.skeleton.share.routines import routines
from skelgen.skeleton.thresholds import LINES_WARNED, MOST_LINES, MOST_PROGRAM_ITEMS
from tests.builders import events
from tests.summaries import build


def signature() -> Signature:
    """Return one of two items: both ranks do the same."""
    return build(events("ranks 2\nrank *\n  Barrier\n  Allreduce bytes=8")).signature


def test_usual_programs_are_not_worth_a_word() -> None:
    assert doubts_of_length("\n" * LINES_WARNED, signature()) == ()


def test_a_long_program_says_how_long_it_is_and_what_compiling_it_costs() -> None:
    (doubt,) = doubts_of_length("\n" * (LINES_WARNED + 1), signature())
    assert f"{LINES_WARNED + 1} lines" in doubt
    assert "2 items" in doubt
    assert "compiling it takes up to 13.5 s and 171 MiB of memory" in doubt
    assert "\n" not in doubt


def test_tables_cost_nothing_but_count() -> None:
    table = "\t{0, 1}, {-2, 3},\n\t0.5, 2,\n\t-1,\n\t\t7,\n"
    rows = table * (LINES_WARNED // 4)
    assert doubts_of_length(rows + "\n" * LINES_WARNED, signature()) == ()
    (doubt,) = doubts_of_length(rows + "\n" * (LINES_WARNED + 1), signature())
    assert f"{2 * LINES_WARNED + 1} lines" in doubt
    assert "up to 13.5 s" in doubt
    with pytest.raises(InputError, match=f"{MOST_LINES + 4} lines"):
        doubts_of_length(table * (MOST_LINES // 4 + 1), signature())


def test_the_longest_program_that_is_written_is_only_told_of() -> None:
    assert len(doubts_of_length("\n" * MOST_LINES, signature())) == 1


def test_a_longer_program_is_refused_in_one_line_that_says_what_to_do() -> None:
    with pytest.raises(InputError) as refused:
        doubts_of_length("\n" * (MOST_LINES + 1), signature())
    said = str(refused.value)
    assert "\n" not in said
    for words in (
        f"{MOST_LINES + 1} lines",
        "2 items",
        f"at most {MOST_LINES} lines",
        "larger K",
        "--similarity-threshold",
        "skelgen phases",
    ):
        assert words in said


def test_far_too_many_calls_are_refused_before_they_are_written() -> None:
    known = signature()
    (routine,) = routines(plan(known, 1.5))
    leaves = np.zeros(MOST_PROGRAM_ITEMS + 1, np.int32)
    nest = Nest(
        leaves, leaves, np.zeros(len(leaves) + 1, np.int64), np.zeros((0, 2), np.int64)
    )
    listed = replace(routine, nests=(nest,))
    assert listed.in_turn
    for one, most in ((routine, MOST_LINES), (listed, MOST_LINES // 3)):
        step = one.steps[0]
        check_steps([replace(one, steps=(step,) * most)], known)
        with pytest.raises(InputError, match=r"would have more than 2000\d lines"):
            check_steps([replace(one, steps=(step,) * (most + 1))], known)
