"""Keep what other tools measured of nodes: their samples become series of a store."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from skelgen.errors import InputError, SkelgenError, UsageError
from skelgen.monitor.averages import Curve
from skelgen.monitor.series import HostHistory
from skelgen.pipeline.source_texts import SourceText, is_live, source_text
from skelgen.sources import KINDS, Loads, ldms, pcp, prometheus, sar
from skelgen.store import Series, open_store

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ImportedSeries:
    """What became of the samples of a host and quantity.

    Attributes
    ----------
    host, quantity : str
    samples : int
    begin, end : float
        First and last, seconds since 1970 in UTC [s].
    latest : float
        Value of the last.
    """

    host: str
    quantity: str
    samples: int
    begin: float
    end: float
    latest: float


@dataclass(frozen=True, slots=True)
class Imported:
    """What was imported.

    Attributes
    ----------
    series : tuple of ImportedSeries
    left_out : tuple of str
        A line for each reason why something of a source is not kept.
    refused : tuple of (str, str)
        Sources of which nothing is kept, and why.
    """

    series: tuple[ImportedSeries, ...]
    left_out: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Repeats:
    """How often sources are read.

    Attributes
    ----------
    every_s : float
        Between two looks [s].
    for_s : float
        All sources are read for so long; 0: files once, exporters twice [s].
    sleep, clock : callable
        Wait for a time, and return one that does not jump [s].
    """

    every_s: float = 10.0
    for_s: float = 0.0
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic


ONCE = Repeats()


def import_loads(
    place: str | None,
    sources: Sequence[str],
    *,
    kind: str = "",
    host: str = "",
    repeats: Repeats = ONCE,
) -> Imported:
    """Add what sources say to a store, which is made when there is none.

    A source with a mistake is refused whole, and the others are added. Counters need
    two looks: exporters are asked twice at least.

    Parameters
    ----------
    place : str, optional
        See `skelgen.store.place_of`.
    sources : sequence of str
        See `source_text`.
    kind : str
        One of `skelgen.sources.KINDS`; empty: by how a source begins.
    host : str
        The node, where a source does not say it.
    repeats : Repeats

    Raises
    ------
    UsageError
        When the store cannot be written.
    """
    if kind and kind not in KINDS:
        raise UsageError(f"--from {kind[:40]}: expected {', '.join(KINDS)}")
    reader = _Reader(kind, host)
    for names in _rounds(sources, repeats):
        reader.read(names)
        if not reader.any_good:
            break
        reader.keep(place)
    return reader.found()


def _rounds(sources: Sequence[str], repeats: Repeats) -> Iterator[Sequence[str]]:
    """Yield what is to be read, each time when it is time."""
    again = sources if repeats.for_s else [name for name in sources if is_live(name)]
    yield sources
    begin, at = repeats.clock(), 0
    while again and (at == 0 or (at + 1) * repeats.every_s <= repeats.for_s):
        at += 1
        repeats.sleep(max(0.0, begin + at * repeats.every_s - repeats.clock()))
        yield again


class _Reader:
    """Reads sources again and again, and remembers what it found."""

    def __init__(self, kind: str, host: str) -> None:
        self._kind, self._host = kind, host
        self._loads: dict[str, Loads] = {}
        self._refused: dict[str, str] = {}
        self._series: dict[tuple[str, str], ImportedSeries] = {}
        self._waiting: list[Series] = []
        self._has_read = False

    @property
    def any_good(self) -> bool:
        """Say whether any source could ever be read."""
        return self._has_read

    def read(self, names: Sequence[str]) -> None:
        """Read sources; those that fail are remembered, with why."""
        for name in names:
            try:
                self._read(source_text(name, self._kind))
                self._refused.pop(name, None)
            except SkelgenError as error:
                self._refused[name] = str(error)
                logger.info("%s", error)

    def _read(self, source: SourceText) -> None:
        loads = self._loads.setdefault(source.kind, Loads(source.kind))
        loads.begin(source.name, self._host)
        try:
            _read_into(loads, source)
        except SkelgenError:
            list(loads.take())
            raise
        self._has_read = True
        self._waiting += [
            Series(host, quantity, tuple(times), tuple(values))
            for host, quantity, times, values in loads.take()
        ]

    def keep(self, place: str | None) -> None:
        """Add what was read to the store, which others may use meanwhile."""
        if not self._waiting:
            return
        with open_store(place) as store:
            added = store.add(self._waiting)
        for entry in added.refused:
            logger.warning("%s", entry.reason)
        for one in self._waiting:
            self._remember(one)
        self._waiting = []

    def _remember(self, one: Series) -> None:
        key = one.host, one.quantity
        old = self._series.get(key)
        newest = old is None or one.times[-1] >= old.end
        self._series[key] = ImportedSeries(
            *key,
            len(one.times) + (old.samples if old else 0),
            min(one.times[0], old.begin if old else one.times[0]),
            max(one.times[-1], old.end if old else one.times[-1]),
            one.values[-1] if newest or old is None else old.latest,
        )

    def found(self) -> Imported:
        """Return all that was imported, and what was not."""
        notes = [line for one in self._loads.values() for line in one.notes.lines()]
        return Imported(
            tuple(self._series[key] for key in sorted(self._series)),
            tuple(notes),
            tuple(self._refused.items()),
        )


def _read_into(loads: Loads, source: SourceText) -> None:
    """Read a source by its kind and form."""
    name, form = source.name, source.form
    if source.kind == "sar":
        usages = (
            sar.read_json(name, source.whole())
            if form == "json"
            else sar.read_table(name, source.lines())
        )
        for usage in usages:
            loads.usage(usage)
        return
    looks = (
        prometheus.read_range(name, source.whole())
        if form == "json"
        else prometheus.read_text(name, source.lines(), source.seen)
        if source.kind == "node-exporter"
        else pcp.read_pmrep(name, source.lines())
        if source.kind == "pcp"
        else ldms.read_ldms(name, source.lines())
    )
    for look in looks:
        loads.look(look)


def stored_histories(
    place: str, hosts: Sequence[str], begin: float, end: float | None = None
) -> list[HostHistory]:
    """Return the series of hosts in a store, as those of monitors are.

    Parameters
    ----------
    place : str
        File or URL of the store.
    hosts : sequence of str
        All that it has series of when empty.
    begin, end : float
        Seconds since 1970 in UTC [s].

    Raises
    ------
    InputError
        When there is nothing of a host.
    """
    with open_store(place, make=False) as store:
        names: Sequence[str | None] = list(dict.fromkeys(hosts)) or [None]
        found = [one for name in names for one in store.series(name, None, begin, end)]
    curves: dict[str, dict[str, Curve]] = {name: {} for name in hosts}
    for one in found:
        curve = Curve(one.times, one.values)
        curves.setdefault(one.host, {})[one.quantity] = curve
    if missing := [name for name in curves if not curves[name]]:
        raise InputError(
            f"{place}: has no series of {missing[0]} in that time; import some: "
            "skelgen monitor import, or name a longer time: --last"
        )
    return [HostHistory(name, curves[name]) for name in curves]
