"""Let programs serve whoever comes first: one call in place of one for each partner."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events import Kind
from skelgen.events.types import HOLES
from skelgen.loops import fold
from skelgen.signature import Family
from skelgen.skeleton.mend import Symbols
from skelgen.skeleton.script import Script, script_of
from skelgen.skeleton.serving import Turns, harmless, turns_in
from skelgen.skeleton.serving_joins import Joined, joined
from skelgen.skeleton.serving_room import make_room, owners_of
from skelgen.skeleton.serving_runs import Runs, runs_of, told
from skelgen.skeleton.serving_values import merged
from skelgen.skeleton.types import Program, Serving, Turn

#: Longest table of turns: beyond it the recorded order stays.
_LONGEST_TABLE = 100_000
#: What an answer needs to say how far all are, and whether to come again [bytes].
_ANSWER_BYTES = 2


def served(
    programs: Sequence[Program],
    symbols: Symbols,
    families: Sequence[Family],
    ranks: Collection[int],
) -> tuple[Program, ...]:
    """Return the programs with turns in the order in which partners come.

    Parameters
    ----------
    programs : sequence of Program
        Proved to finish.
    symbols : Symbols
    families : sequence of Family
    ranks : collection of int
        Who may serve others in another order than was recorded.

    Returns
    -------
    tuple of Program
        Empty when nobody serves others.
    """
    if not ranks:
        return ()
    together, free = turns_of(programs, symbols, families, ranks)
    programs, script, mate = together.programs, together.script, together.mate
    found = list(programs)
    runs: dict[int, Runs] = {}
    kept: list[tuple[Turns, Serving, int | None]] = []
    for turns in free:
        answer = _answer(programs, script, mate, turns, symbols)
        if not _alike(programs, script, mate, turns, symbols):
            answer = None
        own = _runs(script, mate, turns, programs[turns.program].ranks, answer)
        shared = own is not None and not own.keys() & runs.keys()
        serving = _serving(turns, shared=shared)
        if serving.due.size <= _LONGEST_TABLE:
            kept.append((turns, serving, answer if shared else None))
            runs |= own if shared and own is not None else {}
    for turns, serving, answer in kept:
        found[turns.program] = _served(found[turns.program], turns, serving, answer)
    if not kept:
        return ()
    return tuple(one for program in found for one in told(program, runs))


def turns_of(
    programs: Sequence[Program],
    symbols: Symbols,
    families: Sequence[Family],
    ranks: Collection[int],
) -> tuple[Joined, list[Turns]]:
    """Return programs, and turns in them that may change places.

    Parameters
    ----------
    programs : sequence of Program
        Proved to finish.
    symbols : Symbols
    families : sequence of Family
    ranks : collection of int
        Who may serve others in another order than was recorded.

    Returns
    -------
    programs : Joined
        Partners have room for the longest answer of any turn, whoever it was for.
    turns : list of Turns
    """
    whole = joined(programs, symbols, families, ranks)
    possible = [
        turns
        for turns in turns_in(whole.programs, symbols, whole.goes_on)
        if {*whole.programs[turns.program].ranks} <= {*ranks}
    ]
    roomy = list(whole.programs)
    for turns in possible:
        for rank in whole.programs[turns.program].ranks:
            for step in whole.script.first[rank] + turns.step.T:
                make_room(roomy, whole.programs, whole.script, whole.mate, step)
    script = script_of(roomy, symbols.functions, symbols.table, families)
    whole = replace(whole, programs=tuple(roomy), script=script)
    return whole, harmless(possible, roomy, script, whole.mate)


def _answer(
    programs: Sequence[Program],
    script: Script,
    mate: NDArray[np.int64],
    turns: Turns,
    symbols: Symbols,
) -> int | None:
    """Return the call of a turn that can tell the partner whether to come again."""
    owners, step = owners_of(programs), turns.step
    begin = script.first[programs[turns.program].ranks[0]]
    sends = np.flatnonzero(script.kind[script.row[begin + step[0]]] == Kind.SEND)
    if not len(sends):
        return None
    for rank in programs[turns.program].ranks:
        own = script.first[rank] + step[:, sends[-1]]
        for row in np.unique(script.row[np.append(own, mate[own])]).tolist():
            number, _, at = owners[row]
            operation = programs[number].operations[at]
            symbol = symbols.table[operation.symbol]
            # What is split may have its first bytes apart from each other.
            split = int(symbol["flags"]) & HOLES and int(symbol["datatype_bytes"]) % 2
            if split or operation.size_bytes.values.min() < _ANSWER_BYTES:
                return None
    return int(sends[-1])


def _alike(
    programs: Sequence[Program],
    script: Script,
    mate: NDArray[np.int64],
    turns: Turns,
    symbols: Symbols,
) -> bool:
    """Say whether partners use one datatype at each place of their turns."""
    owners = owners_of(programs)
    for rank in programs[turns.program].ranks:
        for step in script.first[rank] + turns.step.T:
            used = set()
            for row in np.unique(script.row[mate[step]]).tolist():
                number, _, at = owners[row]
                symbol = symbols.table[programs[number].operations[at].symbol]
                holes = bool(int(symbol["flags"]) & HOLES)
                used.add((holes, int(symbol["datatype_bytes"])))
            if len(used) > 1:
                return False
    return True


def _runs(
    script: Script,
    mate: NDArray[np.int64],
    turns: Turns,
    ranks: Sequence[int],
    answer: int | None,
) -> dict[int, Runs] | None:
    """Return the runs of all partners of some ranks; None when there are none."""
    found: dict[int, Runs] = {}
    for rank in ranks if answer is not None else ():
        own = runs_of(script, mate, turns, rank, answer or 0)
        if own is None or own.keys() & found.keys():
            return None
        found |= own
    return found or None


def _serving(turns: Turns, *, shared: bool) -> Serving:
    shifts, place = np.unique(turns.peer, return_inverse=True)
    _, stretch = np.unique(turns.stretch, return_inverse=True)
    often = np.zeros((int(stretch.max()) + 1, len(shifts)), np.int64)
    np.add.at(often, (stretch, place), 1)
    new = np.append(True, (often[1:] != often[:-1]).any(axis=1))
    begins = np.flatnonzero(new)
    in_a_row = np.diff(np.append(begins, len(often)))
    return Serving(shifts, np.column_stack([in_a_row, often[begins]]), shared)


def _served(
    program: Program, turns: Turns, serving: Serving, answer: int | None
) -> Program:
    """Return a program with one operation for each call of a turn."""
    calls = turns.step.shape[1]
    kinds = [Turn.ANSWERS if i == answer else Turn.GOES_ON for i in range(calls)]
    kinds[0] = Turn.OPENS
    string, operations = merged(program, turns.step, kinds, serving)
    return replace(program, nest=fold(string), operations=operations)
