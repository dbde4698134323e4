"""What the measured occurrences of a phase tell of all of them, beside the recording.

An occurrence takes longer than another because the program does more in it, which it
does in every run, or because the machine was slow. The time here over the time there
tells these apart: what the program does cancels out, what the machine did stays.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.phase_execution.thresholds import (
    BLOCKS_OF_NOISE,
    EXPECTED_NOISE_WORTH,
    LONG_NOISE_FACTOR,
    RECORDED_TIMES_ASSUMED,
)
from skelgen.phases.stored import StoredPhase
from skelgen.phases.thresholds import MACHINE_SPREAD
from skelgen.phases.types import Phase
from skelgen.trust.intervals import (
    error_of_mean_draws,
    median_draws,
    relative_spread,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class OccurrenceSample:
    """Some occurrences of a phase, measured here.

    Attributes
    ----------
    phase : Phase
    here_s, there_s : (n,) float64 arrays
        Time of each here and in the recording, in the order of the run [s]. One with
        repeats is several occurrences in a row.
    repeats : int
        Occurrences in all.
    again_s : tuple of float
        Times of the only one, where it was executed several times [s].
    """

    phase: Phase
    here_s: Floats
    there_s: Floats
    repeats: int
    again_s: tuple[float, ...] = ()

    @classmethod
    def of(
        cls, stored: StoredPhase, times: Mapping[int, Sequence[float]]
    ) -> OccurrenceSample:
        """Return the sample of measured times, by number of occurrence [s]."""
        known = {one.number: one for one in stored.occurrences}
        order = sorted(times)
        only = times[order[0]] if len(order) == 1 else ()
        return cls(
            stored.phase,
            np.array([statistics.fmean(times[number]) for number in order]),
            np.array([known[number].time_s for number in order]),
            sum(known[number].repeats for number in order),
            tuple(only) if len(only) > 1 else (),
        )

    @property
    def spread(self) -> float:
        """Return the standard deviation of all times over their mean [1]."""
        times_s = self.again_s or tuple(self.here_s.tolist())
        return relative_spread(times_s) or 0.0

    @property
    def logs(self) -> Floats:
        """Return the logarithms of here over there; all 0 where there is no time."""
        if not (self.there_s > 0).all():
            return np.zeros(len(self.here_s))
        return np.asarray(np.log(self.here_s / self.there_s))

    def noise_squares(self) -> tuple[float, float]:
        """Return what parts of the sample differ by, and how many tell that.

        Parts take equally long, one after the other. Half of their variance is that of
        the machine here, half that of the recording's.
        """
        parts = min(BLOCKS_OF_NOISE, len(self.here_s))
        if parts < 2 or not (self.there_s > 0).all():
            return 0.0, 0.0
        middle = np.cumsum(self.there_s) - self.there_s / 2
        part = (parts * middle / self.there_s.sum()).astype(np.int64)
        sums = [np.bincount(part, times) for times in (self.here_s, self.there_s)]
        logs = np.log(sums[0][sums[1] > 0] / sums[1][sums[1] > 0])
        squares = float(np.square(logs - logs.mean()).sum()) / 2
        return self.phase.share * squares, self.phase.share * (len(logs) - 1)

    def _own_error(self) -> tuple[float, float | None]:
        """Return the standard error of the sample's mean [1], and what is known by.

        Of one occurrence alone the spread in the recording is all that is known.
        """
        spread, logs = self.phase.spread, self.logs
        if len(logs) == 1:
            return spread if self.phase.weight > 1 else 0.0, None
        squares = float(np.square(logs - logs.mean()).sum())
        squares += RECORDED_TIMES_ASSUMED * min(spread, MACHINE_SPREAD) ** 2
        freedom = len(logs) - 1 + RECORDED_TIMES_ASSUMED
        weights = self.here_s / self.here_s.sum()
        return math.sqrt(squares / freedom * float(weights @ weights)), float(freedom)

    def _of_program(self, noise: float) -> tuple[float, float]:
        """Return by what logarithm others take longer there, and how sure that is [1].

        What noise explains is noise; the more it takes to explain it the surer it is
        that the program does more there, in this run as in the recorded one.
        """
        there_s = float(self.there_s.sum()) / self.repeats
        if not there_s:
            return 0.0, 0.0
        longer = math.log(self.phase.time_s / there_s)
        explained = noise**2 + self._own_error()[0] ** 2
        return longer, max(0.0, 1.0 - explained / longer**2) if longer else 0.0

    def pet_s(self, noise: float) -> float:
        """Return the time of an occurrence here, mean of all in the run (PET) [s].

        Parameters
        ----------
        noise : float
            Of the machine, as `machine_noise` returns it [1].
        """
        longer, sure = self._of_program(noise)
        return float(self.here_s.sum()) / self.repeats * math.exp(sure * longer)

    def factors(self, noise: float, generator: np.random.Generator) -> Floats:
        """Draw the time of an occurrence as a share of what was measured [1]."""
        if self.phase.weight == 1 and not self.again_s:
            return median_draws([1.0], generator)
        error, freedom = self._own_error()
        draws = error_of_mean_draws(error, freedom, generator)
        # The recording's machine may have made the difference that was corrected.
        shared = math.sqrt(self._of_program(noise)[1]) * noise
        draws *= error_of_mean_draws(shared, None, generator)
        if self.again_s:
            draws *= median_draws(self.again_s, generator)
            draws /= statistics.median(self.again_s)
        return draws


def machine_noise(
    samples: Iterable[OccurrenceSample], probes_s: Sequence[Sequence[float]] = ()
) -> float:
    """Return by how much the machine makes parts of a run differ [1].

    What is usual counts beside what samples and probes show. Probes do arithmetic only:
    they do not make noise smaller than samples show it.

    Parameters
    ----------
    samples : iterable of OccurrenceSample
    probes_s : sequence of sequence of float
        Times of a fixed piece of arithmetic between occurrences, of each rank [s].
    """
    told = [one.noise_squares() for one in samples]
    of_samples, many = (
        math.fsum(column) for column in zip((0.0, 0.0), *told, strict=True)
    )
    squares = EXPECTED_NOISE_WORTH * MACHINE_SPREAD**2 + of_samples
    freedom = EXPECTED_NOISE_WORTH + many
    logs = [np.log(times_s) for times_s in probes_s if len(times_s) > 1]
    if logs:
        squares += float(np.mean([np.square(one - one.mean()).sum() for one in logs]))
        freedom += float(np.mean([len(one) - 1 for one in logs]))
    return math.sqrt(max(squares / freedom, of_samples / many if many else 0.0))


def long_noise(noise: float, drift: float) -> float:
    """Return by how much what was measured differs from the whole run [1].

    Parameters
    ----------
    noise : float
        Of the machine, in what was measured [1].
    drift : float
        Of the recording [1]: of its machine, or of the program, which was told apart by
        times here and there. What is measured is over before slow minutes come.
    """
    return max(noise, min(drift, LONG_NOISE_FACTOR * noise))
