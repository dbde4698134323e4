"""Types of the event stage."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events.away import no_time_away
from skelgen.events.narrow import Amounts, NarrowColumn, Rows

#: Codes in the columns ``peer`` and ``peer2`` of a shape.
NO_PEER, PROC_NULL = -1, -2
#: Code in ``peer`` of a rooted collective on an intercommunicator: this is the root.
ROOT = -4
#: Code in ``communicator``: the call has none.
NO_COMMUNICATOR = -1
#: Code in ``tag`` and ``tag2``: the call has none.
NO_TAG = -1

#: Kinds of the communicator of a window, and of those that its calls get: one for
#: each way of synchronising, in this order behind it.
WINDOW_KINDS = ("window", "fence_window", "pscw_window", "lock_window", "open_window")
#: Tags of calls that tell partners, and wait for partners: memory is exposed, and
#: operations on it are complete.
EXPOSED, COMPLETED = 0, 1

#: Bits of the column ``flags``. FAILED_POLL: a Test or Iprobe that found nothing; it
#: has no ages, and its size is the number of polls in a row that it stands for. HOLES:
#: the message to or from one partner does not lie in one piece in memory. MOVED: a poll
#: that found requests complete, which another call completes since completions were
#: put in order; it has no ages. AMID_WORK: failed polls, and the rank worked between
#: them; that work is computation before them.
WILDCARD_SOURCE, WILDCARD_TAG, IN_PLACE, FAILED_POLL, HOLES, MOVED = 1, 2, 4, 8, 16, 32
AMID_WORK = 64

#: What is constant about a call; equal calls share one row. Wildcards are
#: resolved: ``peer`` and ``tag`` hold the source and tag that the message had. A
#: receive that was never completed keeps NO_PEER or NO_TAG where it has a wildcard;
#: a message that was cancelled has the partner PROC_NULL.
SHAPE_DTYPE = np.dtype(
    [
        ("function", np.uint16),  # index into Calls.functions
        ("flags", np.uint16),  # WILDCARD_SOURCE | WILDCARD_TAG | ...
        ("communicator", np.int32),  # index into Calls.communicators
        ("peer", np.int32),  # partner or root, as a rank of the communicator
        ("tag", np.int32),
        ("peer2", np.int32),  # Sendrecv: the source
        ("tag2", np.int32),  # Sendrecv: the receive's tag
        ("datatype_bytes", np.int32),  # size of one element [bytes]; 0: none
        ("piece_bytes", np.int32),  # of memory, with HOLES [bytes]; 0: unknown
        ("op", np.int32),  # reduction operation, 0: none
        ("site", np.int32),  # call site, equal for all ranks
    ]
)


@dataclass(frozen=True, slots=True)
class Communicator:
    """A communicator, as all its members see it.

    Attributes
    ----------
    family : int
        Equal for the communicators that one collective call created, such as the
        rows of a grid; families are numbered in order of creation, 0 is
        ``MPI_COMM_WORLD`` and 1 ``MPI_COMM_SELF``.
    parent : int
        Index of a communicator it was created from, -1 for the two built-in ones.
    kind : str
        ``world``, ``self``, ``dup``, ``split``, ``create``, ``cart`` and so on.
    members : tuple of int
        World rank of each rank.
    remote : tuple of int
        World ranks of the remote group of an intercommunicator, else empty.
    dims : tuple of int
        Cartesian dimensions, else empty.
    periods : tuple of bool
        Whether each Cartesian dimension is periodic.
    sources, destinations : tuple of tuple of int
        For each member of a topology whom its neighbourhood collectives receive
        from and send to, as ranks of the communicator; empty without topology.
    name : str
        Of a file, as the program opened it.
    memory_bytes : int
        Of a window, all ranks [bytes].
    """

    family: int
    parent: int
    kind: str
    members: tuple[int, ...]
    remote: tuple[int, ...] = ()
    dims: tuple[int, ...] = ()
    periods: tuple[bool, ...] = ()
    sources: tuple[tuple[int, ...], ...] = ()
    destinations: tuple[tuple[int, ...], ...] = ()
    name: str = ""
    memory_bytes: int = 0

    @property
    def everyone(self) -> tuple[int, ...]:
        """Return the world ranks of both groups, the same for both sides."""
        first, second = sorted((self.members, self.remote))
        return first + second

    @property
    def first_partner(self) -> int:
        """Return the place in `everyone` of the rank that is partner 0."""
        return len(self.members) if self.members < self.remote else 0


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of all ranks without their times, rank after rank in program order.

    MPI_Init and MPI_Finalize are not among them. Threads of a rank are merged by the
    times at which their calls were entered; `skelgen.matching.threads` puts the calls
    into an order that one thread can execute.

    Attributes
    ----------
    first : (ranks + 1,) int64 array
        Calls of rank r are rows ``first[r]`` to ``first[r + 1]``.
    shape : (n,) uint32 array
        Row of `shapes` of each call.
    size_bytes : (n,) int64 array
        Bytes this rank sends in the call, or the capacity of a receive [bytes]; of a
        Sendrecv what it sends. Of a collective the send side's count: the block for
        each partner in Alltoall, Allgather, Gather and Scatter, the whole in others;
        the receive side's count where MPI ignores the other (MPI_IN_PLACE, Scatter
        outside the root). Of a neighbourhood collective all that is sent. Of a
        failed poll the number of polls.
    ages : (n,) uint32 array
        Which requests a call completes or starts: index into the ragged rows of
        `age_values`; 0 is the empty row. Of Win_post, Win_start, Win_complete and
        Win_wait the partners instead: (their rank - own rank) modulo the size.
    age_first : (rows + 1,) int64 array
        Row i of the ages is ``age_values[age_first[i]:age_first[i + 1]]``.
    age_values : (m,) int64 array
        A request's age is the number of requests of its sort that the rank has
        created since, this one included: 1 is the latest, and -1 the latest of the
        persistent ones, which count apart, for loops name the same ones in every
        iteration. Every creating call creates one request. Null and inactive
        requests do not appear.
    vector_call : (v,) int64 array
        Calls with a count for each rank (Alltoallv and its like) or for each
        neighbour (all neighbourhood collectives), ascending.
    vectors : (v, 2) object array
        Bytes sent to and received from each rank of the communicator as
        int64 arrays, or of each destination and source of a neighbourhood
        collective; None where the function has no such vector on that side
        (Reduce_scatter and Allgatherv have what each rank receives, Gatherv and
        Scatterv have one at the root only).
    shapes : (s,) SHAPE_DTYPE array
    communicators : tuple of Communicator
    functions : tuple of str
        MPI names, such as ``MPI_Send``. Calls that returned an error are functions
        of their own, ``MPI_Send (failed)``, and local.
    """

    first: NDArray[np.int64]
    shape: NDArray[np.uint32]
    size_bytes: NDArray[np.int64]
    ages: NDArray[np.uint32]
    age_first: NDArray[np.int64]
    age_values: NDArray[np.int64]
    vector_call: NDArray[np.int64]
    vectors: NDArray[np.object_]
    shapes: NDArray[np.void]
    communicators: tuple[Communicator, ...]
    functions: tuple[str, ...]

    @property
    def ranks(self) -> int:
        """Return the number of ranks."""
        return len(self.first) - 1

    def __len__(self) -> int:
        """Return the number of calls of all ranks."""
        return len(self.shape)


