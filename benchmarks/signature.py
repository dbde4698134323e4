"""Speed and memory of clustering and summarising, and of the signature's file.

    python benchmarks/signature.py [events ...]

Prints one line for each number of events of a synthetic halo exchange of four ranks
(drifting message sizes, an end at MPI_PROC_NULL on two ranks) and one for a signature
of many items.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from skelgen.events import SHAPE_DTYPE, Calls, Communicator, Events
from skelgen.loops import fold
from skelgen.matching import match
from skelgen.signature import Provenance, Signature, summarise
from skelgen.signature.store import load, save
from skelgen.symbols.cluster import cluster
from skelgen.symbols.types import Symbols

RANKS = 4
FUNCTIONS = ("MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce")
PROVENANCE = Provenance("halo", (), "", "", "", "", (), (RANKS,))
BODY = 6


def halo(total: int) -> Events:
    """Make a halo exchange in a row of ranks of about this many calls."""
    rng = np.random.default_rng(1)
    iterations = max(total // RANKS // BODY, 1)
    shapes: list[tuple[int, ...]] = []
    for rank in range(RANKS):
        left = rank - 1 if rank else -2
        right = rank + 1 if rank + 1 < RANKS else -2
        shapes += [
            (0, 0, 0, left, 7, -1, -1, 8, 0, 0),
            (0, 0, 0, right, 8, -1, -1, 8, 0, 1),
            (1, 0, 0, left, 8, -1, -1, 8, 0, 2),
            (1, 0, 0, right, 7, -1, -1, 8, 0, 3),
            (2, 0, -1, -1, -1, -1, -1, 0, 0, 4),
            (3, 0, 0, -1, -1, -1, -1, 8, 1, 5),
        ]
    length = iterations * BODY * RANKS
    body = np.arange(RANKS * BODY, dtype=np.uint32).reshape(RANKS, 1, BODY)
    size = np.tile(np.array([100_000, 100_000, 0, 0, 0, 8]), (RANKS, iterations, 1))
    size[:, :, 2:4] = 8 * rng.integers(1000, 1300, (RANKS, iterations, 2))
    ages = np.tile(np.array([0, 0, 0, 0, 1, 0], np.uint32), RANKS * iterations)
    first = np.arange(RANKS + 1, dtype=np.int64) * iterations * BODY
    calls = Calls(
        first=first,
        shape=np.repeat(body, iterations, axis=1).ravel(),
        size_bytes=size.ravel(),
        ages=ages,
        age_first=np.array([0, 0, 4], np.int64),
        age_values=np.array([4, 3, 2, 1], np.int64),
        vector_call=np.empty(0, np.int64),
        vectors=np.empty((0, 2), dtype=object),
        shapes=np.array(shapes, SHAPE_DTYPE),
        communicators=(
            Communicator(0, -1, "world", tuple(range(RANKS))),
            *(Communicator(1, -1, "self", (rank,)) for rank in range(RANKS)),
        ),
        functions=FUNCTIONS,
    )
    compute = rng.integers(100, 10**6, length)
    inner = rng.integers(50, 10**4, length)
    leave = np.cumsum((compute + inner).reshape(RANKS, -1), axis=1).ravel()
    return Events(
        calls=calls,
        enter_ns=leave - inner,
        leave_ns=leave,
        compute_ns=compute,
        begin_ns=np.zeros(RANKS, np.int64),
        end_ns=leave[first[1:] - 1].copy(),
        tail_ns=np.zeros(RANKS, np.int64),
        tail_asleep_ns=np.zeros(RANKS, np.int64),
        sites=tuple(f"halo+{site:#x}" for site in range(BODY)),
    )


def irregular(items: int) -> Events:
    """Make a trace that hardly folds: collectives at random call sites."""
    events = halo(items * RANKS)
    length = len(events.calls) // RANKS
    sites = 200
    rng = np.random.default_rng(2)
    shapes = [(3, 0, 0, -1, -1, -1, -1, 8, 1, site) for site in range(sites)]
    calls = replace(
        events.calls,
        shape=np.tile(rng.integers(0, sites, length, np.uint32), RANKS),
        ages=np.zeros(len(events.calls), np.uint32),
        shapes=np.array(shapes, SHAPE_DTYPE),
    )
    names = tuple(f"irregular+{site:#x}" for site in range(sites))
    return replace(events, calls=calls, sites=names)


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """Return what a function returns, and the time that it took [s]."""
    begin = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - begin


def signature_of(events: Events, symbols: Symbols) -> Signature:
    """Fold and summarise."""
    first = events.calls.first
    nests = []
    for rank in range(RANKS):
        own = symbols.symbol[first[rank] : first[rank + 1]]
        nests.append(fold(own[own >= 0]))
    return summarise(events, symbols, nests, PROVENANCE)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("events", type=float, nargs="*", default=[1e5, 1e6, 1e7])
    totals = [int(events) for events in parser.parse_args().events]
    print(
        f"{'events':>10} {'cluster':>9} {'+summary':>9} {'Mevents/s':>9} {'B/event':>8}"
    )
    for total in totals:
        events = halo(total)
        matching = match(events.calls)
        symbols, cluster_s = timed(cluster, events, matching)
        _, summary_s = timed(signature_of, events, symbols)
        del symbols
        tracemalloc.start()
        signature_of(events, cluster(events, matching))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        speed = len(events.calls) / (cluster_s + summary_s) / 1e6
        print(
            f"{len(events.calls):10} {cluster_s:8.2f}s {summary_s:8.2f}s {speed:9.1f} "
            f"{peak / len(events.calls):8.0f}"
        )
    events = irregular(100_000)
    matching = match(events.calls)
    signature = signature_of(events, cluster(events, matching))
    items = sum(len(group.nest) for group in signature.groups)
    with tempfile.TemporaryDirectory() as folder:
        path, save_s = timed(save, signature, Path(folder) / "signature.yaml")
        size = path.stat().st_size
        _, load_s = timed(load, path)
    print(f"\n{'items':>10} {'save':>9} {'load':>9} {'MB':>9}")
    print(f"{items:10} {save_s:8.2f}s {load_s:8.2f}s {size / 1e6:9.1f}")


if __name__ == "__main__":
    main()
