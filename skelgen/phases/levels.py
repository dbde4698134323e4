"""Cut a run at a level of its loops: at the one that is best measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from skelgen.phases.expected_error import ExpectedSample, best, neighbours, sample
from skelgen.phases.segments import Divisible, Segments
from skelgen.phases.strata import Divided, Strata
from skelgen.phases.types import NestLevel, Parameters


@dataclass(frozen=True, slots=True)
class FoldedRun:
    """A folded run.

    Attributes
    ----------
    divisible : Divisible
    share, sent : (n + 1,) arrays
        Time as a share of the application's [1], and bytes, before each position.
    """

    divisible: Divisible
    share: NDArray[np.float64]
    sent: NDArray[np.float64]

    @classmethod
    def of(cls, divisible: Divisible, sent: NDArray[np.float64]) -> Self:
        """Sum what belongs to each position.

        Parameters
        ----------
        divisible : Divisible
        sent : (n,) float64 array
            At each position of the string [bytes].
        """
        return cls(divisible, _before(divisible.time_share), _before(sent))


@dataclass(frozen=True, slots=True)
class LevelCut:
    """A run cut at one level of its loops; phases of its occurrences."""

    segments: Segments
    divided: Divided
    sample: ExpectedSample


def level(
    run: FoldedRun, parameters: Parameters
) -> tuple[LevelCut, tuple[NestLevel, ...]]:
    """Cut a run at the level that is best measured, or at the one that is asked for.

    Parameters
    ----------
    run : FoldedRun
    parameters : Parameters

    Returns
    -------
    LevelCut
    tuple of NestLevel
        As in `skelgen.phases.types.Phases`.
    """
    known, wanted = _levels(run.divisible, parameters.longest)
    found = [_cut(run, loops, parameters) for _, loops in known]
    samples = [one.sample for one in found]
    chosen = best(samples) if wanted is None else wanted
    if not any(loops for _, loops in known):
        return found[chosen], ()
    return found[chosen], neighbours([one[0] for one in known], samples, chosen)


def _levels(
    divisible: Divisible, longest: float | None
) -> tuple[list[tuple[float, tuple[int, ...]]], int | None]:
    """Return the levels to look at: all, or the one asked for and those next to it."""
    known = divisible.levels()
    if longest is None:
        return known, None
    loops = divisible.chosen(longest)
    at = next((i for i, one in enumerate(known) if one[1] == loops), -1)
    if at < 0:
        at = sum(one[0] >= longest for one in known)
        known.insert(at, (longest, loops))
    first = max(at - 1, 0)
    return known[first : at + 2], at - first


def _cut(run: FoldedRun, loops: tuple[int, ...], parameters: Parameters) -> LevelCut:
    segments = run.divisible.divide(loops)
    bound = segments.bound
    share, sent = (np.diff(values[bound]) for values in (run.share, run.sent))
    divided = Strata(
        structure=segments.structure,
        time_share=share,
        traits=(
            ("events", np.diff(bound)),
            ("bytes", sent),
            ("trips", segments.trips),
            *(("place", place) for place in segments.places),
        ),
        relevance=parameters.relevance,
        jump=parameters.time_similarity,
    ).phases()
    found = sample(divided, share, parameters.relevance)
    return LevelCut(segments, divided, found)


def _before(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum what comes before each position."""
    return np.concatenate([[0.0], np.cumsum(values)])
