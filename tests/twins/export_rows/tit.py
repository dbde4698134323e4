"""SimGrid's time-independent traces: what each rank did, without when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from skelgen.events.functions import CallKind
from skelgen.events.types import FAILED_POLL, Communicator
from skelgen.export import tit_spread
from tests.twins.export_rows.messages import Messages
from tests.twins.export_rows.run import TraceStreams
from tests.twins.export_rows.types import (
    Event,
    ExportedCall,
    ExportRole,
    Half,
    Sides,
    Written,
)
from tests.twins.export_rows.volume import neighbours

#: Computation is written in floating-point operations, this many for a nanosecond:
#: a platform whose hosts do 1 Gflop/s computes as long as the recorded machine did.
FLOPS_PER_NS = 1
#: Messages have tags below this; messages that stand for collectives have others.
_TAGS = 1 << 30
_IGNORED = ("init", "init_thread", "finalize")
#: Kinds of which the replay needs nothing, beside those that it has.
_SILENT = (
    CallKind.LOCAL,
    CallKind.PROBE,
    CallKind.COMMUNICATOR,
    CallKind.RELEASE,
    CallKind.COMPLETE,
    CallKind.START,
    CallKind.SEND_INIT,
    CallKind.RECEIVE_INIT,
)


def write(run: TraceStreams, target: Path) -> Written:
    """Write a file for each rank, and one that lists them."""
    stem = run.trace.folder.resolve().name or "run"
    messages = Messages(run)
    names = [f"{stem}.{rank}.tit" for rank in range(run.trace.world_size)]
    actions: Counter[str] = Counter()
    left: Counter[str] = Counter()
    spread: Counter[str] = Counter()
    for rank, name in enumerate(names):
        with (target / name).open("w", encoding="utf-8") as out:
            writer = _Writer(run, rank, messages, out)
            writer.write(run.events_of(rank) if rank in run.ranks else ())
        actions += writer.actions
        left += writer.left
        spread += writer.spread
    listing = target / f"{stem}.tit"
    listing.write_text("".join(f"{name}\n" for name in names), "utf-8")
    lines = [f"left out: {count} {what}" for what, count in sorted(left.items())]
    lines += [
        f"{count} calls of {name} are written as messages"
        for name, count in sorted(spread.items())
    ]
    if any(stream.thread for stream in run.streams):
        lines.append("threads: the calls of a rank are one sequence, in order of time")
    if not run.trace.clean:
        lines.append("the run did not end cleanly: its replay may stop at its end")
    paths = (listing, *(target / name for name in names))
    return Written(paths, dict(sorted(actions.items())), tuple(lines))


class _Writer:
    """Writes one rank."""

    def __init__(
        self, run: TraceStreams, rank: int, messages: Messages, out: TextIO
    ) -> None:
        self.run, self.rank, self.messages, self.out = run, rank, messages, out
        self.actions: Counter[str] = Counter()
        self.left: Counter[str] = Counter()
        self.spread: Counter[str] = Counter()
        self._compute_ns = self._busy_ns = 0
        self._threads = max((s.thread for s in run.streams), default=0) + 1
        #: Halves that were begun and not waited for, with the words of `wait`.
        self._open: dict[tuple[int, int], str] = {}

    def write(self, events: Iterable[Event]) -> None:
        """Write all events."""
        self._action("init")
        for event in events:
            self._compute(event)
            self._event(event)
        self._action("finalize")

    def _action(self, *words: object) -> None:
        if self._compute_ns and words[0] != "init":
            flops = self._compute_ns * FLOPS_PER_NS
            self._compute_ns = 0
            self._action("compute", flops)
        self.actions[str(words[0])] += 1
        self.out.write(f"{self.rank} {' '.join(map(str, words))}\n")

    def _compute(self, event: Event) -> None:
        """Add the computation before an event, and in one that only computes."""
        idle = max(event.enter_ns - self._busy_ns, 0)
        self._compute_ns += min(event.compute_ns, idle)
        call = event.call
        computes = call.kind is CallKind.LOCAL and not call.flags & FAILED_POLL
        if computes and call.name not in _IGNORED:
            self._compute_ns += max(
                event.leave_ns - max(event.enter_ns, self._busy_ns), 0
            )
        self._busy_ns = max(self._busy_ns, event.leave_ns)

    def _event(self, event: Event) -> None:
        call = event.call
        if call.kind in (CallKind.SEND, CallKind.RECEIVE):
            for half in event.posts:
                self._begin(half, "")
            return
        if call.kind is CallKind.COLLECTIVE:
            self._collective(call, event.size_bytes, event.sides)
        elif not event.posts and not call.parts and call.kind not in _SILENT:
            self.left[f"calls of {call.function}"] += 1
        for half in event.posts:
            if half.role == ExportRole.OTHER:
                self.left[f"calls of {half.call.function}"] += 1
            elif half.role != ExportRole.COLLECTIVE:
                self._begin(half, "i")
        self._finish(event.ends)

    def _begin(self, half: Half, letter: str) -> None:
        """Write the begin of a message whose other half is there.

        The tag is the number of the message and not the program's, for SMPI finds
        the request of a `wait` by sender, receiver and tag.
        """
        other = self.messages.other(half)
        if other is None:
            self.left["halves of messages without the other half"] += 1
            return
        sends = half.role == ExportRole.SEND
        stream, ordinal = (half.stream, half.ordinal) if sends else other[:2]
        thread = self.run.streams[stream].thread
        tag = (ordinal * self._threads + thread) % _TAGS
        if sends:
            self._action(f"{letter}send", half.partner, tag, half.size_bytes)
        else:
            # A receive of nothing would have SMPI wait for its message at once.
            self._action(f"{letter}recv", half.partner, tag, max(other.size_bytes, 1))
        if letter:
            ends = (self.rank, half.partner) if sends else (half.partner, self.rank)
            self._open[half.stream, half.ordinal] = f"{ends[0]} {ends[1]} {tag}"

    def _finish(self, ends: tuple[Half, ...]) -> None:
        waited = []
        for half in ends:
            if half.role == ExportRole.COLLECTIVE:
                self._collective(half.call, half.size_bytes, half.sides)
            elif words := self._open.pop((half.stream, half.ordinal), ""):
                waited.append(words)
        if len(waited) > 1 and not self._open:
            self._action("waitall", len(waited))
        else:
            for words in waited:
                self._action("wait", words)

    def _collective(
        self, call: ExportedCall, size_bytes: int, sides: Sides | None
    ) -> None:
        one = self.run.communicators[call.communicator]
        neighbourhood = call.name.startswith("neighbor_")
        known = neighbourhood or tit_spread.known(call.name)
        if call.communicator < 0 or one.remote or not known:
            self.left[f"calls of {call.function}"] += 1
            return
        members = one.members
        own = members.index(self.rank)
        group = tit_spread.Participants(len(members), own, call.root, size_bytes, sides)
        tag = _TAGS + self.run.canonical[call.communicator]
        if neighbourhood:
            self.spread[call.function] += 1
            self._neighbours(group, one, tag)
            return
        if len(members) == 1:
            return
        native = members == tuple(range(self.run.trace.world_size))
        words = _native(call, size_bytes, sides, len(members)) if native else None
        if words is not None:
            self._action(*words)
            return
        self.spread[call.function] += 1
        for step in tit_spread.spread(call.name, group):
            self._step(step, members, tag)

    def _neighbours(
        self, group: tit_spread.Participants, one: Communicator, tag: int
    ) -> None:
        """Write all sends before the receives, for neighbours may differ in order."""
        to, sources = neighbours(one, self.rank)
        sends, receives = tit_spread.among_neighbours(group, to, sources)
        for step in sends:
            self._action("isend", one.members[step.to], tag, step.sent)
        for step in receives:
            self._step(step, one.members, tag)
        for step in sends:
            self._action("wait", self.rank, one.members[step.to], tag)

    def _step(
        self, step: tit_spread.SpreadMessage, members: tuple[int, ...], tag: int
    ) -> None:
        to, source = members[step.to], members[step.source]
        if step.to >= 0:
            both = step.source >= 0
            self._action("isend" if both else "send", to, tag, step.sent)
        if step.source >= 0:
            self._action("recv", source, tag, max(step.received, 1))
        if step.to >= 0 and step.source >= 0:
            self._action("wait", self.rank, to, tag)


def _native(
    call: ExportedCall, size: int, sides: Sides | None, ranks: int
) -> tuple[object, ...] | None:
    """Return SMPI's action for a collective of all ranks; None: it has none.

    Sizes are in bytes, which is SMPI's type where none is named.
    """
    root = call.root
    plain: dict[str, tuple[object, ...]] = {
        "barrier": ("barrier",),
        "win_fence": ("barrier",),
        "bcast": ("bcast", size, root),
        "reduce": ("reduce", size, 0, root),
        "allreduce": ("allreduce", size, 0),
        "gather": ("gather", size, size, root),
        "scatter": ("scatter", size, size, root),
        "allgather": ("allgather", size, size),
        "alltoall": ("alltoall", size, size),
        "reduce_scatter_block": ("reducescatter", *([size] * ranks), 0),
    }
    sends, receives = sides if sides is not None else (None, None)
    if receives is None:
        return plain.get(call.name)
    parts = receives.tolist()
    vectors: dict[str, tuple[object, ...]] = {
        "reduce_scatter": ("reducescatter", *parts, 0),
        "allgatherv": ("allgatherv", size, *parts),
    }
    if sends is not None:  # Alltoallv and Alltoallw
        sent = (sum(sends.tolist()), *sends.tolist())
        return ("alltoallv", *sent, sum(parts), *parts)
    return vectors.get(call.name)
