"""Which numbers a run may have: what lies beyond is a mistake, not a measurement."""

from __future__ import annotations

import math

from skelgen.documents import dates
from skelgen.documents.numbers import MOST_RANKS
from skelgen.store.rows import Run, RunPart

#: Times of a run or a part: from a picosecond to thirty years [s].
LEAST_TIME_S, MOST_TIME_S = 1e-12, 1e9
#: Starts: from 1970 to 2286 [s].
MOST_STARTED_S = dates.LATEST_S
#: Other numbers: their squares are finite too.
LARGEST_NUMBER = 1e150
#: Characters of a name or a word.
_LONGEST = 1000


class LimitError(ValueError):
    """A number or a word is none that a run can have; says what was read."""


def check_time(time_s: float) -> float:
    """Return a time, if a run can take it [s].

    Raises
    ------
    LimitError
    """
    if not LEAST_TIME_S <= time_s <= MOST_TIME_S:
        raise LimitError(
            f"read a time of {time_s:g} s, "
            f"expected {LEAST_TIME_S:g} to {MOST_TIME_S:g} s"
        )
    return time_s


def check_number(number: float) -> float:
    """Return a number, if it is one that can be computed with.

    Raises
    ------
    LimitError
    """
    if not abs(number) <= LARGEST_NUMBER:
        raise LimitError(
            f"read {number:g}, expected a number within +-{LARGEST_NUMBER:g}"
        )
    return number


def check_count(count: int) -> int:
    """Return a number of ranks or nodes, if there can be so many.

    Raises
    ------
    LimitError
    """
    if not 0 <= count <= MOST_RANKS:
        raise LimitError(f"read {count}, expected 0 to {MOST_RANKS}")
    return count


def check_word(text: str) -> str:
    """Return a name or a word, if it is not too long.

    Raises
    ------
    LimitError
    """
    if len(text) > _LONGEST:
        raise LimitError(f"read a word of {len(text)} characters, expected {_LONGEST}")
    if "\0" in text:
        raise LimitError("read a zero byte, expected text")
    return text


def check_name(text: str) -> str:
    """Return the name of an input, a load or a part, if it is one.

    Raises
    ------
    LimitError
    """
    if not text:
        raise LimitError("read an empty name, expected one such as n")
    return check_word(text)


def check_run(run: Run) -> Run:
    """Return a run, if all that it says can be.

    Raises
    ------
    LimitError
    """
    if not run.application:
        raise LimitError("read a run without an application; name it with --app")
    check_time(run.time_s)
    for count in (run.ranks, run.nodes, run.ranks_per_node):
        check_count(count)
    _check_started(run.started)
    named = (*run.inputs, *run.loads, *run.costs)
    for name, value in named:
        check_name(name)
        if isinstance(value, str):
            check_word(value)
        else:
            check_number(value)
    for text in (run.application, run.allocation, run.status, run.system, *run.hosts):
        check_word(text)
    check_word(run.author)
    for part in run.parts:
        _check_part(part)
    return run


def _check_started(started: float) -> None:
    if not math.isnan(started) and not 0 <= started <= MOST_STARTED_S:
        raise LimitError(
            f"read a start of {started:g} s, expected 0 to {MOST_STARTED_S:g} s since "
            "1970"
        )


def _check_part(part: RunPart) -> None:
    check_name(part.name)
    if not 0 <= part.time_s <= MOST_TIME_S:
        raise LimitError(
            f"read a part that takes {part.time_s:g} s, expected 0 to {MOST_TIME_S:g} s"
        )
    for number in (part.weight, part.share):
        if not 0 <= number <= LARGEST_NUMBER:
            raise LimitError(
                f"read {number:g} of a part, expected 0 to {LARGEST_NUMBER:g}"
            )
