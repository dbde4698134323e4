"""Tables of LDMS, as its plugin store_csv writes them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from skelgen.documents.numbers import NumberError
from skelgen.errors import InputError
from skelgen.sources.types import (
    BUSY,
    CORES,
    IDLE,
    INTERRUPTS,
    MEMORY,
    RECEIVED,
    RUNNABLE,
    SENT,
    STEAL,
    Line,
    Look,
    number,
)

#: The kernel counts times in so many parts of a second.
_TICKS_PER_S = 100.0
#: Columns of procstat.
_TIMES = {
    **dict.fromkeys(("user", "nice", "sys"), (BUSY,)),
    **dict.fromkeys(("irq", "softirq"), (BUSY, INTERRUPTS)),
    **dict.fromkeys(("idle", "iowait"), (IDLE,)),
    "steal": (STEAL,),
}
#: Columns of procstat and meminfo, and what their numbers are times.
_GAUGES = {
    "cores_up": (CORES, 1.0),
    "MemAvailable": (MEMORY, 1024.0),
}
_BYTES = {"rx_bytes": RECEIVED, "tx_bytes": SENT}
#: Types that `typeheader` adds to names, and units.
_TYPE = re.compile(r"[:.][suf](8|16|32|64)(\[\])?$|[:.](char|d64)(\[\])?$")


@dataclass(frozen=True, slots=True)
class _Header:
    """Where a table has what."""

    length: int
    time: int
    host: int
    used: tuple[tuple[int, str], ...]


def read_ldms(source: str, lines: Iterable[Line]) -> Iterator[Look]:
    """Read a table of procstat, meminfo or procnetdev.

    Parameters
    ----------
    source : str
        For messages.
    lines : iterable of Line
        The first begins with ``#Time``; others like it may follow.

    Raises
    ------
    InputError
        With the line that is something else.
    """
    header: _Header | None = None
    for at, line in lines:
        if not line.strip():
            continue
        cells = [cell.strip() for cell in _cells(source, at, line)]
        if line.startswith("#"):
            header = _header(source, at, cells)
        elif header is None:
            raise InputError(
                f"{source}: line {at}: expected a header such as "
                "#Time,Time_usec,ProducerName,...; write one with altheader=0"
            )
        else:
            yield _look(source, at, cells, header)


def _cells(source: str, at: int, line: str) -> list[str]:
    try:
        return next(csv.reader([line]), [])
    except csv.Error as error:
        raise InputError(f"{source}: line {at}: is no CSV: {error}") from error


def _header(source: str, at: int, cells: Sequence[str]) -> _Header:
    names = [_TYPE.sub("", name.lstrip("#")) for name in cells]
    if "Time" not in names or "ProducerName" not in names:
        raise InputError(
            f"{source}: line {at}: read the columns {','.join(names)[:60]!r}, expected "
            "Time and ProducerName among them"
        )
    used = tuple(
        (place, name)
        for place, name in enumerate(names)
        if name in _TIMES
        or name in _GAUGES
        or name == "procs_running"
        or name.partition("#")[0] in _BYTES
    )
    if not used:
        raise InputError(
            f"{source}: line {at}: has nothing of procstat, meminfo or "
            "procnetdev; give such a table"
        )
    return _Header(len(names), names.index("Time"), names.index("ProducerName"), used)


def _look(source: str, at: int, cells: Sequence[str], header: _Header) -> Look:
    if len(cells) != header.length:
        raise InputError(
            f"{source}: line {at}: read {len(cells)} columns, expected the "
            f"{header.length} of the header"
        )
    try:
        look = Look(cells[header.host], number(cells[header.time]))
        for place, name in header.used:
            _take(look, name, number(cells[place]))
    except NumberError as error:
        raise InputError(f"{source}: line {at}: {error}") from error
    return look


def _take(look: Look, name: str, value: float) -> None:
    column, _, interface = name.partition("#")
    if column in _BYTES:
        look.count(_BYTES[column], interface, value)
    elif name == "procs_running":
        look.show(RUNNABLE, max(0.0, value - 1.0))  # one of them looks
    elif name in _GAUGES:
        kind, factor = _GAUGES[name]
        look.show(kind, value * factor)
    else:
        for kind in _TIMES[name]:
            look.count(kind, "", value / _TICKS_PER_S)
