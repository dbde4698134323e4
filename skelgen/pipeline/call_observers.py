"""What is seen in the calls of a run while it is read for something else."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from skelgen.errors import SkelgenError
from skelgen.events import Events
from skelgen.matching import Matching
from skelgen.matching.waits import WaitState, states_of, waits_of_calls
from skelgen.pipeline.build_team import Team
from skelgen.pipeline.run_reading import MOST_MATCHED
from skelgen.timeline import RunTimeline, joined, lanes_of, timeline_of
from skelgen.timeline.store import load

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class SeenCalls:
    """What was seen in the calls of a run; nothing where it was not read.

    Attributes
    ----------
    waits : tuple of WaitState
    timeline : RunTimeline or None
    """

    waits: tuple[WaitState, ...] = ()
    timeline: RunTimeline | None = None

    def look(self, events: Events, matching: Matching) -> None:
        """Look at all calls and how they were matched."""
        found = waits_of_calls(events, matching)
        self.waits = states_of(found)
        self.timeline = timeline_of(events, found.time_ns)

    def look_at_large(self, events: Events, ranks: range, team: Team) -> None:
        """Look at the calls of the own ranks, in runs that are not read again."""
        calls = team.share(sum(team.gather(len(events.calls))))
        if calls > MOST_MATCHED:
            parts = team.gather(lanes_of(events, ranks))
            self.timeline = team.first(lambda: joined(parts))


def timeline_beside(folder: Path) -> RunTimeline | None:
    """Read the timeline of a skeleton's folder; a damaged one is a warning."""
    try:
        return load(folder)
    except SkelgenError as error:
        logger.warning("the page has no timeline: %s", error)
        return None
