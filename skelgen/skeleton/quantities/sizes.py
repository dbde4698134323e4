"""Give every operation its message sizes, equal at both ends.

Senders decide: a constant where a leaf's sizes lie within 10 % and on one power of
two, or where it takes little time, else a series of samples: in the order of time where
sizes drift, again and again where they change to and fro. A receive can take the
largest message that is kept for it. Participants of a collective that meet in kept
calls are linked, and all linked operations take the size of the one that sent most
(the root's of a broadcast).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind
from skelgen.events.functions import COLLECTIVES, PERSISTENT, RECEIVING, SENDING
from skelgen.matching import Matching
from skelgen.signature import RankGroup
from skelgen.skeleton.quantities.durations import heavy_calls
from skelgen.skeleton.quantities.nodes import Nodes, Sized
from skelgen.skeleton.quantities.series import MOST_COLUMNS, sampled
from skelgen.skeleton.quantities.vectors import vector_blocks
from skelgen.skeleton.thresholds import LARGEST_SIZE_RATIO

#: Most values of a series that are kept apart: for less memory.
MOST_TURNS = 1 << 20


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of all nodes (an operation on one rank).

    Attributes
    ----------
    values : tuple of (s,) float64 array
        Of each node [bytes].
    receive_bytes : (nodes,) int64 array
    vectors : dict of int to (2, p) float64 array
        Of nodes of vector collectives, bytes to and from each rank.
    """

    values: tuple[NDArray[np.float64], ...]
    receive_bytes: NDArray[np.int64]
    vectors: dict[int, NDArray[np.float64]]


def sizes_of(nodes: Nodes, matching: Matching) -> Sizes:
    """Decide all sizes of programs.

    Parameters
    ----------
    nodes : Nodes
    matching : Matching
        Of all calls of the application.
    """
    values = _all_sent(nodes)
    vectors: dict[int, NDArray[np.float64]] = {}
    for members in nodes.linked(COLLECTIVES, matching.whole_event):
        _agree(nodes, members, values, vectors)
    capacity = _capacities(nodes, matching, values)
    received = capacity.astype(np.float64)
    for node in nodes.of_kinds(
        (CallKind.RECEIVE, CallKind.IRECEIVE, CallKind.RECEIVE_INIT)
    ):
        values[node] = received[node : node + 1]
    return Sizes(tuple(values), capacity, vectors)


def _all_sent(nodes: Nodes) -> list[NDArray[np.float64]]:
    """Return what each node sends, program after program."""
    heavy = heavy_calls(nodes.signature)
    values = [np.zeros(1)] * len(nodes)
    for program in range(len(nodes.shared.ranks)):
        for own in nodes.of_operations(program):
            for node, sent in zip(own.tolist(), _sent(nodes, own, heavy), strict=True):
                values[node] = sent
    return values


def _sent(
    nodes: Nodes, own: NDArray[np.int64], heavy: set[tuple[int, int]]
) -> Sequence[NDArray[np.float64]]:
    """Return what the nodes of an operation send as the leaf's samples say."""
    node = int(own[0])
    kind = nodes.kind(node)
    if kind not in (*SENDING, *COLLECTIVES, CallKind.RMA):
        return [np.zeros(1)] * len(own)
    sized = nodes.sized(node)
    unit = nodes.datatype_bytes(node)
    rows = nodes.rows(own)
    columns = (
        1
        if kind in (*PERSISTENT, CallKind.RMA)
        else min(MOST_COLUMNS, sized.occurrences)
    )
    varies = nodes.place(node) in heavy and _varies(sized.group, sized.leaf)
    if columns == 1 or not varies:
        return list(_rounded(_means(sized, rows), unit)[:, np.newaxis])
    of_rows = [replace(sized, row=row) for row in rows.tolist()]
    mixed = [_mixture(one, columns) for one in of_rows]
    turns = _turns(sized, rows, mixed)
    if turns is None:
        return [_rounded(_series(one, columns), unit) for one in of_rows]
    means = _means(sized, rows).tolist()
    return [
        _rounded(_with_mean(one[turns], mean), unit)
        for one, mean in zip(mixed, means, strict=True)
    ]


def _varies(group: RankGroup, leaf: int) -> bool:
    """Say whether a leaf's sizes are too different for one constant, on any rank."""
    least, most = group.size_bytes.least[leaf], group.size_bytes.most[leaf]
    close = most <= LARGEST_SIZE_RATIO * least
    same = np.frexp(np.maximum(most, 0))[1] == np.frexp(np.maximum(least, 0))[1]
    return bool((~(close & same) & (most > least)).any())


def _means(sized: Sized, rows: NDArray[np.int64] | list[int]) -> NDArray[np.float64]:
    """Return the mean size of a leaf's calls on some ranks of its group [bytes]."""
    total = sized.group.size_bytes.total[sized.leaf, rows]
    return np.asarray(total / max(int(sized.group.count[sized.leaf]), 1), np.float64)


def _series(sized: Sized, columns: int) -> NDArray[np.float64]:
    """Return a few sizes of a node in the order of time, with the mean of all."""
    spread, leaf, row = sized.group.size_bytes, sized.leaf, sized.row
    mean = float(_means(sized, [row])[0])
    values = sampled(spread.samples[leaf, row], columns)
    if values is None or values.sum() <= 0:
        return np.full(columns, mean)
    scaled = values * (mean / values.mean())
    least, most = spread.least[leaf, row], spread.most[leaf, row]
    return np.asarray(np.clip(scaled, least, most), np.float64)


