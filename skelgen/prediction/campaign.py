"""Run a skeleton on node sets until the times are known well enough."""

from __future__ import annotations

import logging
import re
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from skelgen.errors import ApplicationError
from skelgen.launch import Finished, Host
from skelgen.launch.hosts import place
from skelgen.prediction.intervals import half_width
from skelgen.prediction.predict import measured, predict
from skelgen.prediction.skeleton_runs import SkeletonProgram, failure_of, section_s
from skelgen.prediction.types import Failure, Prediction
from skelgen.progress import NO_PROGRESS, Progress

logger = logging.getLogger(__name__)

FEWEST_RUNS = 3

#: Part of the allowed width to which the runs on a node set may add at most [1].
_OWN_PART = 0.3


@dataclass(slots=True)
class _NodeSet:
    """A node set under measurement: its placement and its times so far."""

    hosts: tuple[Host, ...]
    runs_s: list[float] = field(default_factory=list)
    failure: Failure | None = None
    done: bool = False


def placed(ranks: int, hosts: Sequence[Host]) -> tuple[Host, ...]:
    """Spread ranks over a node set; this machine, the empty set, takes them all.

    Raises
    ------
    NodesError
        When the set has fewer slots than ranks.
    """
    return place(ranks, hosts) if hosts else ()


def campaign(
    program: SkeletonProgram,
    node_sets: Sequence[Sequence[Host]],
    *,
    budget_s: float,
    interval_bound: float,
    generator: np.random.Generator,
    progress: Progress = NO_PROGRESS,
) -> tuple[tuple[Prediction, ...], tuple[Failure, ...]]:
    """Measure and predict every node set, the fastest first.

    The sets take turns, so that a load that comes or goes meets all of them. Each
    runs at least three times, then until its interval is narrow enough or the time
    is over. A set that fails is left out and named; the others go on.

    Parameters
    ----------
    program : SkeletonProgram
    node_sets : sequence of sequences of Host
        As `placed` returns them; an empty set is this machine.
    budget_s : float
        Time after which no further run begins, beyond the first three [s].
    interval_bound : float
        Half width of the measured interval that is narrow enough [1].
    generator : numpy.random.Generator
    progress : Progress

    Returns
    -------
    tuple of Prediction, tuple of Failure
    """
    sets = [_NodeSet(tuple(hosts)) for hosts in node_sets]
    end_s = time.monotonic() + budget_s
    progress.start("running the skeleton", FEWEST_RUNS * len(sets))
    while waiting := [one for one in sets if not (one.done or one.failure)]:
        for one in waiting:
            _run_once(program, one)
            progress.advance(1)
            one.done = _enough(program, one, end_s, interval_bound, generator)
    progress.finish()
    predictions = [
        predict(
            program.facts,
            one.runs_s,
            hosts=one.hosts,
            mpi=program.mpi,
            doubts=program.doubts,
            interval_bound=interval_bound,
            generator=generator,
        )
        for one in sets
        if one.failure is None
    ]
    predictions.sort(key=lambda prediction: prediction.time_s.p50)
    failures = tuple(one.failure for one in sets if one.failure is not None)
    return tuple(predictions), failures


def _enough(
    program: SkeletonProgram,
    one: _NodeSet,
    end_s: float,
    bound: float,
    generator: np.random.Generator,
) -> bool:
    """Say whether a set needs no further run.

    Its own times may be known well enough while the calibration is not; further runs
    would not help then.
    """
    if len(one.runs_s) < FEWEST_RUNS:
        return False
    if time.monotonic() + statistics.median(one.runs_s) > end_s:
        return True
    if half_width(one.runs_s, generator) <= _OWN_PART * bound:
        return True
    return measured(program.facts, one.runs_s, generator).half_width <= bound


def _run_once(program: SkeletonProgram, one: _NodeSet) -> None:
    done = program.run(program.arguments(one.hosts))
    reason = failure_of(done)
    if reason is None:
        try:
            one.runs_s.append(section_s(done.output, program.binary))
        except ApplicationError as error:
            reason = str(error)
    if reason is not None:
        culprits = blamed_hosts(done, one.hosts)
        if culprits:
            reason = f"host {', '.join(culprits)}: {reason}"
        one.failure = Failure(one.hosts, reason)
        logger.warning("node set %s is left out: %s", name_of(one.hosts), reason)


def blamed_hosts(done: Finished, hosts: Sequence[Host]) -> list[str]:
    """Return the hosts of a set that a failed launcher names in what it wrote."""
    text = f"{done.errors}\n{done.output}"
    return [
        host.name
        for host in hosts
        if re.search(rf"(?<![\w.-]){re.escape(host.name)}(?![\w.-])", text)
    ]


def name_of(hosts: Sequence[Host]) -> str:
    """Write a node set as the user could give it to ``--hosts``."""
    if not hosts:
        return "this machine"
    return ",".join(
        host.name if host.slots == 1 else f"{host.name}:{host.slots}" for host in hosts
    )
