"""A plan while it is made, and the shape of the passes that make it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import InputError
from skelgen.events import Calls
from skelgen.events.dealers import Dealer
from skelgen.matching import Matching, match
from skelgen.reference.calibration import QueryGap
from skelgen.signature import Signature, calls_of
from skelgen.skeleton.keep.alike_occurrences import AlikeOccurrences
from skelgen.skeleton.keep.expansion import Expansion
from skelgen.skeleton.keep.units import Units, units_of
from skelgen.skeleton.proof.flaws import Flaw
from skelgen.skeleton.quantities.nodes import Nodes
from skelgen.skeleton.quantities.strings import RankStrings
from skelgen.skeleton.quantities.symbols import PlanSymbols
from skelgen.skeleton.types import Program


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A plan while it is made. Passes replace what they decide, and change nothing.

    The first fields are the application. The others are empty until a pass decides
    them; the comment names it.

    Attributes
    ----------
    signature : Signature
        That of the application, or with leaves merged.
    scaling_factor : float
        K [1].
    calls : Calls
        Of the application.
    matching : Matching
        Of these calls, or of those that are kept where that makes new partners.
    expansion : Expansion
    units : Units
    symbols : PlanSymbols
        Those of the signature, and those that passes added.
    leaves : Signature
        That of the application, or a division of it which the leaves of `strings` name.
    dropped : tuple of (str, int, float)
        What is left out: reason, calls, time [s].
    strings : RankStrings
        What each rank executes.
    fraction : float
        Kept part of the computation [1]: that of the calls, unless it is divided.
    sent : float
        Kept part of the bytes of each kept call [1].
    divided : bool
        Whole calls are too coarse for K: computation is a K-th, calls are more.
    alike : AlikeOccurrences or None
        Kinds of calls that the leaves of `signature` stand for; None where each leaf
        stands for itself.
    stands : (p,) int64 array
        For each position of `expansion`, within its group, the position that carries
        its computation; empty where each carries its own.
    programs : tuple of Program
        In the order of the recording.
    nodes : Nodes or None
        Of these programs; None before there are any.
    flaw : Flaw or None
        Why the programs do not finish.
    query_gaps : tuple of QueryGap
        How far apart computation asks for the CPU time; empty where it does not.
    dealers : tuple of Dealer
        Ranks that answer whoever comes first, while the skeleton answers each partner
        as often as in the recording.
    served : tuple of Program
        What is written instead, where ranks serve whoever comes first.
    """

    signature: Signature
    scaling_factor: float
    calls: Calls
    matching: Matching
    expansion: Expansion
    units: Units
    symbols: PlanSymbols
    leaves: Signature
    dropped: tuple[tuple[str, int, float], ...]  # PartnerlessCalls
    strings: RankStrings  # WholeEvents
    fraction: float  # WholeEvents
    stands: NDArray[np.int64]  # DividedCalls
    sent: float = 1.0  # WholeEvents
    divided: bool = False  # WholeEvents
    alike: AlikeOccurrences | None = None  # AlikePlaces
    programs: tuple[Program, ...] = ()  # CallQuantities
    nodes: Nodes | None = None  # CallQuantities
    flaw: Flaw | None = None  # Proof
    query_gaps: tuple[QueryGap, ...] = ()  # CpuTimeQueries
    dealers: tuple[Dealer, ...] = ()  # TaskFarms
    served: tuple[Program, ...] = ()  # TaskFarms


class Pass(Protocol):
    """One decision of planning, or one pattern of communication."""

    def applies(self, draft: Draft) -> bool:
        """Say whether there is something to decide in a draft."""
        ...

    def rewrite(self, draft: Draft) -> Draft:
        """Return the draft with what this pass decides."""
        ...

    def doubts(self, draft: Draft) -> list[str]:
        """Say, of the rewritten draft, in what the skeleton is unlike the run."""
        ...


def draft_of(
    signature: Signature, scaling_factor: float, expansion: Expansion
) -> Draft:
    """Begin a draft: match the calls of a signature again.

    Parameters
    ----------
    signature : Signature
    scaling_factor : float
        K [1].
    expansion : Expansion
        Of that signature.
    """
    calls = calls_of(signature)
    lengths = np.diff(expansion.first)[expansion.group]
    if not np.array_equal(np.diff(calls.first), lengths):
        raise InputError(
            f"the signature's loops hold {lengths.sum()} calls but its groups "
            f"{len(calls)}: build it again"
        )
    matching = match(calls, narrow=True)
    none, ranks = np.zeros(0, np.int64), len(calls.first) - 1
    return Draft(
        signature=signature,
        scaling_factor=scaling_factor,
        calls=calls,
        matching=matching,
        expansion=expansion,
        units=units_of(signature, expansion, calls, matching),
        symbols=PlanSymbols(signature.functions, signature.symbols),
        leaves=signature,
        dropped=(),
        strings=RankStrings(
            np.zeros(ranks + 1, np.int64), none, none, none, np.zeros(1, np.int64), none
        ),
        fraction=0.0,
        stands=none,
    )
