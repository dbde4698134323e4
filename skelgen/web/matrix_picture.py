"""The communication matrix: a picture on a log scale, and a table behind it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.units import format_bytes
from skelgen.web.rank_blocks import SentBlocks

#: Shades of the picture, rows of the table, and names of ranks at an edge.
_MOST_SHADES, _MOST_PAIRS, _MOST_MARKS = 8, 100, 8
#: Sides of a cell, and of the whole [px].
_CELL_PX, _SIDE_PX = 28, 480
#: Opacity of the palest shade [1].
_PALEST = 0.15


@dataclass(frozen=True, slots=True)
class MatrixShade:
    """Cells with about as many bytes.

    Attributes
    ----------
    words : str
        What they have, for the legend.
    opacity : float
        Of the colour; 0 is an outline: messages without bytes.
    path : str
    """

    words: str
    opacity: float
    path: str


@dataclass(frozen=True, slots=True)
class MatrixPair:
    """A cell with messages in the table."""

    sender: str
    receiver: str
    size: str
    messages: str
    mean: str


@dataclass(frozen=True, slots=True)
class MatrixView:
    """What a page shows of the communication matrix.

    Attributes
    ----------
    cells : int
        Of a row.
    side : int
        Of the picture [px].
    each : int
        Ranks of a row.
    marks : tuple of (float, str)
        Place [px] and rank.
    shades : tuple of MatrixShade
        The palest first.
    pairs : tuple of MatrixPair
        Most bytes first.
    hidden : str
        What the table leaves out; empty where that is nothing.
    total : str
    """

    cells: int
    side: int
    each: int
    marks: tuple[tuple[float, str], ...]
    shades: tuple[MatrixShade, ...]
    pairs: tuple[MatrixPair, ...]
    hidden: str
    total: str


def matrix_view(sent: SentBlocks) -> MatrixView | None:
    """Decide what a page shows of messages; nothing where there are none."""
    if not sent.messages.any():
        return None
    cells = len(sent.messages)
    side = min(cells * _CELL_PX, _SIDE_PX)
    order = np.lexsort((-sent.messages.ravel(), -sent.size_bytes.ravel()))
    order = order[: int(np.count_nonzero(sent.messages))]
    return MatrixView(
        cells=cells,
        side=side,
        each=sent.each,
        marks=tuple(_marks(sent, side / cells)),
        shades=tuple(_shades(sent)),
        pairs=tuple(_pair(sent, int(cell)) for cell in order[:_MOST_PAIRS]),
        hidden=_hidden(sent, order[_MOST_PAIRS:]),
        total=_amount(sent.size_bytes.sum(), sent.messages.sum()),
    )


def _marks(sent: SentBlocks, cell_px: float) -> Iterator[tuple[float, str]]:
    step = -(-len(sent.messages) // _MOST_MARKS)
    for block in range(0, len(sent.messages), step):
        yield (block + 0.5) * cell_px, str(block * sent.each)


def _shades(sent: SentBlocks) -> Iterator[MatrixShade]:
    """Divide the cells by their bytes, in equal steps of the logarithm."""
    size_bytes = sent.size_bytes
    empty = (sent.messages > 0) & (size_bytes <= 0)
    if empty.any():
        yield MatrixShade("messages without bytes", 0.0, _path(empty))
    if not (size_bytes > 0).any():
        return
    least, most = float(size_bytes[size_bytes > 0].min()), float(size_bytes.max())
    decades = math.log2(most / least)
    count = max(1, min(_MOST_SHADES, math.ceil(decades)))
    logs = np.log2(np.maximum(size_bytes, least) / least)
    level = np.minimum(logs * count / (decades or 1.0), count - 1).astype(np.int64)
    edges = np.geomspace(least, most, count + 1).tolist()
    for shade in range(count):
        cells = (size_bytes > 0) & (level == shade)
        if cells.any():
            ends = [format_bytes(edge) for edge in edges[shade : shade + 2]]
            words = ends[0] if ends[0] == ends[1] else " to ".join(ends)
            part = (shade + 1) / count
            opacity = round(_PALEST + (1 - _PALEST) * part, 2)
            yield MatrixShade(words, opacity, _path(cells))


def _path(cells: NDArray[np.bool_]) -> str:
    """Draw cells, those next to each other in a row as one piece."""
    edged = np.pad(cells.astype(np.int8), ((0, 0), (1, 1)))
    change = np.diff(edged, axis=1)
    rows, firsts = np.nonzero(change == 1)
    _, ends = np.nonzero(change == -1)
    pieces = zip(rows.tolist(), firsts.tolist(), ends.tolist(), strict=True)
    return "".join(
        f"M{first} {row}h{end - first}v1h-{end - first}z" for row, first, end in pieces
    )


def _name(sent: SentBlocks, block: int) -> str:
    first = block * sent.each
    last = min(first + sent.each, sent.ranks) - 1
    return f"{first}" if first == last else f"{first}–{last}"


def _pair(sent: SentBlocks, cell: int) -> MatrixPair:
    sender, receiver = divmod(cell, len(sent.messages))
    size_bytes = float(sent.size_bytes[sender, receiver])
    messages = float(sent.messages[sender, receiver])
    return MatrixPair(
        _name(sent, sender),
        _name(sent, receiver),
        format_bytes(size_bytes),
        f"{messages:,.0f}",
        format_bytes(size_bytes / messages),
    )


def _hidden(sent: SentBlocks, order: NDArray[np.int64]) -> str:
    if not len(order):
        return ""
    amount = _amount(
        sent.size_bytes.ravel()[order].sum(), sent.messages.ravel()[order].sum()
    )
    return f"{len(order):,} further pairs, with {amount}, are not in the table."


def _amount(size_bytes: float, messages: float) -> str:
    return f"{format_bytes(float(size_bytes))} in {messages:,.0f} messages"