@dataclass(frozen=True, slots=True)
class Events:
    """The calls of all ranks with their times on one clock.

    Attributes
    ----------
    calls : Calls
    enter_ns, leave_ns : (n,) int64 arrays
        Begin and end of each call since the clock origin [ns]; empty where there is
        `inside_ns`.
    compute_ns : (n,) int64 array or NarrowColumn
        Computation between the previous call's end and this one's begin, without
        the recorder's own cost and without `away` [ns].
    begin_ns, end_ns : (ranks,) int64 arrays
        Return from ``MPI_Init`` and begin of ``MPI_Finalize`` of each rank [ns].
        A rank whose end is missing (killed) ends with its last call.
    tail_ns : (ranks,) int64 array
        Computation after the last call and before `end_ns` [ns].
    tail_asleep_ns : (ranks,) int64 array
        How long each rank slept there [ns].
    sites : tuple of str
        Module and offset of each call site.
    warnings : tuple of str
        One line for each thing in the trace that does not fit together.
    threads : (n,) uint16 array or None
        Thread of each call among those of its rank; None where every rank has one.
    away : AWAY_DTYPE array
        By call: for how long before it others had the rank's core, and it slept. Calls
        that are missing had no such time, or the recording does not say.
    inside_ns : (n,) NarrowColumn or None
        How long each call took [ns], where it is not known any more when that was.
    """

    calls: Calls
    enter_ns: NDArray[np.int64]
    leave_ns: NDArray[np.int64]
    compute_ns: Amounts
    begin_ns: NDArray[np.int64]
    end_ns: NDArray[np.int64]
    tail_ns: NDArray[np.int64]
    tail_asleep_ns: NDArray[np.int64]
    sites: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    threads: NDArray[np.uint16] | None = None
    away: NDArray[np.void] = field(default_factory=no_time_away)
    inside_ns: NarrowColumn | None = None

    def spent_ns(self, rows: Rows) -> NDArray[np.int64]:
        """Return how long some calls took, in a new array [ns]."""
        if self.inside_ns is not None:
            return self.inside_ns[rows]
        spent_ns: NDArray[np.int64] = self.leave_ns[rows] - self.enter_ns[rows]
        return spent_ns

    @property
    def application_ns(self) -> int:
        """Return the time from the first ``MPI_Init`` to the last Finalize [ns]."""
        return int(self.end_ns.max() - self.begin_ns.min())

    def outline(self) -> Events:
        """Return the run without its calls, which may take much memory."""
        nothing = {
            name: getattr(self.calls, name)[:0].copy()
            for name in ("shape", "size_bytes", "ages", "vector_call", "vectors")
        }
        none = {
            name: getattr(self, name)[:0].copy()
            for name in ("enter_ns", "leave_ns", "compute_ns", "away")
        }
        calls = replace(self.calls, **nothing)
        return replace(self, calls=calls, threads=None, inside_ns=None, **none)
