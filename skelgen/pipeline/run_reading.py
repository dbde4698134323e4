"""Read a recorded run for its summary and its page: as a whole, or in blocks."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from skelgen.errors import SkelgenError
from skelgen.events import Events, collect
from skelgen.events.call_stream import RunStream
from skelgen.events.streamed_totals import totals_in_blocks
from skelgen.events.totals import RunTotals, totals_of
from skelgen.progress import NO_PROGRESS, Progress
from skelgen.trace import Trace

if TYPE_CHECKING:
    from skelgen.pipeline.call_observers import SeenCalls

logger = logging.getLogger(__name__)

#: Calls of runs that are read a second time for what needs the matching of all calls,
#: such as phases and wait states: a few seconds' work.
MOST_MATCHED = 20_000_000


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
    # What only pages show is loaded when one is drawn.
    from skelgen.pipeline.call_observers import SeenCalls
    from skelgen.pipeline.execution_order import matched
    from skelgen.timeline import joined, lanes_of

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
    # Only pages show it.
    from skelgen.pipeline.call_observers import SeenCalls
    from skelgen.timeline import joined, lanes_of

    run = totals.run
    lanes = lanes_of(run, range(run.calls.ranks), read=stream.calls)
    return SeenCalls(timeline=joined([lanes]))
