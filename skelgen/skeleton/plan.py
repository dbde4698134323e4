"""Plan a skeleton: what is kept, with which quantities, proved to finish."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.errors import InputError, UsageError
from skelgen.events import Calls, function_info
from skelgen.matching import Matching, match
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.signature import Signature, calls_of
from skelgen.signature.labels import symbol_label
from skelgen.skeleton.keep.closure import close
from skelgen.skeleton.keep.expansion import Expansion, expand
from skelgen.skeleton.keep.selection import places, select
from skelgen.skeleton.keep.units import Units, units_of
from skelgen.skeleton.proof.buffered_sends import Mended, mend
from skelgen.skeleton.proof.flaws import Flaw, find_flaw
from skelgen.skeleton.proof.script import script_of
from skelgen.skeleton.quantities.durations import durations_of
from skelgen.skeleton.quantities.nodes import Nodes
from skelgen.skeleton.quantities.programs import programs_of
from skelgen.skeleton.quantities.sizes import sizes_of
from skelgen.skeleton.quantities.strings import RankStrings, draft, strings_of
from skelgen.skeleton.quantities.symbols import GrowingSymbols
from skelgen.skeleton.report import report_of
from skelgen.skeleton.task_farm.dealers import dealers_of, not_shared, warnings_of
from skelgen.skeleton.task_farm.first_come import served
from skelgen.skeleton.types import WHOLE_EVENTS, Plan, Program
from skelgen.units import NS_PER_S

#: Rounds of mending before the plan is refused.
_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Source:
    """What planning works on, all from one signature.

    Attributes
    ----------
    signature : Signature
    calls : Calls
    matching : Matching
    expansion : Expansion
    units : Units
    """

    signature: Signature
    calls: Calls
    matching: Matching
    expansion: Expansion
    units: Units


@dataclass(frozen=True, slots=True)
class Proved:
    """Programs and what the simulator says of them.

    Attributes
    ----------
    programs : tuple of Program
    mended : Mended
        Sends that were made nonblocking so that the programs finish.
    flaw : Flaw or None
        What mending cannot change; None when the programs finish.
    """

    programs: tuple[Program, ...]
    mended: Mended
    flaw: Flaw | None


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
        When K is not more than 1, or so large that nothing would be kept.
    InputError
        When the signature has no events, or its calls cannot finish.

    References
    ----------
    Sodhi and Subhlok 2005, section III-C.
    """
    check_scale(signature, scaling_factor)
    progress.start("planning", 4)
    source = source_of(signature, expand(signature, 1 / scaling_factor))
    progress.advance(1)
    chosen = select(
        signature, source.expansion, source.calls, source.units, 1 / scaling_factor
    )
    kept = close(source.calls, source.matching, source.units, chosen)
    if not len(kept.call):
        raise UsageError(_nothing_left(signature, source.calls, scaling_factor))
    progress.advance(1)
    strings = strings_of(signature, source.expansion, source.calls, kept)
    symbols = GrowingSymbols(signature.functions, signature.symbols)
    fraction = _fraction(source, chosen)
    proof = proved(
        source,
        strings,
        symbols,
        lambda current: _assemble(source, current, symbols, fraction),
    )
    _check(proof.flaw, signature)
    progress.advance(1)
    made = planned(source, symbols, proof, scaling_factor)
    progress.finish()
    return made


def planned(
    source: Source,
    symbols: GrowingSymbols,
    proof: Proved,
    scaling_factor: float,
    *,
    method: str = WHOLE_EVENTS,
) -> Plan:
    """Put a plan together with its report.

    Parameters
    ----------
    source : Source
    symbols : GrowingSymbols
        Those of the programs.
    proof : Proved
    scaling_factor : float
        K [1].
    method : str
    """
    signature, programs = source.signature, proof.programs
    dealers = dealers_of(source.calls)
    written: tuple[Program, ...] = ()
    if method == WHOLE_EVENTS:
        dealing = [one.rank for one in dealers]
        written = served(programs, symbols, signature.families, dealing)
    doubtful = not_shared(dealers, written)
    report = report_of(
        signature,
        programs,
        scaling_factor,
        _dropped(source),
        [*_warnings(source, proof.mended, method), *warnings_of(doubtful)],
        [one.rank for one in doubtful],
    )
    return Plan(
        signature,
        scaling_factor,
        tuple(symbols.functions),
        symbols.table,
        programs,
        report,
        method,
        written,
    )


def _nothing_left(signature: Signature, calls: Calls, scaling_factor: float) -> str:
    """Say that nothing is kept, and why the run's calls may be of no use for it."""
    gone = sum(number for _, number, _ in signature.dropped)
    alone = signature.events - len(calls) - gone
    text = f"K = {scaling_factor:g} leaves no call of {len(calls)}"
    if alone > 0:
        text += (
            f" ({alone} more of the run's {signature.events} count as computation: "
            "polls, and what reaches no other rank, as on communicators of one rank)"
        )
    return f"{text}: ask for a smaller K"


def check_scale(signature: Signature, scaling_factor: float) -> None:
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
    if scaling_factor > signature.events:
        raise UsageError(
            f"K = {scaling_factor:g} is more than the run has MPI calls "
            f"({signature.events}): ask for a smaller K"
        )


