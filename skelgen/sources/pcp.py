"""Archives of PCP, as its tool pmrep writes them as a table."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence

from skelgen.documents.numbers import NumberError
from skelgen.errors import InputError
from skelgen.sources.types import (
    BUSY,
    CORES,
    IDLE,
    INTERRUPTS,
    LOAD,
    MEMORY,
    RECEIVED,
    RUNNABLE,
    SENT,
    STEAL,
    WAITED,
    Line,
    Look,
    number,
)

_CPU = "kernel.all.cpu"
_MS, _US, _KIB = 1e-3, 1e-6, 1024.0
#: Counters: what they are, and of which unit.
_COUNTERS = {
    **{f"{_CPU}.{name}": ((BUSY,), _MS) for name in ("user", "nice", "sys")},
    **{f"{_CPU}.irq.{name}": ((BUSY, INTERRUPTS), _MS) for name in ("hard", "soft")},
    **{f"{_CPU}.{name}": ((IDLE,), _MS) for name in ("idle", "wait.total")},
    f"{_CPU}.steal": ((STEAL,), _MS),
    "kernel.all.pressure.cpu.some.total": ((WAITED,), _US),
    "network.interface.in.bytes": ((RECEIVED,), 1.0),
    "network.interface.out.bytes": ((SENT,), 1.0),
}
_GAUGES = {
    "hinv.ncpu": (CORES, 1.0),
    "kernel.all.load": (LOAD, 1.0),
    "mem.util.available": (MEMORY, _KIB),
}
_RUNNABLE, _NODENAME = "kernel.all.runnable", "kernel.uname.nodename"
#: What pmrep is asked for, as far as an archive has it.
METRICS = (*_COUNTERS, *_GAUGES, _RUNNABLE, _NODENAME)


def pmrep_words(archive: str) -> tuple[str, ...]:
    """Return the command that writes an archive as a table of counters."""
    return (
        "pmrep",
        *("-a", archive, "-o", "csv", "-f", "%s.%f"),
        "--no-interpol",
        "--raw",
        "--ignore-unknown",
        "--ignore-incompat",
        *METRICS,
    )


def read_pmrep(source: str, lines: Iterable[Line]) -> Iterator[Look]:
    """Read what `pmrep_words` writes.

    Raises
    ------
    InputError
        With the line that is something else.
    """
    names: list[tuple[str, str]] = []
    for at, line in lines:
        if not line.strip():
            continue
        try:
            cells = next(csv.reader([line]))
        except csv.Error as error:
            raise InputError(f"{source}: line {at}: is no CSV: {error}") from error
        if not names:
            names = _names(source, cells)
            continue
        if len(cells) != len(names):
            raise InputError(
                f"{source}: line {at}: read {len(cells)} columns, expected the "
                f"{len(names)} of the header"
            )
        yield _look(source, at, names, cells)


def _names(source: str, cells: Sequence[str]) -> list[tuple[str, str]]:
    """Return metric and instance of each column."""
    found = [_metric(cell) for cell in cells]
    if not any(name in METRICS for name, _ in found[1:]):
        raise InputError(
            f"{source}: has none of the metrics {_CPU}.user, mem.util.available, "
            "network.interface.in.bytes; log them with pmlogger"
        )
    return found


def _metric(cell: str) -> tuple[str, str]:
    name, _, instance = cell.partition("-")
    return name, instance


def _look(
    source: str, at: int, names: Sequence[tuple[str, str]], cells: Sequence[str]
) -> Look:
    look = Look("", 0.0)
    try:
        look.time = number(cells[0])
        for (name, instance), cell in zip(names[1:], cells[1:], strict=True):
            if cell:
                _take(look, name, instance, cell)
    except NumberError as error:
        raise InputError(f"{source}: line {at}: {error}") from error
    return look


def _take(look: Look, name: str, instance: str, cell: str) -> None:
    if name == _NODENAME:
        look.host = cell
    elif name == _RUNNABLE:
        look.show(RUNNABLE, max(0.0, number(cell) - 1.0))  # one of them looks
    elif name in _COUNTERS:
        kinds, unit = _COUNTERS[name]
        for kind in kinds:
            look.count(kind, instance, number(cell) * unit)
    elif name in _GAUGES:
        kind, factor = _GAUGES[name]
        if kind != LOAD or instance == "1 minute":
            look.show(kind, number(cell) * factor)
