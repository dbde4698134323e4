"""Scale a signature down by the rules of the 2005 paper, for comparison.

Every rank is divided on its own: of n trips of a loop n // K stay, the n mod K others
are unrolled, down to the innermost loops (step 1); of what is then not reduced, every K
equal calls become one (step 2); the calls that still remain keep 1/K of their bytes
and of their computation (step 3). Nothing makes the ranks fit each other, so the
simulator decides whether a skeleton comes out. What the paper leaves open, and how it
is read here, stands in docs/paper_map.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skelgen.errors import InputError, UsageError
from skelgen.events.types import WINDOW_KINDS
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.signature import Signature
from skelgen.skeleton.paper2005.division import DividedCalls, loop_shares
from skelgen.skeleton.paper2005.quantities import DividedQuantities
from skelgen.skeleton.passes.blocks_with_holes import BlocksWithHoles
from skelgen.skeleton.passes.buffered_sends import BufferedSends
from skelgen.skeleton.passes.draft import Draft, Pass
from skelgen.skeleton.passes.finishing import Proof
from skelgen.skeleton.passes.partitioned_messages import PartitionedMessages
from skelgen.skeleton.passes.partnerless_calls import PartnerlessCalls
from skelgen.skeleton.passes.task_farms import TaskFarms
from skelgen.skeleton.plan import check_scaling_factor, planned
from skelgen.skeleton.types import Plan
from skelgen.trust.types import PAPER_2005, WHOLE_EVENTS


@dataclass(frozen=True, slots=True)
class Refusal2005:
    """Refuse a division that does not finish."""

    def applies(self, draft: Draft) -> bool:
        """Say whether the programs stall, or do not fit each other."""
        return draft.flaw is not None

    def rewrite(self, draft: Draft) -> Draft:
        """Say why there is no skeleton, and what to use."""
        assert draft.flaw is not None
        raise InputError(
            f"--method {PAPER_2005} gives no skeleton that finishes at K = "
            f"{draft.scaling_factor:g}: {draft.flaw.message}; it divides each rank on "
            f"its own. Use another K, or --method {WHOLE_EVENTS}"
        )

    def doubts(self, draft: Draft) -> list[str]:
        """Doubt nothing."""
        return []


#: What plans by the rules of 2005. They know neither the CPU time nor workers that
#: come in another order.
PASSES_2005: tuple[Pass, ...] = (
    PartnerlessCalls(),
    PartitionedMessages(),
    DividedCalls(),
    DividedQuantities(),
    Proof(),
    BufferedSends(DividedQuantities(), "division by K"),
    Refusal2005(),
    BlocksWithHoles(),
    TaskFarms(in_recorded_order=True),
)


def plan_2005(
    signature: Signature, scaling_factor: float, *, progress: Progress = NO_PROGRESS
) -> Plan:
    """Plan a skeleton by the rules of the 2005 paper.

    Parameters
    ----------
    signature : Signature
        With a similarity threshold whose compression ratio is K/2, to be the paper's.
    scaling_factor : float
        K, rounded to a whole number of at least 2 [1].
    progress : Progress

    Returns
    -------
    Plan

    Raises
    ------
    UsageError
        When K is less than 1.5 or more than the run has calls.
    InputError
        When the skeleton would stall, or its calls do not fit each other.

    References
    ----------
    Sodhi and Subhlok 2005, section III-C.
    """
    factor = float(whole_factor(signature, scaling_factor))
    made = planned(
        signature,
        factor,
        PASSES_2005,
        shares=loop_shares,
        method=PAPER_2005,
        progress=progress,
    )
    # Reduced calls keep their latency; what that is, the paper does not foresee.
    report = replace(made.report, expected_s=signature.application_s / factor)
    return replace(made, report=report)


def whole_factor(signature: Signature, scaling_factor: float) -> int:
    """Return K as a whole number, or refuse what cannot be divided by it."""
    check_scaling_factor(signature, scaling_factor)
    if scaling_factor > signature.events:
        raise UsageError(
            f"K = {scaling_factor:g} is more than the run has MPI calls "
            f"({signature.events}): ask for a smaller K"
        )
    if scaling_factor < 1.5:
        raise UsageError(
            f"--method {PAPER_2005} divides by whole numbers from 2 on, not by K = "
            f"{scaling_factor:g}: ask for a larger K"
        )
    windows = [family.kind in WINDOW_KINDS for family in signature.families]
    families = signature.symbols["family"]
    on_windows = np.append(windows, False)[families]
    if on_windows.any():
        function = signature.symbols["function"][np.argmax(on_windows)]
        raise InputError(
            f"--method {PAPER_2005} knows no one-sided communication "
            f"({signature.functions[function]}): use --method {WHOLE_EVENTS}"
        )
    return round(scaling_factor)
