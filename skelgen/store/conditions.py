"""Conditions on runs, such as ``n>=1000``."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skelgen.errors import UsageError
from skelgen.store.values import as_text

#: Fields of a run that are numbers and words.
_NUMBERS = ("ranks", "nodes", "ranks_per_node", "time_s", "started")
_WORDS = (
    *("status", "system", "executable", "allocation", "mpi", "source", "identity"),
)
#: Each of the hosts of a run.
_HOST = "host"
#: What fields are called for short.
_SHORT = {"time": "time_s", "id": "identity"}
OPERATORS = ("<=", ">=", "!=", "<", ">", "=")
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"\s*([^<>=!]+?)\s*=\s*({_NUMBER})?\s*:\s*({_NUMBER})?\s*")
_TEXT = re.compile(r"\s*(.+?)\s*(<=|>=|!=|<|>|==?)\s*(.*?)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Condition:
    """What a run must have.

    Attributes
    ----------
    name : str
        A field of `skelgen.store.Run` that is a number or a word, ``host``, or an
        input, a load or a cost. ``input.ranks`` is the input of that name.
    operator : str
        One of `OPERATORS`.
    value : float or str
    """

    name: str
    operator: str
    value: float | str


def condition(text: str) -> Condition:
    """Read a condition.

    Raises
    ------
    UsageError
        When it is none.

    Examples
    --------
    >>> condition("n >= 1000")
    Condition(name='n', operator='>=', value=1000.0)
    """
    match = _TEXT.fullmatch(text)
    if match is None or not match[3]:
        raise UsageError(
            f"read the condition {text[:60]!r}, expected a name, one of "
            f"{' '.join(OPERATORS)} and a value, such as n>=1000"
        )
    operator = "=" if match[2] == "==" else match[2]
    name, value = _SHORT.get(match[1], match[1]), _value(match[3])
    if name in (*_WORDS, _HOST):  # an id such as 12e4 is no number
        value = match[3]
    if isinstance(value, str) and operator not in ("=", "!="):
        what = "= or !=" if name in (*_WORDS, _HOST) else f"a number after {operator}"
        raise UsageError(f"read the condition {text[:60]!r}, expected {what}")
    return Condition(name, operator, value)


def conditions_of(text: str) -> list[Condition]:
    """Read a condition or a range of numbers, whose ends both belong to it.

    Either end may be left out. ``==`` asks for a word that looks like a range.

    Raises
    ------
    UsageError
        When it is neither.

    Examples
    --------
    >>> [f"{one.operator}{one.value:g}" for one in conditions_of("n=1000:2e3")]
    ['>=1000', '<=2000']
    >>> conditions_of("n=:2000")
    [Condition(name='n', operator='<=', value=2000.0)]
    """
    match = _RANGE.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        return [condition(text)]
    ends = [(">=", match[2]), ("<=", match[3])]
    found = [condition(f"{match[1]}{operator}{end}") for operator, end in ends if end]
    if len(found) > 1 and found[0].value > found[1].value:  # type: ignore[operator]
        raise UsageError(
            f"read the range {text[:60]!r}, expected the smaller end first"
        )
    return found


def _value(text: str) -> float | str:
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def clause(
    application: str | None, conditions: Sequence[Condition]
) -> tuple[str, list[Any]]:
    """Return what a run must have as SQL about the table of runs, and its parameters.

    Raises
    ------
    UsageError
        When a condition compares a number with a word.
    """
    parts: list[str] = []
    parameters: list[Any] = []
    if application is not None:
        parts.append("application = ?")
        parameters.append(as_text(application))
    for one in conditions:
        if one.operator not in OPERATORS:
            raise UsageError(f"read {one.operator!r}, expected {' '.join(OPERATORS)}")
        sql, values = _clause(one)
        parts.append(sql)
        parameters += values
    return ("WHERE " + " AND ".join(parts) if parts else ""), parameters


def _clause(one: Condition) -> tuple[str, list[Any]]:
    if one.name in _NUMBERS:
        if isinstance(one.value, str):
            raise UsageError(
                f"read {one.name}{one.operator}{one.value[:60]}, expected a number"
            )
        return f"{one.name} {one.operator} ?", [one.value]
    if one.name in _WORDS:
        return f"{one.name} {one.operator} ?", [_word(one.value)]
    if one.name == _HOST:
        # JSON writes a quote within a name as an escape: these begin and end one.
        named = f'%"{_pattern(_word(one.value))}"%'
        no = "NOT " if one.operator == "!=" else ""
        return f"hosts {no}LIKE ? ESCAPE '!'", [named]
    kind, dot, name = one.name.partition(".")
    if not (dot and kind in ("input", "load", "cost")):
        kind, name = "", one.name
    column = "word" if isinstance(one.value, str) else "number"
    value = as_text(one.value) if isinstance(one.value, str) else one.value
    return (
        "EXISTS (SELECT 1 FROM run_values WHERE run = runs.identity AND name = ? "
        f"AND (kind = ? OR ? = '') AND {column} {one.operator} ?)",
        [as_text(name), kind, kind, value],
    )


def _word(value: float | str) -> str:
    if isinstance(value, str):
        return as_text(value)
    return str(int(value)) if value.is_integer() else str(value)


def _pattern(word: str) -> str:
    return re.sub(r"([!%_])", r"!\1", word)
