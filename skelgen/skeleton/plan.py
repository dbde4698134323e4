"""Plan a skeleton: what is kept, with which quantities, proved to finish."""

from __future__ import annotations

from collections.abc import Sequence

from skelgen.errors import InputError, UsageError
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.signature import Signature
from skelgen.skeleton.keep.expansion import Shares, expand
from skelgen.skeleton.passes.alike_places import AlikePlaces
from skelgen.skeleton.passes.blocks_with_holes import BlocksWithHoles
from skelgen.skeleton.passes.buffered_sends import BufferedSends
from skelgen.skeleton.passes.call_quantities import CallQuantities
from skelgen.skeleton.passes.cpu_time_queries import CpuTimeQueries
from skelgen.skeleton.passes.draft import Pass, draft_of
from skelgen.skeleton.passes.finishing import Proof, Refusal
from skelgen.skeleton.passes.partitioned_messages import PartitionedMessages
from skelgen.skeleton.passes.partnerless_calls import PartnerlessCalls
from skelgen.skeleton.passes.task_farms import TaskFarms
from skelgen.skeleton.passes.whole_events import WholeEvents
from skelgen.skeleton.report import KeptQuantities, report_of
from skelgen.skeleton.types import Plan
from skelgen.trust.types import WHOLE_EVENTS

#: What plans a skeleton, from the recorded calls to programs that finish. A pattern of
#: communication is one more line; its doubts come in this order.
PASSES: tuple[Pass, ...] = (
    PartnerlessCalls(),  # calls whose partner was not recorded
    PartitionedMessages(),  # messages in parts that are ready one by one
    WholeEvents(),  # which messages and collectives stay
    CallQuantities(),  # with which bytes and times
    AlikePlaces(CallQuantities()),  # programs that would be too long
    Proof(),  # whether that finishes
    BufferedSends(CallQuantities()),  # sends that only buffers let finish
    Refusal(),  # what does not finish all the same
    BlocksWithHoles(),  # messages from blocks too large for holes between them
    CpuTimeQueries(),  # computation that asks for its CPU time
    TaskFarms(),  # masters whose workers come in another order
)


def plan(
    signature: Signature, scaling_factor: float, *, progress: Progress = NO_PROGRESS
) -> Plan:
    """Plan a skeleton that is `scaling_factor` times shorter than the application.

    Parameters
    ----------
    signature : Signature
    scaling_factor : float
        K, application time / skeleton time, more than 1 [1].
    progress : Progress

    Returns
    -------
    Plan
        Its programs finish in the simulator, with rendezvous sends and eager ones.

    Raises
    ------
    UsageError
        When K is not more than 1, or no call can be kept.
    InputError
        When the signature has no events, or its calls cannot finish.

    References
    ----------
    Sodhi and Subhlok 2005, section III-C.
    """
    check_scaling_factor(signature, scaling_factor)
    return planned(signature, scaling_factor, PASSES, progress=progress)


def planned(
    signature: Signature,
    scaling_factor: float,
    passes: Sequence[Pass],
    *,
    shares: Shares | None = None,
    method: str = WHOLE_EVENTS,
    progress: Progress = NO_PROGRESS,
) -> Plan:
    """Run passes over a draft, one after the other, and report on the result.

    Parameters
    ----------
    signature : Signature
    scaling_factor : float
        K [1].
    passes : sequence of Pass
    shares : callable, optional
        Which iterations of a loop stay, if not a K-th of them.
    method : str
        The rules that these passes are.
    progress : Progress
    """
    progress.start("planning", 1 + len(passes))
    expansion = expand(signature, 1 / scaling_factor, shares)
    draft = draft_of(signature, scaling_factor, expansion)
    progress.advance(1)
    doubts: list[str] = []
    for one in passes:
        if one.applies(draft):
            draft = one.rewrite(draft)
            doubts += one.doubts(draft)
        progress.advance(1)
    report = report_of(
        draft.signature,
        draft.programs,
        draft.scaling_factor,
        draft.dropped,
        doubts,
        [one.rank for one in draft.dealers],
        KeptQuantities(draft.divided, draft.sent),
    )
    progress.finish()
    return Plan(
        signature,
        draft.scaling_factor,
        draft.symbols.functions,
        draft.symbols.table,
        draft.programs,
        report,
        method,
        draft.served,
        draft.query_gaps,
    )


def check_scaling_factor(signature: Signature, scaling_factor: float) -> None:
    """Refuse what cannot be scaled at all, or not by that factor."""
    if not scaling_factor > 1:
        raise UsageError(
            f"K = {scaling_factor:g} is not more than 1: ask for a larger K"
        )
    if not any(group.count.sum() for group in signature.groups):
        raise InputError(
            "the signature has no calls that a skeleton can repeat: record a run "
            "that communicates"
        )
