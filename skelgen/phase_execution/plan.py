"""Which occurrences of the phases are measured."""

from __future__ import annotations

import heapq
import math
import shlex
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from skelgen.errors import InputError
from skelgen.phase_execution.course import Course
from skelgen.phase_execution.interface import WantedOccurrence
from skelgen.phase_execution.thresholds import (
    LARGEST_PAYING_SHARE,
    LARGEST_SAMPLED_SHARE,
    SMALL_SAMPLING_ERROR,
)
from skelgen.phases.stored import Occurrence, PhaseSignature, StoredPhase
from skelgen.phases.thresholds import (
    COLD_OCCURRENCES,
    MACHINE_SPREAD,
    MEASURED_SHARE,
    REACHED_SHARE,
)
from skelgen.units import format_seconds


@dataclass(frozen=True, slots=True)
class ExecutedExtent:
    """How much is executed.

    Attributes
    ----------
    warm_up : int
        First occurrences of a structure that are not measured where a phase has more:
        caches and branch predictors are cold, memory is touched for the first time.
        Phases of one structure, such as steps with output and those without, warm
        each other up.
    fewest : int
        Occurrences of each phase that are measured at least, where it has so many.
    share : float
        Occurrences beyond those are measured as long as the execution takes no larger
        share of the application's time [0 to 1]. With what launching takes it is then
        less than a tenth of the application's, unless that is short.
    most : float
        They may take this share where few occurrences are measured by then, or such
        as differ much [0 to 1].
    pays : float
        And this one where too few are measured even then to tell what the program
        does from what the machine does, and enough are by this share [0 to 1].
    """

    warm_up: int = COLD_OCCURRENCES
    fewest: int = 1
    share: float = MEASURED_SHARE
    most: float = LARGEST_SAMPLED_SHARE
    pays: float = LARGEST_PAYING_SHARE


@dataclass(frozen=True, slots=True)
class ExecutionPlan:
    """What is executed and measured.

    Attributes
    ----------
    wanted : tuple of WantedOccurrence
        In the order in which they end.
    expected_s : float
        Time of the application in the recording until the last of them ends [s].
    """

    wanted: tuple[WantedOccurrence, ...]
    expected_s: float


def in_one_run(signature: PhaseSignature, extent: ExecutedExtent) -> ExecutionPlan:
    """Plan one execution from the start of the application.

    All occurrences until its end are measured, as far as they are stored: to reach
    one the program does everything before it, so what is left out saves nothing.

    Parameters
    ----------
    signature : PhaseSignature
    extent : ExecutedExtent

    Raises
    ------
    InputError
        When the signature has no phases.
    """
    check_phases(signature)
    cold, course = _cold(signature, extent.warm_up), Course(signature)
    known = {
        stored.phase.number: [
            (course.end_s(one), _wanted(stored, one, one.begin))
            for one in _measurable(stored, cold)
        ]
        for stored in signature.phases
    }
    earliest_s = {
        number: found[: extent.fewest][-1][0] for number, found in known.items()
    }
    until_s = max(
        extent.share * signature.application_s, _enough_s(signature, earliest_s)
    )
    until_s = _well_known_s(signature, known, until_s, extent)
    wanted = [pair for found in known.values() for pair in found if pair[0] <= until_s]
    wanted.sort(key=lambda pair: int(pair[1].end.sum()))
    return ExecutionPlan(
        tuple(one for _, one in wanted), max(end_s for end_s, _ in wanted)
    )


def _enough_s(signature: PhaseSignature, earliest_s: Mapping[int, float]) -> float:
    """Return when a phase of each of the groups with most of the time was measured [s].

    Parameters
    ----------
    signature : PhaseSignature
    earliest_s : mapping of int to float
        When each phase, by its number, was measured often enough [s].
    """
    shares: dict[Hashable, float] = {}
    for one in signature.phases:
        shares[one.group] = shares.get(one.group, 0.0) + one.phase.share
    reached, enough, until_s = 0.0, REACHED_SHARE * signature.covered_share, 0.0
    for one in sorted(signature.phases, key=lambda one: earliest_s[one.phase.number]):
        if reached >= enough:
            break
        if one.group in shares:
            reached += shares.pop(one.group)
            until_s = earliest_s[one.phase.number]
    return until_s


#: When occurrences of each phase end [s], in their order, with the occurrence.
_Ends = Mapping[int, Sequence[tuple[float, WantedOccurrence]]]


def _well_known_s(
    signature: PhaseSignature, known: _Ends, until_s: float, extent: ExecutedExtent
) -> float:
    """Return until when more is measured, so that the sampled time is known well [s].

    Times in the recording tell by how much occurrences differ. Where that takes longer
    than the most that is allowed, a few occurrences may do that differ less from what
    they took there, for as long as that pays.
    """
    recorded = partial(_sampling_error, signature, known)
    told = partial(recorded, largest_spread=MACHINE_SPREAD)
    ends_s = _further_s(known, until_s, extent.most * signature.application_s)
    usual = (end_s for end_s in ends_s if recorded(end_s) <= SMALL_SAMPLING_ERROR)
    usual_s = next(usual, ends_s[-1])
    ends_s = _further_s(known, usual_s, extent.pays * signature.application_s)
    paying = (end_s for end_s in ends_s if told(end_s) <= SMALL_SAMPLING_ERROR)
    return next(paying, usual_s)


