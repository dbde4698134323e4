"""Give programs the same loops where their calls are the same in the same order.

Ranks of one application usually call the same functions in the same order, but a
message of one rank may fall into another cluster of sizes than that of its
neighbour, and a repetition for one of them is none for the other. Here the calls of
such ranks are folded together: two places are equal when they are equal for all
ranks. The loops that come out hold for each of them, so they can share a text; a
call that only some of them make stands there too, for those.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen.events.functions import function_info
from skelgen.events.types import NO_PEER
from skelgen.loops import expand, fold_with_skips
from skelgen.skeleton.quantities.series import part
from skelgen.skeleton.share.equal_calls import clusters
from skelgen.skeleton.thresholds import MOST_SIZES_OF_A_SPLIT
from skelgen.skeleton.types import OccurrenceSeries, Operation, Plan, Program, Turn

_COMMON = ("function", "family", "datatype_bytes", "op", "tag", "tag2")


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """A program whose loops other programs have too.

    Attributes
    ----------
    program : Program
    absent : frozenset of int
        Operations that only others execute.
    """

    program: Program
    absent: frozenset[int] = frozenset()


def aligned(plan: Plan, programs: Sequence[Program]) -> list[Aligned]:
    """Return programs of a plan, with common loops where their calls are the same.

    Loops that end when a rank is told so stay as they are.
    """
    plain = [i for i, one in enumerate(programs) if not _is_told(one)]
    strings = {i: expand(programs[i].nest) for i in plain}
    calls: dict[Hashable, int] = {}
    sequences: list[NDArray[np.int64]] = []
    for i in plain:
        kinds = [
            calls.setdefault(_call(plan, operation), len(calls))
            for operation in programs[i].operations
        ]
        sequences.append(np.array(kinds, np.int64)[strings[i]])
    found = [Aligned(program) for program in programs]
    for cluster in clusters(sequences):
        if len(cluster.members) > 1:
            members = [plain[member] for member in cluster.members]
            own = [(programs[i], strings[i]) for i in members]
            together = _together(own, cluster.places)
            for i, one in zip(members, together, strict=True):
                found[i] = one
    return found


def _is_told(program: Program) -> bool:
    return any(operation.turn is Turn.HEARS for operation in program.operations)


def _call(plan: Plan, operation: Operation) -> Hashable:
    """Return what calls have in common that can share a line of text."""
    symbol = plan.symbols[operation.symbol]
    info = function_info(plan.functions[symbol["function"]])
    return (
        tuple(int(symbol[name]) for name in _COMMON),
        int(symbol["peer"]) if info.rooted else NO_PEER,
        operation.partners,
        int(symbol["peer2"]) == NO_PEER,
        operation.ages,
        operation.vectors.shape[1:],
        (id(operation.serving), operation.turn),
    )


def _together(
    own: Sequence[tuple[Program, NDArray[np.int32]]],
    places: Sequence[NDArray[np.int64]],
) -> list[Aligned]:
    """Fold programs of equal calls together, unless that makes them longer.

    Parameters
    ----------
    own : sequence of (Program, array)
        Programs and their strings of operations.
    places : sequence of arrays
        For each program and place of the common sequence the place in its own
        string, -1 where it has none.
    """
    joint = np.zeros(len(places[0]), np.int64)
    for (_, string), place in zip(own, places, strict=True):
        operation = np.where(place < 0, 0, string[place] + 1)
        joint = joint * (int(operation.max(initial=0)) + 1) + operation
        _, joint = np.unique(joint, return_inverse=True)
    nest = fold_with_skips(joint.astype(np.int32))
    if len(nest) > sum(len(program.nest) for program, _ in own):
        return [Aligned(program) for program, _ in own]
    order = np.argsort(joint, kind="stable")
    bounds = np.searchsorted(joint[order], np.arange(joint.max(initial=-1) + 2))
    runs = [order[begin:end] for begin, end in pairwise(bounds)]
    parts = [
        _split(program, string, [place[run] for run in runs])
        for (program, string), place in zip(own, places, strict=True)
    ]
    donors = [
        next(op for op in same if op is not None) for same in zip(*parts, strict=True)
    ]
    if (
        max((op.size_bytes.values.shape[1] for op in donors), default=0)
        > MOST_SIZES_OF_A_SPLIT
    ):
        return [Aligned(program) for program, _ in own]
    found = []
    for (program, _), operations in zip(own, parts, strict=True):
        absent = [i for i, operation in enumerate(operations) if operation is None]
        whole = tuple(
            _stand_in(donor, len(program.ranks)) if operation is None else operation
            for operation, donor in zip(operations, donors, strict=True)
        )
        common = replace(program, nest=nest, operations=whole)
        found.append(Aligned(common, frozenset(absent)))
    return found


def _split(
    program: Program, string: NDArray[np.int32], runs: Sequence[NDArray[np.int64]]
) -> list[Operation | None]:
    """Divide operations between places; None where the program has no call."""
    order = np.argsort(string, kind="stable")
    first = np.searchsorted(string[order], np.arange(len(program.operations)))
    turn = np.empty(len(string), np.int64)  # which of its operation's occurrences
    turn[order] = np.arange(len(string)) - first[string[order]]
    return [
        None if run[0] < 0 else part(program.operations[string[run[0]]], turn[run])
        for run in runs
    ]


def _stand_in(donor: Operation, ranks: int) -> Operation:
    """Return an operation that ranks do not execute, with the values of others."""

    def alike(series: OccurrenceSeries) -> OccurrenceSeries:
        return OccurrenceSeries(np.tile(series.values[:1], (ranks, 1)))

    return replace(
        donor,
        compute_ns=alike(donor.compute_ns),
        idle_ns=alike(donor.idle_ns),
        size_bytes=alike(donor.size_bytes),
        receive_bytes=np.zeros(ranks, np.int64),
        vectors=np.full((ranks, *donor.vectors.shape[1:]), np.nan),
    )
