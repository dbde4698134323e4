"""Give the calls at one place of all turns one tag.

A master that tells tasks of different kinds by their tags has turns that differ in
nothing else. Their messages get a tag of their own, which no other call uses: turns of
a partner keep their order, so its messages are received in the order in which they are
sent.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind
from skelgen.keys import occurrence_of
from skelgen.loops import expand, fold
from skelgen.signature import CommunicatorFamily
from skelgen.skeleton.proof.script import script_of
from skelgen.skeleton.quantities.series import part
from skelgen.skeleton.quantities.symbols import PlanSymbols
from skelgen.skeleton.task_farm.joined_receives import JoinedReceives
from skelgen.skeleton.task_farm.turns import Turns, mates, turns_in
from skelgen.skeleton.task_farm.worker_loops import alone
from skelgen.skeleton.types import Operation, Program


def with_one_tag(
    whole: JoinedReceives,
    families: Sequence[CommunicatorFamily],
    ranks: Collection[int],
) -> JoinedReceives:
    """Return programs in which turns do not differ in their tags.

    Parameters
    ----------
    whole : JoinedReceives
    families : sequence of CommunicatorFamily
    ranks : collection of int
        Who serves others.

    Returns
    -------
    JoinedReceives
        The same where tags hide no turns.
    """
    known = {
        turns.program: len(turns.peer)
        for turns in turns_in(whole.programs, whole.symbols, ranks, whole.goes_on)
    }
    place = np.full(len(whole.script.row), -1)
    for turns in turns_in(
        whole.programs, whole.symbols, ranks, whole.goes_on, any_tag=True
    ):
        if len(turns.peer) > known.get(turns.program, 0):
            _mark(place, whole, turns)
    if (place < 0).all():
        return whole
    tags = _unused_tags(whole.symbols, int(place.max()) + 1)
    programs: list[Program] = []
    goes_on: dict[int, NDArray[np.bool_]] = {}
    symbols = whole.symbols
    for number, program in enumerate(whole.programs):
        some = _by_marks(program, place, whole)
        for one, marks in some:
            if number in whole.goes_on:
                goes_on[len(programs)] = whole.goes_on[number]
            tagged, symbols = _tagged(one, marks, tags, symbols)
            programs.append(tagged)
    script = script_of(programs, symbols.functions, symbols.table, families)
    return JoinedReceives(tuple(programs), script, mates(script), goes_on, symbols)


def _mark(place: NDArray[np.int64], whole: JoinedReceives, turns: Turns) -> None:
    """Mark both ends of the messages of turns with their place in the turn."""
    script = whole.script
    ranks = whole.programs[turns.program].ranks
    own = np.concatenate([script.first[rank] + turns.step for rank in ranks])
    other = whole.mate[own]
    answers = (script.kind[script.row[own[0]]] == CallKind.SEND).any()
    if (other >= 0).all() and answers:
        place[own] = place[other] = np.arange(own.shape[1])


def _unused_tags(symbols: PlanSymbols, count: int) -> list[int]:
    """Return the least tags that no call has."""
    used = {*symbols.table["tag"].tolist(), *symbols.table["tag2"].tolist()}
    return list(
        itertools.islice((tag for tag in itertools.count() if tag not in used), count)
    )


def _by_marks(
    program: Program, place: NDArray[np.int64], whole: JoinedReceives
) -> list[tuple[Program, NDArray[np.int64]]]:
    """Return a program with its marks, or one for each rank if these differ."""
    first = whole.script.first
    marks = [place[first[rank] : first[rank + 1]] for rank in program.ranks]
    if all(np.array_equal(one, marks[0]) for one in marks):
        return [(program, marks[0])]
    return [(alone(program, at), own) for at, own in enumerate(marks)]


def _tagged(
    program: Program,
    place: NDArray[np.int64],
    tags: Sequence[int],
    symbols: PlanSymbols,
) -> tuple[Program, PlanSymbols]:
    """Give marked calls of a program the tag of their place in the turn."""
    if (place < 0).all():
        return program, symbols
    string = expand(program.nest)
    often, number = occurrence_of(string), np.zeros(len(string), np.int32)
    operations: list[Operation] = []
    for old, operation in enumerate(program.operations):
        own = np.flatnonzero(string == old)
        for mark in np.unique(place[own]).tolist():
            rows, symbol = own[place[own] == mark], operation.symbol
            if mark >= 0:
                symbols, symbol = symbols.like(symbol, tag=tags[mark])
            number[rows] = len(operations)
            operations.append(replace(part(operation, often[rows]), symbol=symbol))
    nest = fold(number)
    return replace(program, nest=nest, operations=tuple(operations)), symbols
