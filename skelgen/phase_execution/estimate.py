"""From times of phases to the time of the application."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.launch.mpi import kind_of
from skelgen.phase_execution.interface import Measured
from skelgen.phase_execution.occurrence_sample import (
    OccurrenceSample,
    long_noise,
    machine_noise,
)
from skelgen.phases.stored import PhaseSignature
from skelgen.phases.types import Phase
from skelgen.trust import Doubt, Interval, too_wide, unmeasured, verdict_of
from skelgen.trust.errors import MethodErrors, error_draws
from skelgen.trust.intervals import (
    error_of_mean_draws,
    interval,
    relative_spread,
    whole_draws,
)
from skelgen.trust.recording_doubts import hidden_doubts
from skelgen.trust.types import PHASES

_REMEDY = (
    "measure more occurrences (--share, --backend live) or phases "
    "(skelgen phases --relevance)"
)

#: A phase as recorded, and its time here [s].
Known = tuple[Phase, float]


@dataclass(frozen=True, slots=True)
class PhaseTime:
    """A phase that was measured.

    Attributes
    ----------
    number, weight : int
    pet_s : float
        Time of an occurrence (PET) [s].
    spread : float
        Standard deviation of all times over their mean [1].
    occurrences : int
        So many were measured, each once or more often.
    share : float
        Part of the predicted time [0 to 1].
    """

    number: int
    weight: int
    pet_s: float
    spread: float
    occurrences: int
    share: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """The time of the application, predicted from its phases.

    Attributes
    ----------
    phases : tuple of PhaseTime
    time_s : Interval
        PAET with its 90 % interval [s].
    measured_s : Interval
        The same without the error of the method [s].
    doubts : tuple of Doubt
        Why it should not be trusted; empty when it can be.
    known : tuple of (Phase, float)
        Phases as recorded with their time here [s], those that are known by others of
        their group among them.
    """

    phases: tuple[PhaseTime, ...]
    time_s: Interval
    measured_s: Interval
    doubts: tuple[Doubt, ...]
    known: tuple[Known, ...] = ()

    @property
    def verdict(self) -> str:
        """Return ``trust`` or ``do not trust``."""
        return verdict_of(self.doubts)


def paet_s(
    signature: PhaseSignature,
    measured: Sequence[Measured],
    probes_s: Sequence[Sequence[float]] = (),
) -> float:
    """Predict the time of the application from one execution of its phases [s]."""
    samples = _samples(signature, measured)
    return _scaled(signature, _pets_s(samples, _noise(samples, probes_s)))


def estimate(
    signature: PhaseSignature,
    measured: Sequence[Measured],
    generator: np.random.Generator,
    errors: MethodErrors,
    doubts: Sequence[Doubt] = (),
    probes_s: Sequence[Sequence[float]] = (),
) -> Estimate:
    """Predict the time of the application from times of its phases.

    The sum of PET x weight, and the time of the recording that no measured phase
    covers, scaled as the phases are: by what they take here over what they took there.
    It may be half or twice that, or more where the phases differ by more.

    Parameters
    ----------
    signature : PhaseSignature
    measured : sequence of Measured
        At least one occurrence of one phase.
    generator : numpy.random.Generator
    errors : MethodErrors
    doubts : sequence of Doubt
        Further ones.
    probes_s : sequence of sequence of float
        Times of a fixed piece of arithmetic between occurrences, of each rank [s].

    References
    ----------
    Martinez Canillas 2011, equation 4.1: PAET is the sum of PET x weight.
    """
    samples = _samples(signature, measured)
    noise = _noise(samples, probes_s)
    pets_s = _pets_s(samples, noise)
    parts_s = {
        number: pets_s[number] * one.phase.weight for number, one in samples.items()
    }
    middle = _scaled(signature, pets_s)
    draws = _draws(signature, samples, parts_s, noise, generator)
    draws *= middle / math.fsum(parts_s.values())
    measured_s = interval(draws, middle)
    family = kind_of(signature.provenance.mpi).title
    half_width = errors.of(PHASES, family).half_width
    time_s = interval(draws * error_draws(half_width, len(draws), generator), middle)
    phases = tuple(
        PhaseTime(
            number=number,
            weight=one.phase.weight,
            pet_s=pets_s[number],
            spread=one.spread,
            occurrences=one.repeats,
            share=parts_s[number] / middle,
        )
        for number, one in samples.items()
    )
    found = (*uncovered(signature, samples), *too_wide(measured_s, _REMEDY), *doubts)
    return Estimate(phases, time_s, measured_s, found, _known(signature, pets_s))


#: What was measured of each phase, by its number.
_Samples = dict[int, OccurrenceSample]


def _samples(signature: PhaseSignature, measured: Sequence[Measured]) -> _Samples:
    """Put the times to their phases; phases without any are left out."""
    times: dict[int, dict[int, list[float]]] = {}
    for one in measured:
        of_phase = times.setdefault(one.phase, {})
        of_phase.setdefault(one.occurrence, []).append(one.time_s)
    return {
        stored.phase.number: OccurrenceSample.of(stored, times[stored.phase.number])
        for stored in signature.phases
        if stored.phase.number in times
    }


def _noise(samples: _Samples, probes_s: Sequence[Sequence[float]]) -> float:
    return machine_noise(samples.values(), probes_s)


def _pets_s(samples: _Samples, noise: float) -> dict[int, float]:
    """Return the time of an occurrence of each phase here [s]."""
    return {number: one.pet_s(noise) for number, one in samples.items()}


def _draws(
    signature: PhaseSignature,
    samples: _Samples,
    parts_s: dict[int, float],
    noise: float,
    generator: np.random.Generator,
) -> NDArray[np.float64]:
    """Draw the sum of what the phases take [s], with what was not measured."""
    draws = np.zeros(1)
    for number, one in samples.items():
        draws = draws + one.factors(noise, generator) * parts_s[number]
    beyond = long_noise(noise, drift(signature, samples))
    slower = relative_spread(
        [
            parts_s[number] / (one.phase.time_s * one.phase.weight)
            for number, one in samples.items()
        ]
    )
    rest = unmeasured_share(signature, samples)
    whole = whole_draws(rest, generator, spread=slower or 0.0)
    return draws * error_of_mean_draws(beyond, None, generator) * whole


def _known(signature: PhaseSignature, pets_s: dict[int, float]) -> tuple[Known, ...]:
    """Return phases with their times here: measured, or scaled as their group was."""
    here_s: dict[Hashable, float] = {}
    there_s: dict[Hashable, float] = {}
    for one in signature.phases:
        phase, group = one.phase, one.group
        if phase.number in pets_s:
            time_s = pets_s[phase.number] * phase.weight
            recorded_s = phase.time_s * phase.weight
            here_s[group] = here_s.get(group, 0.0) + time_s
            there_s[group] = there_s.get(group, 0.0) + recorded_s
    found = []
    for one in signature.phases:
        phase, group = one.phase, one.group
        if group in here_s:
            scaled_s = phase.time_s * here_s[group] / there_s[group]
            found.append((phase, pets_s.get(phase.number, scaled_s)))
    return tuple(found)


def _scaled(signature: PhaseSignature, pets_s: dict[int, float]) -> float:
    """Scale what is not known here as all that is [s]."""
    known = _known(signature, pets_s)
    here_s = math.fsum(time_s * phase.weight for phase, time_s in known)
    there_s = math.fsum(phase.time_s * phase.weight for phase, _ in known)
    return here_s * signature.application_s / there_s


def uncovered(
    signature: PhaseSignature, measured: Collection[int]
) -> tuple[Doubt, ...]:
    """Doubt that the phases with these numbers tell the application's time."""
    outside = 1 - signature.covered_share
    left_out = unmeasured_share(signature, measured) - outside
    return (
        *hidden_doubts(signature.unseen),
        *unmeasured(
            outside,
            "{share} of the application's time is in no relevant phase",
            "lower --relevance",
        ),
        *unmeasured(
            left_out,
            "phases with {share} of the application's time come too late to be "
            "measured",
            "take them from images: --backend criu --images DIR",
        ),
    )


def unmeasured_share(signature: PhaseSignature, measured: Collection[int]) -> float:
    """Return the share of the time that phases with these numbers do not tell [1]."""
    told = told_by(signature, measured)
    return max(0.0, 1.0 - math.fsum(phase.share for phase in told))


def told_by(signature: PhaseSignature, measured: Collection[int]) -> list[Phase]:
    """Return the phases whose time is known from those with these numbers.

    They tell that of all phases that only differ from one of them in their time.
    """
    groups = {one.group for one in signature.phases if one.phase.number in measured}
    return [one.phase for one in signature.phases if one.group in groups]


def drift(signature: PhaseSignature, measured: Collection[int]) -> float:
    """Return by how much times drifted in the recording [1], of phases with numbers.

    A slow second slows all phases, so it is their mean.
    """
    phases = [one.phase for one in signature.phases if one.phase.number in measured]
    share = math.fsum(phase.share for phase in phases)
    return math.fsum(phase.drift * phase.share for phase in phases) / share
