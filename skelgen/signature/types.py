"""The execution signature: what remains of a trace, and all that a skeleton needs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skelgen.events.touched_memory import Touched
from skelgen.loops import Nest
from skelgen.trust.recording_doubts import Unseen
from skelgen.trust.skeleton_doubts import NotComputed

#: Ranks of the neighbours of each member of a communicator.
Neighbours = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a signature comes from.

    Attributes
    ----------
    application : str
        Name of the program.
    command : tuple of str
        The launch as the user typed it; empty when recorded by hand.
    mpi, host, recorded : str
        Library version, host of rank 0 and wall-clock date (ISO, UTC) of the run.
    skelgen : str
        Version that built the signature.
    parameters : tuple of (str, str)
        Options of the build that shaped it.
    ranks_per_host : tuple of int
        Ranks on each host of the recording run.
    """

    application: str
    command: tuple[str, ...]
    mpi: str
    host: str
    recorded: str
    skelgen: str
    parameters: tuple[tuple[str, str], ...]
    ranks_per_host: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CommunicatorFamily:
    """The communicators that one collective call created.

    Attributes
    ----------
    kind : str
    parent : int
        Family it was created from, -1 for world and self.
    instances : tuple of tuple of int
        World ranks of the members of each communicator, in rank order; those of
        both groups of an intercommunicator.
    sources, destinations : tuple of tuple of tuple of int
        For each instance and member of a topology whom its neighbourhood collectives
        receive from and send to, as ranks of the communicator; empty for others.
    """

    kind: str
    parent: int
    instances: tuple[tuple[int, ...], ...]
    sources: tuple[Neighbours, ...] = ()
    destinations: tuple[Neighbours, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Statistics of one quantity at every leaf and rank of a group.

    Attributes
    ----------
    total : (leaves, ranks) float64 array
        Sum over the occurrences.
    squares : (leaves, ranks) float64 array
        Sum of squares.
    least, most : (leaves, ranks) float64 arrays
    histogram : (leaves, ranks, bins) int64 array
        Counts by power of two: bin b counts values in [2^(b-1), 2^b), bin 0
        those below 1; `bins` is the least that holds all values.
    samples : (leaves, ranks, s) float64 array
        Values at s occurrences, one from each of s equal strata of the run, at
        the same occurrences for all ranks: what one rank does while another does
        the other thing stays together. NaN beyond a leaf's number of samples.
    """

    total: NDArray[np.float64]
    squares: NDArray[np.float64]
    least: NDArray[np.float64]
    most: NDArray[np.float64]
    histogram: NDArray[np.int64]
    samples: NDArray[np.float64]


#: An occurrence that computes much longer than others of its leaf: the leaf, the place
#: of the rank in its group, which occurrence it is, its computation [ns].
LONG_DTYPE = np.dtype(
    [
        ("leaf", np.int64),
        ("rank", np.int64),
        ("occurrence", np.int64),
        ("compute_ns", np.float64),
    ]
)


def _none_long() -> NDArray[np.void]:
    return np.empty(0, LONG_DTYPE)


@dataclass(frozen=True, slots=True, eq=False)
class RankGroup:
    """Ranks whose strings of symbols are the same.

    Leaves are numbered in prefix order of the nest.

    Attributes
    ----------
    ranks : tuple of int
        World ranks, ascending.
    nest : Nest
    count : (leaves,) int64 array
        Occurrences of each leaf in one rank.
    compute_ns : Spread
        Computation before the leaf's call [ns].
    mpi_ns : (leaves, ranks) float64 array
        Time inside the call, sum over the occurrences [ns].
    idle_ns : (leaves, ranks) float64 array
        Time before the call in which the rank slept, sum over the occurrences [ns].
    polls, nap_ns : (leaves, ranks) float64 arrays
        Polls and probes before the call, itself among them if it is one, and how long
        the rank slept between them [ns]: part of `mpi_ns`; sums over the occurrences.
    size_bytes : Spread
        Bytes that the call sends; for receives what arrived [bytes].
    size_steps : (leaves, ranks) float64 array
        How far the bytes of an occurrence are from those of the one before it, sum over
        the occurrences [bytes].
    peers : tuple of (m, 2) int32 array
        For each leaf whose symbol has a VARYING peer the relative partner of each
        occurrence, run-length coded (partner, repeats), the same for all ranks of
        the group; (0, 2) arrays for other leaves.
    vectors : tuple of (ranks, 2, p) float64 array
        For each leaf of a vector collective the mean bytes sent to and received
        from each rank of its communicator, NaN where the function has none;
        (ranks, 2, 0) arrays for other leaves.
    tail_ns, tail_idle_ns : (ranks,) float64 arrays
        Computation, and sleep, after the last call [ns].
    long_occurrences : (m,) LONG_DTYPE array
        Occurrences that hold much more computation than the mean of their leaf, by
        leaf, occurrence and rank; of leaves with more occurrences than samples. Empty
        in older files.
    """

    ranks: tuple[int, ...]
    nest: Nest
    count: NDArray[np.int64]
    compute_ns: Spread
    mpi_ns: NDArray[np.float64]
    idle_ns: NDArray[np.float64]
    polls: NDArray[np.float64]
    nap_ns: NDArray[np.float64]
    size_bytes: Spread
    size_steps: NDArray[np.float64]
    peers: tuple[NDArray[np.int32], ...]
    vectors: tuple[NDArray[np.float64], ...]
    tail_ns: NDArray[np.float64]
    tail_idle_ns: NDArray[np.float64]
    long_occurrences: NDArray[np.void] = field(default_factory=_none_long)

    @property
    def before_ns(self) -> NDArray[np.float64]:
        """Return what passed before each leaf's call: computation and sleep [ns]."""
        return np.asarray(self.compute_ns.total + self.idle_ns)

    @property
    def after_ns(self) -> NDArray[np.float64]:
        """Return what passed after the last call of each rank [ns]."""
        return np.asarray(self.tail_ns + self.tail_idle_ns)

    @property
    def rank_ns(self) -> NDArray[np.float64]:
        """Return the time of each rank: before, inside and after calls [ns]."""
        return np.asarray((self.before_ns + self.mpi_ns).sum(axis=0) + self.after_ns)


#: How the reason of a dropped call ends whose time is computation.
COUNTED_ONLY = "only counted by the recorder; its time became computation"

#: Numbers of a signature that its file has only where they are not 0.
COUNTS_WHERE_ANY = ("usage_queries", "concurrent_ranks")


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """The execution signature of one run.

    Attributes
    ----------
    provenance : Provenance
    ranks : int
    application_s : float
        Time from ``MPI_Init`` to ``MPI_Finalize`` [s].
    functions : tuple of str
        MPI names; the symbols' column ``function`` points here.
    symbols : (s,) SYMBOL_DTYPE array
    age_first, age_values : int64 arrays
        Ragged rows of request ages, as in `Symbols`.
    families : tuple of CommunicatorFamily
    sites : tuple of str
        Module and offset of each call site.
    groups : tuple of RankGroup
        Every rank is in one group.
    events : int
        Calls recorded, all ranks.
    dropped : tuple of (str, int, float)
        What the signature leaves out: reason, calls, time [s], all ranks.
    usage_queries : int
        How often the program asked for its CPU time outside MPI, all ranks.
    usage_gaps : tuple of int
        Gaps between these queries by length, all ranks, as in
        `trace.definition_types.Definitions`; empty in older files.
    not_computed : tuple of (str, float)
        What the ranks did between calls that a skeleton does not: a key of
        `trust.skeleton_doubts.NOT_COMPUTED`, and for how long [s], all ranks.
    unseen : Unseen or None
        What the ranks did that no event shows; None where the recorder did not look.
    concurrent_ranks : int
        Ranks whose threads were in calls at the same time: one thread in their place
        executes these calls one after the other.
    touched : Touched or None
        What memory computation touches; None where the recorder did not see it.
    recorded_calls : tuple of (str, int, float)
        Each function with its calls and the time inside them [s], all ranks, as
        recorded: also calls that have no symbol, whose time is computation here. Empty
        in older files.
    """

    provenance: Provenance
    ranks: int
    application_s: float
    functions: tuple[str, ...]
    symbols: NDArray[np.void]
    age_first: NDArray[np.int64]
    age_values: NDArray[np.int64]
    families: tuple[CommunicatorFamily, ...]
    sites: tuple[str, ...]
    groups: tuple[RankGroup, ...]
    events: int
    dropped: tuple[tuple[str, int, float], ...]
    usage_queries: int = 0
    usage_gaps: tuple[int, ...] = ()
    not_computed: NotComputed = ()
    unseen: Unseen | None = None
    touched: Touched | None = None
    concurrent_ranks: int = 0
    recorded_calls: tuple[tuple[str, int, float], ...] = ()

    @property
    def computed_s(self) -> float:
        """Return the computation between calls, sum over all ranks [s]."""
        sums = (g.compute_ns.total.sum() + g.tail_ns.sum() for g in self.groups)
        return float(sum(sums)) / 1e9

    @property
    def idle_s(self) -> float:
        """Return the time in which ranks slept between calls, all ranks [s]."""
        sums = (g.idle_ns.sum() + g.tail_idle_ns.sum() for g in self.groups)
        return float(sum(sums)) / 1e9
