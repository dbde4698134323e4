"""Read a recorded run for its summary and its page: as a whole, or in blocks."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from skelgen.errors import SkelgenError
from skelgen.events import Events, collect
from skelgen.events.call_stream import RunStream
from skelgen.events.streamed_totals import totals_in_blocks
from skelgen.events.totals import RunTotals, totals_of
from skelgen.matching.threads import matched
from skelgen.pipeline.call_observers import MOST_MATCHED, SeenCalls
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.timeline import joined, lanes_of
from skelgen.trace import Trace

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunReading:
    """What is known of the calls of a run.

    Attributes
    ----------
    totals : RunTotals
    look : callable
        Looks at the calls once more: for wait states, and for the timeline.
    """

    totals: RunTotals
    look: Callable[[], SeenCalls]


def read_run(run: Trace, progress: Progress = NO_PROGRESS) -> RunReading:
    """Read a run; a large one in blocks, so that memory does not grow with it.

    What needs the calls of all ranks at once, such as wait states, is known of runs of
    up to `MOST_MATCHED` calls only.
    """
    if run.events > MOST_MATCHED:
        stream = RunStream(run)
        totals = totals_in_blocks(stream, progress)
        return RunReading(totals, partial(_look_in_blocks, stream, totals))
    events = collect(run, progress)
    return RunReading(totals_of(events), partial(_look, events))


def _look(events: Events) -> SeenCalls:
    """Return wait states and timeline."""
    seen = SeenCalls()
    try:
        seen.look(*matched(events))
        return seen
    except SkelgenError as error:
        logger.info("no wait states: %s", error)
    seen.timeline = joined([lanes_of(events, range(events.calls.ranks))])
    return seen


def _look_in_blocks(stream: RunStream, totals: RunTotals) -> SeenCalls:
    """Return the timeline alone."""
    run = totals.run
    lanes = lanes_of(run, range(run.calls.ranks), read=stream.calls)
    return SeenCalls(timeline=joined([lanes]))
