"""What the text of a call depends on besides the call, and the words it is made of."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skelgen.events.types import PROC_NULL
from skelgen.skeleton.emit.data.communicators import NamedFamily, Partners
from skelgen.skeleton.emit.data.memory import CallMemory, Memory
from skelgen.skeleton.emit.data.tables import NO_PARTNER, ProgramTables
from skelgen.skeleton.emit.fragments import (
    NO_USES,
    Fragment,
    Use,
    UseKind,
    Uses,
    helpers,
)
from skelgen.skeleton.share.call_steps import CallStep
from skelgen.skeleton.share.routines import Routine


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """What the text of a call depends on besides the call itself.

    Attributes
    ----------
    routine : Routine
    memory : Memory
    extents : tuple of CallMemory
        Of each step.
    groups : tuple of NamedFamily or None
        By family.
    tables : ProgramTables
        Collects the tables of the whole program.
    sites : tuple of str
        Short names of the call sites.
    by_age : frozenset of bool
        Whether completions look requests up by their ages: those that are not
        persistent (False), those that are (True).
    partners : tuple of Partners
        Groups that calls on windows name.
    targets : dict of int to str
        Where the operation of a step on a window goes at its target.
    """

    routine: Routine
    memory: Memory
    extents: tuple[CallMemory, ...]
    groups: tuple[NamedFamily | None, ...]
    tables: ProgramTables
    sites: tuple[str, ...]
    by_age: frozenset[bool] = frozenset()
    partners: tuple[Partners, ...] = ()
    targets: dict[int, str] = field(default_factory=dict)

    def group(self, step: CallStep) -> NamedFamily:
        """Return the communicators of a step."""
        group = self.groups[step.family]
        assert group is not None  # families of steps are in use
        return group


def turn_name(index: int) -> str:
    """Name the counter of a step that has several requests at a time."""
    return f"turn_{index}"


def turn_use(index: int) -> Uses:
    """Return the use of that counter."""
    return frozenset({Use(UseKind.TURN, turn_name(index))})


def sent(around: Surroundings, index: int) -> Fragment:
    """Write where the data that a call sends stands."""
    place = _place("out", around.memory.send_at.get(index, 0))
    return Fragment(place, helpers("out"))


def received(around: Surroundings, index: int) -> Fragment:
    """Write where a call receives."""
    place = _place("in", around.memory.receive_at.get(index, 0))
    if around.routine.lifetimes.spans.get(index, 0) > 1:
        stride = around.memory.stride[index]
        text = f"{place} + {turn_name(index)} * (size_t){stride}"
        return Fragment(text, helpers("in") | turn_use(index))
    return Fragment(place, helpers("in"))


def _place(area: str, offset: int) -> str:
    return f"{area} + {offset}" if offset else area


def datatype(step: CallStep) -> Fragment:
    """Return bytes, or blocks with holes between them as the application's type has."""
    if not step.holes:
        return Fragment("MPI_BYTE")
    holes = Use(UseKind.HOLES, str(step.block_bytes))
    return Fragment(f"holes_{step.block_bytes}", frozenset({holes}))


