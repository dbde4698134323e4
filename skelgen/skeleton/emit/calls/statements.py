"""Write one MPI call of a routine, with the computation before it, as C."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skelgen.events.functions import CallKind
from skelgen.skeleton.emit.calls.arguments import (
    Surroundings,
    created,
    datatype,
    nap,
    peer,
    received,
    sent,
    size,
    turn_name,
    turn_use,
)
from skelgen.skeleton.emit.calls.collectives import collective_call
from skelgen.skeleton.emit.calls.completion import completion
from skelgen.skeleton.emit.calls.windows import window_call
from skelgen.skeleton.emit.data.memory import aligned
from skelgen.skeleton.emit.fragments import NO_USES, Fragment, Word, helper, helpers
from skelgen.skeleton.emit.layout import Statement, call
from skelgen.skeleton.share.call_steps import CallStep
from skelgen.skeleton.thresholds import LEAST_VARIED_COMPUTE_SHARE, SHORTEST_COMPUTE_US
from skelgen.skeleton.types import TOLD, Turn

_MODES = {"standard": "", "ready": "", "synchronous": "S", "buffered": "B"}


def compute(
    around: Surroundings,
    us: Sequence[NDArray[np.float64]],
    often: Sequence[int],
    owner: CallStep | None = None,
    *,
    told: bool = False,
) -> Fragment | None:
    """Write computation that stands for some time at each place; None for none.

    What a rank is `told` says how far it is: others may do its work.
    """
    calls = sum(often)
    total = sum(float(u.mean()) * n for u, n in zip(us, often, strict=True))
    if total < SHORTEST_COMPUTE_US * calls:
        return None
    if total < LEAST_VARIED_COMPUTE_SHARE * around.routine.time_us:
        us, often = [np.full((1, 1), total / calls)], [1]
    read = "now" if told else "next"
    return around.tables.quantity("gap", us, often, owner=owner, read=read)


def idle(
    around: Surroundings, us: Sequence[NDArray[np.float64]], often: Sequence[int]
) -> Fragment | None:
    """Write a sleep of some time at each place; None for none."""
    total = sum(float(u.mean()) * n for u, n in zip(us, often, strict=True))
    if total < SHORTEST_COMPUTE_US * sum(often):
        return None
    return around.tables.quantity("sleep", us, often)


def statements(around: Surroundings, index: int, depth: int) -> list[Statement]:
    """Write a step.

    Parameters
    ----------
    around : Surroundings
    index : int
        The step.
    depth : int
        Tabs in front of it.
    """
    step = around.routine.steps[index]
    written: list[Statement] = []
    us = [place.compute_us for place in step.everywhere]
    often = [place.occurrences for place in step.everywhere]
    gap = compute(around, us, often, step, told=step.turn in TOLD)
    if gap is not None:
        written.append(call(depth, helper("compute"), [gap]))
    asleep = idle(around, [place.idle_us for place in step.everywhere], often)
    if asleep is not None:
        written.append(call(depth, helper("idle"), [asleep]))
    writer = window_call if step.on_window else _WRITERS.get(step.kind, _message)
    calls = writer(around, index, depth)
    site = around.sites[step.site] if 0 <= step.site < len(around.sites) else ""
    written += [Statement(text.lines, site, text.uses) for text in calls]
    if step.turn is Turn.HEARS:
        written.append(call(depth, helper("hear"), [received(around, index)]))
    span = around.routine.lifetimes.spans.get(index, 0)
    if span > 1:
        turn = turn_name(index)
        indent = "\t" * depth
        text = f"{indent}{turn} = ({turn} + 1) % {span};"
        written.append(Statement((text,), uses=turn_use(index)))
    return written


def _message(around: Surroundings, index: int, depth: int) -> list[Statement]:
    """Write a send or a receive."""
    step = around.routine.steps[index]
    if step.turn is Turn.OPENS:
        return [_served(around, index, depth)]
    outgoing = sent(around, index) if step.sends else received(around, index)
    if step.turn is Turn.ANSWERS:
        table = _serving(around, index)
        text = f"answer(&{table.text})"
        outgoing = Fragment(text, table.uses | helpers("answer"))
    served = Fragment("served.rank", helpers("serve"))
    arguments: list[Word] = [
        outgoing,
        size(around, step, step.block_bytes),
        datatype(step),
        peer(around, step) if step.serving is None else served,
        str(max(step.tag, 0)),
        f"{around.group(step).name}.comm",
    ]
    if step.info.creates:
        arguments.append(created(around, index))
    elif step.kind is CallKind.RECEIVE:
        arguments.append("MPI_STATUS_IGNORE")
    buffered = helpers("touched") if step.info.mode == "buffered" else NO_USES
    made = call(depth, Fragment(_message_name(step), buffered), arguments)
    # A partner from a list must be read once.
    blocks = step.kind is CallKind.RECEIVE and step.serving is None
    if not blocks or not step.polls or step.peer.shape[1] > 1:
        return [made]
    asked: list[Word] = [*arguments[3:6], nap(around, step)]
    return [call(depth, helper("poll_for_message"), asked), made]


def _served(around: Surroundings, index: int, depth: int) -> Statement:
    """Write a receive from whoever of the partners comes first."""
    step = around.routine.steps[index]
    table, group = _serving(around, index), f"&{around.group(step).name}"
    place = Fragment(f"&{table.text}", table.uses)
    count = size(around, step, step.block_bytes)
    tag = str(max(step.tag, 0))
    arguments: list[Word] = [place, count, datatype(step), tag, group]
    return call(depth, helper("serve"), arguments)


def _serving(around: Surroundings, index: int) -> Fragment:
    """Return the name of the table of whom a call serves."""
    serving, extent = around.routine.steps[index].serving, around.extents[index]
    assert serving is not None
    needs = aligned(extent.receive), aligned(extent.send)
    return around.tables.serving(serving, *needs)


def _message_name(step: CallStep) -> str:
    """Return the function that repeats a call; ready sends become standard ones.

    Partitioned messages are sent whole when they are started. A ready send is only
    right when the receive is already posted, which the application's synchronisation
    made sure of but a skeleton may not.
    """
    mode = _MODES.get(step.info.mode, "")
    names = {
        CallKind.SEND: f"MPI_{mode}send" if mode else "MPI_Send",
        CallKind.ISEND: f"MPI_I{mode.lower()}send",
        CallKind.SEND_INIT: f"MPI_{mode}send_init" if mode else "MPI_Send_init",
        CallKind.RECEIVE: "MPI_Recv",
        CallKind.IRECEIVE: "MPI_Irecv",
        CallKind.RECEIVE_INIT: "MPI_Recv_init",
    }
    return names[step.kind]


def _sendrecv(around: Surroundings, index: int, depth: int) -> list[Statement]:
    step = around.routine.steps[index]
    kind, block = datatype(step), step.block_bytes
    count = size(around, step, block)
    capacity = str(-(-max(place.capacity_bytes for place in step.everywhere) // block))
    to: list[Word] = [peer(around, step), str(max(step.tag, 0))]
    source: list[Word] = [peer(around, step, source=True), str(max(step.tag2, 0))]
    last = created(around, index) if step.info.creates else "MPI_STATUS_IGNORE"
    end: list[Word] = [f"{around.group(step).name}.comm", last]
    name = "MPI_Isendrecv" if step.info.creates else "MPI_Sendrecv"
    incoming = received(around, index)
    # Replacing takes one count for both directions.
    if step.function.endswith("_replace") and count.text == capacity:
        replaced: list[Word] = [incoming, count, kind, *to, *source, *end]
        return [call(depth, f"{name}_replace", replaced)]
    outgoing: list[Word] = [sent(around, index), count, kind, *to]
    arguments: list[Word] = [*outgoing, incoming, capacity, kind, *source, *end]
    return [call(depth, name, arguments)]


def _probe(around: Surroundings, index: int, depth: int) -> list[Statement]:
    step = around.routine.steps[index]
    arguments: list[Word] = [
        peer(around, step),
        str(max(step.tag, 0)),
        f"{around.group(step).name}.comm",
        "MPI_STATUS_IGNORE",
    ]
    return [call(depth, "MPI_Probe", arguments)]


_WRITERS = {
    CallKind.SENDRECV: _sendrecv,
    CallKind.ISENDRECV: _sendrecv,
    CallKind.PROBE: _probe,
    CallKind.COLLECTIVE: collective_call,
    CallKind.ICOLLECTIVE: collective_call,
    CallKind.COLLECTIVE_INIT: collective_call,
    CallKind.START: completion,
    CallKind.COMPLETE: completion,
    CallKind.RELEASE: completion,
}
