"""Receive what partners send one behind the other in one go.

A worker that hands in a result and then asks for more sends two messages. Its master
takes both from any source, and may hear others between them, so what belongs to one
turn lies apart. Here the later message is received right behind the earlier one, with
the answer to it. The partner sends it whatever others do, and the order that arises is
simulated: where it stalls, the recorded one stays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind
from skelgen.keys import occurrence_of
from skelgen.loops import expand, fold
from skelgen.signature import CommunicatorFamily
from skelgen.skeleton.proof.script import Script, script_of
from skelgen.skeleton.proof.simulation import simulate
from skelgen.skeleton.quantities.series import series_sums
from skelgen.skeleton.quantities.symbols import PlanSymbols
from skelgen.skeleton.task_farm.receive_capacities import owners_of
from skelgen.skeleton.task_farm.turns import mates
from skelgen.skeleton.task_farm.visits import Visits, visits_of
from skelgen.skeleton.thresholds import LARGEST_WAIT_SHARE
from skelgen.skeleton.types import Operation, Program


@dataclass(frozen=True, slots=True, eq=False)
class JoinedReceives:
    """Programs in which messages that belong together are received in one go.

    Attributes
    ----------
    programs : tuple of Program
    script : Script
        Of these programs.
    mate : (steps,) int64 array
        Its `mates`.
    goes_on : mapping of int to (steps,) bool array
        Of programs that were changed, what receives from any source in their string
        but goes on with the partner before.
    symbols : PlanSymbols
    """

    programs: tuple[Program, ...]
    script: Script
    mate: NDArray[np.int64]
    goes_on: Mapping[int, NDArray[np.bool_]]
    symbols: PlanSymbols


def as_recorded(
    programs: Sequence[Program],
    symbols: PlanSymbols,
    families: Sequence[CommunicatorFamily],
) -> JoinedReceives:
    """Return programs in which nothing is joined.

    Parameters
    ----------
    programs : sequence of Program
        Proved to finish.
    symbols : PlanSymbols
    families : sequence of CommunicatorFamily
    """
    script = script_of(programs, symbols.functions, symbols.table, families)
    return JoinedReceives(tuple(programs), script, mates(script), {}, symbols)


def joined(
    recorded: JoinedReceives,
    families: Sequence[CommunicatorFamily],
    ranks: Collection[int],
) -> JoinedReceives:
    """Join the messages of each partner that some ranks receive from any source.

    Parameters
    ----------
    recorded : JoinedReceives
        Programs in which nothing is joined.
    families : sequence of CommunicatorFamily
    ranks : collection of int
        Who serves others.

    Returns
    -------
    JoinedReceives
        The same when nothing can be joined.
    """
    programs, script, mate = recorded.programs, recorded.script, recorded.mate
    symbols = recorded.symbols
    found = list(programs)
    goes_on: dict[int, NDArray[np.bool_]] = {}
    for number, program in enumerate(programs):
        visits = visits_of(program, symbols) if {*program.ranks} <= {*ranks} else None
        before = None if visits is None else _before(visits, script, mate, program)
        if visits is None or before is None:
            continue
        if (
            _waited(programs, script, mate, visits, before, program)
            > LARGEST_WAIT_SHARE
        ):
            continue
        found[number], goes_on[number] = _moved(program, visits, before)
    if not goes_on:
        return recorded
    changed = script_of(found, symbols.functions, symbols.table, families)
    if all(simulate(changed, rendezvous=way).sound for way in (True, False)):
        return JoinedReceives(tuple(found), changed, mates(changed), goes_on, symbols)
    return recorded


def _before(
    visits: Visits, script: Script, mate: NDArray[np.int64], program: Program
) -> NDArray[np.int64] | None:
    """Return for each visit the one that its message follows, -1 for none.

    Both are of a partner that sends the one right behind the other, and between them
    are only visits of others. None when there is no such pair.
    """
    count = len(visits.first)
    place = np.cumsum(~visits.asks)  # no visit is moved over what is no visit
    key = np.stack([visits.peer[visits.first], visits.family[visits.first], place])
    order = np.lexsort((np.arange(count), *key))
    same = (key[:, order[1:]] == key[:, order[:-1]]).all(axis=0)
    earlier, later = order[:-1][same], order[1:][same]
    asks = visits.asks[earlier] & visits.asks[later]
    earlier, later = earlier[asks], later[asks]
    last = visits.first[earlier] + visits.calls[earlier] - 1
    good = visits.kind[last] == CallKind.RECEIVE
    for rank in program.ranks:
        ends = mate[script.first[rank] + last]
        nexts = mate[script.first[rank] + visits.first[later]]
        good &= (ends >= 0) & (nexts == ends + 1)
    if not good.any():
        return None
    found = np.full(count, -1, np.int64)
    found[later[good]] = earlier[good]
    return found


def _waited(
    programs: Sequence[Program],
    script: Script,
    mate: NDArray[np.int64],
    visits: Visits,
    before: NDArray[np.int64],
    program: Program,
) -> float:
    """Return how long partners take between messages to be joined [1].

    All of them together, as a share of what the busiest partner computes.
    """
    owners = owners_of(programs)
    often = occurrence_of(script.row)
    step = visits.first[before >= 0]
    ends = np.concatenate([mate[script.first[rank] + step] for rank in program.ranks])
    gaps = np.zeros(len(ends))
    for row in np.unique(script.row[ends]).tolist():
        number, position, at = owners[row]
        operation = programs[number].operations[at]
        own = script.row[ends] == row
        values = operation.compute_ns.values[position]
        gaps[own] = values[often[ends[own]] * len(values) // operation.occurrences]
    partners = np.unique(np.searchsorted(script.first, ends, side="right") - 1)
    computed_ns = max(_computed_ns(programs, rank) for rank in partners.tolist())
    # The first message of a partner may come after its start-up: not the mean.
    waited_ns = float(np.median(gaps)) * len(gaps)
    return waited_ns / computed_ns if computed_ns else 0.0


def _computed_ns(programs: Sequence[Program], rank: int) -> float:
    """Return what a rank computes before its calls [ns]."""
    program = next(one for one in programs if rank in one.ranks)
    row = program.ranks.index(rank)
    return sum(
        float(series_sums(one.compute_ns.values, one.occurrences)[row])
        for one in program.operations
    )


def _moved(
    program: Program, visits: Visits, before: NDArray[np.int64]
) -> tuple[Program, NDArray[np.bool_]]:
    """Put each visit behind the one that it follows; say which calls go on."""
    count = len(visits.first)
    head = np.arange(count)
    for visit in np.flatnonzero(before >= 0).tolist():
        head[visit] = head[before[visit]]  # of the earliest: that comes before
    order = np.lexsort((np.arange(count), head))
    calls = visits.calls[order]
    begin = np.cumsum(calls) - calls
    came_from = np.repeat(visits.first[order] - begin, calls) + np.arange(calls.sum())
    goes_on = np.zeros(len(came_from), bool)
    goes_on[begin[before[order] >= 0]] = True
    string = expand(program.nest)
    occurrence = occurrence_of(string)[came_from]
    string = string[came_from]
    operations = tuple(
        _with_peers(operation, occurrence[string == number])
        for number, operation in enumerate(program.operations)
    )
    return replace(program, nest=fold(string), operations=operations), goes_on


def _with_peers(operation: Operation, occurrence: NDArray[np.int64]) -> Operation:
    """Return an operation whose partners come in another order."""
    if (np.diff(occurrence) == 1).all():  # it has not moved
        return operation
    return replace(operation, peers=operation.peers[occurrence % len(operation.peers)])
