"""A plan of 4 ranks with every operation that skeletons know, at least once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.skeleton import Plan
from tests.plans import Builder, Do, Loop

SUM, MAXLOC, USER = 3, 12, 15
#: Ranks of the plan.
N = 4


def vectors(ranks: int, *, to: bool = True, of: bool = True) -> np.ndarray:
    """Return bytes between ranks of a communicator of all ranks: 4 x (i + j + 1)."""
    pairs = 4.0 * np.add.outer(np.arange(ranks), np.arange(ranks) + 1)
    none = np.full((ranks, ranks), np.nan)
    return np.stack([pairs if to else none, pairs if of else none], axis=1)


def equal_vectors(ranks: int) -> np.ndarray:
    """Return vectors that are the same on all ranks: 8 x (j + 1) bytes from rank j."""
    row = 8.0 * (np.arange(ranks) + 1)
    none = np.full((ranks, ranks), np.nan)
    return np.stack([none, np.tile(row, (ranks, 1))], axis=1)


def root_vectors(ranks: int, side: int) -> np.ndarray:
    """Return the vectors of Gatherv and Scatterv: only the root has them."""
    found = np.full((ranks, 2, ranks), np.nan)
    found[0, side] = 16.0 * (np.arange(ranks) + 1)
    return found


def every_operation() -> Plan:
    """Return a plan of 4 ranks with every operation that skeletons know."""
    build = Builder(N)
    row = build.family("split", (0, 1), (2, 3))
    column = build.family("cart_sub", (2, 0), (3, 1))
    build.family("dup", (0, 1, 2, 3))
    some = build.family("create", (1, 3))
    everyone = [
        *collectives(),
        Do("MPI_Allreduce", size=8, datatype=8, op=SUM, family=row),
        Do("MPI_Bcast", size=[[8, 800, 80]] * N, peer=1, family=column),
        Do("MPI_Allreduce", size=8, datatype=8, op=SUM, family=1),
        *nonblocking_collectives(),
        *messages(),
        *persistent_requests(),
        *several_requests(),
        Loop(3, [Loop((1, 2, 1), [Do("MPI_Barrier")])]),
    ]
    varying = np.array([1, 3, 1, 1, 3])
    sends = [
        *everyone,
        *[send for send, _ in modes()],
        Loop(5, [Do("MPI_Send", size=8, peer=varying, tag=3)]),
    ]
    receives = [
        *everyone,
        *[receive for _, receive in modes()],
        Loop(5, [Do("MPI_Recv", size=8, peer=4 - varying, tag=3)]),
        Do("MPI_Issend", size=8, peer=2, tag=9, family=0),
        Do("MPI_Recv", size=8, peer=2, tag=9, family=0),
        Do("MPI_Wait", ages=(1,)),
        Do("MPI_Allreduce", size=8, datatype=8, op=SUM, family=some),
    ]

    def cut(items, ranks):
        return [restrict(item, ranks) for item in items]

    build.program((0, 2), *cut(sends, [0, 2]))
    return build.program((1, 3), *cut(receives, [1, 3]), tail_us=12).plan()


def collectives() -> list[Do | Loop]:
    """Return collectives that block, each at least once."""
    own = 16.0 * (np.arange(N) + 1)
    return [
        Do("MPI_Barrier", us=3),
        Do("MPI_Bcast", size=100, peer=1, us=[1, 2, 3, 4]),
        Do("MPI_Gather", size=24, peer=0),
        Do("MPI_Gatherv", size=own, peer=0, vectors=root_vectors(N, 1)),
        Do("MPI_Scatter", size=24, peer=2),
        Do("MPI_Scatterv", size=own, peer=0, vectors=root_vectors(N, 0)),
        Do("MPI_Allgather", size=40),
        Do("MPI_Allgather", size=40, in_place=True),
        Do("MPI_Allgatherv", size=8, vectors=equal_vectors(N)),
        Do("MPI_Allgatherv", size=8, vectors=equal_vectors(N), in_place=True),
        Do("MPI_Alltoall", size=12),
        Do("MPI_Alltoall", size=12, in_place=True),
        Do("MPI_Alltoallv", vectors=vectors(N)),
        Do("MPI_Alltoallv", vectors=vectors(N), in_place=True),
        Do("MPI_Alltoallw", vectors=vectors(N)),
        *in_pieces(own),
        Do("MPI_Reduce", size=80, datatype=8, op=SUM, peer=3),
        Do("MPI_Allreduce", size=8, datatype=4, op=USER),
        Do("MPI_Allreduce", size=24, datatype=12, op=MAXLOC, in_place=True),
        Do("MPI_Allreduce", size=3, datatype=1, op=6),
        Do("MPI_Scan", size=16, datatype=8, op=1, in_place=True),
        Do("MPI_Exscan", size=16, datatype=2, op=SUM),
        Do("MPI_Reduce_scatter", vectors=equal_vectors(N), datatype=8, op=SUM),
        Do("MPI_Reduce_scatter_block", size=16, datatype=8, op=SUM),
        Do("MPI_Reduce_scatter_block", size=16, datatype=8, op=SUM, in_place=True),
    ]


def in_pieces(own: NDArray[np.float64]) -> list[Do | Loop]:
    """Return collectives whose data has holes in memory."""
    several = [
        Do("MPI_Gatherv", size=own, peer=0, vectors=root_vectors(N, 1)),
        Do("MPI_Scatterv", size=own, peer=0, vectors=root_vectors(N, 0)),
        Do("MPI_Allgatherv", size=8, vectors=equal_vectors(N)),
        Do("MPI_Alltoallv", vectors=vectors(N)),
        Do("MPI_Alltoallw", vectors=vectors(N)),
        Do("MPI_Alltoallw", vectors=vectors(N), in_place=True),
        Do("MPI_Ialltoallw", vectors=vectors(N)),
    ]
    return [
        Do("MPI_Bcast", size=100, datatype=20, peer=1, holes=True),
        Do("MPI_Gather", size=24, datatype=6, peer=0, holes=True),
        Do("MPI_Scatter", size=24, datatype=8, peer=2, holes=True),
        Do("MPI_Allgather", size=40, datatype=8, holes=True),
        Do("MPI_Allgather", size=1536, datatype=8, piece=1024, holes=True),
        Do("MPI_Alltoall", size=12, datatype=4, holes=True),
        *[replace(do, datatype=8, holes=True) for do in several],
        Do("MPI_Wait", ages=(1,)),
    ]


def nonblocking_collectives() -> list[Do | Loop]:
    """Return collectives that are completed later."""
    names = "Ibarrier Ibcast Iallgather Ialltoall Iallreduce Ireduce Iscan".split()
    found: list[Do | Loop] = []
    for name in names:
        rooted = name in ("Ibcast", "Ireduce")
        op = SUM if name in ("Iallreduce", "Ireduce", "Iscan") else 0
        root = 1 if rooted else -1
        found += [
            Do(f"MPI_{name}", size=64, datatype=8, op=op, peer=root),
            Do("MPI_Wait", ages=(1,), us=0.5),
        ]
    return [
        *found,
        Do("MPI_Ialltoallv", vectors=vectors(N)),
        Do("MPI_Igather", size=24, peer=0),
        Do("MPI_Waitall", ages=(2, 1)),
        Do("MPI_Ialltoallw", vectors=vectors(N)),
        Do("MPI_Waitany", ages=(1,)),
    ]


def messages() -> list[Do | Loop]:
    """Return messages to neighbours in the ring, to nobody and to oneself."""
    return [
        Do("MPI_Sendrecv", size=56, peer=1, tag=1, peer2=3, tag2=1, us=7),
        Do("MPI_Sendrecv", size=56, peer=-2, tag=1, peer2=-2, tag2=1),
        Do("MPI_Sendrecv_replace", size=48, peer=1, tag=2, peer2=3, tag2=2),
        Do(
            "MPI_Sendrecv",
            size=56,
            datatype=8,
            peer=1,
            tag=1,
            peer2=3,
            tag2=1,
            holes=True,
        ),
        Do("MPI_Sendrecv_replace", size=6, peer=1, tag=2, peer2=3, tag2=2, holes=True),
        Do("MPI_Send", size=9, peer=-2, tag=0),
        Do("MPI_Isend", size=5, peer=0, tag=4),
        Do("MPI_Recv", size=5, peer=0, tag=4),
        Do("MPI_Wait", ages=(1,)),
        Do("MPI_Isend", size=40, datatype=20, peer=0, tag=4, holes=True),
        Do("MPI_Recv", size=40, peer=0, tag=4),
        Do("MPI_Wait", ages=(1,)),
    ]


def persistent_requests() -> list[Do | Loop]:
    """Return persistent requests: all of a call at a time, and some of several."""
    return [
        Do("MPI_Send_init", size=32, peer=1, tag=8),
        Do("MPI_Recv_init", size=32, peer=3, tag=8),
        Loop(3, [Do("MPI_Startall", ages=(-2, -1)), Do("MPI_Waitall", ages=(-2, -1))]),
        Do("MPI_Request_free", ages=(-2,)),
        # Some of several persistent requests of one call at a time.
        Loop(
            2,
            [
                Do("MPI_Recv_init", size=32, peer=3, tag=9),
                Do("MPI_Send_init", size=32, peer=1, tag=9),
            ],
        ),
        Loop(2, [Do("MPI_Startall", ages=(-4, -3)), Do("MPI_Waitall", ages=(-4, -3))]),
        Do("MPI_Startall", ages=(-2, -1)),
        Do("MPI_Waitall", ages=(-2, -1)),
    ]


def several_requests() -> list[Do | Loop]:
    """Return requests of one call that are completed together, or in turn."""
    return [
        # Four receives at a time from one call, completed together.
        Loop(
            2,
            [
                Loop(4, [Do("MPI_Irecv", size=128, peer=3, tag=5, holes=True)]),
                Loop(4, [Do("MPI_Isend", size=128, peer=1, tag=5)]),
                Do("MPI_Waitall", ages=(8, 7, 6, 5, 4, 3, 2, 1)),
            ],
        ),
        # Some of several requests of one call: their places rotate.
        Loop(3, [Do("MPI_Irecv", size=16, peer=3, tag=6)]),
        Loop(3, [Do("MPI_Send", size=16, peer=1, tag=6)]),
        Do("MPI_Waitsome", ages=(6 - 3, 6 - 5)),
        Do("MPI_Wait", ages=(2,)),
        Do("MPI_Isend", size=16, peer=1, tag=7),
        Do("MPI_Probe", peer=3, tag=7),
        Do("MPI_Recv", size=16, peer=3, tag=7),
    ]


def modes() -> list[tuple[Do, Do]]:
    """Return a send of each mode and its receive."""
    return [
        (
            Do("MPI_Send", size=11, peer=1, tag=1),
            Do("MPI_Recv", size=11, peer=3, tag=1),
        ),
        (
            Do("MPI_Ssend", size=11, peer=1, tag=1),
            Do("MPI_Recv", size=99, peer=3, tag=1),
        ),
        (
            Do("MPI_Bsend", size=11, peer=1, tag=1),
            Do("MPI_Recv", size=11, peer=3, tag=1),
        ),
        (
            Do("MPI_Rsend", size=11, peer=1, tag=1),
            Do("MPI_Mrecv", size=11, peer=3, tag=1),
        ),
    ]


def restrict(item: Do | Loop, ranks: list[int]) -> Do | Loop:
    """Leave only the rows of some ranks of what differs between them."""
    if isinstance(item, Loop):
        return replace(item, body=[restrict(inner, ranks) for inner in item.body])
    found = item
    for name in ("size", "us", "vectors"):
        value = getattr(item, name)
        if value is not None and np.ndim(value):
            found = replace(found, **{name: np.asarray(value, float)[ranks]})
    return found
