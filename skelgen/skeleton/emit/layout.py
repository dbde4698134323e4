"""Lay out C statements as clang-format does, so that nothing need be reformatted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.skeleton.emit.fragments import NO_USES, Uses, Word, parts

#: Widest line, and the width of a tab.
COLUMNS, TAB = 100, 8


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, or the begin or end of a block.

    Attributes
    ----------
    lines : tuple of str
        Its text, indented.
    comment : str
        What stands behind it if there is room.
    uses : frozenset of Use
    """

    lines: tuple[str, ...]
    comment: str = ""
    uses: Uses = NO_USES


def width(line: str) -> int:
    r"""Return the columns that a line takes.

    Examples
    --------
    >>> width("\tx;")
    10
    """
    tabs = len(line) - len(line.lstrip("\t"))
    return len(line) + tabs * (TAB - 1)


def call(
    depth: int,
    name: Word,
    arguments: Sequence[Word],
    tail: str = ");",
) -> Statement:
    r"""Write a call, its arguments filled into as few lines as possible.

    Examples
    --------
    >>> call(1, "f", ["a", "b"]).lines
    ('\tf(a, b);',)
    """
    (function, *texts), uses = parts([name, *arguments])
    start = "\t" * depth + function + "("
    column = width(start)
    tabs, spaces = divmod(column, TAB)
    margin = "\t" * tabs + " " * spaces
    lines, line, used = [], start, column
    for i, argument in enumerate(texts):
        last = i + 1 == len(texts)
        text = argument + (tail if last else ",")
        gap = 0 if used == column else 1
        if gap and used + gap + len(text) > COLUMNS:
            lines.append(line)
            line, used, gap = margin, column, 0
        line += " " * gap + text
        used += gap + len(text)
    return Statement((*lines, line if texts else start + tail), uses=uses)


def with_comments(statements: Sequence[Statement]) -> list[str]:
    """Join statements to lines, comments of neighbours in one column.

    A comment that would not fit is left out.
    """
    lines: list[str] = []
    i = 0
    while i < len(statements):
        run = _commented_run(statements, i)
        column = max((width(s.lines[-1]) for s in run), default=0) + 1
        for statement in run:
            *first, last = statement.lines
            pad = " " * (column - width(last))
            lines += [*first, f"{last}{pad}/* {statement.comment} */"]
        if not run:
            lines += statements[i].lines
        i += max(1, len(run))
    return lines


def _commented_run(statements: Sequence[Statement], begin: int) -> list[Statement]:
    """Return the statements from `begin` on whose comments share a column.

    The run ends where the column would make one of its comments too long; a
    statement that is too long by itself stays without.
    """
    run: list[Statement] = []
    column, last = 0, COLUMNS
    for at in range(begin, len(statements)):
        statement = statements[at]
        if not statement.comment or len(statement.lines) > 1:
            break
        column = max(column, width(statement.lines[-1]) + 1)
        last = min(last, COLUMNS - len(statement.comment) - len("/*  */"))
        if column > last:
            break
        run.append(statement)
    return run


def number(value: float, digits: int = 5) -> str:
    """Write a number shortly, without an exponent.

    Examples
    --------
    >>> number(18.40001), number(123456.0), number(0.05), number(2.0)
    ('18.4', '123460', '0.05', '2')
    """
    if value == 0 or not math.isfinite(value):
        return "0"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, places)
    text = f"{rounded:.{max(places, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def wrap(words: Sequence[str], depth: int) -> list[str]:
    """Fill comma-separated words into lines of a table.

    A word that is too long for a line is divided at its commas.
    """
    lines: list[str] = []
    line = ""
    room = COLUMNS - depth * TAB
    for word in words:
        for part in [word] if len(word) < room else word.split(", "):
            text = f"{line} {part}," if line else f"{part},"
            if len(text) > room:
                lines.append("\t" * depth + line)
                text = f"{part},"
            line = text
    return [*lines, "\t" * depth + line] if line else lines
