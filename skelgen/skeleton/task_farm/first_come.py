"""Let programs serve whoever comes first: one call in place of one for each partner."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind
from skelgen.events.types import HOLES
from skelgen.loops import fold
from skelgen.signature import CommunicatorFamily
from skelgen.skeleton.proof.script import Script, script_of
from skelgen.skeleton.quantities.symbols import PlanSymbols
from skelgen.skeleton.task_farm.joined_receives import (
    JoinedReceives,
    as_recorded,
    joined,
)
from skelgen.skeleton.task_farm.merged_calls import merged
from skelgen.skeleton.task_farm.plain_calls import plain_programs
from skelgen.skeleton.task_farm.receive_capacities import make_room, owners_of
from skelgen.skeleton.task_farm.turn_tags import with_one_tag
from skelgen.skeleton.task_farm.turns import Turns, harmless, turns_in
from skelgen.skeleton.task_farm.visits import FarmPrograms
from skelgen.skeleton.task_farm.worker_loops import Runs, TellingCall, runs_of, told
from skelgen.skeleton.types import Operation, Program, Serving, Turn

#: Longest table of turns: beyond it the recorded order stays.
_LONGEST_TABLE = 100_000
#: What an answer needs to say how far all are, and whether to come again [bytes].
ANSWER_BYTES = 2
#: Elements up to this size make room for it where an answer is empty [bytes].
_LARGEST_UNIT = 64


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of a turn: what its ranks and, for each rank, its partners execute."""

    sends: bool
    own: tuple[Operation, ...]
    partners: tuple[tuple[Operation, ...], ...]


def served(
    programs: Sequence[Program],
    symbols: PlanSymbols,
    families: Sequence[CommunicatorFamily],
    ranks: Collection[int],
) -> FarmPrograms:
    """Return the programs with turns in the order in which partners come.

    Parameters
    ----------
    programs : sequence of Program
        Proved to finish.
    symbols : PlanSymbols
    families : sequence of CommunicatorFamily
    ranks : collection of int
        Who may serve others in another order than was recorded.

    Returns
    -------
    FarmPrograms
        No programs when nobody serves others.
    """
    nobody = FarmPrograms((), symbols)
    if not ranks:
        return nobody
    together, free = turns_of(programs, symbols, families, ranks)
    found, script, mate = list(together.programs), together.script, together.mate
    owners = owners_of(together.programs)
    runs: dict[int, Runs] = {}
    kept: list[tuple[Turns, Serving, TellingCall | None]] = []
    for turns in free:
        used = _used(together.programs, owners, script, mate, turns)
        answer = _answer(used, together.symbols)
        own = _runs(script, mate, turns, found[turns.program].ranks, answer)
        shared = own is not None and not own.keys() & runs.keys()
        serving = _serving(turns, shared=shared)
        if serving.due.size <= _LONGEST_TABLE:
            kept.append((turns, serving, answer if shared else None))
            runs |= own if shared and own is not None else {}
    for turns, serving, answer in kept:
        found[turns.program] = _served(found[turns.program], turns, serving, answer)
    if not kept:
        return nobody
    every = tuple(one for program in found for one in told(program, runs))
    return FarmPrograms(every, together.symbols)


def turns_of(
    programs: Sequence[Program],
    symbols: PlanSymbols,
    families: Sequence[CommunicatorFamily],
    ranks: Collection[int],
) -> tuple[JoinedReceives, list[Turns]]:
    """Return programs, and turns in them that may change places.

    Parameters
    ----------
    programs : sequence of Program
        Proved to finish.
    symbols : PlanSymbols
    families : sequence of CommunicatorFamily
    ranks : collection of int
        Who may serve others in another order than was recorded.

    Returns
    -------
    programs : JoinedReceives
        Partners have room for the longest answer of any turn, whoever it was for.
    turns : list of Turns
    """
    plain = plain_programs(programs, symbols, families, ranks)
    recorded = as_recorded(plain.programs, plain.symbols, families)
    together = joined(recorded, families, ranks)
    found = _free_turns(together, families, ranks)
    if not found[1] and together is not recorded:
        found = _free_turns(recorded, families, ranks)
    return found


