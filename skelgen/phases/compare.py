"""Find the phases of one run among those of another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skelgen.errors import InputError
from skelgen.phases.stored import PhaseSignature
from skelgen.phases.types import Phase


@dataclass(frozen=True, slots=True)
class Pair:
    """A phase in two runs; None where it is not among the relevant ones."""

    before: Phase | None
    after: Phase | None


def compare(before: PhaseSignature, after: PhaseSignature) -> tuple[Pair, ...]:
    """Pair the relevant phases of two runs by what they do.

    Phases with the same structure from the same places in the program belong
    together, then those with the same structure from any place. Of several, those that
    come most often do: what an interrupted iteration makes of a phase is rare.

    Parameters
    ----------
    before, after : PhaseSignature

    Returns
    -------
    tuple of Pair
        Pairs in the order of phases in `before`, then the phases that are only in
        `after`.

    Raises
    ------
    InputError
        When the runs have different numbers of ranks.
    """
    if before.ranks != after.ranks:
        raise InputError(
            f"runs of {before.ranks} and of {after.ranks} ranks were read: phases of "
            "different numbers of ranks cannot be compared, record both with the same"
        )
    left = [one.phase for one in before.phases]
    right = [one.phase for one in after.phases]
    partner: dict[int, Phase] = {}
    for key in (lambda phase: phase.site_key, lambda phase: phase.key):
        _pair(left, right, key, partner)
    taken = {phase.number for phase in partner.values()}
    return (
        *(Pair(phase, partner.get(phase.number)) for phase in left),
        *(Pair(None, phase) for phase in right if phase.number not in taken),
    )


def _pair(
    left: Sequence[Phase],
    right: Sequence[Phase],
    key: Callable[[Phase], str],
    partner: dict[int, Phase],
) -> None:
    """Give phases without partner one that has the same key."""
    taken = {phase.number for phase in partner.values()}
    free: dict[str, list[Phase]] = {}
    for phase in sorted(right, key=_often):
        if phase.number not in taken:
            free.setdefault(key(phase), []).append(phase)
    for phase in sorted(left, key=_often, reverse=True):
        if phase.number not in partner and free.get(key(phase)):
            partner[phase.number] = free[key(phase)].pop()


def _often(phase: Phase) -> tuple[int, float]:
    return phase.weight, phase.share
