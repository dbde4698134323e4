"""Draw a stretch of the logical trace: a column for each tick, a lane for a rank."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from skelgen.events import CallKind, function_info
from skelgen.events.functions import COLLECTIVES, RECEIVING, SENDING
from skelgen.ticks.table import PlacedCall, TickTable
from skelgen.web.fill import filled

#: Ranks that are drawn.
_MOST_LANES = 64
_COLOURS = (
    ("sends", "#3b7dd8", frozenset(SENDING)),
    ("receives", "#3a9d6e", frozenset(RECEIVING)),
    ("collective", "#e08a2e", frozenset(COLLECTIVES)),
    ("completion, probe", "#c4ccd4", frozenset({CallKind.COMPLETE, CallKind.PROBE})),
)
_OTHER = ("other", "#8a6fd1")


@dataclass(frozen=True, slots=True)
class TickCell:
    """What one rank does at one tick; column and lane from 0."""

    column: int
    lane: int
    colour: str
    title: str


@dataclass(frozen=True, slots=True)
class TickPicture:
    """What the picture shows.

    Attributes
    ----------
    first, columns : int
        First tick, and number of ticks.
    lanes, hidden : int
        Ranks that are drawn, and those that are not.
    cells : tuple of TickCell
    arrows : tuple of (int, int, int, int)
        Column and lane of the send and of the receive of each message.
    entries : tuple of (str, str)
        Meaning and colour.
    """

    first: int
    columns: int
    lanes: int
    hidden: int
    cells: tuple[TickCell, ...]
    arrows: tuple[tuple[int, int, int, int], ...]
    entries: tuple[tuple[str, str], ...]


def tick_picture(table: TickTable, first: int, count: int) -> TickPicture:
    """Prepare the picture of a stretch of the logical trace."""
    cells: defaultdict[tuple[int, int], list[PlacedCall]] = defaultdict(list)
    for call in table.calls:
        if call.rank < _MOST_LANES:
            cells[call.tick - first, call.rank].append(call)
    ends = [
        (table.calls[send], table.calls[done])
        for send, done in table.messages
        if max(table.calls[send].rank, table.calls[done].rank) < _MOST_LANES
    ]
    lanes = min(table.ranks, _MOST_LANES)
    return TickPicture(
        first,
        min(count, table.last + 1 - first),
        lanes,
        table.ranks - lanes,
        tuple(_cell(*place, together) for place, together in cells.items()),
        tuple(
            (send.tick - first, send.rank, done.tick - first, done.rank)
            for send, done in ends
        ),
        (*((text, colour) for text, colour, _ in _COLOURS), _OTHER),
    )


def _cell(column: int, lane: int, together: list[PlacedCall]) -> TickCell:
    kind = function_info(together[0].function).kind
    colour = next((one for _, one, kinds in _COLOURS if kind in kinds), _OTHER[1])
    names = ", ".join(call.function for call in together)
    return TickCell(
        column, lane, colour, f"tick {together[0].tick}, rank {lane}: {names}"
    )


def render_ticks(table: TickTable, first: int, count: int) -> str:
    """Draw a stretch of the logical trace over ticks and ranks.

    Parameters
    ----------
    table : TickTable
    first, count : int
        First tick, and number of ticks.

    Returns
    -------
    str
        An SVG picture.
    """
    return filled("ticks.svg.j2", picture=tick_picture(table, first, count))
