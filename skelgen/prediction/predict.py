"""Turn times of the skeleton into a time of the application, with a verdict."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skelgen.launch import Host
from skelgen.launch.mpi import MpiKind, kind_of
from skelgen.prediction.thresholds import (
    LARGEST_DRAWN_WIDTH_FACTOR,
    LARGEST_DROPPED_SHARE,
    LARGEST_MIX_ERROR,
    LARGEST_SAME_RUN_FACTOR,
    LARGEST_UNDOUBTED_FACTOR,
    QUIET_RUNS_ASSUMED,
    SHORTEST_TRUSTED_S,
)
from skelgen.prediction.types import Prediction, SkeletonFacts
from skelgen.trust import Doubt, Interval, too_wide
from skelgen.trust.errors import MethodError, MethodErrors, error_draws
from skelgen.trust.intervals import (
    interval,
    median_draws,
    relative_spread,
    whole_draws,
)
from skelgen.trust.skeleton_doubts import unlike_doubts
from skelgen.units import format_seconds

_Times = float | NDArray[np.float64]


#: Method of skeletons that are a subset of whole matched events.
WHOLE_EVENTS = "whole-events"

#: Method of facts that describe the application itself, executed for its phases.
PHASES = "phases"

#: Method of skeletons by the rules of the 2005 paper, which predict by its rules, too.
PAPER_2005 = "paper2005"


def ratio(facts: SkeletonFacts) -> float:
    """Return application time / skeleton time on the reference [1].

    Without a calibration the recorded time over the expected one stands for it.
    """
    known = facts.calibration
    return expected_ratio(facts) if known is None else known.ratio


def with_fitting(facts: SkeletonFacts, mpi: str) -> SkeletonFacts:
    """Return the facts with the newest calibration that was made with an MPI.

    The newest of all where none was.
    """
    fitting = [one for one in facts.calibrations if same_mpi(one.mpi, mpi)]
    if not fitting:
        return facts
    return replace(facts, calibration=fitting[-1])


def correction(measured: float, expected: float, method: str) -> float:
    """Return how much longer the application becomes when the skeleton does [1].

    Calls, their bytes and waits are kept whole, and which part of them is known. What
    the measured ratio differs by comes from the noise of a few runs and from
    computation, which is imitated; neither grows with what links and competitors add.

    Parameters
    ----------
    measured, expected : float
        Application time / skeleton time, both quiet, and as the skeleton was built [1].
    method : str
        How it was planned.
    """
    same = max(expected / measured, measured / expected) <= LARGEST_SAME_RUN_FACTOR
    return expected if same and method != PAPER_2005 else measured


def expected_ratio(facts: SkeletonFacts) -> float:
    """Return application time / skeleton time as the skeleton was built [1]."""
    return facts.application_s / facts.expected_s


def _correction(facts: SkeletonFacts) -> float:
    return correction(ratio(facts), expected_ratio(facts), facts.method)


def scaled(
    there_s: _Times, application_s: _Times, skeleton_s: _Times, correction: _Times
) -> NDArray[np.float64]:
    """Turn times of the skeleton into times of the application [s].

    Where the skeleton takes longer than on the reference, its time counts `correction`
    times. By what application and scaled skeleton differed on the reference this is
    corrected, less the longer it takes: computation that competitors and links
    disturb may lose its caches, the arithmetic that stands for it does not. Where
    the skeleton takes less, the application takes as much less.

    Parameters
    ----------
    there_s : float or array
        Times of the skeleton [s].
    application_s, skeleton_s : float or array
        Times of both on the reference [s].
    correction : float
        See :func:`correction` [1].

    Examples
    --------
    >>> [round(float(scaled(there_s, 20.0, 2.0, 9.0)), 3) for there_s in (1, 2, 4)]
    [10.0, 20.0, 37.0]
    """
    longer = np.maximum(there_s / skeleton_s, 1.0)
    less = np.minimum(there_s / skeleton_s, 1.0)
    differ_s = application_s - correction * skeleton_s
    return np.asarray(
        less * (correction * skeleton_s * longer + differ_s / longer), np.float64
    )


def application_time(facts: SkeletonFacts, there_s: _Times) -> NDArray[np.float64]:
    """Return times of the application [s] for times of its skeleton [s]."""
    if (known := facts.calibration) is None:
        return np.asarray(there_s * ratio(facts), np.float64)
    return scaled(there_s, known.application_s, known.skeleton_s, _correction(facts))


def predict(
    facts: SkeletonFacts,
    runs_s: Sequence[float],
    *,
    hosts: Sequence[Host],
    mpi: str,
    interval_bound: float,
    errors: MethodErrors,
    generator: np.random.Generator,
    doubts: Sequence[Doubt] = (),
) -> Prediction:
    """Predict the application's time from the skeleton's times on a node set.

    Parameters
    ----------
    facts : SkeletonFacts
    runs_s : sequence of float
        Times of the skeleton on the node set [s].
    hosts : sequence of Host
        The node set; empty for this machine.
    mpi : str
        MPI that ran the skeleton there.
    interval_bound : float
        Largest half width of the interval that is trusted [1].
    errors : MethodErrors
    generator : numpy.random.Generator
    doubts : sequence of Doubt
        Further ones.

    References
    ----------
    Sodhi and Subhlok 2005, section IV: measured scaling ratio.
    """
    middle = float(application_time(facts, statistics.median(runs_s)))
    draws = _draws(facts, runs_s, generator)
    also = "" if facts.method == PHASES else ", or calibrate with more --runs"
    wide = too_wide(
        interval(draws, middle),
        f"raise --budget{also}",
        bound=LARGEST_DRAWN_WIDTH_FACTOR * interval_bound,
    )
    # As the ratio's, these errors are common to all node sets; no run makes them less.
    draws = draws * np.exp(facts.drift * generator.standard_normal(len(draws)))
    draws = draws * unmeasured_draws(facts, len(draws), generator)
    half_width = method_error(facts, mpi, errors).half_width
    error = error_draws(half_width, len(draws), generator)
    return Prediction(
        tuple(hosts),
        tuple(runs_s),
        ratio(facts),
        interval(draws * error, middle),
        interval(draws, middle),
        (*doubts_of(facts, hosts=hosts, mpi=mpi), *doubts, *wide),
        calibration=facts.calibration,
    )


def measured(
    facts: SkeletonFacts, runs_s: Sequence[float], generator: np.random.Generator
) -> Interval:
    """Return the predicted time [s] with the part of its interval that was measured."""
    middle = float(application_time(facts, statistics.median(runs_s)))
    return interval(_draws(facts, runs_s, generator), middle)


def method_error(facts: SkeletonFacts, mpi: str, errors: MethodErrors) -> MethodError:
    """Return the error of what predicts, for programs of this MPI."""
    return errors.of(facts.method, kind_of(mpi).title)


def unmeasured_draws(
    facts: SkeletonFacts, count: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Draw the whole time over what it would be if all parts were measured [1]."""
    share = facts.unmeasured_share + facts.dropped_share
    return whole_draws(min(share, 1.0), generator) if share else np.ones(count)


