"""The timeline of a run on a page: a picture, a table, and what the script draws."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.documents.text_of_bytes import shown, visible
from skelgen.timeline import RankWork, RunTimeline
from skelgen.timeline.encoding import decoded
from skelgen.timeline.pieces import spread
from skelgen.timeline.types import WORK_WORDS, LaneTotal
from skelgen.units import format_seconds, seconds
from skelgen.web.axes import Axis

#: Cells of the picture, all rows, and columns of it.
_MOST_CELLS, _MOST_COLUMNS = 6000, 480
#: Height of a row by the number of rows, and room between rows [px].
_HEIGHTS, _LEAST_HEIGHT, _GAP = ((4, 30), (8, 24), (16, 18), (32, 12)), 9, 2
#: Lowest distance of two names of rows [px].
_NAME_PX = 14
#: Least share that the legend has as a number [per cent].
_LEAST_SHARE = 0.1
#: Kinds of work in the order in which they stand in a row, from below.
STACK = (
    RankWork.COMPUTATION,
    RankWork.POINT_TO_POINT,
    RankWork.COLLECTIVE,
    RankWork.FILE,
    RankWork.OTHER,
    RankWork.WAITING,
)

_Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LaneName:
    """What stands next to a row of the timeline, and where [px]."""

    text: str
    y: float


@dataclass(frozen=True, slots=True)
class WorkShape:
    """Where ranks do one kind of work: a path of the picture."""

    kind: int
    path: str


@dataclass(frozen=True, slots=True)
class WorkShare:
    """A kind of work in the legend, with its share of the time of all ranks."""

    kind: int
    name: str
    share: str


@dataclass(frozen=True, slots=True)
class LaneRow:
    """A row of the table."""

    name: str
    time: str
    shares: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TimelineView:
    """What a page shows of a timeline.

    Attributes
    ----------
    length : str
        Time of the run.
    notes : tuple of str
        What is grouped, joined and not known.
    columns, height, lane_height : int
        Of the picture; heights in px.
    names : tuple of LaneName
    marks : tuple of (float, str)
        Place in per cent, and time.
    shapes : tuple of WorkShape
    legend : tuple of WorkShare
        Kinds that occur.
    rows : tuple of LaneRow
    payload : str
        JSON for the script, without characters that HTML knows.
    """

    length: str
    notes: tuple[str, ...]
    columns: int
    height: int
    lane_height: int
    names: tuple[LaneName, ...]
    marks: tuple[tuple[float, str], ...]
    shapes: tuple[WorkShape, ...]
    legend: tuple[WorkShare, ...]
    rows: tuple[LaneRow, ...]
    payload: str


def timeline_view(timeline: RunTimeline | None) -> TimelineView | None:
    """Decide what a page shows of a timeline; nothing where there is none."""
    if timeline is None:
        return None
    lanes = timeline.lanes
    high = next((h for most, h in _HEIGHTS if len(lanes) <= most), _LEAST_HEIGHT)
    columns = min(max(_MOST_CELLS // len(lanes), 1), _MOST_COLUMNS)
    totals = np.sum([lane.times_s for lane in lanes], axis=0)
    present = [kind for kind in STACK if totals[kind] > 0]
    length_s = seconds(timeline.span_ns)
    axis = Axis(0.0, length_s, logarithmic=False, length=100.0)
    return TimelineView(
        length=format_seconds(length_s),
        notes=_notes(timeline),
        columns=columns,
        height=len(lanes) * (high + _GAP),
        lane_height=high,
        names=tuple(_names(lanes, high)),
        marks=tuple((mark.place, f"{mark.text} s") for mark in axis.marks()),
        shapes=tuple(_shapes(timeline, columns, high)),
        legend=tuple(_legend(totals, present)),
        rows=tuple(_row(lane, present) for lane in lanes),
        payload=_payload(timeline, high),
    )


def _notes(timeline: RunTimeline) -> tuple[str, ...]:
    notes = []
    first = timeline.lanes[0]
    each = first.last - first.first + 1
    if each > 1:
        notes.append(f"A row is the average of {each} ranks.")
    if timeline.is_complete:
        notes.append("Every call is there.")
    else:
        width = format_seconds(seconds(timeline.width_ns))
        notes.append(
            f"What takes less than {width} is joined with its neighbours: such a piece "
            "shows the share of each kind of work, and its longest call."
        )
    if timeline.knows_waiting:
        notes.append("Waiting is its certain part: before the partner had begun.")
    else:
        notes.append("Waiting is not known here: it is part of the calls.")
    return tuple(notes)


def _name(lane: LaneTotal) -> str:
    one = lane.first == lane.last
    return f"{lane.first}" if one else f"{lane.first}–{lane.last}"


def _names(lanes: tuple[LaneTotal, ...], high: int) -> Iterator[LaneName]:
    step = -(-_NAME_PX // (high + _GAP))
    for i in range(0, len(lanes), step):
        first = "".join(_name(lanes[i]).partition("–")[:2])
        yield LaneName(first, i * (high + _GAP) + high / 2 + 4)


def _legend(
    totals: NDArray[np.float64], present: list[RankWork]
) -> Iterator[WorkShare]:
    whole = float(totals[: RankWork.ABSENT].sum()) or 1.0
    for kind in present:
        part = 100 * float(totals[kind]) / whole
        share = f"{part:.1f} %" if part >= _LEAST_SHARE else f"below {_LEAST_SHARE} %"
        yield WorkShare(int(kind), WORK_WORDS[kind], share)


def _row(lane: LaneTotal, present: list[RankWork]) -> LaneRow:
    there_s = sum(lane.times_s[: RankWork.ABSENT])
    ranks = lane.last - lane.first + 1
    shares = tuple(
        f"{100 * lane.times_s[kind] / there_s:.1f} %" if there_s else ""
        for kind in present
    )
    return LaneRow(_name(lane), format_seconds(there_s / ranks), shares)


def _shapes(timeline: RunTimeline, columns: int, high: int) -> Iterator[WorkShape]:
    """Draw each kind of work: what ranks do in each column, stacked."""
    paths: dict[RankWork, list[str]] = {kind: [] for kind in STACK}
    for number, pieces in enumerate(decoded(timeline)):
        if not len(pieces):
            continue
        end_ns = max(int(pieces.begin_ns[-1] + pieces.length_ns[-1]), 1)
        edges = np.rint(np.linspace(0, end_ns, columns + 1)).astype(np.int64)
        cells = spread(pieces, edges)
        parts = cells.times_ns / np.maximum(cells.length_ns, 1)[:, None]
        tops = np.rint(high * np.cumsum(parts[:, list(STACK)], axis=1)).astype(np.int64)
        floor = number * (high + _GAP) + high
        below = np.zeros(columns, np.int64)
        for kind, above in zip(STACK, tops.T, strict=True):
            paths[kind] += _bars(floor, below, above)
            below = above
    for kind, path in paths.items():
        if path:
            yield WorkShape(int(kind), "".join(path))


def _bars(
    floor: int, below: NDArray[np.int_], above: NDArray[np.int_]
) -> Iterator[str]:
    """Give a bar for each run of columns that are filled alike."""
    change = (np.diff(below) != 0) | (np.diff(above) != 0)
    firsts = np.append(0, np.flatnonzero(change) + 1)
    ends = np.append(firsts[1:], len(below))
    for first, end in zip(firsts.tolist(), ends.tolist(), strict=True):
        if (size := int(above[first] - below[first])) > 0:
            wide = end - first
            yield f"M{first} {floor - int(above[first])}h{wide}v{size}h-{wide}z"


def _payload(timeline: RunTimeline, high: int) -> str:
    content = {
        "span": seconds(timeline.span_ns),
        "unit": seconds(timeline.unit_ns),
        "kinds": [WORK_WORDS[kind] for kind in RankWork],
        "stack": [int(kind) for kind in STACK],
        "things": [
            [int(one.work), visible(shown(one.name))] for one in timeline.things
        ],
        "lanes": [[_name(lane), lane.pieces] for lane in timeline.lanes],
        "high": high,
        "gap": _GAP,
        "data": base64.b64encode(timeline.data).decode(),
    }
    text = json.dumps(content, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text
