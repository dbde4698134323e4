"""Write calls on windows, and what a skeleton needs for them.

Every way of synchronising has a window of its own, made in the set-up. A fence window
is fenced once before the timed region, so that operations may come first; an open one
is locked for all ranks throughout. Each rank operates on a place of its own in the
memory of its target, as long as there is room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from skelgen.skeleton.emit.calls.arguments import (
    Surroundings,
    created,
    peer,
    received,
    sent,
    size,
)
from skelgen.skeleton.emit.data.communicators import NamedFamily, Partners
from skelgen.skeleton.emit.data.memory import (
    LINE_BYTES,
    SPREAD_BYTES,
    CallMemory,
    operation_unit,
)
from skelgen.skeleton.emit.fragments import Fragment, Word
from skelgen.skeleton.emit.layout import Statement, call
from skelgen.skeleton.share.call_steps import CallStep
from skelgen.skeleton.share.routines import Routine

#: Memory of a window on a rank, unless one operation needs more [bytes].
_MOST_BYTES = 64 << 20
_SINGLE = ("MPI_Fetch_and_op", "MPI_Compare_and_swap")
_NOPRECEDE = 4
_SHARED = 2
#: What an unlock becomes where the window is open throughout.
_ON_OPEN = {
    "MPI_Win_unlock": "MPI_Win_flush",
    "MPI_Win_unlock_all": "MPI_Win_flush_all",
}


@dataclass(frozen=True, slots=True)
class Window:
    """The windows of one family of communicators.

    Attributes
    ----------
    name : str
        C variable of the group.
    way : str
        ``FENCED``, ``OPEN`` or ``PLAIN``.
    shared_bytes : int
        Memory that all ranks work on together, in front [bytes].
    place_bytes : int
        Memory for the operations of one rank [bytes].
    places : int
    """

    name: str
    way: str
    shared_bytes: int
    place_bytes: int
    places: int


@dataclass(slots=True)
class _Layout:
    """Where the operations of one family go.

    Ranks that change a single element meet at one place, as at a counter; others have
    a place of their own, and each call its own part of it.
    """

    shared: dict[tuple[object, ...], int] = field(default_factory=dict)
    cursor: int = 0
    most: int = LINE_BYTES

    def target(self, step: CallStep, one: CallMemory) -> tuple[bool, int]:
        """Return whether a step's target is shared, and its offset [bytes]."""
        if step.function in _SINGLE:
            key = (step.function, step.op, step.datatype_bytes)
            return True, LINE_BYTES * self.shared.setdefault(key, len(self.shared))
        need = -(-max(one.send, one.receive) // LINE_BYTES) * LINE_BYTES
        if self.cursor + need > SPREAD_BYTES:
            self.cursor = 0
        at = self.cursor
        self.cursor += need
        self.most = max(self.most, self.cursor)
        return False, at


def windows(
    joined: Sequence[Routine],
    families: Sequence[NamedFamily | None],
    extents: Sequence[Sequence[CallMemory]],
) -> tuple[tuple[Window, ...], list[dict[int, str]]]:
    """Return the windows that a skeleton needs.

    Parameters
    ----------
    joined : sequence of Routine
    families : sequence of NamedFamily or None
    extents : sequence of sequence of CallMemory
        Of the steps of each routine.

    Returns
    -------
    tuple of Window
    list of dict of int to str
        For each routine where the operation of a step goes at its target.
    """
    layouts: dict[int, _Layout] = {}
    targets: list[dict[int, str]] = []
    for routine, sizes in zip(joined, extents, strict=True):
        targets.append({})
        for layout in layouts.values():
            layout.cursor = 0  # other ranks, other places
        for i, (step, one) in enumerate(zip(routine.steps, sizes, strict=True)):
            if step.on_window:
                layout = layouts.setdefault(step.family, _Layout())
                shared, at = layout.target(step, one)
                mine = f"{_group(families, step).name}.mine"
                own = f"{mine} + {at}" if at else mine
                targets[-1][i] = str(at) if shared else own
    return tuple(
        _window(families[family], layout) for family, layout in sorted(layouts.items())
    ), targets


def _group(families: Sequence[NamedFamily | None], step: CallStep) -> NamedFamily:
    group = families[step.family]
    assert group is not None  # families of steps are in use
    return group


def _window(group: NamedFamily | None, layout: _Layout) -> Window:
    assert group is not None  # families of steps are in use
    return Window(
        group.name,
        {"fence": "FENCED", "open": "OPEN"}.get(group.name.partition("_")[0], "PLAIN"),
        LINE_BYTES * len(layout.shared),
        layout.most,
        min(group.size, max(1, _MOST_BYTES // layout.most)),
    )


def partners(
    joined: Sequence[Routine], families: Sequence[NamedFamily | None]
) -> tuple[Partners, ...]:
    """Name the groups of partners."""
    found: dict[tuple[str, tuple[int, ...]], Partners] = {}
    for routine in joined:
        for step in routine.steps:
            group = families[step.family]
            if step.partners and group is not None and _names_group(step):
                key = (group.name, step.partners)
                name = f"partners_{len(found)}"
                found.setdefault(key, Partners(name, *key))
    return tuple(found.values())


def _names_group(step: CallStep) -> bool:
    return step.function in ("MPI_Win_post", "MPI_Win_start")


def window_call(around: Surroundings, index: int, depth: int) -> list[Statement]:
    """Write a call on a window."""
    step = around.routine.steps[index]
    name = step.function
    group = around.group(step).name
    window = f"{group}.win"
    if group.startswith("open_"):
        name = _ON_OPEN.get(name, name)
    if not name.startswith("MPI_Win_"):
        return [call(depth, name, _operation(around, index))]
    arguments: list[Word] = [window]
    if name == "MPI_Win_fence":
        arguments = ["MPI_MODE_NOPRECEDE" if step.tag & _NOPRECEDE else "0", window]
    elif _names_group(step):
        arguments = [_group_name(around, step), "0", window]
    elif name == "MPI_Win_lock":
        shared = step.tag == _SHARED
        kind = "MPI_LOCK_SHARED" if shared else "MPI_LOCK_EXCLUSIVE"
        arguments = [kind, peer(around, step), "0", window]
    elif name == "MPI_Win_lock_all":
        arguments = ["0", window]
    elif name in ("MPI_Win_unlock", "MPI_Win_flush", "MPI_Win_flush_local"):
        arguments = [peer(around, step), window]
    return [call(depth, name, arguments)]


def _group_name(around: Surroundings, step: CallStep) -> str:
    key = (around.group(step).name, step.partners)
    known = {(one.group, one.shifts): one.name for one in around.partners}
    return known.get(key, "MPI_GROUP_EMPTY")


def _operation(around: Surroundings, index: int) -> list[Word]:
    """Return the arguments of what moves data."""
    step = around.routine.steps[index]
    group = around.group(step).name
    unit = operation_unit(step)
    count = size(around, step, unit.size_bytes)
    target: list[Word] = [peer(around, step), around.targets[index]]
    block: list[Word] = [count, unit.datatype]
    outgoing, incoming = sent(around, index), received(around, index)
    name = step.function.removeprefix("MPI_").lower().removesuffix("_c")
    window = f"{group}.win"
    if name == "fetch_and_op":
        return [outgoing, incoming, unit.datatype, *target, unit.op, window]
    if name == "compare_and_swap":
        compared = Fragment(f"{outgoing.text} + {LINE_BYTES}", outgoing.uses)
        return [outgoing, compared, incoming, unit.datatype, *target, window]
    if name.endswith("get"):
        arguments: list[Word] = [incoming, *block]
    elif name.endswith("get_accumulate"):
        nothing = unit.op == "MPI_NO_OP"  # it only gets
        own: list[Word] = [Fragment("0"), unit.datatype] if nothing else block
        arguments = [outgoing, *own, incoming, *block]
    else:
        arguments = [outgoing, *block]
    arguments += [*target, *block]
    if name.endswith("accumulate"):
        arguments.append(unit.op)
    arguments.append(window)
    if step.info.creates:
        arguments.append(created(around, index))
    return arguments