def _draws(
    facts: SkeletonFacts, runs_s: Sequence[float], generator: np.random.Generator
) -> NDArray[np.float64]:
    """Draw the predicted time [s] without the error of the method."""
    if (known := facts.calibration) is None:
        spread = relative_spread(runs_s)
        return median_draws(runs_s, generator, spread=spread) * ratio(facts)
    measured = known.application_runs_s, known.skeleton_runs_s
    return scaled_draws(runs_s, *measured, _correction(facts), generator)


def scaled_draws(
    runs_s: Sequence[float],
    application_runs_s: Sequence[float],
    skeleton_runs_s: Sequence[float],
    correction: float,
    generator: np.random.Generator,
) -> NDArray[np.float64]:
    """Draw what the three medians that were measured predict.

    Parameters
    ----------
    runs_s : sequence of float
        Times of the skeleton on the node set [s].
    application_runs_s, skeleton_runs_s : sequence of float
        Times of both on the reference [s].
    correction : float
        See :func:`correction` [1].
    generator : numpy.random.Generator

    Returns
    -------
    (draws,) float64 array
        Predicted times [s].
    """
    quiet = relative_spread(application_runs_s, skeleton_runs_s)
    steady = relative_spread(skeleton_runs_s)  # an application may vary with its caches
    own = quiet if steady is None else steady
    there = median_draws(runs_s, generator, spread=own, worth=1)
    above = median_draws(
        application_runs_s, generator, spread=quiet, worth=QUIET_RUNS_ASSUMED
    )
    below = median_draws(skeleton_runs_s, generator, spread=own)
    ratio = statistics.median(application_runs_s) / statistics.median(skeleton_runs_s)
    if math.isclose(correction, ratio):  # measured, and so no better known than these
        return scaled(there, above, below, above / below)
    return scaled(there, above, below, correction)


def doubts_of(
    facts: SkeletonFacts, *, hosts: Sequence[Host], mpi: str
) -> tuple[Doubt, ...]:
    """Return why a prediction should not be trusted, before anything is measured."""
    doubts = [*_doubts_of_scale(facts, mpi), *_doubts_of_likeness(facts)]
    if facts.mpi and not same_mpi(facts.mpi, mpi):
        text = f"recorded with {facts.mpi}, run with {mpi}"
        doubts.append(Doubt("other-mpi", text, "record it with the MPI that runs it"))
    recorded, now = max(len(facts.ranks_per_host), 1), max(len(hosts), 1)
    if recorded != now:
        text = f"recorded on {_hosts(recorded)}, run on {_hosts(now)}"
        doubts.append(Doubt("other-hosts", text, "record it on as many hosts"))
    return tuple(doubts)


def _doubts_of_scale(facts: SkeletonFacts, mpi: str) -> Iterator[Doubt]:
    """Say what is wrong with the calibration, and with the time when quiet."""
    quiet_s = facts.expected_s
    if facts.calibration is None and facts.method != PHASES:
        yield Doubt(
            "uncalibrated",
            "no calibration: the ratio is an expectation",
            "run skelgen calibrate on the machine of the recording",
        )
    elif facts.calibration is not None:
        quiet_s = statistics.median(facts.calibration.skeleton_runs_s)
        if not same_mpi(facts.calibration.mpi, mpi):
            text = f"calibrated with {facts.calibration.mpi}, run with {mpi}"
            yield Doubt("other-mpi", text, "calibrate with the MPI that runs it")
        off = ratio(facts) / expected_ratio(facts)
        if facts.method != PAPER_2005 and max(off, 1 / off) > LARGEST_UNDOUBTED_FACTOR:
            yield Doubt(
                "other-ratio",
                "calibrated on another run or input than the recorded one: the ratio "
                f"is {ratio(facts):.3g}, {expected_ratio(facts):.3g} was expected",
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
    yield from unlike_doubts(facts.unseen, facts.not_computed)
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
            f"slowdown is {facts.mix_error:.0%} off that of the application (at most "
            f"{LARGEST_MIX_ERROR:.0%} is trusted)",
            "run the application's phases instead: skelgen measure",
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


def _hosts(count: int) -> str:
    return "1 host" if count == 1 else f"{count} hosts"


def same_mpi(one: str, other: str) -> bool:
    """Say whether two descriptions of an MPI name the same family."""
    kind = kind_of(one)
    return one == other if kind is MpiKind.UNKNOWN else kind is kind_of(other)
