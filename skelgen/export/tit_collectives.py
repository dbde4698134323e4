"""Collectives in SimGrid's time-independent traces: its own actions, or messages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events.types import Communicator
from skelgen.export import tit_spread
from skelgen.export.columns import Columns
from skelgen.export.run import TraceStreams
from skelgen.export.text import Column, Hole, RecordRows, TextWriter
from skelgen.export.types import ExportedCall, Sides
from skelgen.export.volume import neighbours

#: Messages have tags below this; messages that stand for collectives have others.
TAGS = 1 << 30
_MOST_TEXTS = 1 << 10
_RANK, _SIZE, _ROOT, _TEXT = range(4)
_Words = tuple[str | int, ...]
#: SMPI's actions for collectives without vectors; sizes are in bytes, which is SMPI's
#: type where none is named.
_PLAIN: dict[str, _Words] = {
    "barrier": ("barrier",),
    "win_fence": ("barrier",),
    "bcast": ("bcast", _SIZE, _ROOT),
    "reduce": ("reduce", _SIZE, "0", _ROOT),
    "allreduce": ("allreduce", _SIZE, "0"),
    "gather": ("gather", _SIZE, _SIZE, _ROOT),
    "scatter": ("scatter", _SIZE, _SIZE, _ROOT),
    "allgather": ("allgather", _SIZE, _SIZE),
    "alltoall": ("alltoall", _SIZE, _SIZE),
}


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a collective becomes.

    Attributes
    ----------
    name : int
        Number of its text; -1: nothing is written.
    actions : Counter of str
    spread : bool
        It is written as messages.
    """

    name: int
    actions: Counter[str]
    spread: bool


