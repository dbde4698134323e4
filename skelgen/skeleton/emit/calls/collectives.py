"""Write the calls of collectives."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skelgen.events.functions import CallKind
from skelgen.skeleton.emit.calls.arguments import (
    Surroundings,
    created,
    datatype,
    received,
    sent,
    size,
)
from skelgen.skeleton.emit.data.memory import SENT_TO_ALL
from skelgen.skeleton.emit.data.reduction import reduction
from skelgen.skeleton.emit.fragments import Fragment, Use, UseKind, Word, helpers
from skelgen.skeleton.emit.layout import Statement, call
from skelgen.skeleton.share.call_steps import CallStep

_COUNTS_SENT = {"Scatterv", "Alltoallv", "Alltoallw"}
_COUNTS_RECEIVED = {"Gatherv", "Allgatherv", "Alltoallv", "Alltoallw"}


def collective_call(around: Surroundings, index: int, depth: int) -> list[Statement]:
    """Write a collective, blocking, nonblocking or persistent."""
    step = around.routine.steps[index]
    kind = step.info.collective
    arguments: list[Word]
    if step.info.reduces:
        arguments = _reduction(around, index)
    elif kind == "Barrier":
        arguments = []
    elif step.info.neighbourhood:
        arguments = _neighbourhood(around, index)
    else:
        arguments = _data(around, index)
    if step.root >= 0:
        arguments.append(str(step.root))
    arguments.append(f"{around.group(step).name}.comm")
    if step.kind is CallKind.COLLECTIVE_INIT:
        arguments.append("MPI_INFO_NULL")
    if step.info.creates:
        arguments.append(created(around, index))
    return [call(depth, _name(step), arguments)]


def _name(step: CallStep) -> str:
    """Return the function that repeats a collective, with counts for all neighbours."""
    name = step.function
    if step.info.neighbourhood and not step.info.collective.endswith(("v", "w")):
        head, end = name.removesuffix("_init"), "_init" * name.endswith("_init")
        return f"{head}v{end}"
    return name


def _data(around: Surroundings, index: int) -> list[Word]:
    """Return the arguments of a collective that moves data."""
    step = around.routine.steps[index]
    kind = step.info.collective
    incoming, count = received(around, index), size(around, step, step.block_bytes)
    if kind == "Bcast":
        return [incoming, count, datatype(step)]
    send = [sent(around, index), count, datatype(step)]
    receive = [incoming, count, datatype(step)]
    if kind not in _COUNTS_SENT | _COUNTS_RECEIVED:
        receive[1] = size(around, step, step.block_bytes, side="of")
    if kind == "Allgatherv":
        send[1] = around.tables.quantity("size", [_own(around, index)], [1])
    if kind in _COUNTS_SENT:
        send[1:] = _counts(around, step, "to")
    if kind in _COUNTS_RECEIVED:
        receive[1:] = _counts(around, step, "of")
    if kind in ("Scatter", "Scatterv"):
        receive[0] = _in_place(around, index, receive[0])
    else:
        send[0] = _in_place(around, index, send[0])
    return [*send, *receive]


def _neighbourhood(around: Surroundings, index: int) -> list[Word]:
    """Return the arguments of a collective with a count for each neighbour."""
    step = around.routine.steps[index]
    if step.info.collective in SENT_TO_ALL:
        count = step.to.max(axis=1, initial=0)[:, None] // step.block_bytes
        to = [around.tables.quantity("size", [count.astype(float)], [1])]
        to.append(datatype(step))
    else:
        to = _counts(around, step, "to")
    send = [sent(around, index), *to]
    return [*send, received(around, index), *_counts(around, step, "of")]


def _own(around: Surroundings, index: int) -> NDArray[np.float64]:
    """Return what each rank contributes to a vector that all of them receive."""
    step = around.routine.steps[index]
    places = around.group(step).places(around.routine.ranks)
    own = step.of[np.arange(len(places)), [place for place, _ in places]][:, None]
    return np.asarray(own // step.block_bytes, np.float64)


def _counts(around: Surroundings, step: CallStep, side: str) -> list[Fragment]:
    """Return counts, displacements and type or types for each rank or neighbour.

    Where there are none (of a rank that is not the root, or without neighbours) Open
    MPI refuses NULL all the same.

    Parameters
    ----------
    around : Surroundings
    step : CallStep
    side : str
        What the step sends `to` each of them, or receives `of` each.
    """
    counts = (step.to if side == "to" else step.of) // step.block_bytes
    counts = counts if counts.size else np.zeros((len(counts), 1), np.int64)
    begin = np.cumsum(counts, axis=1) - counts
    types, kind = datatype(step), "int"
    if step.typed:  # whose displacements are bytes
        begin = begin * (2 * step.block_bytes if step.holes else 1)
        each = Use(UseKind.EACH, types.text)
        types = Fragment(f"each_{types.text}", types.uses | {each})
        kind = "MPI_Aint" if step.info.neighbourhood else "int"
    words = [_by_row(around, counts, side)]
    return [*words, _by_row(around, begin, f"{side}_at", kind), types]


def _by_row(
    around: Surroundings, values: NDArray[np.int64], stem: str, kind: str = "int"
) -> Fragment:
    table = values.astype(float)
    if (values == values[:1]).all():
        return around.tables.constant(kind, stem, table[0])
    rows = around.tables.constant(kind, stem, table)
    return Fragment(f"{rows.text}[row]", rows.uses | helpers("row"))


def _in_place(around: Surroundings, index: int, place: Fragment) -> Fragment:
    """Return a buffer, or MPI_IN_PLACE on the ranks that work in place."""
    step = around.routine.steps[index]
    if step.root >= 0 and not all(step.in_place) and any(step.in_place):
        name = around.group(step).name
        text = f"{name}.rank == {step.root} ? MPI_IN_PLACE : {place.text}"
        return Fragment(text, place.uses)
    return Fragment("MPI_IN_PLACE") if any(step.in_place) else place


def _reduction(around: Surroundings, index: int) -> list[Word]:
    step = around.routine.steps[index]
    unit = reduction(step.op, step.datatype_bytes)
    outgoing = _in_place(around, index, sent(around, index))
    if step.of.size:
        counts = -(-step.of // unit.size_bytes)
        count = _by_row(around, counts, "of")
    else:
        count = size(around, step, unit.size_bytes)
    return [outgoing, received(around, index), count, unit.datatype, unit.op]