def source_of(signature: Signature, expansion: Expansion) -> Source:
    """Match the calls of a signature again.

    Parameters
    ----------
    signature : Signature
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
    matching = match(calls)
    units = units_of(signature, expansion, calls, matching)
    return Source(signature, calls, matching, expansion, units)


def _fraction(source: Source, chosen: NDArray[np.bool_]) -> float:
    """Return the kept part of the calls that can be kept [1]."""
    units = source.units
    calls = np.bincount(units.unit[units.unit >= 0], minlength=len(units))
    return float(calls[chosen].sum() / max(calls[~units.broken].sum(), 1))


def proved(
    source: Source,
    strings: RankStrings,
    symbols: GrowingSymbols,
    assemble: Callable[[RankStrings], tuple[tuple[Program, ...], Nodes]],
) -> Proved:
    """Assemble programs and mend them until they finish, or cannot be mended.

    Parameters
    ----------
    source : Source
    strings : RankStrings
        What every rank executes.
    symbols : GrowingSymbols
        Of the plan; gets those that mending needs.
    assemble : callable
        Gives strings of calls their quantities and folds them.
    """
    mended = Mended()
    for _ in range(_ROUNDS):
        current = strings
        if mended.waited or mended.freed:
            current = mend(strings, source.expansion.group, symbols, mended)
        programs, nodes = assemble(current)
        script = script_of(
            programs, symbols.functions, symbols.table, source.signature.families
        )
        flaw = find_flaw(script, nodes.describe)
        more = _mend_more(flaw, nodes, symbols, mended)
        if more == mended:
            return Proved(programs, mended, flaw)
        mended = more
    raise InputError("mending stalled sends did not come to an end: record again")


def _assemble(
    source: Source, strings: RankStrings, symbols: GrowingSymbols, fraction: float
) -> tuple[tuple[Program, ...], Nodes]:
    """Give strings of calls their quantities and fold them.

    Of the computation `fraction` is kept.
    """
    current = draft(strings, source.expansion.group)
    nodes = Nodes(
        source.signature, current, symbols.functions, symbols.table, source.units
    )
    sizes = sizes_of(nodes, source.matching)
    first = source.calls.first
    durations = durations_of(
        source.signature, source.expansion, current, first, fraction
    )
    return programs_of(nodes, sizes, durations, source.expansion, first), nodes


def _mend_more(
    flaw: Flaw | None, nodes: Nodes, symbols: GrowingSymbols, mended: Mended
) -> Mended:
    """Choose further sends to mend; none when that does not help."""
    if flaw is None or not (flaw.stalled and flaw.rendezvous):
        return mended
    waited, freed = set(mended.waited), set(mended.freed)
    for row in flaw.sends:
        place = nodes.place(row)
        if not symbols.mendable(int(nodes.symbol[row])) or place in mended.freed:
            continue
        # A send that waits for a completion of its own is completed too early.
        late = place in mended.waited or not nodes.blocks(row)
        (freed if late else waited).add(place)
    waited -= freed
    return Mended(frozenset(waited), frozenset(freed))


def _check(flaw: Flaw | None, signature: Signature) -> None:
    """Refuse an application whose calls cannot finish."""
    if flaw is None:
        return
    if not flaw.stalled:
        raise InputError(
            f"the recorded calls do not fit each other ({flaw.message}): record again"
        )
    how = "without buffers" if flaw.rendezvous else "even though sends are buffered"
    if signature.concurrent_ranks:
        raise InputError(
            f"the threads of {signature.concurrent_ranks} ranks were in MPI calls at "
            "the same time, and one thread cannot execute these calls in any order "
            f"that was found, {how}: {flaw.message}; a skeleton has one thread in "
            "each rank: record a run in which one thread calls MPI"
        )
    raise InputError(
        f"the application's calls cannot finish {how}: {flaw.message}; it relies "
        "on its MPI library in a way that skeletons do not repeat"
    )


def _dropped(source: Source) -> list[tuple[str, int, float]]:
    """Return calls that cannot be kept because they have no partner."""
    lost = source.matching.unmatched
    if not len(lost):
        return []
    signature, expansion = source.signature, source.expansion
    rank, _, leaf = places(signature, expansion, source.calls, lost)
    time_ns = 0.0
    for one, own in zip(rank.tolist(), leaf.tolist(), strict=True):
        group = signature.groups[expansion.group[one]]
        total = float(group.mpi_ns[own, group.ranks.index(one)])
        time_ns += total / int(group.count[own])
    return [("without a partner", len(lost), time_ns / NS_PER_S)]


def _warnings(source: Source, mended: Mended, method: str) -> list[str]:
    found = list(source.matching.problems)
    names = sorted(
        symbol_label(source.signature, int(_leaf_symbol(source, *place)))
        for place in {*mended.waited, *mended.freed}
    )
    modes = {function_info(name).mode for name in source.signature.functions}
    if "partitioned" in modes:
        found.append(
            "the skeleton sends partitioned messages whole, when they are started"
        )
    if names:
        who = "application" if method == WHOLE_EVENTS else "division by K"
        if source.signature.concurrent_ranks:
            who = "order in which one thread makes the calls of several"
        found.append(
            f"the {who} relies on buffered sends, which became nonblocking in "
            f"the skeleton: {', '.join(dict.fromkeys(names))}"
        )
    return found


def _leaf_symbol(source: Source, number: int, leaf: int) -> int:
    nest = source.signature.groups[number].nest
    symbols = nest.symbol[nest.body_items == 0]
    return int(symbols[leaf % len(symbols)])
