"""Types of the skeleton stage: the plan that a template turns into C."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from skelgen.loops import Nest
from skelgen.reference.calibration import QueryGap
from skelgen.signature import Signature
from skelgen.trust.types import WHOLE_EVENTS


@dataclass(frozen=True, slots=True, eq=False)
class OccurrenceSeries:
    """Values of a quantity at the kept occurrences of one operation.

    Attributes
    ----------
    values : (ranks, s) float64 array
        One row for each rank of the program; occurrence k of n takes column
        ``k * s // n``. One column is a constant.
    """

    values: NDArray[np.float64]

    def of(self, rows: slice) -> OccurrenceSeries:
        """Return the values of some of the ranks."""
        return OccurrenceSeries(self.values[rows])


class Turn(IntEnum):
    """What a call does in a turn, in which a rank serves whoever comes first."""

    NONE = 0
    OPENS = 1  # of the rank that serves: receives from who comes first
    GOES_ON = 2  # with the same partner
    ANSWERS = 3  # the same, and tells the partner whether to come again
    ASKS = 4  # of a partner: repeated until it is told not to
    HEARS = 5  # the same: receives what tells it


#: Calls that are repeated until an answer says that there is nothing more.
TOLD = (Turn.ASKS, Turn.HEARS)


@dataclass(frozen=True, slots=True, eq=False)
class Serving:
    """Whom a rank serves: whoever of its partners comes first.

    Attributes
    ----------
    shifts : (p,) int64 array
        Relative partners.
    due : (n, 1 + p) int64 array
        Stretches of turns: how many equal ones follow each other, and how often each
        partner comes in one.
    shared : bool
        Whether partners share the turns of a stretch as they come, and are told when
        they are over; else each comes as often as in the recording.
    """

    shifts: NDArray[np.int64]
    due: NDArray[np.int64]
    shared: bool


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """One MPI call of a skeleton with the computation before it.

    Attributes
    ----------
    symbol : int
        Row of ``Plan.symbols``: function, family, relative peer, tag, op.
    group, leaf : int
        Where the operation comes from in the signature; -1 for a completion that
        the plan inserted.
    occurrences : int
        How often each rank of the program executes it.
    ages : tuple of int
        Requests that it completes or starts, as ages among the kept requests of
        the rank, as in `Calls`; ALL_OUTSTANDING alone for all plain ones.
    compute_ns : OccurrenceSeries
        Computation before the call [ns]; zeros when there is none.
    idle_ns : OccurrenceSeries
        Sleep before the call [ns], one column.
    size_bytes : OccurrenceSeries
        Bytes that the call sends, a multiple of the datatype's size [bytes];
        the capacity for receives.
    receive_bytes : (ranks,) int64 array
        Largest message that the call receives, the capacity of its receive
        buffer [bytes]; 0 for calls that receive no message.
    peers : (occurrences,) int32 array
        Relative partner of each occurrence when the symbol says VARYING; else empty.
    vectors : (ranks, 2, p) float64 array
        Bytes to and from each rank of the communicator for vector collectives, to each
        destination and from each source for those of neighbourhoods, equal at both
        ends of each pair; (ranks, 2, 0) for others.
    serving : Serving or None
        Whose turn it is part of, when its partner is whoever comes first.
    turn : Turn
        What it does there, or as a partner.
    partners : tuple of int
        Relative partners of Win_post and its like, the same at each occurrence.
    nap_ns : float or None
        How long a rank sleeps between two polls for what the call waits for [ns], 0 if
        it asks again at once; None if it waits inside MPI.
    """

    symbol: int
    group: int
    leaf: int
    occurrences: int
    ages: tuple[int, ...]
    compute_ns: OccurrenceSeries
    idle_ns: OccurrenceSeries
    size_bytes: OccurrenceSeries
    receive_bytes: NDArray[np.int64]
    peers: NDArray[np.int32]
    vectors: NDArray[np.float64]
    serving: Serving | None = None
    turn: Turn = Turn.NONE
    partners: tuple[int, ...] = ()
    nap_ns: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """What some ranks execute.

    Attributes
    ----------
    ranks : tuple of int
        World ranks, ascending; every rank is in exactly one program.
    nest : Nest
        Loops over indices into `operations`.
    operations : tuple of Operation
    tail_ns : (ranks,) float64 array
        Computation after the last call [ns].
    head_ns : (ranks,) float64 array
        Computation before the first call that happened only once [ns].
    tail_idle_ns : (ranks,) float64 array
        Sleep after the last call [ns].
    """

    ranks: tuple[int, ...]
    nest: Nest
    operations: tuple[Operation, ...]
    tail_ns: NDArray[np.float64]
    head_ns: NDArray[np.float64]
    tail_idle_ns: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class KeptClass:
    """Kept against target for one class of calls on the rank that is worst.

    Attributes
    ----------
    label : str
        Function, relative peer, communicator and size, for people.
    calls, kept : int
        Calls of the application and of the skeleton, all ranks.
    seconds, kept_s : float
        Time before and inside those calls in the application, and the part of it
        that the kept calls stand for [s].
    error : float
        Largest relative deviation of kept calls from calls x fraction on a rank.
    compute_s, kept_compute_s : float
        The computation before these calls that is part of both times [s].
    """

    label: str
    calls: int
    kept: int
    seconds: float
    kept_s: float
    error: float
    compute_s: float = 0.0
    kept_compute_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Report:
    """What a plan kept, merged and dropped.

    Attributes
    ----------
    classes : tuple of KeptClass
        Largest time first.
    fraction : float
        Kept fraction of the application's calls, all ranks.
    expected_s : float
        Expected time of the skeleton on the recording machine [s].
    dropped_share : float
        Share of the application's time that nothing in the skeleton stands for.
    dropped : tuple of (str, int, float)
        What was left out: reason, calls, time [s].
    merged : tuple of (str, int, float)
        What was averaged: what, calls, standard deviation of its time [s].
    smallest_good_s : float
        Time of the shortest good skeleton [s].
    largest_good_scaling_factor : float
        Scaling factor of that skeleton.
    warnings : tuple of str
    dealers : tuple of int
        Ranks that answer whoever comes first, where the skeleton answers each partner
        as often as in the recording.
    not_computed : tuple of (str, float)
        What the application's ranks did that the skeleton does not: a key of
        `trust.skeleton_doubts.NOT_COMPUTED`, and its share of the application's time
        [0 to 1].
    fixed_s : float
        Part of the expected time that a larger K does not shorten [s].
    divided : str
        What became of computation and bytes where whole calls are too coarse for K;
        else empty.
    compute_s : float
        Computation of the skeleton's rank that computes longest [s].
    """

    classes: tuple[KeptClass, ...]
    fraction: float
    expected_s: float
    dropped_share: float
    dropped: tuple[tuple[str, int, float], ...]
    merged: tuple[tuple[str, int, float], ...]
    smallest_good_s: float
    largest_good_scaling_factor: float
    warnings: tuple[str, ...]
    dealers: tuple[int, ...] = ()
    not_computed: tuple[tuple[str, float], ...] = ()
    fixed_s: float = 0.0
    divided: str = ""
    compute_s: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A skeleton before it becomes text.

    Attributes
    ----------
    signature : Signature
    scaling_factor : float
        K as asked for [1].
    functions : tuple of str
        Those of the signature, then those that the plan added.
    symbols : (s,) SYMBOL_DTYPE array
        Those of the signature, then those that the plan added: a send that
        relied on buffering becomes a nonblocking one with a completion.
    programs : tuple of Program
        In the order of the recording, as they were proved.
    report : Report
    method : str
        Rules by which it was made: WHOLE_EVENTS or PAPER_2005.
    served : tuple of Program
        What is written instead, where ranks serve whoever comes first; else empty.
    query_gaps : tuple of QueryGap
        How far apart computation asks for the CPU time; empty where it does not.
    """

    signature: Signature
    scaling_factor: float
    functions: tuple[str, ...]
    symbols: NDArray[np.void]
    programs: tuple[Program, ...]
    report: Report
    method: str = WHOLE_EVENTS
    served: tuple[Program, ...] = ()
    query_gaps: tuple[QueryGap, ...] = ()
