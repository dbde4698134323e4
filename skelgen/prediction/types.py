"""Types of the prediction stage."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skelgen.launch.hosts import Host
from skelgen.trust import Doubt, Interval, verdict_of
from skelgen.units import format_seconds

#: Times of runs [s].
Times: TypeAlias = float | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Timed:
    """One run of the application or of its skeleton.

    Attributes
    ----------
    time_s : float
        Wall time [s].
    queued_s : float or None
        Longest time that one of its ranks waited for a core that others had [s]; None
        when the system did not say.
    computing : float or None
        Share of the time that its ranks compute, their mean [0 to 1]; None where
        nothing said it.
    computed_s : float or None
        Computation of the rank that computed longest [s]; None where nothing said it.
    took_s : float or None
        Wall time with what launching took [s]; None where it is not known.
    """

    time_s: float
    queued_s: float | None = None
    computing: float | None = None
    computed_s: float | None = None
    took_s: float | None = None

    @property
    def cost_s(self) -> float:
        """Return what the run cost, launching included where that is known [s]."""
        return self.time_s if self.took_s is None else self.took_s


@dataclass(frozen=True, slots=True)
class Calibration:
    """How much longer the application takes than its skeleton, measured here.

    Attributes
    ----------
    application_runs_s : tuple of float
        Time between ``MPI_Init`` and ``MPI_Finalize`` of each run, less what it lost
        [s].
    skeleton_runs_s : tuple of float
        Time of the timed section of each run, less what it lost [s].
    host, mpi : str
        Where and with what it was measured.
    load : tuple of float
        Load averages of the host before the first run.
    recorded : bool
        Whether the application's time is that of the recording.
    application_lost_s, skeleton_lost_s : tuple of float
        What was taken from the time of each run, because a rank waited for its core
        so long [s]; empty when nothing was.
    date : str
        When it was measured (ISO, UTC); empty in older files.
    command : tuple of str
        Launch of the application, without secrets.
    files : tuple of (str, str)
        Path and SHA-256 of the program and of the files that its arguments name.
    hosts : tuple of str
        Node set with the ranks of each host; empty where the launch says it.
    skeleton_computing : float or None
        Share of the skeleton's time that its ranks compute, mean of ranks and runs
        [0 to 1]; None in older files.
    skeleton_computed_s : tuple of float
        Computation of each of its runs, on the rank that computed longest, less what
        the run lost [s]; empty where nothing said it.
    disturbed : tuple of int
        Which of its runs computed longer than the others, from 0: they do not count.
    """

    application_runs_s: tuple[float, ...]
    skeleton_runs_s: tuple[float, ...]
    host: str
    mpi: str
    load: tuple[float, ...]
    recorded: bool
    application_lost_s: tuple[float, ...] = ()
    skeleton_lost_s: tuple[float, ...] = ()
    date: str = ""
    command: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    hosts: tuple[str, ...] = ()
    skeleton_computing: float | None = None
    skeleton_computed_s: tuple[float, ...] = ()
    disturbed: tuple[int, ...] = ()

    @property
    def undisturbed_s(self) -> tuple[float, ...]:
        """Return the times of the skeleton's runs that count [s]."""
        runs_s = enumerate(self.skeleton_runs_s)
        counted = tuple(run_s for run, run_s in runs_s if run not in self.disturbed)
        return counted or self.skeleton_runs_s

    @property
    def ratio(self) -> float:
        """Return application time / skeleton time, medians of the runs [1]."""
        return self.application_s / self.skeleton_s

    @property
    def application_s(self) -> float:
        """Return the time of the application, median of its runs [s]."""
        return statistics.median(self.application_runs_s)

    @property
    def skeleton_s(self) -> float:
        """Return the time of the skeleton, median of its runs that count [s]."""
        return statistics.median(self.undisturbed_s)

    @property
    def lost_share(self) -> float:
        """Return how much of the time of all runs was taken away [0 to 1]."""
        lost_s = sum(self.application_lost_s) + sum(self.skeleton_lost_s)
        kept_s = sum(self.application_runs_s) + sum(self.skeleton_runs_s)
        return lost_s / (lost_s + kept_s)


class TrialFacts(Protocol):
    """What a prediction needs to know about what it runs for an application.

    A skeleton is one implementation, the application itself, executed for its phases,
    another: each says how its times become times of the application.
    """

    @property
    def application(self) -> str:
        """Return the name of the program; empty where it is not known."""

    @property
    def recorded(self) -> str:
        """Return the date of the recorded run (ISO, UTC); empty where not known."""

    @property
    def application_s(self) -> float:
        """Return the time of the recorded run [s]."""

    @property
    def quiet_s(self) -> float:
        """Return the application's time on a quiet machine, as far as known [s]."""

    @property
    def expected_s(self) -> float:
        """Return how long it takes on the recording machine [s]."""

    @property
    def ranks(self) -> int:
        """Return with how many ranks it runs."""

    @property
    def ranks_per_host(self) -> tuple[int, ...]:
        """Return those of each host of the recorded run."""

    @property
    def mpi(self) -> str:
        """Return the library that the application was recorded with."""

    @property
    def method(self) -> str:
        """Return what tells methods with different errors apart."""

    @property
    def fitted(self) -> bool:
        """Return whether its computation slows down as the application's does.

        That was measured beside competitors, or it is the application itself. Other
        computation may keep caches that the application loses.
        """

    @property
    def scaling_factor(self) -> float | None:
        """Return K [1]; None where the application itself runs."""

    @property
    def calibration(self) -> Calibration | None:
        """Return the one that is used; None where there is none."""

    @property
    def ratio(self) -> float:
        """Return application time / its time on the reference [1]."""

    @property
    def planned_compute_s(self) -> float | None:
        """Return how long its longest rank computes there, as planned [s]."""

    @property
    def unmeasured_share(self) -> float:
        """Return the share of the application's time that its times miss [0 to 1]."""

    @property
    def drift(self) -> float:
        """Return by how much its times drifted in the recording [1]."""

    @property
    def narrowing(self) -> str:
        """Return what the user can do about a wide interval."""

    def application_time(self, there_s: Times) -> NDArray[np.float64]:
        """Turn its times into times of the application [s]."""

    def draws(
        self,
        runs_s: Sequence[float],
        generator: np.random.Generator,
        longer: Times = 1.0,
    ) -> NDArray[np.float64]:
        """Draw the application's time [s] without the error of the method.

        Parameters
        ----------
        runs_s : sequence of float
            Its times on a node set [s].
        generator : numpy.random.Generator
        longer : float or (draws,) float64 array
            How much longer it typically takes there than these times say [1].
        """

    def doubts(self, mpi: str) -> tuple[Doubt, ...]:
        """Return in what it is unlike the application, when it runs with an MPI."""

    def shortened(self, factor: float) -> TrialFacts:
        """Return the facts of a shorter version, by how much longer this one takes."""


