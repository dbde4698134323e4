"""Signatures of traces that tests write, and what is left of a trace in them."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

import numpy as np

from skelgen.events import Events
from skelgen.loops import fold
from skelgen.matching import Matching, match
from skelgen.phases.string import LogicalTrace, logical_trace
from skelgen.signature import Provenance, Signature, summarise
from skelgen.symbols.cluster import cluster
from skelgen.symbols.types import Symbols
from skelgen.ticks import place
from tests.damage import cut

PROVENANCE = Provenance(
    application="app",
    command=("mpirun", "-n", "4", "./app", "--name=a b", "\u00fc:"),
    mpi="MPICH 5.0",
    host="node1",
    recorded="2026-01-01T00:00:00Z",
    skelgen="0.1.0",
    parameters=(("similarity_threshold", "default"),),
    ranks_per_host=(2, 2),
)


@dataclasses.dataclass(frozen=True)
class Built:
    """All stages up to the signature of one trace."""

    events: Events
    matching: Matching
    symbols: Symbols
    signature: Signature


def build(
    events: Events,
    threshold: float | None = None,
    provenance: Provenance = PROVENANCE,
) -> Built:
    """Take a trace through all stages."""
    matching = match(events.calls)
    symbols = cluster(events, matching, similarity_threshold=threshold)
    nests = [fold(string(symbols, events, rank)) for rank in range(events.calls.ranks)]
    signature = summarise(events, symbols, nests, provenance)
    return Built(events, matching, symbols, signature)


def logical_trace_of(events: Events, built: Built) -> LogicalTrace:
    """Write the events of all ranks as one string."""
    calls, matching = events.calls, built.matching
    clock = place(calls, matching)
    return logical_trace(calls, matching, clock, built.symbols, events.sites)


def string(symbols: Symbols, events: Events, rank: int) -> Any:
    """Return a rank's string of symbols."""
    first = events.calls.first
    own = symbols.symbol[first[rank] : first[rank + 1]]
    return own[own >= 0]


def described(symbols: Symbols, events: Events, rank: int = 0) -> list[str]:
    """Return the functions of a rank's string, without ``MPI_``."""
    return [
        symbols.functions[symbols.table["function"][number]].removeprefix("MPI_")
        for number in string(symbols, events, rank)
    ]


def ages(symbols: Symbols, events: Events, rank: int = 0) -> list[list[int]]:
    """Return the ages of the calls of a rank that complete, start or free."""
    rows = symbols.table["ages"][string(symbols, events, rank)]
    bounds = symbols.age_first
    return [
        symbols.age_values[bounds[row] : bounds[row + 1]].tolist()
        for row in rows.tolist()
        if row
    ]


def cut_events(events: Events, rng: random.Random) -> Events:
    """Cut ranks of a trace at random places, some of them not at all."""
    first = events.calls.first
    counts = np.diff(first).tolist()
    kept = [rng.choice((n, n, rng.randint(0, n))) for n in counts]
    rows = np.concatenate(
        [np.arange(first[r], first[r] + kept[r]) for r in range(len(kept))]
    ).astype(np.int64)
    return dataclasses.replace(
        events,
        calls=cut(events.calls, kept),
        enter_ns=events.enter_ns[rows],
        leave_ns=events.leave_ns[rows],
        compute_ns=events.compute_ns[rows],
    )


def assert_same(one: Any, other: Any, where: str = "") -> None:
    """Compare two signatures, or parts of them, exactly."""
    if dataclasses.is_dataclass(one):
        assert type(one) is type(other), where
        for field in dataclasses.fields(one):
            a, b = getattr(one, field.name), getattr(other, field.name)
            assert_same(a, b, f"{where}.{field.name}")
    elif isinstance(one, tuple):
        assert len(one) == len(other), where
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same(a, b, f"{where}[{i}]")
    elif isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), where
        np.testing.assert_array_equal(one, other, err_msg=where)
    else:
        assert type(one) is type(other), where
        assert one == other, where
