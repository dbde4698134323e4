"""Give programs the same loops where their calls are the same in the same order.

Ranks of one application usually call the same functions in the same order, but a
message of one rank may fall into another cluster of sizes than that of its
neighbour, and a repetition for one of them is none for the other. Here the calls of
such ranks are folded together: two places are equal when they are equal for all
ranks. The loops that come out hold for each of them, so they can share a text.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen.events.functions import function_info
from skelgen.events.types import NO_PEER
from skelgen.loops import expand, fold
from skelgen.skeleton.types import Operation, Plan, Program, Series

#: Columns of a duration that is split between several calls.
_COLUMNS = 16
#: Longest list of message sizes that a split may need.
_LONGEST_SIZES = 64

_COMMON = ("function", "family", "datatype_bytes", "op", "tag", "tag2")


def aligned(plan: Plan, programs: Sequence[Program]) -> list[Program]:
    """Return programs of a plan, with common loops where their calls are the same."""
    strings = [expand(program.nest) for program in programs]
    calls: dict[Hashable, int] = {}
    alike: dict[bytes, list[int]] = {}
    for number, (program, string) in enumerate(zip(programs, strings, strict=True)):
        kinds = [
            calls.setdefault(_call(plan, operation), len(calls))
            for operation in program.operations
        ]
        sequence = np.array(kinds, np.int64)[string] if kinds else string
        alike.setdefault(sequence.tobytes(), []).append(number)
    found = list(programs)
    for members in alike.values():
        if len(members) > 1:
            together = _together(
                [programs[i] for i in members], [strings[i] for i in members]
            )
            for i, program in zip(members, together, strict=True):
                found[i] = program
    return found


def _call(plan: Plan, operation: Operation) -> Hashable:
    """Return what calls have in common that can share a line of text."""
    symbol = plan.symbols[operation.symbol]
    rooted = function_info(plan.functions[symbol["function"]]).rooted
    return (
        tuple(int(symbol[name]) for name in _COMMON),
        int(symbol["peer"]) if rooted else NO_PEER,
        int(symbol["peer2"]) == NO_PEER,
        operation.ages,
        operation.vectors.shape[1:],
    )


def _together(
    programs: Sequence[Program], strings: Sequence[NDArray[np.int32]]
) -> list[Program]:
    """Fold programs of equal calls together, unless that makes them longer."""
    joint = np.zeros(len(strings[0]), np.int64)
    for string in strings:
        joint = joint * (int(string.max(initial=0)) + 1) + string
        _, joint = np.unique(joint, return_inverse=True)
    nest = fold(joint.astype(np.int32))
    if len(nest) > sum(len(program.nest) for program in programs):
        return list(programs)
    found = []
    for program, string in zip(programs, strings, strict=True):
        operations = _split(program, string, joint)
        if operations is None:
            return list(programs)
        found.append(Program(program.ranks, nest, operations, program.tail_ns))
    return found


def _split(
    program: Program, string: NDArray[np.int32], joint: NDArray[np.int64]
) -> tuple[Operation, ...] | None:
    """Divide operations between places; None when that needs too many sizes."""
    order = np.argsort(string, kind="stable")
    first = np.searchsorted(string[order], np.arange(len(program.operations)))
    turn = np.empty(len(string), np.int64)  # which of its operation's occurrences
    turn[order] = np.arange(len(string)) - first[string[order]]
    order = np.argsort(joint, kind="stable")
    bounds = np.searchsorted(joint[order], np.arange(joint.max(initial=-1) + 2))
    operations = []
    for begin, end in pairwise(bounds):
        places = order[begin:end]
        whole = program.operations[string[places[0]]]
        part = _part(whole, turn[places])
        if part.size_bytes.values.shape[1] > _LONGEST_SIZES:
            return None
        operations.append(part)
    return tuple(operations)


def _part(whole: Operation, turns: NDArray[np.int64]) -> Operation:
    """Return some of an operation's occurrences as an operation of its own."""
    if len(turns) == whole.occurrences:
        return whole
    size = _taken(whole.size_bytes.values, turns, whole.occurrences)
    compute = _taken(whole.compute_ns.values, turns, whole.occurrences)
    if compute.shape[1] > _COLUMNS:
        strata = np.arange(_COLUMNS) * len(turns) // _COLUMNS
        sums = np.add.reduceat(compute, strata, axis=1)
        compute = sums / np.diff(strata, append=len(turns))
    return replace(
        whole,
        occurrences=len(turns),
        compute_ns=Series(compute),
        size_bytes=Series(size),
        peers=whole.peers[turns] if len(whole.peers) else whole.peers,
    )


def _taken(
    values: NDArray[np.float64], turns: NDArray[np.int64], often: int
) -> NDArray[np.float64]:
    """Return the values at some occurrences, in few columns where that is exact."""
    columns = values.shape[1]
    taken = values[:, turns * columns // often]
    for fewer in (1, columns):
        if fewer >= len(turns):
            break
        spread = np.arange(len(turns)) * fewer // len(turns)
        sample = taken[:, np.searchsorted(spread, np.arange(fewer))]
        if (sample[:, spread] == taken).all():
            return sample
    return taken