def size(
    around: Surroundings, step: CallStep, unit: int = 1, *, side: str = ""
) -> Fragment:
    """Write a call's count in units of some bytes.

    What changes is read from a table, once a call. A call with two counts needs a table
    for each `side`, for nobody says which of its arguments C looks at first.
    """
    sizes = [-(-place.size_bytes // unit) for place in step.everywhere]
    values = [array.astype(float) for array in sizes]
    often = [place.occurrences for place in step.everywhere]
    owner = (step, side) if side else step
    return around.tables.quantity("size", values, often, owner=owner)


def created(around: Surroundings, index: int) -> Fragment:
    """Write where a call's request goes."""
    slot, uses = str(around.memory.requests.first[index]), NO_USES
    if around.routine.lifetimes.spans[index] > 1:
        turn, uses = turn_name(index), turn_use(index)
        slot = turn if slot == "0" else f"{slot} + {turn}"
    persistent = around.routine.steps[index].info.persistent
    if persistent in around.by_age:
        noted = f"created{'_persistent' * persistent}"
        return Fragment(f"{noted}({slot})", uses | helpers(noted))
    return Fragment(f"&request[{slot}]", uses | helpers("request"))


def nap(around: Surroundings, step: CallStep) -> Fragment:
    """Write how long ranks sleep between two polls [us]; -1 waits inside MPI."""
    places = [place.nap_us for place in step.everywhere]
    known = np.concatenate(places)
    mean = float(f"{known[known >= 0].mean():.3g}")
    us = [np.where(place < 0, -1.0, mean) for place in places]
    return around.tables.quantity("nap", us, [1] * len(us), read="next")


def peer(around: Surroundings, step: CallStep, *, source: bool = False) -> Fragment:
    """Write a partner: relative to the own rank, as a mirror image, or from a table.

    Parameters
    ----------
    around : Surroundings
    step : CallStep
    source : bool
        Whom a Sendrecv receives from, not whom it sends to.
    """
    places = [place.peer2 if source else place.peer for place in step.everywhere]
    group = around.group(step)
    words = {_plain_peer(around, group, shifts) for shifts in places}
    if len(words) == 1 and (word := words.pop()) is not None:
        return word
    if places[0].shape[1] > 1:
        values = np.where(places[0] == PROC_NULL, NO_PARTNER, places[0])
        shift = around.tables.in_turn("peer", values, owner=step)
        if (places[0] == PROC_NULL).any():
            text = f"peer_or_nobody(&{group.name}, {shift.text})"
            return Fragment(text, shift.uses | helpers("peer_or_nobody"))
        return _shifted(group, shift)
    columns = [shifts[:, 0] for shifts in places]
    if one := _each(around, "mirror", [_mirror(around, group, c) for c in columns]):
        return Fragment(f"{group.name}.rank ^ {one.text}", one.uses)
    if one := _each(around, "shift", [_shift(group, c) for c in columns]):
        return _shifted(group, one)
    partners = [_partners(around, group, column) for column in columns]
    return around.tables.quantity("peer", partners, [1] * len(partners))


def _each(around: Surroundings, stem: str, values: list[int | None]) -> Fragment | None:
    """Write a number for each place of a text; None when a place has none."""
    known = [np.array([[value]], float) for value in values if value is not None]
    if len(known) < len(values):
        return None
    return around.tables.quantity(stem, known, [1] * len(known))


def _partners(
    around: Surroundings, group: NamedFamily, shifts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the rank of each rank's partner, (ranks, 1)."""
    own = np.array(group.places(around.routine.ranks))
    found = np.where(shifts == PROC_NULL, NO_PARTNER, (own[:, 0] + shifts) % own[:, 1])
    return found[:, None].astype(float)


def _plain_peer(
    around: Surroundings, group: NamedFamily, shifts: NDArray[np.int64]
) -> Fragment | None:
    """Write a partner without a table; None when that is not possible."""
    if (shifts == PROC_NULL).all():
        return Fragment("MPI_PROC_NULL")
    if shifts.shape[1] > 1:
        return None
    column = shifts[:, 0]
    if (shift := _shift(group, column)) is not None:
        return _shifted(group, Fragment(str(shift)))
    mirror = _mirror(around, group, column)
    return Fragment(f"{group.name}.rank ^ {mirror}") if mirror else None


def _shifted(group: NamedFamily, shift: Fragment) -> Fragment:
    """Write a relative partner; most are partners in ``MPI_COMM_WORLD``."""
    if group.name == "world":
        return Fragment(f"peer({shift.text})", shift.uses | helpers("peer"))
    text = f"peer_in(&{group.name}, {shift.text})"
    return Fragment(text, shift.uses | helpers("peer_in"))


def _shift(group: NamedFamily, shifts: NDArray[np.int64]) -> int | None:
    """Return the relative partner of all ranks with the sign that makes it smallest."""
    shift = int(shifts[0])
    if shift == PROC_NULL or (shifts != shift).any():
        return None
    if group.one_size and shift > group.size // 2:
        return shift - group.size
    return shift


def _mirror(
    around: Surroundings, group: NamedFamily, shifts: NDArray[np.int64]
) -> int | None:
    """Return m when every rank's partner is its own rank XOR m."""
    if (shifts == PROC_NULL).any():
        return None
    own = group.places(around.routine.ranks)
    others = [
        (rank + int(shift)) % size
        for (rank, size), shift in zip(own, shifts, strict=True)
    ]
    masks = {rank ^ other for (rank, _), other in zip(own, others, strict=True)}
    return masks.pop() if len(masks) == 1 else None
