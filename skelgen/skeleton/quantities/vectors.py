"""Vector collectives: what every participant sends to every other, once for all."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import InputError
from skelgen.events import function_info
from skelgen.signature.types import Neighbours
from skelgen.skeleton.quantities.nodes import Nodes

#: From, to, and which of several edges between the two.
_Edge = tuple[int, int, int]


def is_pairwise(function: str) -> bool:
    """Return whether each pair of ranks has a size of its own.

    Examples
    --------
    >>> is_pairwise("MPI_Ialltoallv"), is_pairwise("MPI_Allgatherv")
    (True, False)
    """
    info = function_info(function)
    return info.neighbourhood or info.collective in ("Alltoallv", "Alltoallw")


def vector_blocks(
    nodes: Nodes, members: NDArray[np.int64], values: list[NDArray[np.float64]]
) -> dict[int, NDArray[np.float64]]:
    """Return the vectors of linked nodes of a vector collective.

    Parameters
    ----------
    nodes : Nodes
    members : (m,) int64 array
        Nodes that meet, all of one communicator.
    values : list of (s,) float64 array
        Sizes of all nodes [bytes]; those of the linked nodes become what each
        contributes (or gets, of a Scatterv).

    Returns
    -------
    dict of int to (2, p) float64 array
        Of each node the bytes to and from each rank of the communicator, such that
        what one sends is what the other receives [bytes].
    """
    size = len(nodes.members(int(members[0])))
    name = nodes.function(int(members[0]))
    unit = max(nodes.datatype_bytes(node) for node in members.tolist())
    if nodes.info(int(members[0])).neighbourhood:
        return _along_edges(nodes, members, values, unit)
    if is_pairwise(name):
        matrix = _rounded(_matrix(nodes, members, size), unit)
        for node in members.tolist():
            values[node] = np.array([matrix[nodes.own(node)].sum()])
        return {
            node: np.stack(
                [
                    matrix[nodes.own(node)],
                    matrix[:, nodes.own(node)],
                ]
            )
            for node in members.tolist()
        }
    blocks = _rounded(_one_vector(nodes, members, size, values), unit)
    reduces = nodes.info(int(members[0])).reduces
    for node in members.tolist():
        own = blocks.sum() if reduces else blocks[nodes.own(node)]
        values[node] = np.array([own])
    return {node: np.stack([blocks, blocks]) for node in members.tolist()}


def _along_edges(
    nodes: Nodes,
    members: NDArray[np.int64],
    values: list[NDArray[np.float64]],
    unit: int,
) -> dict[int, NDArray[np.float64]]:
    """Return what goes to each neighbour and comes from each, as the senders say."""
    sources, destinations = _consistent(*nodes.neighbours(int(members[0])))
    sums: defaultdict[_Edge, float] = defaultdict(float)
    weights: defaultdict[_Edge, int] = defaultdict(int)
    for node in members.tolist():
        own, often = nodes.own(node), int(nodes.occurrences[node])
        vector = _vector(nodes, node, 0, len(destinations[own]))
        for edge, size_bytes in zip(
            _edges(own, destinations[own], sends=True),
            np.nan_to_num(vector).tolist(),
            strict=True,
        ):
            sums[edge] += size_bytes * often
            weights[edge] += often
    found = {}
    for node in members.tolist():
        own = nodes.own(node)
        both = [
            [sums[edge] / max(weights[edge], 1) for edge in edges]
            for edges in (
                _edges(own, destinations[own], sends=True),
                _edges(own, sources[own], sends=False),
            )
        ]
        blocks = np.zeros((2, max(map(len, both))))
        for side, sizes in enumerate(both):
            blocks[side, : len(sizes)] = sizes
        found[node] = _rounded(blocks, unit)
        values[node] = np.array([found[node][0].sum()])
    return found


def _consistent(
    sources: Neighbours, destinations: Neighbours
) -> tuple[Neighbours, Neighbours]:
    """Check that whoever receives is sent to: else a skeleton would wait for ever."""
    into = {
        e for own, known in enumerate(sources) for e in _edges(own, known, sends=False)
    }
    out = {
        e
        for own, known in enumerate(destinations)
        for e in _edges(own, known, sends=True)
    }
    if wrong := sorted(into ^ out):
        source, destination, _ = wrong[0]
        raise InputError(
            f"the neighbours of a topology contradict each other: only one of rank "
            f"{source} and rank {destination} knows of messages from {source} to "
            f"{destination}; record again"
        )
    return sources, destinations


def _edges(own: int, others: Sequence[int], *, sends: bool) -> list[_Edge]:
    """Name the edges of a rank: source, destination, which of several between them."""
    before: Counter[int] = Counter()
    edges = []
    for other in others:
        ends = (own, other) if sends else (other, own)
        edges.append((*ends, before[other]))
        before[other] += 1
    return edges


def _rounded(values: NDArray[np.float64], unit: int) -> NDArray[np.float64]:
    return np.asarray(np.rint(np.nan_to_num(values) / unit) * unit, np.float64)


def _vector(nodes: Nodes, node: int, side: int, size: int) -> NDArray[np.float64]:
    """Return the mean vector of a node's leaf, NaN where it has none."""
    sized = nodes.sized(node)
    found = np.full(size, np.nan)
    vectors = sized.group.vectors[sized.leaf]
    known = min(vectors.shape[2], size)
    found[:known] = vectors[sized.row, side, :known]
    return found


def _matrix(nodes: Nodes, members: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    """Return what each sends to each, as the senders or else the receivers say."""
    sums, weights = np.zeros((2, size, size)), np.zeros((2, size, size))
    for node in members.tolist():
        own, often = nodes.own(node), int(nodes.occurrences[node])
        to, of = (_vector(nodes, node, side, size) for side in (0, 1))
        for side, place, vector in ((0, (own,), to), (1, (slice(None), own), of)):
            known = ~np.isnan(vector)
            sums[(side, *place)] += np.where(known, vector, 0) * often
            weights[(side, *place)] += known * often
    with np.errstate(invalid="ignore"):
        means = sums / weights
    return np.asarray(np.where(np.isnan(means[0]), means[1], means[0]))


def _one_vector(
    nodes: Nodes,
    members: NDArray[np.int64],
    size: int,
    values: list[NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Return the vector that all or the root know, completed by what ranks send."""
    sums, often = np.zeros(size), np.zeros(size)
    own_sums, own_often = np.zeros(size), np.zeros(size)
    for node in members.tolist():
        count = int(nodes.occurrences[node])
        for side in (0, 1):
            vector = _vector(nodes, node, side, size)
            known = ~np.isnan(vector)
            sums += np.where(known, vector, 0) * count
            often += known * count
        own = nodes.own(node)
        own_sums[own] += float(values[node].mean()) * count
        own_often[own] += count
    own_mean = own_sums / np.maximum(own_often, 1)
    return np.where(often > 0, sums / np.maximum(often, 1), own_mean)