def _free_turns(
    whole: JoinedReceives,
    families: Sequence[CommunicatorFamily],
    ranks: Collection[int],
) -> tuple[JoinedReceives, list[Turns]]:
    """Return programs with room for any answer, and turns that may change places."""
    whole = with_one_tag(whole, families, ranks)
    symbols = whole.symbols
    possible = turns_in(whole.programs, symbols, ranks, whole.goes_on)
    if not possible:
        return whole, []
    roomy, owners = list(whole.programs), owners_of(whole.programs)
    for turns in possible:
        for rank in whole.programs[turns.program].ranks:
            for step in whole.script.first[rank] + turns.step.T:
                make_room(roomy, owners, whole.script, whole.mate, step)
    script = script_of(roomy, symbols.functions, symbols.table, families)
    whole = replace(whole, programs=tuple(roomy), script=script)
    return whole, harmless(possible, roomy, script, whole.mate)


def _used(
    programs: Sequence[Program],
    owners: Sequence[tuple[int, int, int]],
    script: Script,
    mate: NDArray[np.int64],
    turns: Turns,
) -> list[_Call]:
    """Return the calls of a turn, with what stands for them in the programs."""
    ranks = programs[turns.program].ranks

    def at(steps: NDArray[np.int64]) -> tuple[Operation, ...]:
        rows = np.unique(script.row[steps]).tolist()
        return tuple(
            programs[n].operations[at] for n, _, at in map(owners.__getitem__, rows)
        )

    calls = []
    for step in turns.step.T:
        own = np.array([script.first[rank] + step for rank in ranks])
        sends = bool(script.kind[script.row[own[0, 0]]] == CallKind.SEND)
        calls.append(_Call(sends, at(own), tuple(at(mate[one]) for one in own)))
    return calls


def _answer(used: Sequence[_Call], symbols: PlanSymbols) -> TellingCall | None:
    """Return the call of a turn that can tell the partner whether to come again.

    The last one that has room for it, else the last one, which gets room.
    """
    if not _alike(used, symbols):
        return None
    room = {
        number: _room_bytes(call, symbols)
        for number, call in enumerate(used)
        if call.sends
    }
    found = [
        TellingCall(number, one) for number, one in room.items() if one is not None
    ]
    large = [one for one in found if not one.room_bytes]
    return (large or found)[-1] if found else None


def _room_bytes(call: _Call, symbols: PlanSymbols) -> int | None:
    """Return the bytes that a call must have at both ends, 0 when it has enough.

    None when its bytes lie apart from each other, or have no common unit.
    """
    ends = (*call.own, *chain(*call.partners))
    rows = [symbols.table[operation.symbol] for operation in ends]
    # What is split may have its first bytes apart from each other.
    if any(
        int(row["flags"]) & HOLES and int(row["datatype_bytes"]) % 2 for row in rows
    ):
        return None
    if all(one.size_bytes.values.min() >= ANSWER_BYTES for one in ends):
        return 0
    unit = math.lcm(*(max(1, int(row["datatype_bytes"])) for row in rows))
    return unit * -(-ANSWER_BYTES // unit) if unit <= _LARGEST_UNIT else None


def _alike(used: Sequence[_Call], symbols: PlanSymbols) -> bool:
    """Say whether partners of a rank use one datatype at each place of their turns."""

    def types(operations: Sequence[Operation]) -> set[tuple[bool, int]]:
        rows = [symbols.table[one.symbol] for one in operations]
        return {
            (bool(int(row["flags"]) & HOLES), int(row["datatype_bytes"]))
            for row in rows
        }

    return all(len(types(one)) <= 1 for call in used for one in call.partners)


def _runs(
    script: Script,
    mate: NDArray[np.int64],
    turns: Turns,
    ranks: Sequence[int],
    answer: TellingCall | None,
) -> dict[int, Runs] | None:
    """Return the runs of all partners of some ranks; None when there are none."""
    found: dict[int, Runs] = {}
    for rank in ranks if answer is not None else ():
        assert answer is not None
        own = runs_of(script, mate, turns, rank, answer)
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
    program: Program, turns: Turns, serving: Serving, answer: TellingCall | None
) -> Program:
    """Return a program with one operation for each call of a turn."""
    calls = turns.step.shape[1]
    kinds = [Turn.OPENS, *[Turn.GOES_ON] * (calls - 1)]
    room_bytes = 0
    if answer is not None:
        kinds[answer.call], room_bytes = Turn.ANSWERS, answer.room_bytes
    string, operations = merged(program, turns.step, kinds, serving, room_bytes)
    return replace(program, nest=fold(string), operations=operations)
