"""What runs say of an input where not all of them say a number."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from skelgen.errors import InputError
from skelgen.store import Run
from skelgen.trust import Doubt
from skelgen.units import number_of

#: Loads of which some runs know nothing are usual, and their lack is only noted.
_LOADS = re.compile(r"(cpu|bandwidth)(_start)?")

#: An input that fewer of the runs have is thought to be none [1].
_MOST = 0.5

#: A number with a unit.
_is_amount = re.compile(r"[-+]?[0-9.]+([eE][-+]?[0-9]+)?\s*[^\W\d]+").fullmatch


def place_of(run: Run, number: int) -> str:
    """Return how messages call a run: the line of its file, or its id."""
    if re.search(r" line [0-9]+$", run.source):
        return run.source
    return f"run {run.identity or number}"


def check_numbers(
    source: str, name: str, values: Sequence[float | str], places: Sequence[str]
) -> None:
    """Refuse words in an input.

    Parameters
    ----------
    source, name : str
        Of the runs, and of the input.
    values : sequence of float or str
        What each run says.
    places : sequence of str
        What each run is called.

    Raises
    ------
    InputError
        Which says what to do: mend a cell among numbers, or choose one of the words.
    """
    words = [i for i, one in enumerate(values) if isinstance(one, str)]
    if not words:
        return
    first = str(values[words[0]])
    if 2 * len(words) < len(values) or all(_is_amount(str(values[i])) for i in words):
        what = "without its unit, all in one unit" if _is_amount(first) else "there"
        raise InputError(
            f"{places[words[0]]}: {name} is {first[:60]!r}, expected a number as in "
            f"other runs; write the number {what}, or leave the column out (--inputs)"
        )
    shown = sorted({one if isinstance(one, str) else f"{one:g}" for one in values})
    raise InputError(
        f"{source}: {name} is {', '.join(one[:60] for one in shown[:4])}; a model "
        f"takes numbers, choose one with --where {name}={first[:60]}"
    )


def partly_known(
    rows: Sequence[Mapping[str, float | str]], places: Sequence[str]
) -> tuple[tuple[Doubt, ...], tuple[str, ...]]:
    """Return what to say of numbers that only some runs have, and that vary there.

    Most runs have it: its lack is a mistake, and the model is doubted. Few have it, or
    it is a load: a note.
    """
    doubts, notes = [], []
    for name in dict.fromkeys(name for row in rows for name in row):
        known = [row[name] for row in rows if name in row]
        lacking = [i for i, row in enumerate(rows) if name not in row]
        numbers = not any(isinstance(one, str) for one in known)
        if not lacking or not numbers or len(set(known)) < 2:
            continue
        told = f"{name} is no input: it is missing or 0 in {len(lacking)} of "
        told += f"{number_of(len(rows), 'run')}, such as {places[lacking[0]]}"
        remedy = f"give it there, or leave these out with --where '{name}>0'"
        if len(known) >= _MOST * len(rows) and not _LOADS.fullmatch(name):
            doubts.append(Doubt("partly-known", told, remedy, name))
        else:
            notes.append(f"{told}; {remedy}")
    return tuple(doubts), tuple(notes)
