"""What each rank does when, small enough for a page.

In: `Events`, and how long each call waits where that is known. Out: `RunTimeline`, the
run cut into pieces: long calls and long computation on their own, short ones joined
with their neighbours, until all of it fits in a given number of bytes.
"""

from skelgen.timeline.collect import joined, lanes_of, timeline_of
from skelgen.timeline.lanes import Lanes
from skelgen.timeline.types import RankWork, RunTimeline

__all__ = ["Lanes", "RankWork", "RunTimeline", "joined", "lanes_of", "timeline_of"]
