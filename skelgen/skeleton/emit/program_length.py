"""Judge how long a skeleton's text is: a compiler pays for every line of code."""

from __future__ import annotations

import re

from skelgen.errors import InputError
from skelgen.signature import Signature
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
    items = sum(len(group.nest) for group in signature.groups)
    found = f"skeleton.c has {lines} lines, for the signature has {items}"
    if lines > MOST_LINES:
        raise InputError(
            f"{found} items: the calls follow no pattern; expected at most "
            f"{MOST_LINES} lines: {_ADVICE}, or predict from the phases with skelgen "
            "phases"
        )
    code = lines - len(_NUMBERS.findall(program))
    if code <= LINES_WARNED:
        return ()
    cost_s = code * COMPILED_S_PER_LINE
    memory = format_bytes(code * COMPILED_KIB_PER_LINE * _KIB)
    return (
        f"{found} items: compiling it takes up to {format_seconds(cost_s)} and "
        f"{memory} of memory; {_ADVICE}",
    )
