"""Make a timeline smaller: join its pieces level by level until they fit."""

from __future__ import annotations

from dataclasses import replace

from skelgen.timeline.encoding import coded, decoded
from skelgen.timeline.lanes import Lanes
from skelgen.timeline.types import RunTimeline


def coarser(timeline: RunTimeline, *, most_bytes: int, most_pieces: int) -> RunTimeline:
    """Return a timeline that fits, at the first level at which it does.

    Parameters
    ----------
    timeline : RunTimeline
    most_bytes : int
        Of the coded pieces; a timeline of one piece a row may take more [bytes].
    most_pieces : int
        Of all rows; at least one of each.

    Raises
    ------
    ValueError
        When the timeline is damaged.
    """
    pieces = sum(lane.pieces for lane in timeline.lanes)
    if len(timeline.data) <= most_bytes and pieces <= most_pieces:
        return timeline
    found = Lanes(
        span_ns=timeline.span_ns,
        ranks=timeline.lanes[-1].last + 1,
        level=timeline.width_ns.bit_length() - 1,
        knows_waiting=timeline.knows_waiting,
        things=timeline.things,
        pieces=dict(enumerate(decoded(timeline))),
    )
    made = None
    while made is None:
        found = found.at(found.level + 1)
        if found.count() <= max(most_pieces, len(found.pieces)):
            made = coded(found, most_bytes)
    lanes = zip(made.lanes, timeline.lanes, strict=True)
    return replace(
        made, lanes=tuple(replace(new, times_s=old.times_s) for new, old in lanes)
    )
