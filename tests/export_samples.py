"""A run that uses what exports must understand, written as the recorder would."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

from skelgen.events import Events, collect
from skelgen.export.run import TraceStreams
from skelgen.progress import NO_PROGRESS
from skelgen.trace import open_trace
from tests.trace_writer import RankWriter

RANKS = 4
ROUNDS = 3
ROW = 2  # a communicator of every second rank


def save_mixed(folder: Path, *, killed: int = -1) -> Path:
    """Four ranks with every kind of message, collective and request.

    `killed` names a rank that ends before its last round.
    """
    for rank in range(RANKS):
        writer = RankWriter(rank, RANKS, cost_ps=17_000)
        writer.event("MPI_Init", 0, 9000)
        row = [r for r in range(RANKS) if r % 2 == rank % 2]
        writer.comm(ROW, row)
        both = {"flags": "PERSISTENT", "tag": 7, "site": 0x70}
        right, left = (rank + 1) % RANKS, (rank - 1) % RANKS
        writer.event("MPI_Send_init", 9, 9, peer=right, count_a=3, type_a=8, **both)
        writer.event("MPI_Recv_init", 9, 9, peer=left, count_b=9, type_b=8, **both)
        for number in range(ROUNDS):
            if rank == killed and number == ROUNDS - 1:
                break
            _round(writer, rank, number)
        if rank != killed:
            writer.finish()
        writer.save(folder)
    return folder


def _round(writer: RankWriter, rank: int, number: int) -> None:
    _nonblocking(writer, rank, number)
    _persistent(writer)
    _gathered(writer, rank)
    _collectives(writer, rank)


def _nonblocking(writer: RankWriter, rank: int, number: int) -> None:
    """Wildcards, equal messages at once, nothing, nobody, and both in one call."""
    right, left = (rank + 1) % RANKS, (rank - 1) % RANKS
    wild = {"flags": "CREATES WILD_SOURCE WILD_TAG", "peer": -3, "tag": -2}
    for _ in range(2):
        writer.event("MPI_Irecv", 900, 60, count_b=50, type_b=8, **wild)
    for count in (10, 0):
        sent = {"tag": 5 + number, "varies": "TAG", "count_a": count, "type_a": 8}
        writer.event("MPI_Isend", 40, 60, flags="CREATES", peer=right, **sent)
    writer.event("MPI_Isend", 40, 60, flags="CREATES", peer=-2, tag=1, count_a=1)
    found = [(0, left, 5 + number), (1, left, 5 + number)]
    writer.event("MPI_Testall", 9, 9, flags="NOT_READY", extras={"polls": 4})
    ages = {"requests": [5, 4, 3, 2], "extras": {"statuses": found}}
    writer.event("MPI_Waitall", 40, 4000, flags="COMPLETES", count_a=4, **ages)
    writer.event("MPI_Wait", 40, 40, flags="COMPLETES", count_a=1, requests=1)
    writer.event(
        "MPI_Sendrecv",
        *(700, 900),
        peer=right,
        tag=6,
        peer2=left,
        tag2=6,
        count_a=20,
        type_a=4,
        count_b=20,
        type_b=4,
        site=0x60,
    )


def _persistent(writer: RankWriter) -> None:
    ends = {"flags": "COMPLETES", "count_a": 1, "site": 0x72}
    writer.event("MPI_Startall", 300, 70, flags="STARTS", count_a=2, requests=[-1, -2])
    writer.event("MPI_Waitany", 300, 800, requests=1, **ends)
    writer.event("MPI_Waitany", 300, 800, requests=2, **ends)


def _gathered(writer: RankWriter, rank: int) -> None:
    """Let rank 0 receive from anybody, twice from rank 2 and in another order."""
    if rank:
        for _ in range(1 + (rank == 2)):
            writer.event("MPI_Send", 500, 90, peer=0, tag=9, count_a=2, type_a=8)
        return
    for source in (2, 3, 2, 1):
        wild = {"flags": "WILD_SOURCE", "varies": "PEER", "peer": source, "tag": 9}
        writer.event("MPI_Recv", 50, 900, count_b=8, type_b=8, **wild)


def _collectives(writer: RankWriter, rank: int) -> None:
    one = {"count_a": 2, "type_a": 8}
    writer.event("MPI_Barrier", 5000, 900)
    writer.event("MPI_Bcast", 50, 900, peer=1, **one)
    writer.event("MPI_Allreduce", 50, 900, op=3, **one)
    writer.event("MPI_Allreduce", 50, 900, op=3, comm=ROW, **one)
    writer.event("MPI_Bcast", 50, 900, peer=1, comm=ROW, **one)
    counts = [[rank + 1] * RANKS, list(range(1, RANKS + 1))]
    writer.event(
        "MPI_Alltoallv",
        *(50, 900),
        vector_a=counts[0],
        vector_b=counts[1],
        type_a=8,
        type_b=8,
    )
    writer.event("MPI_Reduce", 50, 900, peer=2, op=3, **one)
    writer.event("MPI_Allreduce", 50, 90, op=3, comm=1, **one)
    writer.event("MPI_Ibarrier", 50, 90, flags="CREATES")
    writer.event("MPI_Wait", 50, 900, flags="COMPLETES", count_a=1, requests=1)


def save_threads(folder: Path) -> Path:
    """One rank: a thread completes what another one began."""
    main = RankWriter(0, 1)
    main.event("MPI_Init_thread", 0, 1000)
    main.event("MPI_Irecv", 10, 10, flags="CREATES", peer=0, tag=1, count_b=4, comm=1)
    main.event("MPI_Send", 10, 10, peer=0, tag=1, count_a=4, type_a=1, comm=1)
    main.event("MPI_Barrier", 9000, 10)
    main.finish()
    main.save(folder)
    other = RankWriter(0, 1, thread=1)
    other.event("MPI_Send", 1500, 10, peer=-2, tag=1, count_a=4, type_a=1)
    ended = {"count_a": 1, "extras": {"foreign": [(0, 1)]}}
    other.event("MPI_Wait", 1500, 10, flags="COMPLETES", **ended)
    other.finish("THREAD")
    other.save(folder)
    return folder


def save_neighbours(folder: Path) -> Path:
    """Two ranks in a ring: each is on both sides of the other.

    They also reduce twice with one persistent request.
    """
    ranks = 2
    for rank in range(ranks):
        writer = RankWriter(rank, ranks)
        writer.event("MPI_Init", 0, 1000)
        other = 1 - rank
        around = {"sources": (other, other), "destinations": (other, other)}
        members = list(range(ranks))
        writer.comm(2, members, kind="CART", dims=(2,), periods=(1,), **around)
        one = {"count_a": 5, "type_a": 8, "comm": 2}
        writer.event("MPI_Neighbor_alltoall", 900, 90, **one)
        writer.event("MPI_Ineighbor_allgather", 900, 90, flags="CREATES", **one)
        writer.event("MPI_Wait", 900, 90, flags="COMPLETES", requests=1)
        kept = {"count_a": 3, "type_a": 8, "op": 3, "flags": "PERSISTENT"}
        writer.event("MPI_Allreduce_init", 90, 90, **kept)
        for _ in range(2):
            writer.event("MPI_Start", 900, 90, flags="STARTS", requests=-1)
            writer.event("MPI_Wait", 900, 90, flags="COMPLETES", requests=1)
        writer.finish()
        writer.save(folder)
    return folder


def opened(folder: Path, spool: Path) -> tuple[TraceStreams, Events]:
    """The same run as exports see it and as the other stages see it."""
    trace = open_trace(folder)
    return TraceStreams(trace, spool, NO_PROGRESS), collect(trace)


def calls_by_rank(folder: Path) -> Counter[tuple[int, str]]:
    """Count the calls of each rank and function, found by reading all at once.

    MPI_Init and MPI_Finalize, which are no `Calls`, are taken from the files' ends.
    """
    trace = open_trace(folder)
    calls = collect(trace).calls
    counts: Counter[tuple[int, str]] = Counter()
    for rank, (begin, end) in enumerate(pairwise(calls.first.tolist())):
        numbers = calls.shapes["function"][calls.shape[begin:end]].tolist()
        counts.update((rank, calls.functions[number]) for number in numbers)
    for file in trace.files:
        rank, last = file.header.world_rank, file.definitions.end
        counts[rank, "MPI_Init"] += file.header.thread == 0
        ended = last is not None and last.reason == "finalize"
        counts[rank, "MPI_Finalize"] += ended
    return +counts
