"""What a prediction needs to know about a skeleton, and why it may be doubted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skelgen.launch.mpi import same_mpi
from skelgen.prediction.scaling import correction, scaled, scaled_draws
from skelgen.prediction.thresholds import (
    LARGEST_DROPPED_SHARE,
    LARGEST_MIX_ERROR,
    LARGEST_UNDOUBTED_FACTOR,
    SHORTEST_TRUSTED_S,
)
from skelgen.trust import Doubt
from skelgen.trust.intervals import median_draws, relative_spread
from skelgen.trust.skeleton_doubts import unlike_doubts
from skelgen.trust.types import PAPER_2005, WHOLE_EVENTS
from skelgen.units import format_seconds

if TYPE_CHECKING:
    from skelgen.matching.waits import WaitState
    from skelgen.prediction.types import Calibration, Times
    from skelgen.trust.recording_doubts import Unseen


@dataclass(frozen=True, slots=True, kw_only=True)
class SkeletonFacts:
    """What a prediction needs to know about a skeleton.

    Attributes
    ----------
    ranks : int
    scaling_factor : float
        K as built [1].
    expected_s : float
        Expected time on the recording machine [s].
    application_s : float
        Time of the recorded run [s].
    smallest_good_s : float
        Time of the shortest good skeleton [s]; 0 where any length will do.
    dropped_share : float
        Share of the application's time that nothing in the skeleton stands for.
    mpi : str
        Library that the application was recorded with.
    ranks_per_host : tuple of int
        Of the recorded run.
    command : tuple of str
        Launch of the application; empty when it is not known.
    folder : str
        Working directory of that launch.
    environment : tuple of (str, str)
        Variables of that launch that change how MPI behaves.
    calibration : Calibration or None
        The one that is used.
    calibrations : tuple of Calibration
        All that were stored, the oldest first.
    mix_error : float or None
        How unlike the application's computation the skeleton's is beside known
        competitors [1]; None when that was not measured.
    method : str
        Rules that the skeleton was planned by.
    dealers : tuple of int
        Ranks that answer whoever comes first, where the skeleton answers each partner
        as often as in the recording.
    not_computed : tuple of (str, float)
        What the application's ranks did that the skeleton does not, and its share of
        the application's time [0 to 1].
    unseen : Unseen or None
        What the ranks did that no event shows; None where the recorder did not look.
    application, recorded : str
        Name of the program and date of the recorded run (ISO, UTC); empty where they
        are not known.
    waits : tuple of WaitState
        How long the ranks of the recorded run waited for each other, where the
        skeleton was built from the run.
    planned_compute_s : float or None
        How long the rank that computes longest computes in the skeleton, on the
        recording machine [s]; None in older files.
    """

    ranks: int
    scaling_factor: float
    expected_s: float
    application_s: float
    smallest_good_s: float = 0.0
    dropped_share: float = 0.0
    mpi: str
    ranks_per_host: tuple[int, ...]
    command: tuple[str, ...]
    folder: str
    environment: tuple[tuple[str, str], ...]
    calibration: Calibration | None = None
    mix_error: float | None = None
    method: str = WHOLE_EVENTS
    dealers: tuple[int, ...] = ()
    not_computed: tuple[tuple[str, float], ...] = ()
    unseen: Unseen | None = None
    calibrations: tuple[Calibration, ...] = ()
    application: str = ""
    recorded: str = ""
    waits: tuple[WaitState, ...] = ()
    planned_compute_s: float | None = None

    @property
    def fitted(self) -> bool:
        """Return whether its computation was measured beside competitors."""
        return self.mix_error is not None

    @property
    def quiet_s(self) -> float:
        """Return the application's time on a quiet machine, as far as known [s].

        That of the calibration; without one that of the recorded run.
        """
        known = self.calibration
        return self.application_s if known is None else known.application_s

    @property
    def expected_ratio(self) -> float:
        """Return application time / skeleton time as the skeleton was built [1]."""
        return self.application_s / self.expected_s

    @property
    def ratio(self) -> float:
        """Return application time / skeleton time on the reference [1].

        Without a calibration the recorded time over the expected one stands for it.
        """
        known = self.calibration
        return self.expected_ratio if known is None else known.ratio

    @property
    def correction(self) -> float:
        """Return how much longer the application becomes when the skeleton does [1]."""
        return correction(self.ratio, self.expected_ratio, self.method)

    @property
    def unmeasured_share(self) -> float:
        """Return the share of the application's time that it leaves out [0 to 1]."""
        return self.dropped_share

    @property
    def drift(self) -> float:
        """Return no drift: a skeleton is timed whole."""
        return 0.0

    @property
    def narrowing(self) -> str:
        """Return what the user can do about a wide interval."""
        return "raise --budget, or calibrate with more --runs"

    def application_time(self, there_s: Times) -> NDArray[np.float64]:
        """Return times of the application [s] for times of the skeleton [s]."""
        if (known := self.calibration) is None:
            return np.asarray(there_s * self.ratio, np.float64)
        return scaled(there_s, known.application_s, known.skeleton_s, self.correction)

    def draws(
        self,
        runs_s: Sequence[float],
        generator: np.random.Generator,
        longer: Times = 1.0,
    ) -> NDArray[np.float64]:
        """Draw the application's time [s] without the error of the method."""
        if (known := self.calibration) is None:
            spread = relative_spread(runs_s)
            return median_draws(runs_s, generator, spread=spread) * longer * self.ratio
        measured = known.application_runs_s, known.undisturbed_s
        return scaled_draws(
            runs_s, *measured, self.correction, generator, longer=longer
        )

    def doubts(self, mpi: str) -> tuple[Doubt, ...]:
        """Return in what the skeleton is unlike the application, run with an MPI."""
        return (*_doubts_of_scale(self, mpi), *_doubts_of_likeness(self))

    def with_fitting(self, mpi: str) -> SkeletonFacts:
        """Return the facts with the newest calibration that was made with an MPI.

        The newest of all where none was.
        """
        fitting = [one for one in self.calibrations if same_mpi(one.mpi, mpi)]
        return replace(self, calibration=fitting[-1]) if fitting else self

    def shortened(self, factor: float) -> SkeletonFacts:
        """Return the facts of a skeleton that takes 1/factor of this one's time."""
        known = self.calibration
        if known is not None:
            runs_s = tuple(run_s / factor for run_s in known.skeleton_runs_s)
            known = replace(known, skeleton_runs_s=runs_s)
        return replace(
            self,
            scaling_factor=self.scaling_factor * factor,
            expected_s=self.expected_s / factor,
            calibration=known,
        )


