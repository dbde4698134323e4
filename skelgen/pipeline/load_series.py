"""Read the loads of nodes and links: from a file, a store, or the monitor."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from skelgen.errors import InputError, UsageError
from skelgen.forecasts import Samples
from skelgen.pipeline.load_files import read_loads
from skelgen.pipeline.monitor_links import link_series
from skelgen.pipeline.monitor_series import series
from skelgen.store import Series, Store, open_store
from skelgen.store.sampling import known_series


@dataclass(frozen=True, slots=True)
class LoadSource:
    """Where series come from.

    Attributes
    ----------
    file : Path or None
        A CSV file.
    store : str or None
        File or URL of a store. Without either the monitor is asked.
    """

    file: Path | None = None
    store: str | None = None

    @property
    def text(self) -> str:
        """Return the words that name it in the record of forecasts."""
        if self.file is not None:
            return f"series {self.file.absolute()}"
        return f"store {self.store}" if self.store else ""

    @classmethod
    def of(cls, text: str) -> LoadSource:
        """Return the source that `text` named."""
        kind, _, name = text.partition(" ")
        if kind == "series":
            return cls(file=Path(name))
        return cls(store=name or None)


def load_series(
    source: LoadSource, nodes: Sequence[str], begin: float, end: float
) -> tuple[tuple[str, ...], list[Samples], list[Samples]]:
    """Return the nodes, their CPU, and the bandwidth of links between them.

    Parameters
    ----------
    source : LoadSource
    nodes : sequence of str
        Empty for all of a file.
    begin, end : float
        Of what is read, since 1970 in UTC; inf for now [s].

    Raises
    ------
    UsageError
        No nodes are given, and the source is no file.
    InputError
        A node is not in the file or in the store.
    """
    if source.file is not None:
        return _of_file(source.file, nodes)
    if not nodes:
        raise UsageError("no nodes to forecast: give --nodes n1,n2, or --series FILE")
    if source.store:
        return _of_store(source.store, nodes, begin, end)
    links = link_series(nodes, "bandwidth", begin, end) if len(nodes) > 1 else []
    cpu = series(nodes, "cpu", begin, end)
    return tuple(nodes), _samples(cpu), _samples(links)


def _of_file(
    file: Path, nodes: Sequence[str]
) -> tuple[tuple[str, ...], list[Samples], list[Samples]]:
    columns = {one.host: one for one in read_loads(file)}
    between = set(links_between(tuple(columns)))
    names = tuple(nodes) or tuple(name for name in columns if name not in between)
    if missing := [name for name in names if name not in columns]:
        raise InputError(
            f"{file}: has no column {missing[0]}, only {', '.join(columns)[:200]}; "
            "give others with --nodes"
        )
    links = [columns[name] for name in links_between(names) if name in columns]
    return names, [columns[name] for name in names], links


def _of_store(
    place: str, nodes: Sequence[str], begin: float, end: float
) -> tuple[tuple[str, ...], list[Samples], list[Samples]]:
    last = end if math.isfinite(end) else None
    with open_store(place, make=False) as store:
        cpu = [one for node in nodes for one in _cpu(store, node, begin, last)]
        links = links_between(nodes)
        wide = known_series(store, links, "bandwidth", begin, last) if links else []
    if missing := [name for name in nodes if name not in {one.host for one in cpu}]:
        raise InputError(
            f"{place}: has no CPU series of {missing[0]}; give other nodes, or another "
            "store"
        )
    return (
        tuple(nodes),
        _samples(cpu),
        _samples(wide),
    )


def _cpu(store: Store, node: str, begin: float, end: float | None) -> list[Series]:
    """Return what a monitor said of a node, else the newest that was estimated."""
    if measured := store.series(node, "cpu", begin, end):
        return measured
    found = [
        one
        for one in store.series(node, None, begin, end)
        if one.quantity.startswith("cpu:")
    ]
    return [max(found, key=lambda one: one.times[-1])] if found else []


def links_between(nodes: Sequence[str]) -> list[str]:
    """Return the names of links between nodes."""
    return [f"{one}-{other}" for one, other in itertools.combinations(sorted(nodes), 2)]


def _samples(found: Sequence[Series]) -> list[Samples]:
    return [
        Samples(
            one.host,
            np.array(one.times, np.float64),
            np.array(one.values, np.float64),
            one.quantity.removeprefix("cpu:")
            if one.quantity.startswith("cpu:")
            else "",
        )
        for one in found
    ]
