"""Which node sets of a pool are candidates."""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Sequence

from skelgen.errors import NodesError, UsageError
from skelgen.launch.hosts import Host
from skelgen.prediction.thresholds import MOST_NODE_SETS
from skelgen.prediction.trials import NodeSet
from skelgen.progress import NOTE

logger = logging.getLogger(__name__)

SHAPES = ("all", "pairs", "windows")


def node_sets(pool: Sequence[Host], nodes: int, shape: str = "") -> list[NodeSet]:
    """Return the candidates of a pool.

    Parameters
    ----------
    pool : sequence of Host
    nodes : int
        Of each set.
    shape : str
        ``all`` sets of so many nodes; ``pairs``, the same for two nodes and no other
        number, because a time on two nodes tells nothing about four; ``windows``, each
        node with those that follow it in the pool. Empty: all where that is feasible,
        else windows.

    Raises
    ------
    NodesError
        When the pool has fewer nodes than a set.
    UsageError
        When the sets are too many, or their shape does not fit.

    Examples
    --------
    >>> pool = [Host(name) for name in "abc"]
    >>> [[host.name for host in one] for one in node_sets(pool, 2, "windows")]
    [['a', 'b'], ['b', 'c']]
    """
    if shape not in ("", *SHAPES):
        raise UsageError(f"--sets {shape}: expected {', '.join(SHAPES)}")
    if shape == "pairs" and nodes != 2:
        raise UsageError(
            f"--sets pairs --nodes {nodes}: pairs have 2 nodes, and times on pairs do "
            f"not add up to a time on {nodes}; take all or windows"
        )
    if nodes > len(pool):
        raise NodesError(
            f"sets of {nodes} nodes are wanted from {len(pool)}; name more with --from"
        )
    count = math.comb(len(pool), nodes)
    windows = [tuple(pool[i : i + nodes]) for i in range(len(pool) - nodes + 1)]
    if shape == "windows" or (not shape and count > MOST_NODE_SETS):
        if not shape:
            logger.log(
                NOTE,
                "%d sets of %d of %d nodes are too many; taking the %d windows of "
                "nodes that follow each other",
                count,
                nodes,
                len(pool),
                len(windows),
            )
        return windows
    if count > MOST_NODE_SETS:
        raise UsageError(
            f"--sets {shape}: {count} sets of {nodes} of {len(pool)} nodes are more "
            f"than {MOST_NODE_SETS}; take --sets windows, or fewer nodes with --from"
        )
    return list(itertools.combinations(pool, nodes))