class TitCollectives:
    """The collectives of one rank.

    Parameters
    ----------
    run : TraceStreams
    rank : int
    text : TextWriter
        Its names are those of this rank from now on.

    Attributes
    ----------
    actions, left, spread : Counter of str
        Actions by their verb, what is left out, and functions that became messages.
    """

    def __init__(self, run: TraceStreams, rank: int, text: TextWriter) -> None:
        self.run, self.rank, self._text = run, rank, text
        self.actions: Counter[str] = Counter()
        self.left: Counter[str] = Counter()
        self.spread: Counter[str] = Counter()
        self._world = tuple(range(run.trace.world_size))
        self._whole = text.template(Hole(_TEXT, "name"))
        self._templates: dict[int, int] = {}
        self._known: dict[tuple[int, ...], int] = {}
        self._outcomes: list[_Outcome] = []
        text.forget_names()

    def forget(self) -> None:
        """Forget texts when there are many: between two batches."""
        if len(self._known) > _MOST_TEXTS:
            self._known.clear()
            self._outcomes.clear()
            self._text.forget_names()

    def rows(self, event: NDArray[np.int64], some: Columns, root: str) -> RecordRows:
        """Return the actions of some collectives.

        Parameters
        ----------
        event : int64 array
            Which events of the batch they belong to.
        some : structured array
            Events, or halves, of a batch.
        root : str
            Column with the root.
        """
        kind, text = np.full((2, len(some)), -1, np.int64)
        for number in np.flatnonzero(np.bincount(some["call"])).tolist():
            call = self.run.calls.table[number]
            at = np.flatnonzero(some["call"] == number)
            if not self._is_known(call):
                self.left[f"calls of {call.function}"] += len(at)
                continue
            plain, bare = self._plain(call), some["sides"][at] < 0
            if plain and bare.any():
                self.actions[str(plain[0])] += int(bare.sum())
                kind[at[bare]] = self._template(number, plain)
                at = at[~bare]
            text[at] = self._texts(number, some.at(at), root)
        kind[text >= 0] = self._whole
        good = np.flatnonzero(kind >= 0)
        columns: list[Column] = [
            self.rank,
            some["size_bytes"][good],
            some[root][good],
            text[good],
        ]
        return RecordRows(event[good], kind[good], columns)

    def _is_known(self, call: ExportedCall) -> bool:
        if call.communicator < 0 or self.run.communicators[call.communicator].remote:
            return False
        return call.name.startswith("neighbor_") or tit_spread.known(call.name)

    def _plain(self, call: ExportedCall) -> _Words:
        """Return the words of SMPI's action without vectors; none: there is none."""
        members = self.run.communicators[call.communicator].members
        if members != self._world or len(members) == 1:
            return ()
        if call.name == "reduce_scatter_block":
            return ("reducescatter", *[_SIZE] * len(members), "0")
        return _PLAIN.get(call.name, ())

    def _template(self, number: int, words: _Words) -> int:
        known = self._templates.get(number)
        if known is None:
            parts: list[str | Hole] = [Hole(_RANK)]
            for word in words:
                parts += [" ", Hole(word) if isinstance(word, int) else word]
            known = self._templates[number] = self._text.template(*parts, "\n")
        return known

    def _texts(self, number: int, some: Columns, root: str) -> NDArray[np.int64]:
        """Return the text of each call of one shape, and count what it does."""
        call = self.run.calls.table[number]
        columns = (some[name].tolist() for name in (root, "size_bytes", "sides"))
        found = np.zeros(len(some), np.int64)
        for i, key in enumerate(zip(*columns, strict=True)):
            known = self._known.get((number, *key))
            if known is None:
                known = self._known[number, *key] = len(self._outcomes)
                self._outcomes.append(self._outcome(call, *key))
            found[i] = known
        for one, count in enumerate(np.bincount(found).tolist()):
            outcome = self._outcomes[one]
            if count and outcome.spread:
                self.spread[call.function] += count
            for verb, times in outcome.actions.items():
                self.actions[verb] += times * count
        names = np.array([outcome.name for outcome in self._outcomes], np.int64)
        return names[found]

    def _outcome(
        self, call: ExportedCall, peer: int, size: int, sides: int
    ) -> _Outcome:
        vectors = self.run.sides.table[sides] if sides >= 0 else None
        one = self.run.communicators[call.communicator]
        root = peer if call.rooted else -1
        lines = _Lines(self.rank)
        words = self._native(call, root, size, vectors)
        spread = not words and not (
            len(one.members) == 1 and not call.name.startswith("neighbor_")
        )
        if words:
            lines.add(*words)
        elif spread:
            own = one.members.index(self.rank)
            group = tit_spread.Participants(len(one.members), own, root, size, vectors)
            tag = TAGS + self.run.canonical[call.communicator]
            lines.add_spread(call.name, group, one, tag)
        text = "".join(lines.lines)
        name = self._text.names.number(text) if text else -1
        return _Outcome(name, lines.actions, spread)

    def _native(
        self, call: ExportedCall, root: int, size: int, vectors: Sides | None
    ) -> tuple[object, ...]:
        """Return SMPI's action for a collective of all ranks; none: it has none."""
        members = self.run.communicators[call.communicator].members
        if members != self._world or len(members) == 1:
            return ()
        sends, receives = vectors if vectors is not None else (None, None)
        if receives is None:
            given = {_SIZE: size, _ROOT: root}
            words = self._plain(call)
            return tuple(given[w] if isinstance(w, int) else w for w in words)
        parts = receives.tolist()
        if call.name.startswith("neighbor_"):
            return ()
        if sends is not None:  # Alltoallv and Alltoallw
            sent = (sum(sends.tolist()), *sends.tolist())
            return ("alltoallv", *sent, sum(parts), *parts)
        known: dict[str, tuple[object, ...]] = {
            "reduce_scatter": ("reducescatter", *parts, 0),
            "allgatherv": ("allgatherv", size, *parts),
        }
        return known.get(call.name, ())


class _Lines:
    """The lines of one collective."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.lines: list[str] = []
        self.actions: Counter[str] = Counter()

    def add(self, *words: object) -> None:
        """Write an action."""
        self.actions[str(words[0])] += 1
        self.lines.append(f"{self.rank} {' '.join(map(str, words))}\n")

    def add_spread(
        self, name: str, group: tit_spread.Participants, one: Communicator, tag: int
    ) -> None:
        """Write a collective as messages."""
        if not name.startswith("neighbor_"):
            for step in tit_spread.spread(name, group):
                self._step(step, one.members, tag)
            return
        # All sends before the receives, for neighbours may differ in order.
        to, sources = neighbours(one, self.rank)
        sends, receives = tit_spread.among_neighbours(group, to, sources)
        for step in sends:
            self.add("isend", one.members[step.to], tag, step.sent)
        for step in receives:
            self._step(step, one.members, tag)
        for step in sends:
            self.add("wait", self.rank, one.members[step.to], tag)

    def _step(
        self, step: tit_spread.SpreadMessage, members: tuple[int, ...], tag: int
    ) -> None:
        to, source = members[step.to], members[step.source]
        if step.to >= 0:
            both = step.source >= 0
            self.add("isend" if both else "send", to, tag, step.sent)
        if step.source >= 0:
            self.add("recv", source, tag, max(step.received, 1))
        if step.to >= 0 and step.source >= 0:
            self.add("wait", self.rank, to, tag)