def _mixture(sized: Sized, columns: int) -> NDArray[np.float64]:
    """Return sizes of a node as its histogram has them, large and small in turn."""
    spread, leaf, row = sized.group.size_bytes, sized.leaf, sized.row
    counts = spread.histogram[leaf, row]
    samples = spread.samples[leaf, row]
    samples = samples[~np.isnan(samples)]
    bins = np.frexp(np.maximum(samples, 0.5))[1]
    places, values = [], []
    for number, often in enumerate(_shared_out(counts, columns).tolist()):
        if not often:
            continue
        own = samples[bins == number]
        if not len(own):  # none of these few was drawn: the middle of the bin
            own = np.array([0.75 * 2.0**number if number else 0.0])
        values += own[np.arange(often) * len(own) // often].tolist()
        places += ((np.arange(often) + 0.5) / often).tolist()
    least, most = spread.least[leaf, row], spread.most[leaf, row]
    order = np.argsort(places, kind="stable")
    return np.asarray(np.clip(np.array(values)[order], least, most), np.float64)


def _shared_out(counts: NDArray[np.int64], places: int) -> NDArray[np.int64]:
    """Divide places in the proportions of some counts, by the largest remainders.

    Examples
    --------
    >>> _shared_out(np.array([0, 5, 1, 2]), 4).tolist()
    [0, 3, 0, 1]
    """
    exact = counts * (places / max(int(counts.sum()), 1))
    found: NDArray[np.int64] = np.floor(exact).astype(np.int64)
    left = places - int(found.sum())
    found[np.argsort(found - exact, kind="stable")[:left]] += 1
    return found


def _turns(
    sized: Sized, rows: NDArray[np.int64], series: Sequence[NDArray[np.float64]]
) -> NDArray[np.int64] | None:
    """Return which values occurrences take in turn; None where sizes hardly swing.

    From one call to the next sizes change as much as in the application, on average.
    """
    columns, often = len(series[0]), sized.occurrences
    values = np.stack(series)
    swing = np.abs(values - np.roll(values, 1, axis=1)).sum() / columns
    group, leaf = sized.group, sized.leaf
    step = group.size_steps[leaf, rows].sum() / group.count[leaf]
    rounds = often * step / (2 * columns)  # of swings
    if not 0 < swing <= rounds or often < 2 * columns or often * len(rows) > MOST_TURNS:
        return None
    each = max(1, round(float(swing / step)))
    return np.asarray(np.arange(often) // each % columns)


def _with_mean(values: NDArray[np.float64], mean: float) -> NDArray[np.float64]:
    """Scale values within their limits to a mean."""
    own = values.mean()
    if not own or own == mean:
        return values
    least, most = values.min(), values.max()
    return np.asarray(np.clip(values * (mean / own), least, most), np.float64)


def _rounded(values: NDArray[np.float64], unit: int) -> NDArray[np.float64]:
    """Round to whole elements, at least one where there are bytes at all."""
    elements = np.rint(np.nan_to_num(values) / unit)
    elements = np.where(values > 0, np.maximum(elements, 1), 0)
    return np.asarray(elements * unit, np.float64)


def _agree(
    nodes: Nodes,
    members: NDArray[np.int64],
    values: list[NDArray[np.float64]],
    vectors: dict[int, NDArray[np.float64]],
) -> None:
    """Give the linked participants of a collective one size, or matching vectors."""
    info = nodes.info(int(members[0]))
    if info.vector:
        vectors.update(vector_blocks(nodes, members, values))
        return
    sent = [
        value.item() if len(value) == 1 else float(value.mean())
        for value in (values[node] for node in members.tolist())
    ]
    leader = int(members[int(np.argmax(sent))])
    block = np.zeros(1) if info.collective == "Barrier" else values[leader]
    if len(block) > 1 and not nodes.in_step(members):
        block = block.mean(keepdims=True)
    block = _rounded(block, nodes.datatype_bytes(leader))
    for node in members.tolist():
        values[node] = block


def _capacities(
    nodes: Nodes, matching: Matching, values: list[NDArray[np.float64]]
) -> NDArray[np.int64]:
    """Return the largest message that each node receives [bytes]."""
    begins = np.cumsum([0, *map(len, values)])[:-1]
    most = np.zeros(0)
    if values:
        most = np.maximum.reduceat(np.concatenate(values), begins)
    largest = np.maximum(most, 0)
    capacity = np.zeros(len(nodes))
    send, receive = nodes.messages(matching)
    sent = np.zeros(len(send))
    message, node = nodes.ends(send, CallKind.SEND_INIT)
    np.maximum.at(sent, message, largest[node])
    message, node = nodes.ends(receive, CallKind.RECEIVE_INIT)
    np.maximum.at(capacity, node, sent[message])
    receiver = nodes.of_kinds(RECEIVING)
    unit = np.maximum(nodes.symbols["datatype_bytes"][nodes.symbol[receiver]], 1)
    capacity[receiver] = np.ceil(capacity[receiver] / unit) * unit
    return np.asarray(capacity, np.int64)
