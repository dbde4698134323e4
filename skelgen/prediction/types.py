"""Types of the prediction stage."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from skelgen.launch import Host
from skelgen.matching.waits import WaitState
from skelgen.trust import Doubt, Interval, verdict_of
from skelgen.trust.recording_doubts import Unseen


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
    """

    time_s: float
    queued_s: float | None = None
    computing: float | None = None


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
        """Return the time of the skeleton, median of its runs [s]."""
        return statistics.median(self.skeleton_runs_s)

    @property
    def lost_share(self) -> float:
        """Return how much of the time of all runs was taken away [0 to 1]."""
        lost_s = sum(self.application_lost_s) + sum(self.skeleton_lost_s)
        kept_s = sum(self.application_runs_s) + sum(self.skeleton_runs_s)
        return lost_s / (lost_s + kept_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkeletonFacts:
    """What a prediction needs to know about a skeleton.

    An application that is run for its phases has the same facts, but for those of a
    skeleton alone: these keep the values that say "nothing is left out".

    Attributes
    ----------
    ranks : int
    scaling_factor : float
        K as built [1]; 1 where the application itself runs.
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
        Rules that the skeleton was planned by; ``phases`` when it is no skeleton but
        the application, executed for its phases.
    unmeasured_share : float
        Share of the application's time that these phases do not tell [0 to 1].
    drift : float
        By how much their times drifted in the recording [1].
    dealers : tuple of int
        Ranks that answer whoever comes first, where the skeleton answers each partner
        as often as in the recording.
    not_computed : tuple of (str, float)
        What the application's ranks did where the skeleton computes, and its share of
        the application's time [0 to 1].
    unseen : Unseen or None
        What the ranks did that no event shows; None where the recorder did not look.
    application, recorded : str
        Name of the program and date of the recorded run (ISO, UTC); empty where they
        are not known.
    waits : tuple of WaitState
        How long the ranks of the recorded run waited for each other, where the
        skeleton was built from the run.
    """

    ranks: int
    scaling_factor: float = 1.0
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
    method: str = "whole-events"
    unmeasured_share: float = 0.0
    drift: float = 0.0
    dealers: tuple[int, ...] = ()
    not_computed: tuple[tuple[str, float], ...] = ()
    unseen: Unseen | None = None
    calibrations: tuple[Calibration, ...] = ()
    application: str = ""
    recorded: str = ""
    waits: tuple[WaitState, ...] = ()

    @property
    def quiet_s(self) -> float:
        """Return the application's time on a quiet machine, as far as known [s].

        That of the calibration; without one that of the recorded run.
        """
        known = self.calibration
        return self.application_s if known is None else known.application_s


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
    """

    hosts: tuple[Host, ...]
    runs_s: tuple[float, ...]
    ratio: float
    time_s: Interval
    measured_s: Interval
    doubts: tuple[Doubt, ...]
    calibration: Calibration | None = None

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
