"""Join programs that differ only in numbers, so that they become one function.

Ranks that do the same with other neighbours, sizes or times share a routine: what
differs between its ranks becomes a table with a row for each of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events.types import NO_PEER
from skelgen.loops import Nest, trip_rows
from skelgen.skeleton.share.alignment import Aligned, aligned
from skelgen.skeleton.share.call_steps import CallStep, info_of, join_step
from skelgen.skeleton.share.divided_calls import (
    apart,
    executions,
    first_places,
    leaves,
    loops,
)
from skelgen.skeleton.share.even_sizes import evened
from skelgen.skeleton.share.repeats import RepeatedItems, repeats
from skelgen.skeleton.share.request_places import Lifetimes, RequestRole, lifetimes
from skelgen.skeleton.thresholds import (
    LEAST_LINES_SAVED,
    LEAST_VARIED_COMPUTE_SHARE,
    MOST_PROGRAM_ITEMS,
)
from skelgen.skeleton.types import TOLD, Operation, Plan, Program
from skelgen.symbols.types import VARYING


@dataclass(frozen=True, slots=True, eq=False)
class Routine:
    """What some ranks execute, and how they differ.

    Attributes
    ----------
    ranks : tuple of int
        World ranks in the order of the rows of all tables.
    nests : tuple of Nest
        Over indices into `steps`; they differ only in constant trip counts.
    rows : tuple of int
        Row of each rank's nest.
    steps : tuple of CallStep
    tail_us, tail_idle_us : (ranks,) float64 arrays
        Computation after the last call [us].
    head_us : (ranks,) float64 array
        Computation before the first call that belongs to none [us].
    item_us : (items,) float64 array
        Time that each call of the nests stands for on a rank, about [us].
    repeats : tuple of RepeatedItems
        Stretches of items that share a text.
    lifetimes : Lifetimes
    """

    ranks: tuple[int, ...]
    nests: tuple[Nest, ...]
    rows: tuple[int, ...]
    steps: tuple[CallStep, ...]
    tail_us: NDArray[np.float64]
    head_us: NDArray[np.float64]
    tail_idle_us: NDArray[np.float64]
    item_us: NDArray[np.float64]
    repeats: tuple[RepeatedItems, ...]
    lifetimes: Lifetimes

    @property
    def time_us(self) -> float:
        """Return the time that a rank of the routine stands for, about [us]."""
        around_us = self.tail_us + self.head_us + self.tail_idle_us
        return float(self.item_us.sum() + around_us.mean())

    @property
    def in_turn(self) -> bool:
        """Return whether its text is a list of its steps."""
        return in_turn(self.nests, self.steps)

    @property
    def serves(self) -> bool:
        """Return whether its ranks serve whoever comes first."""
        return any(step.serving is not None for step in self.steps)


def routines(plan: Plan) -> tuple[Routine, ...]:
    """Join the programs of a plan where their text can be the same.

    Raises
    ------
    InputError
        When a program holds a call that skeletons do not reproduce.
    """
    alike: dict[object, list[Aligned]] = {}
    for found in aligned(plan, evened(plan)):
        ordered = _in_order(found)
        alike.setdefault(_shape(plan, ordered.program), []).append(ordered)
    joined = [
        _join(plan, programs) for found in alike.values() for programs in _even(found)
    ]
    return tuple(sorted(joined, key=lambda routine: routine.ranks[0]))


def _even(programs: list[Aligned]) -> list[list[Aligned]]:
    """Keep programs apart where a series would be spread over unequal numbers.

    Those of calls that are repeated until they are told not to are not counted.
    """
    counted = [
        [op for op in found.program.operations if op.turn not in TOLD]
        for found in programs
    ]
    operations = [operation for found in counted for operation in found]
    if all(
        op.compute_ns.values.shape[1] == op.size_bytes.values.shape[1] == 1
        for op in operations
    ):
        return [programs]
    even: dict[tuple[int, ...], list[Aligned]] = {}
    for found, own in zip(programs, counted, strict=True):
        often = tuple(operation.occurrences for operation in own)
        even.setdefault(often, []).append(found)
    return list(even.values())


def _in_order(found: Aligned) -> Aligned:
    """Renumber operations by their first place in the nest; drop unused ones."""
    program, nest = found.program, found.program.nest
    order = list(dict.fromkeys(int(s) for s in nest.symbol if s >= 0))
    new = np.full(max(order, default=-1) + 2, -1, np.int32)
    new[order] = np.arange(len(order))
    renumbered = Nest(nest.body_items, new[nest.symbol], nest.trips_first, nest.trips)
    operations = tuple(program.operations[old] for old in order)
    absent = frozenset(i for i, old in enumerate(order) if old in found.absent)
    ordered = replace(program, nest=renumbered, operations=operations)
    return Aligned(ordered, absent)


def _shape(plan: Plan, program: Program) -> object:
    """Return what programs must have in common to share a text."""
    nest = program.nest
    rows = [trip_rows(nest, item) for item in range(len(nest))]
    trips = tuple(
        None if len(own) == 1 or _is_told(program, item) else own.tobytes()
        for item, own in enumerate(rows)
    )
    operations = tuple(_operation_shape(plan, op) for op in program.operations)
    return (nest.body_items.tobytes(), nest.symbol.tobytes(), trips, operations)


def _is_told(program: Program, item: int) -> bool:
    """Return whether a loop ends when an answer says so."""
    nest = program.nest
    inside = nest.symbol[item + 1 : item + 1 + int(nest.body_items[item])].tolist()
    return all(one >= 0 and program.operations[one].turn in TOLD for one in inside)


def _operation_shape(plan: Plan, operation: Operation) -> object:
    symbol = plan.symbols[operation.symbol]
    info = info_of(plan, operation)
    common = ("function", "family", "datatype_bytes", "op", "tag", "tag2")
    varying = int(symbol["peer"]) == VARYING
    return (
        tuple(int(symbol[name]) for name in common),
        int(symbol["peer"]) if info.rooted else varying,
        int(symbol["peer2"]) == NO_PEER,
        operation.ages,
        operation.vectors.shape[1:],
        operation.occurrences if varying else 0,
        operation.partners,
        (id(operation.serving), operation.turn),
    )


def _join(plan: Plan, found: Sequence[Aligned]) -> Routine:
    programs = [aligned_one.program for aligned_one in found]
    owners = [(rank, p) for p, program in enumerate(programs) for rank in program.ranks]
    order = sorted(range(len(owners)), key=lambda row: owners[row][0])
    steps = [
        join_step(
            plan,
            [program.operations[i] for program in programs],
            order,
            [i not in one.absent for one in found],
        )
        for i in range(len(programs[0].operations))
    ]
    tail_us, head_us, tail_idle_us = (
        np.concatenate([getattr(program, name) for program in programs])[order] / 1e3
        for name in ("tail_ns", "head_ns", "tail_idle_ns")
    )
    nests = [program.nest for program in programs]
    item_us = _item_us(nests[0], steps)
    least_us = LEAST_VARIED_COMPUTE_SHARE * float(item_us.sum() + tail_us.mean())
    steps = [step.plain(least_us) for step in steps]
    nests, steps, stretches = _with_stretches(nests, steps)
    lives = Lifetimes()
    for number, nest in enumerate(nests):
        row = next(row for row in range(len(owners)) if owners[order[row]][1] == number)
        lives.join(lifetimes(nest, [_role(step, row) for step in steps]))
    return Routine(
        ranks=tuple(owners[row][0] for row in order),
        nests=tuple(nests),
        rows=tuple(owners[row][1] for row in order),
        steps=tuple(steps),
        item_us=item_us,
        tail_us=tail_us,
        head_us=head_us,
        tail_idle_us=tail_idle_us,
        repeats=stretches,
        lifetimes=lives,
    )


def _with_stretches(
    nests: list[Nest], steps: list[CallStep]
) -> tuple[list[Nest], list[CallStep], tuple[RepeatedItems, ...]]:
    """Find stretches that share a text, unless all steps are in a list."""
    if in_turn(nests, steps):
        return nests, steps, ()
    equal = repeats(nests[0], _keys(nests), least=LEAST_LINES_SAVED)
    nests, steps = apart(nests, steps, equal)
    alike = repeats(nests[0], _keys(nests, steps, equal), outer=equal)
    nests, steps = _shared(nests, steps, alike)
    return nests, steps, alike + equal


def in_turn(nests: Sequence[Nest], steps: Sequence[CallStep]) -> bool:
    """Say whether steps that follow no pattern are written as a list of them.

    As loops they would be very long, and not easier to read. Their ranks do the same,
    and none serves others or waits for what it is told.
    """
    return (
        len(nests) == 1
        and len(nests[0]) > MOST_PROGRAM_ITEMS
        and all(step.turn not in TOLD and step.serving is None for step in steps)
    )


def _role(step: CallStep, row: int) -> RequestRole:
    if not step.present[row]:
        return RequestRole(step.kind, False, ())
    return RequestRole(step.kind, step.info.creates, step.ages, step.receives)


def _item_us(nest: Nest, steps: Sequence[CallStep]) -> NDArray[np.float64]:
    """Divide the time of each call between its places, by how often it is there."""
    often = executions(nest)
    whole: Counter[int] = Counter()
    for symbol, count in zip(nest.symbol.tolist(), often, strict=True):
        whole[symbol] += count
    times = [
        steps[symbol].time_us * count / max(whole[symbol], 1) if symbol >= 0 else 0.0
        for symbol, count in zip(nest.symbol.tolist(), often, strict=True)
    ]
    return np.array(times, np.float64)


def _keys(
    nests: Sequence[Nest],
    steps: Sequence[CallStep] | None = None,
    equal: Sequence[RepeatedItems] = (),
) -> list[Hashable]:
    """Return for each item what must be equal where it shares a text.

    Without steps calls must be the same, not only alike.
    """
    further = first_places(nests[0], equal)
    unlike = _loops_unlike(nests, equal)
    symbols = nests[0].symbol.tolist()
    places = Counter(s for item, s in enumerate(symbols) if item not in further)
    keys: list[Hashable] = []
    for item, symbol in enumerate(symbols):
        if symbol < 0:
            rows = [trip_rows(nest, item) for nest in nests]
            constant = all(len(found) == 1 for found in rows)
            key = None if constant else tuple(r.tobytes() for r in rows)
            keys.append(item if item in unlike else key)
        elif steps is None:
            keys.append(symbol)
        elif places[symbol] > 1 and steps[symbol].counts:
            keys.append(symbol)  # it counts its occurrences at all places together
        else:
            keys.append(steps[symbol].text_key)
    return keys


def _loops_unlike(nests: Sequence[Nest], equal: Sequence[RepeatedItems]) -> set[int]:
    """Return loops in stretches that have other trips at other places of theirs.

    The function of the stretch knows its place; one that it calls would not.
    """
    found = set()
    for repeat in equal:
        for same in zip(
            *(loops(nests[0], place) for place in repeat.places), strict=True
        ):
            rows = [[trip_rows(nest, item)[:1, 0] for item in same] for nest in nests]
            if any((trips != own[0]).any() for own in rows for trips in own):
                found.add(same[0])
    return found


def _shared(
    nests: Sequence[Nest], steps: Sequence[CallStep], found: Sequence[RepeatedItems]
) -> tuple[list[Nest], list[CallStep]]:
    """Let the calls at the places of a repeat be one call with variants."""
    symbol = nests[0].symbol.tolist()
    stands_for = list(range(len(steps)))
    variants: dict[int, tuple[CallStep, ...]] = {}
    for repeat in found:
        places = [leaves(nests[0], place) for place in repeat.places]
        for same in zip(*places, strict=True):
            own = [symbol[item] for item in same]
            if len(set(own)) == 1:
                continue  # it counts its occurrences at all places together
            variants[own[0]] = tuple(steps[step] for step in own)
            for step in own:
                stands_for[step] = own[0]
    kept = sorted(set(stands_for))
    number = np.full(len(steps) + 1, -1, np.int32)
    number[:-1] = np.searchsorted(kept, stands_for)
    renumbered = [
        Nest(n.body_items, number[n.symbol], n.trips_first, n.trips) for n in nests
    ]
    return renumbered, [replace(steps[i], variants=variants.get(i, ())) for i in kept]
