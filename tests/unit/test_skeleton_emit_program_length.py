"""Long programs are told of, and too long ones are not written."""

from __future__ import annotations

import pytest

from skelgen.errors import InputError
from skelgen.signature import Signature
from skelgen.skeleton.emit.program_length import doubts_of_length
from skelgen.skeleton.thresholds import LINES_WARNED, MOST_LINES
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
