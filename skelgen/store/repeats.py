"""Runs of one configuration: their time, and by how much they differ.

References
----------
WRF on multicore systems, 2010, IV: four runs of each configuration, their average
without outliers. Some differed by over 15 %; repeated in one allocation, so on the same
nodes, by less than 2 %.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from skelgen.store.pairing import comparable_inputs, same_hosts
from skelgen.store.rows import Run

#: Spread above which runs of one configuration are reported [1].
WIDE = 0.15

#: Spread of runs on the same nodes: what is nearer to the median is no outlier [1].
_USUAL = 0.02

#: Median absolute deviations from which on a run is an outlier, and the factor that
#: makes of such a deviation the standard deviation of a normal distribution.
_OUTLYING, _TO_DEVIATION = 3.5, 1.4826

#: With fewer runs nothing tells which one is the outlier.
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class RepeatedRuns:
    """Runs of one configuration.

    Attributes
    ----------
    runs : tuple of Run
        As they were given.
    time_s : float
        Their median [s].
    mean_s : float
        Their mean without outliers [s].
    spread : float
        By how much the longest is longer than the shortest [1].
    same_nodes, same_allocation : bool or None
        Whether all ran on the same set of hosts, and in one job of the batch system;
        None where a run does not say it.
    """

    runs: tuple[Run, ...]
    time_s: float
    mean_s: float
    spread: float
    same_nodes: bool | None
    same_allocation: bool | None

    @property
    def wide(self) -> bool:
        """Return whether the runs differ by so much that a prediction must fail."""
        return self.spread > WIDE


def repeats(runs: Iterable[Run]) -> list[RepeatedRuns]:
    """Join runs of one configuration.

    One configuration has the same application, executable, inputs, ranks, nodes, ranks
    per node and system. Runs that failed are left out.

    Parameters
    ----------
    runs : iterable of Run

    Returns
    -------
    list of RepeatedRuns
        In the order of their first runs; a configuration that ran once has a spread
        of 0.
    """
    by_configuration: dict[Hashable, list[Run]] = {}
    for run in runs:
        if run.status == "ok" and math.isfinite(run.time_s) and run.time_s > 0:
            by_configuration.setdefault(configuration_of(run), []).append(run)
    return [_repeat(own) for own in by_configuration.values()]


def configuration_of(run: Run) -> Hashable:
    """Return what runs of one configuration have in common; see `repeats`."""
    return (
        run.application,
        run.executable,
        comparable_inputs(run.inputs),
        (run.ranks, run.nodes, run.ranks_per_node),
        run.system,
    )


def _repeat(runs: Sequence[Run]) -> RepeatedRuns:
    times_s = [run.time_s for run in runs]
    first = runs[0]
    return RepeatedRuns(
        runs=tuple(runs),
        time_s=statistics.median(times_s),
        mean_s=statistics.fmean(without_outliers(times_s)),
        spread=max(times_s) / min(times_s) - 1,
        same_nodes=all(same_hosts(first.hosts, run.hosts) for run in runs)
        if all(run.hosts for run in runs)
        else None,
        same_allocation=all(first.allocation == run.allocation for run in runs)
        if all(run.allocation for run in runs)
        else None,
    )


def without_outliers(times_s: Sequence[float]) -> list[float]:
    """Return times without those far from the others.

    The paper discards "an outlier" and does not say what that is. Here it is a time
    further from the median than 3.5 deviations, robustly estimated, and than 2 %, which
    runs on the same nodes differ by.

    Parameters
    ----------
    times_s : sequence of float
        [s]

    References
    ----------
    WRF on multicore systems, 2010, IV; Iglewicz and Hoaglin 1993, How to detect and
    handle outliers, for the number of deviations.

    Examples
    --------
    >>> without_outliers([579.0, 581.0, 580.0, 702.0])
    [579.0, 581.0, 580.0]
    >>> without_outliers([579.0, 702.0])
    [579.0, 702.0]
    """
    if len(times_s) < _FEWEST:
        return list(times_s)
    middle_s = statistics.median(times_s)
    off_s = [abs(time_s - middle_s) for time_s in times_s]
    most_s = _OUTLYING * _TO_DEVIATION * statistics.median(off_s)
    most_s = max(most_s, _USUAL * middle_s)
    return [one for one, off in zip(times_s, off_s, strict=True) if off <= most_s]
