"""Parts of a run that are read apart, and what makes them one.

Each part numbers its functions, call sites, shapes and rows of ages by itself. Joined
in the order of their ranks they have the numbers that reading all of it would give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skelgen.events.clock import time_scales
from skelgen.events.communicators import Communicators, unify
from skelgen.events.parts import looked_up
from skelgen.events.requests import AgeRows
from skelgen.events.rows import RowTable
from skelgen.events.shapes import Names
from skelgen.events.types import SHAPE_DTYPE, Events
from skelgen.trace import RankFile, TimeScale
from skelgen.units import format_seconds, seconds

#: What `Part.damaged` counts.
_DAMAGE = (
    "calls name a rank outside of their communicator",
    "completions name a request that does not exist",
    "calls state more bytes than there can be",
)


@dataclass(frozen=True, slots=True)
class Common:
    """What can only be known from the files of all ranks.

    Attributes
    ----------
    communicators : Communicators
    scales : list of TimeScale
        Of each file.
    warnings : list of str
    """

    communicators: Communicators
    scales: list[TimeScale]
    warnings: list[str]

    @classmethod
    def of(cls, files: Sequence[RankFile], world_size: int) -> Common:
        """Look at the files of all ranks; their outlines are enough."""
        return cls(unify(files, world_size), *time_scales(files))

    def only(self, files: slice) -> Common:
        """Leave out what is about other files."""
        index = self.communicators.index[files]
        communicators = replace(self.communicators, index=index)
        return replace(self, communicators=communicators, scales=self.scales[files])


@dataclass(frozen=True, slots=True)
class EventsOfRanks:
    """The events of some ranks.

    Attributes
    ----------
    events : Events
        Other ranks have no calls; begin and end of ranks that were not read are -1.
    damaged : tuple of int
        Calls, completions and calls that do not make sense.
    paused_ns : int
        Time in which MPI_Pcontrol(0) kept calls from being recorded, all ranks [ns].
    """

    events: Events
    damaged: tuple[int, ...]
    paused_ns: int = 0

    def outline(self) -> EventsOfRanks:
        """Return the part without its calls."""
        return replace(self, events=self.events.outline())


@dataclass(frozen=True, slots=True)
class Numbers:
    """Joint numbers of the shapes and of the rows of ages of a part."""

    shape: NDArray[np.uint32]
    ages: NDArray[np.uint32]


def join(
    parts: Sequence[EventsOfRanks], warnings: Sequence[str]
) -> tuple[Events, list[Numbers]]:
    """Give several parts, which may be outlines, the same tables.

    Parameters
    ----------
    parts : sequence of EventsOfRanks
        By rank.
    warnings : sequence of str
        Of reading them.

    Returns
    -------
    events : Events
        Without calls, but with the bounds of all ranks.
    numbers : list of Numbers
        For each part; none when there is one only, whose numbers stay.
    """
    first = parts[0].outline().events
    tables, numbers = first.calls, []
    sites = first.sites
    if len(parts) > 1:
        names, rows, ages = Names(), RowTable(SHAPE_DTYPE, "tag"), AgeRows()
        numbers = [_numbered(part.events, names, rows, ages) for part in parts]
        age_first, age_values = ages.arrays()
        tables = replace(
            tables,
            first=np.sum([part.events.calls.first for part in parts], axis=0),
            shapes=rows.rows,
            age_first=age_first,
            age_values=age_values,
            functions=tuple(names.functions),
        )
        sites = tuple(names.sites)
    begin_ns, end_ns, tail_ns, tail_asleep_ns = (
        np.max([getattr(part.events, name) for part in parts], axis=0)
        for name in ("begin_ns", "end_ns", "tail_ns", "tail_asleep_ns")
    )
    missing = begin_ns < 0  # ranks without a file begin and end with the first
    begin_ns[missing] = end_ns[missing] = begin_ns[~missing].min()
    elapsed_ns = int((end_ns - begin_ns).sum())
    joint = replace(
        first,
        calls=tables,
        begin_ns=begin_ns,
        end_ns=end_ns,
        tail_ns=tail_ns,
        tail_asleep_ns=tail_asleep_ns,
        sites=sites,
        warnings=(*warnings, *_trouble(parts, elapsed_ns)),
    )
    return joint, numbers


def _trouble(parts: Sequence[EventsOfRanks], elapsed_ns: int) -> list[str]:
    """Say what the calls of the parts lack; `elapsed_ns` is the time of all ranks."""
    damaged = np.sum([part.damaged for part in parts], axis=0).tolist()
    trouble = [
        f"the trace is damaged: {number} {what}"
        for number, what in zip(damaged, _DAMAGE, strict=True)
        if number
    ]
    paused_ns = float(sum(part.paused_ns for part in parts))
    paused = format_seconds(seconds(paused_ns))
    if paused_ns:
        trouble.append(
            f"MPI_Pcontrol(0) paused recording for {paused} "
            f"({paused_ns / max(elapsed_ns, 1):.0%} of the time of all ranks); what "
            "MPI did meanwhile counts as computation"
        )
    return trouble


def _numbered(events: Events, names: Names, rows: RowTable, ages: AgeRows) -> Numbers:
    """Give what one part knows numbers in the joint tables, which grow."""
    calls, shapes = events.calls, events.calls.shapes.copy()
    functions = [names.function(name) for name in calls.functions]
    sites = [names.sites.setdefault(name, len(names.sites)) for name in events.sites]
    shapes["function"] = np.array(functions, np.int64)[shapes["function"]]
    shapes["site"] = np.array(sites, np.int64)[shapes["site"]]
    bounds = pairwise(calls.age_first.tolist())
    of_rows = [
        ages.add(tuple(calls.age_values[slice(*row)].tolist())) for row in bounds
    ]
    return Numbers(rows.number(shapes), np.array(of_rows, np.uint32))


def with_tables(part: EventsOfRanks, joint: Events, numbers: Numbers | None) -> Events:
    """Return the events of a part with the tables that it shares with the others.

    Parameters
    ----------
    part : EventsOfRanks
        Its columns change.
    joint : Events
        From `join`, as are the numbers.
    numbers : Numbers or None
        None: the part's own numbers stay.
    """
    calls = part.events.calls
    if numbers is not None:
        looked_up(numbers.shape, calls.shape, out=calls.shape)
        looked_up(numbers.ages, calls.ages, out=calls.ages)
    names = ("shapes", "age_first", "age_values", "communicators", "functions")
    tables = {name: getattr(joint.calls, name) for name in names}
    bounds = ("begin_ns", "end_ns", "tail_ns", "tail_asleep_ns", "sites", "warnings")
    return replace(
        part.events,
        calls=replace(calls, **tables),
        **{name: getattr(joint, name) for name in bounds},
    )
