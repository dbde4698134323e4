"""Let partners repeat their turns until they are told that there are no more.

A master's workers do as many tasks as they get to. Where all turns of a partner in a
stretch follow each other, with nothing but computation between them, they become a
loop without a trip count: the answer says whether to come again. As many turns are
taken in a stretch as before, and every partner's loop ends in it, so each goes on to
what it did next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen.loops import Nest, expand, fold, positions, trip_rows
from skelgen.loops.parts import run_lengths
from skelgen.skeleton.proof.script import Script
from skelgen.skeleton.task_farm.merged_calls import merged
from skelgen.skeleton.task_farm.turns import Turns
from skelgen.skeleton.types import Operation, Program, Turn


@dataclass(frozen=True, slots=True)
class TellingCall:
    """The call of a turn that tells the partner whether to come again.

    Attributes
    ----------
    call : int
        Its place in the turn.
    room_bytes : int
        Least size that it gets at both ends; 0 when it is long enough [bytes].
    """

    call: int
    room_bytes: int


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Turns of a partner that follow each other.

    Attributes
    ----------
    begin : (n,) int64 array
        First call of each run, a place in the partner's string.
    turns : (n,) int64 array
        Turns of each run.
    calls : int
        Of a turn.
    answer : TellingCall
        The call of a turn that hears whether to come again.
    """

    begin: NDArray[np.int64]
    turns: NDArray[np.int64]
    calls: int
    answer: TellingCall

    @property
    def step(self) -> NDArray[np.int64]:
        """Return the calls of each turn, (turns, calls)."""
        before = np.repeat(np.cumsum(self.turns) - self.turns, self.turns)
        turn = np.arange(int(self.turns.sum())) - before
        first = np.repeat(self.begin, self.turns) + turn * self.calls
        return np.asarray(first[:, None] + np.arange(self.calls))


def runs_of(
    script: Script,
    mate: NDArray[np.int64],
    turns: Turns,
    rank: int,
    answer: TellingCall,
) -> dict[int, Runs] | None:
    """Find the runs of all partners of a rank that serves them.

    Parameters
    ----------
    script : Script
    mate : (steps,) int64 array
        Its `mates`.
    turns : Turns
    rank : int
        Who serves.
    answer : TellingCall

    Returns
    -------
    dict of int to Runs, or None
        By world rank; None when a partner does something else between its turns.
    """
    ends = mate[script.first[rank] + turns.step]
    owner = np.searchsorted(script.first, ends[:, 0], side="right") - 1
    found = {}
    for partner in np.unique(owner).tolist():
        own = owner == partner
        first, stretch = ends[own, 0], turns.stretch[own]
        calls = ends.shape[1]
        new = np.append(True, stretch[1:] != stretch[:-1])
        if (np.diff(first)[~new[1:]] != calls).any():
            return None
        begins = np.flatnonzero(new)
        lengths = np.diff(np.append(begins, len(first)))
        begin = first[begins] - script.first[partner]
        found[partner] = Runs(begin, lengths, calls, answer)
    return found


def told(program: Program, runs: Mapping[int, Runs]) -> list[Program]:
    """Return a program with loops that end when a partner is told so.

    Parameters
    ----------
    program : Program
    runs : mapping of int to Runs
        By world rank; of any ranks.

    Returns
    -------
    list of Program
        One, or one for each rank if they are told at different places.
    """
    own = [runs.get(rank) for rank in program.ranks]
    if all(_equal(one, other) for one, other in pairwise(own)):
        return [_told(program, own[0])]
    alone = [alone(program, position) for position in range(len(own))]
    return [_told(one, its) for one, its in zip(alone, own, strict=True)]


def _equal(one: Runs | None, other: Runs | None) -> bool:
    if one is None or other is None:
        return one is other
    same = (one.calls, one.answer) == (other.calls, other.answer)
    same = same and np.array_equal(one.begin, other.begin)
    return same and np.array_equal(one.turns, other.turns)


def alone(program: Program, position: int) -> Program:
    """Return the program of one of its ranks.

    Parameters
    ----------
    program : Program
    position : int
        Of the rank among those of the program.
    """
    row = slice(position, position + 1)

    def own(operation: Operation) -> Operation:
        return replace(
            operation,
            compute_ns=operation.compute_ns.of(row),
            idle_ns=operation.idle_ns.of(row),
            size_bytes=operation.size_bytes.of(row),
            receive_bytes=operation.receive_bytes[row],
            vectors=operation.vectors[row],
        )

    return replace(
        program,
        ranks=program.ranks[row],
        operations=tuple(map(own, program.operations)),
        tail_ns=program.tail_ns[row],
        head_ns=program.head_ns[row],
        tail_idle_ns=program.tail_idle_ns[row],
    )


def _told(program: Program, runs: Runs | None) -> Program:
    if runs is None:
        return program
    kinds = [Turn.ASKS] * runs.calls
    kinds[runs.answer.call] = Turn.HEARS
    room_bytes = runs.answer.room_bytes
    string, operations = merged(program, runs.step, kinds, room_bytes=room_bytes)
    keep = string >= runs.calls
    keep[runs.begin] = True  # the first call stands for the run
    nest = _with_loops(fold(string[keep]), runs)
    return replace(program, nest=nest, operations=operations)


def _with_loops(nest: Nest, runs: Runs) -> Nest:
    """Return a nest with a loop in place of each leaf that stands for a run."""
    leaf = positions(nest)[expand(nest) == 0]
    items = np.flatnonzero(nest.body_items == 0)[leaf]
    stand_before = np.cumsum(np.append(0, nest.symbol == 0))
    ends = np.arange(len(nest)) + 1 + nest.body_items
    body_items, symbol, trips, first = [], [], [], [0]
    for item in range(len(nest)):
        stands = nest.symbol[item] == 0
        inside = int(stand_before[ends[item]] - stand_before[item + 1])
        body_items.append(int(nest.body_items[item]) + inside * runs.calls)
        symbol.append(-1 if stands else int(nest.symbol[item]))
        trips.append(trip_rows(nest, item))
        if stands:
            body_items[-1] = runs.calls
            trips[-1] = run_lengths(runs.turns[items == item])
        first.append(first[-1] + len(trips[-1]))
        if stands:
            body_items += [0] * runs.calls
            symbol += range(runs.calls)
            first += [first[-1]] * runs.calls
    return Nest(
        np.array(body_items, np.int32),
        np.array(symbol, np.int32),
        np.array(first, np.int64),
        np.concatenate(trips).astype(np.int64).reshape(-1, 2),
    )
