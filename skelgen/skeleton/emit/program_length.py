"""Judge how long a skeleton's text is: a compiler pays for every line of code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skelgen.errors import InputError
from skelgen.signature import Signature
from skelgen.skeleton.share.routines import Routine
from skelgen.skeleton.thresholds import (
    COMPILED_KIB_PER_LINE,
    COMPILED_S_PER_LINE,
    LINES_WARNED,
    MOST_LINES,
)
from skelgen.units import format_bytes, format_seconds

_KIB = 1024
#: A line of a table: numbers, which cost a compiler next to nothing.
_NUMBERS = re.compile(r"^\t+[{\d-]", re.MULTILINE)
_ADVICE = (
    "take a larger K, or let sizes that differ more be alike with "
    "--similarity-threshold"
)


def doubts_of_length(program: str, signature: Signature) -> tuple[str, ...]:
    """Say what a long program costs; refuse one that is too long.

    Parameters
    ----------
    program : str
        Text of ``skeleton.c``.
    signature : Signature
        What it was built from.

    Returns
    -------
    tuple of str
        One sentence, or none.

    Raises
    ------
    InputError
        When it has more than `MOST_LINES` lines.
    """
    lines = program.count("\n")
    if lines > MOST_LINES:
        raise _too_long(f"has {lines}", signature)
    code = lines - len(_NUMBERS.findall(program))
    if code <= LINES_WARNED:
        return ()
    cost_s = code * COMPILED_S_PER_LINE
    memory = format_bytes(code * COMPILED_KIB_PER_LINE * _KIB)
    return (
        f"{_found(f'has {lines}', signature)}: compiling it takes up to "
        f"{format_seconds(cost_s)} and {memory} of memory; {_ADVICE}",
    )


def check_steps(routines: Sequence[Routine], signature: Signature) -> None:
    """Refuse a program whose calls alone are too long, before it is written.

    Each step is a call; in a list of steps it has a label and a break as well.

    Parameters
    ----------
    routines : sequence of Routine
    signature : Signature
        What they were planned from.

    Raises
    ------
    InputError
        When they have more than `MOST_LINES` lines.
    """
    lines = sum((3 if one.in_turn else 1) * len(one.steps) for one in routines)
    if lines > MOST_LINES:
        raise _too_long(f"would have more than {lines}", signature)


def _found(lines: str, signature: Signature) -> str:
    items = sum(len(group.nest) for group in signature.groups)
    return f"skeleton.c {lines} lines, for the signature has {items} items"


def _too_long(lines: str, signature: Signature) -> InputError:
    return InputError(
        f"{_found(lines, signature)}: the calls follow no pattern; expected at most "
        f"{MOST_LINES} lines: {_ADVICE}, or predict from the phases with skelgen phases"
    )
