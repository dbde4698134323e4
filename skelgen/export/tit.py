"""SimGrid's time-independent traces: what each rank did, without when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from skelgen.events.functions import CallKind
from skelgen.events.types import FAILED_POLL, PROC_NULL
from skelgen.export.columns import Columns
from skelgen.export.kernel import halves
from skelgen.export.messages import Messages
from skelgen.export.run import TraceStreams
from skelgen.export.text import Column, Hole, RecordRows, TextWriter
from skelgen.export.tit_collectives import TAGS, TitCollectives
from skelgen.export.types import Batch, ExportRole, Written

#: Computation is written in floating-point operations, this many for a nanosecond:
#: a platform whose hosts do 1 Gflop/s computes as long as the recorded machine did.
FLOPS_PER_NS = 1
_IGNORED = ("init", "init_thread", "finalize")
#: Actions that this module writes, with the numbers in them.
_WORDS = {
    "compute": 1,
    **dict.fromkeys(("send", "isend", "recv", "irecv", "wait"), 3),
    "waitall": 1,
}
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
    text = TextWriter()
    names = [f"{stem}.{rank}.tit" for rank in range(run.trace.world_size)]
    actions: Counter[str] = Counter()
    left: Counter[str] = Counter()
    spread: Counter[str] = Counter()
    present = frozenset(run.ranks)
    for rank, name in enumerate(names):
        with (target / name).open("wb") as out:
            writer = _Writer(run, rank, messages, text)
            writer.write(run.batches_of(rank) if rank in present else iter(()), out)
        actions += writer.actions
        left += writer.left
        spread += writer.collectives.spread
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
        self, run: TraceStreams, rank: int, messages: Messages, text: TextWriter
    ) -> None:
        self.run, self.rank, self.messages, self._text = run, rank, messages, text
        self.actions: Counter[str] = Counter()
        self.left: Counter[str] = Counter()
        self.collectives = TitCollectives(run, rank, text)
        self._compute_ns = self._busy_ns = self._open = 0
        threads = [stream.thread for stream in run.streams]
        self._thread = np.array(threads, np.int64)
        self._threads = max(threads, default=0) + 1
        self._kinds = _Kinds.of(run)
        self._verbs = {
            verb: text.template(Hole(0), f" {verb}", *_spaced(words), "\n")
            for verb, words in _WORDS.items()
        }

    def write(self, batches: Iterator[Batch], out: BinaryIO) -> None:
        """Write all events."""
        self._line("init", out)
        for batch in batches:
            self._text.write(self._rows(batch), out)
            self.collectives.forget()
        if self._compute_ns:
            self._line(f"compute {self._compute_ns * FLOPS_PER_NS}", out)
        self._line("finalize", out)
        self.actions += self.collectives.actions
        self.left += self.collectives.left

    def _line(self, words: str, out: BinaryIO) -> None:
        self.actions[words.partition(" ")[0]] += 1
        out.write(f"{self.rank} {words}\n".encode())

    def _rows(self, batch: Batch) -> list[RecordRows]:
        """Return the actions of a batch, computation before the first of an event."""
        events, kinds = batch.events, self._kinds
        blocks = kinds.blocks[events["call"]]
        self._note_left(batch, blocks)
        meets = np.flatnonzero(kinds.meets[events["call"]])
        ends = batch.ends.at(~blocks[batch.ends["event"]])
        late = ends.at(ends["role"] == ExportRole.COLLECTIVE)
        begins, begun = self._begins(batch, blocks)
        rows = [
            self.collectives.rows(meets, events.at(meets), "peer"),
            begins,
            self.collectives.rows(late["event"], late, "root"),
            *self._waits(ends, begun),
        ]
        return [self._computation(events, rows), *rows]

    def _note_left(self, batch: Batch, blocks: NDArray[np.bool_]) -> None:
        """Count the calls that a replay knows nothing of."""
        events, posts = batch.events, batch.posts
        nothing = ~self._kinds.silent[events["call"]] & (events["post_count"] == 0)
        nothing &= ~_with_parts(events, self.run)
        others = (posts["role"] == ExportRole.OTHER) & ~blocks[posts["event"]]
        for numbers in (events["call"][nothing], posts["call"][others]):
            for number, count in enumerate(np.bincount(numbers).tolist()):
                if count:
                    name = self.run.calls.table[number].function
                    self.left[f"calls of {name}"] += count

    def _begins(
        self, batch: Batch, blocks: NDArray[np.bool_]
    ) -> tuple[RecordRows, NDArray[np.int64]]:
        """Return the begins of messages whose other half is there.

        And how many of each event do not block.
        """
        blocking = blocks[batch.posts["event"]]
        is_message = batch.posts["role"] <= ExportRole.RECEIVE
        posts, blocking = batch.posts.at(is_message), blocking[is_message]
        others = self.messages.others(posts)
        found = others["stream"] >= 0
        alone = int((~found).sum()) + int(
            (~is_message & blocks[batch.posts["event"]]).sum()
        )
        if alone:
            self.left["halves of messages without the other half"] += alone
        posts, others, blocking = posts.at(found), others.at(found), blocking[found]
        sends = posts["role"] == ExportRole.SEND
        kind = np.where(
            sends,
            np.where(blocking, *self._two("send", "isend")),
            np.where(blocking, *self._two("recv", "irecv")),
        )
        self._count(kind)
        # A receive of nothing would have SMPI wait for its message at once.
        received = np.maximum(others["size_bytes"], 1)
        size = np.where(sends, posts["size_bytes"], received)
        tag = self._tags(posts, others)
        columns: list[Column] = [self.rank, posts["partner"], tag, size]
        begun = np.bincount(posts["event"][~blocking], minlength=len(batch.events))
        return RecordRows(posts["event"], kind, columns), begun

    def _waits(
        self, ends: Columns, begun: NDArray[np.int64]
    ) -> tuple[RecordRows, RecordRows]:
        """Return the waits for what was begun.

        One for all where an event ends all that is outstanding.
        """
        ends = ends.at(~self._kinds.blocks[ends["by"]])
        others = self.messages.others(ends)
        found = others["stream"] >= 0
        ends, others = ends.at(found), others.at(found)
        count = np.bincount(ends["event"], minlength=len(begun))
        still_open = self._open + np.cumsum(begun - count)
        self._open = int(still_open[-1])
        whole = (count > 1) & (still_open == 0)
        events = np.flatnonzero(whole)
        wait, waitall = self._two("wait", "waitall")
        together = RecordRows(events, waitall, [self.rank, count[events]])
        alone = ~whole[ends["event"]]
        ends, others = ends.at(alone), others.at(alone)
        sends, partner = ends["role"] == ExportRole.SEND, ends["partner"]
        ways = np.where(sends, self.rank, partner), np.where(sends, partner, self.rank)
        columns: list[Column] = [self.rank, *ways, self._tags(ends, others)]
        self.actions["wait"] += len(ends)
        self.actions["waitall"] += len(events)
        return RecordRows(ends["event"], wait, columns), together

    def _tags(self, some: Columns, others: Columns) -> NDArray[np.int64]:
        """Return the number of each message as its tag.

        It is not the program's tag, for SMPI finds the request of a `wait` by sender,
        receiver and tag.
        """
        sends = some["role"] == ExportRole.SEND
        ordinal = np.where(sends, some["ordinal"], others["ordinal"])
        thread = self._thread[np.where(sends, some["stream"], others["stream"])]
        tags: NDArray[np.int64] = (ordinal * self._threads + thread) % TAGS
        return tags

    def _computation(self, events: Columns, rows: list[RecordRows]) -> RecordRows:
        """Return computation before events, in local ones too, where actions follow."""
        enter, leave = events["enter_ns"], events["leave_ns"]
        busy = np.maximum.accumulate(np.append(self._busy_ns, leave))
        self._busy_ns, busy = int(busy[-1]), busy[:-1]
        work = np.minimum(events["compute_ns"], np.maximum(enter - busy, 0))
        inside = np.maximum(leave - np.maximum(enter, busy), 0)
        work += inside * self._kinds.computes[events["call"]]
        total = self._compute_ns + np.cumsum(work)
        acts = np.zeros(len(events), bool)
        for one in rows:
            acts[one.key] = True
        at = np.flatnonzero(acts)
        before = np.diff(total[at], prepend=0)
        self._compute_ns = int(total[-1] - (total[at[-1]] if len(at) else 0))
        at, before = at[before != 0], before[before != 0]
        self.actions["compute"] += len(at)
        columns: list[Column] = [self.rank, before * FLOPS_PER_NS]
        return RecordRows(at, self._verbs["compute"], columns)

    def _two(self, first: str, second: str) -> tuple[int, int]:
        return self._verbs[first], self._verbs[second]

    def _count(self, kind: NDArray[np.int64]) -> None:
        for verb in ("send", "isend", "recv", "irecv"):
            self.actions[verb] += int((kind == self._verbs[verb]).sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Kinds:
    """What each call is for a replay.

    Attributes
    ----------
    blocks, meets, computes, silent : bool arrays
        Sends or receives and waits; a blocking collective; only computes; needs nothing
        that is not written, or is written.
    """

    blocks: NDArray[np.bool_]
    meets: NDArray[np.bool_]
    computes: NDArray[np.bool_]
    silent: NDArray[np.bool_]

    @classmethod
    def of(cls, run: TraceStreams) -> _Kinds:
        """Return those of the calls of a run."""
        column = run.calls.column
        blocking = (CallKind.SEND, CallKind.RECEIVE)
        written = (*_SILENT, *blocking, CallKind.COLLECTIVE)
        computes = column(
            lambda call: (
                call.kind is CallKind.LOCAL
                and not call.flags & FAILED_POLL
                and call.name not in _IGNORED
            )
        )
        return cls(
            blocks=column(lambda call: call.kind in blocking) != 0,
            meets=column(lambda call: call.kind is CallKind.COLLECTIVE) != 0,
            computes=computes != 0,
            silent=column(lambda call: call.kind in written) != 0,
        )


def _with_parts(events: Columns, run: TraceStreams) -> NDArray[np.bool_]:
    """Say which events do anything that becomes a half, now or later."""
    lib, parts = halves().lib, run.calls.rows["parts"][events["call"]]
    messages = lib.SKELGEN_HALVES_SENDS | lib.SKELGEN_HALVES_RECEIVES
    first = ((parts & messages) != 0) & (events["peer"] != PROC_NULL)
    second = (parts & lib.SKELGEN_HALVES_RECEIVES_SECOND) != 0
    requests = lib.SKELGEN_HALVES_COLLECTIVE | lib.SKELGEN_HALVES_OTHER
    found: NDArray[np.bool_] = first | second & (events["peer2"] != PROC_NULL)
    found |= (parts & requests) != 0
    return found


def _spaced(words: int) -> Iterator[str | Hole]:
    """Return so many columns from the second on."""
    for column in range(1, 1 + words):
        yield from (" ", Hole(column))