def _doubts_of_scale(facts: SkeletonFacts, mpi: str) -> Iterator[Doubt]:
    """Say what is wrong with the calibration, and with the time when quiet."""
    quiet_s = facts.expected_s
    if facts.calibration is None:
        yield Doubt(
            "uncalibrated",
            "no calibration: the ratio is an expectation",
            "run skelgen calibrate on the machine of the recording",
        )
    else:
        quiet_s = facts.calibration.skeleton_s
        if not same_mpi(facts.calibration.mpi, mpi):
            text = f"calibrated with {facts.calibration.mpi}, run with {mpi}"
            yield Doubt("other-mpi", text, "calibrate with the MPI that runs it")
        off = facts.ratio / facts.expected_ratio
        if facts.method != PAPER_2005 and max(off, 1 / off) > LARGEST_UNDOUBTED_FACTOR:
            yield Doubt(
                "other-ratio",
                "calibrated on another run or input than the recorded one: the ratio "
                f"is {facts.ratio:.3g}, {facts.expected_ratio:.3g} was expected",
                "calibrate with the recorded command and input",
            )
    needed_s = max(SHORTEST_TRUSTED_S, _with_slack(facts.smallest_good_s))
    if quiet_s < needed_s:
        yield Doubt(
            "too-short",
            f"too short: {format_seconds(quiet_s)}, a good skeleton takes at least "
            f"{format_seconds(needed_s)}",
            "build it with a smaller K",
        )


def _doubts_of_likeness(facts: SkeletonFacts) -> Iterator[Doubt]:
    """Say in what the skeleton is unlike the application."""
    # A calibration has measured the application's time again.
    settled = ("queued", "shared") if facts.calibration is not None else ()
    parts = [one for one in facts.not_computed if one[0] not in settled]
    yield from unlike_doubts(facts.unseen, parts)
    if facts.dropped_share > LARGEST_DROPPED_SHARE:
        yield Doubt(
            "dropped",
            f"{facts.dropped_share:.1%} of the application's time was dropped "
            f"(at most {LARGEST_DROPPED_SHARE:.0%} is trusted)",
            "build it with a smaller K",
        )
    if facts.mix_error is not None and facts.mix_error > LARGEST_MIX_ERROR:
        yield Doubt(
            "mix",
            "the compute mix is not representative: next to a known competitor its "
            f"slowdown may be {facts.mix_error:.0%} off the application's (at most "
            f"{LARGEST_MIX_ERROR:.0%} is trusted)",
            "run skelgen mix again on a quiet machine and build, or run the "
            "application's phases instead: skelgen measure",
        )
    if facts.dealers:
        yield Doubt(
            "dealers",
            f"rank {facts.dealers[0]} answers whoever comes first, the skeleton each "
            "partner as often as in the recording: it takes too long where nodes are "
            "not equally busy",
            "trust it on equally busy nodes only",
        )


def _with_slack(time_s: float) -> float:
    """Allow what measured and expected times of one skeleton differ by."""
    return 0.9 * time_s