def _further_s(known: _Ends, until_s: float, most_s: float) -> list[float]:
    """Return a time, and when occurrences end behind it up to a last one [s]."""
    ends = (end_s for found in known.values() for end_s, _ in found)
    return [until_s, *sorted(end_s for end_s in ends if until_s < end_s <= most_s)]


def _sampling_error(
    signature: PhaseSignature,
    known: _Ends,
    until_s: float,
    largest_spread: float = math.inf,
) -> float:
    """Return the standard error of the time of phases measured until then [1].

    One occurrence alone does not tell whether others differ from it in each run, as in
    the recording; it counts as not known. Of several their time in the recording may
    tell by how much they differ: then their spread is bounded.
    """
    squares = total = 0.0
    for stored in signature.phases:
        phase, ends = stored.phase, known[stored.phase.number]
        measured = sum(end_s <= until_s for end_s, _ in ends)
        if measured and phase.weight > 1:
            total += phase.share
            spread = min(phase.spread, largest_spread)
            if measured == 1:
                spread = max(phase.spread, MACHINE_SPREAD)
            squares += (phase.share * spread) ** 2 / measured
    return math.sqrt(squares) / total if total else 0.0


def by_images(signature: PhaseSignature, extent: ExecutedExtent) -> ExecutionPlan:
    """Plan one occurrence of each phase, each to be restored from an image of its own.

    Parameters
    ----------
    signature : PhaseSignature
    extent : ExecutedExtent
    """
    check_phases(signature)
    cold = _cold(signature, extent.warm_up)
    first = [(stored, _measurable(stored, cold)[0]) for stored in signature.phases]
    found = [
        _wanted(stored, one, _warm(signature, stored, one, max(extent.warm_up, 1)))
        for stored, one in first
    ]
    found.sort(key=lambda one: int(one.end.sum()))
    course = Course(signature)
    return ExecutionPlan(tuple(found), max(course.end_s(one) for _, one in first))


def check_phases(signature: PhaseSignature) -> None:
    """Refuse a signature that cannot be executed.

    Raises
    ------
    InputError
        When it has no phases, or was recorded from several threads.
    """
    name = signature.provenance.application or "the application"
    if not signature.phases:
        raise InputError(
            f"{name} has no relevant phases: nothing comes again; predict with a "
            "skeleton instead: skelgen build RUN --scale K"
        )
    if signature.threads > 1:
        raise InputError(
            f"{signature.threads} threads of a rank of {name} called MPI: their calls "
            "come in another order each time, so phases have no fixed place; predict "
            "with a skeleton instead: skelgen build RUN --scale K"
        )


def check_pays(
    signature: PhaseSignature, plan: ExecutionPlan, extent: ExecutedExtent
) -> None:
    """Refuse to measure where that takes a large part of the application's time.

    Raises
    ------
    InputError
        When it takes more than pays, and more than was asked for. A share of 1 asks
        for however much it takes.
    """
    whole_s, about = signature.application_s, signature.provenance
    share = plan.expected_s / whole_s
    if extent.share >= 1 or share <= max(LARGEST_PAYING_SHARE, extent.share):
        return
    launch = shlex.join(about.command) if about.command else "LAUNCH"
    raise InputError(
        f"measuring the phases of {about.application or 'the application'} would take "
        f"about {format_seconds(plan.expected_s)} of its {format_seconds(whole_s)} "
        f"({share:.0%}; up to {LARGEST_PAYING_SHARE:.0%} pays): time a plain run "
        f"(skelgen time -- {launch}), predict with a skeleton (skelgen build RUN "
        "--scale K), or allow it with --share 100%"
    )


def _structure(stored: StoredPhase) -> Hashable:
    """Return what phases that warm each other up have in common."""
    return stored.phase.site_key, stored.phase.part


def _cold(signature: PhaseSignature, warm_up: int) -> set[tuple[int, int]]:
    """Return phase and number of the first occurrences of each structure."""
    found: dict[Hashable, list[tuple[int, int, int]]] = {}
    for stored in signature.phases:
        number = stored.phase.number
        found.setdefault(_structure(stored), []).extend(
            (sum(one.begin), number, one.number) for one in stored.occurrences
        )
    return {
        (phase, number)
        for known in found.values()
        for _, phase, number in heapq.nsmallest(warm_up, known)
    }


def _measurable(
    stored: StoredPhase, cold: Collection[tuple[int, int]]
) -> Sequence[Occurrence]:
    """Return the occurrences without those that warm up, if any remain."""
    phase, known = stored.phase.number, stored.occurrences
    return [one for one in known if (phase, one.number) not in cold] or known[-1:]


def _warm(
    signature: PhaseSignature, stored: StoredPhase, one: Occurrence, warm_up: int
) -> tuple[int, ...]:
    """Return where an occurrence of its structure begins so many before it, if any."""
    kind = _structure(stored)
    alike = (other for other in signature.phases if _structure(other) == kind)
    begins = {known.begin for other in alike for known in other.occurrences}
    before = sorted((at for at in begins if sum(at) < sum(one.begin)), key=sum)
    return before[-warm_up:][0] if before else one.begin


def _wanted(
    stored: StoredPhase, one: Occurrence, warm: tuple[int, ...]
) -> WantedOccurrence:
    return WantedOccurrence(
        phase=stored.phase.number,
        occurrence=one.number,
        begin=np.array(one.begin, np.int64),
        end=np.array(one.end, np.int64),
        warm=np.array(warm, np.int64),
        calls=stored.phase.calls,
    )