@dataclass(frozen=True, slots=True)
class Need:
    """What it takes to know a time as well as was asked.

    Attributes
    ----------
    runs : int or None
        Further runs, by the spread of those that were made; None where no number of
        them is enough, for the calibration alone is too wide.
    time_s : float
        How long these take, launching included [s].
    application_s : float
        How long one run of the application takes there, as predicted [s].
    more : bool
        Whether it takes more than these.
    stopped : bool
        Whether runs ended because even fewer would not fit into the budget.
    """

    runs: int | None
    time_s: float
    application_s: float
    more: bool = False
    stopped: bool = False

    @property
    def is_dearer(self) -> bool:
        """Return whether running the application itself takes less time.

        A calibration runs it several times.
        """
        return self.runs is None or self.application_s < self.time_s

    def __str__(self) -> str:
        once = (
            f"running the application itself takes {format_seconds(self.application_s)}"
        )
        if self.runs is None:
            return f"calibrate with more --runs: more runs here do not help; {once}"
        about = "more than" if self.more else "about"
        runs = "1 more run" if self.runs == 1 else f"{self.runs} more runs"
        took = format_seconds(self.time_s)
        said = f"raise --budget: {about} {runs} ({took}) would do"
        return f"{said}; {once}" if self.is_dearer else said


@dataclass(frozen=True, slots=True)
class Prediction:
    """How long the application will take on one node set.

    Attributes
    ----------
    hosts : tuple of Host
        With the ranks that each runs; empty for this machine.
    runs_s : tuple of float
        Times of the skeleton there [s].
    ratio : float
        Application time / skeleton time on the reference [1].
    time_s : Interval
        Predicted time of the application [s].
    measured_s : Interval
        The same without the error of the method [s].
    doubts : tuple of Doubt
        Why the prediction should not be trusted; empty when it can be.
    calibration : Calibration or None
        The one that it uses.
    cores : str
        ``own`` where the ranks had their cores to themselves, ``shared`` where other
        processes had them, too; empty where nothing said it.
    computed_s : tuple of (float or None)
        Computation of each run, on the rank that computed longest [s].
    planned_compute_s : float or None
        The same as the skeleton plans it, at the speed of the recording [s].
    disturbed : tuple of int
        Which runs computed longer than the others of the set, from 0.
    need : Need or None
        What an interval that is narrow enough takes; None where this one is, or where
        nobody knows.
    notes : tuple of str
        What else happened, a sentence each.
    typical_s : float or None
        Time of the skeleton that its runs stand for [s]; None: their median.
    """

    hosts: tuple[Host, ...]
    runs_s: tuple[float, ...]
    ratio: float
    time_s: Interval
    measured_s: Interval
    doubts: tuple[Doubt, ...]
    calibration: Calibration | None = None
    cores: str = ""
    computed_s: tuple[float | None, ...] = ()
    planned_compute_s: float | None = None
    disturbed: tuple[int, ...] = ()
    need: Need | None = None
    notes: tuple[str, ...] = ()
    typical_s: float | None = None

    @property
    def skeleton_s(self) -> float:
        """Return the time of the skeleton there, which its runs stand for [s]."""
        known = self.typical_s
        return statistics.median(self.runs_s) if known is None else known

    @property
    def verdict(self) -> str:
        """Return ``trust`` or ``do not trust``."""
        return verdict_of(self.doubts)


@dataclass(frozen=True, slots=True)
class Failure:
    """A node set on which the skeleton did not run.

    Attributes
    ----------
    hosts : tuple of Host
    reason : str
    """

    hosts: tuple[Host, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node set in the order of preference.

    Attributes
    ----------
    prediction : Prediction
    best_probability : float
        Probability that the application is fastest there [0 to 1].
    stage : int
        How many skeletons were shorter than the longest one that ran there.
    """

    prediction: Prediction
    best_probability: float
    stage: int


@dataclass(frozen=True, slots=True)
class Choice:
    """Node sets, the best first.

    Attributes
    ----------
    candidates : tuple of Candidate
    failures : tuple of Failure
        Sets without a time: the skeleton failed there, or was not run.
    """

    candidates: tuple[Candidate, ...]
    failures: tuple[Failure, ...]
