"""The epochs of windows in random MPI programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from skelgen.events.types import COMPLETED, EXPOSED, PROC_NULL, WINDOW_KINDS
from tests.random_collectives import Collectives

_MOVES = ("Put", "Put", "Get", "Accumulate", "Get_accumulate")
_SINGLE = ("Fetch_and_op", "Compare_and_swap")
_FETCHING = ("Get_accumulate", "Rget_accumulate", "Fetch_and_op")
#: Operations as the trace numbers them; MPI_NO_OP is for what fetches.
SUM, REPLACE, NO_OP = 3, 13, 14
_BYTES = (8, 8, 64, 800, 10_000)

_Operation = Callable[[], int]


class Windows(Collectives):
    """Draws epochs: whole matched events of one rank or several."""

    def drawn_window(self) -> dict[str, int]:
        """Make a window; return its communicators by their ways of synchronising."""
        parent = self.rng.choice(self.comms)
        members = self.members(parent)
        site = self.site()
        for rank in members:
            self.call(rank, "Win_allocate", comm=parent, site=site)
        name = f"window{site}"
        return {
            kind: self.builder.communicator(f"{name}:{kind}", members, kind=kind)
            for kind in WINDOW_KINDS
        }

    def drawn_epoch(self) -> Callable[[], None]:
        """Draw an epoch of a window of its own."""
        draw = self.rng.choice((self._fence, self._pscw, self._lock, self._open))
        return draw(self.drawn_window())

    def _operations(
        self, comm: int, rank: int, targets: Sequence[int], *, requests: bool = False
    ) -> list[_Operation]:
        """Draw operations of a rank on some members of a window."""
        return [
            self._operation(comm, rank, targets, requests)
            for _ in range(self.rng.choice((0, 1, 1, 2, 3)))
        ]

    def _operation(
        self, comm: int, rank: int, targets: Sequence[int], requests: bool
    ) -> _Operation:
        single = self.rng.random() < 0.2
        name = self.rng.choice(_SINGLE if single else _MOVES)
        if requests and not single:
            name = f"R{name.lower()}"
        given: dict[str, Any] = {
            "comm": comm,
            "peer": self.members(comm).index(self.rng.choice(targets)),
            "size_bytes": 8 if single else self.rng.choice(_BYTES),
            "datatype_bytes": 8,
            "site": self.site(),
        }
        if not single and not requests and self.rng.random() < 0.1:
            given["peer"] = PROC_NULL
        if name.lower().endswith(("accumulate", "op")):
            fetches = name in _FETCHING
            given["op"] = self.rng.choice((SUM, SUM, REPLACE, *(NO_OP,) * fetches))
        work = self.work_ns()
        return lambda: self.call(rank, name, work, **given)

    def _together(self, function: str, comm: int, site: int, tag: int = -1) -> None:
        members = self.members(comm)
        after = max(self.builder.clock_ns[rank] for rank in members)
        for rank in members:
            self.call(rank, function, comm=comm, site=site, tag=tag, after=after)

    def _fence(self, window: dict[str, int]) -> Callable[[], None]:
        comm = window["fence_window"]
        members = self.members(comm)
        first, last = self.site(), self.site()
        every = [self._operations(comm, rank, members) for rank in members]
        both = self.rng.random() < 0.4
        self._together("Win_fence", comm, first, 4)

        def run() -> None:
            if both:
                self._together("Win_fence", comm, first, 4)
            for operations in every:
                for operate in operations:
                    operate()
            self._together("Win_fence", comm, last, 0)

        return run

    def _pscw(self, window: dict[str, int]) -> Callable[[], None]:
        comm = window["pscw_window"]
        members = self.members(comm)
        size = len(members)
        edges = [
            (origin, target)
            for origin in range(size)
            for target in range(size)
            if self.rng.random() < self.rng.choice((0.3, 0.8))
        ]
        origins, targets = ({edge[end] for edge in edges} for end in (0, 1))
        to = {o: [t for other, t in edges if other == o] for o in sorted(origins)}
        of = {t: [o for o, other in edges if other == t] for t in sorted(targets)}
        every = {
            o: self._operations(comm, members[o], [members[t] for t in to[o]])
            for o in to
        }
        sites = {name: self.site() for name in ("post", "start", "complete", "wait")}

        def tell(name: str, own: int, others: list[int], tag: int) -> None:
            shifts = sorted((other - own) % size for other in others)
            rank = members[own]
            given = {"comm": comm, "tag": tag, "site": sites[name]}
            self.call(rank, f"Win_{name}", ages=shifts, **given)

        def run() -> None:
            for own, others in of.items():
                tell("post", own, others, EXPOSED)
            for own, others in to.items():
                tell("start", own, others, EXPOSED)
                for operate in every[own]:
                    operate()
                tell("complete", own, others, COMPLETED)
            for own, others in of.items():
                tell("wait", own, others, COMPLETED)

        return run

    def _lock(self, window: dict[str, int]) -> Callable[[], None]:
        comm = window["lock_window"]
        members = self.members(comm)
        rank, target = self.rng.choice(members), self.rng.randrange(len(members))
        requests = self.rng.random() < 0.3
        operations = self._operations(comm, rank, [members[target]], requests=requests)
        sites, tag = [self.site() for _ in range(4)], self.rng.choice((1, 2))
        flushes = self.rng.random() < 0.3

        def run() -> None:
            given = {"comm": comm, "peer": target}
            self.call(rank, "Win_lock", tag=tag, site=sites[0], **given)
            made = [operate() for operate in operations]
            self.complete(rank, [one for one in made if one], "Waitall", sites[1])
            if flushes:
                self.call(rank, "Win_flush", site=sites[2], **given)
            self.call(rank, "Win_unlock", site=sites[3], **given)

        return run

    def _open(self, window: dict[str, int]) -> Callable[[], None]:
        comm = window["open_window"]
        members = self.members(comm)
        requests = self.rng.random() < 0.5
        every = {
            rank: self._operations(comm, rank, members, requests=requests)
            for rank in members
        }
        waits, flushes = self.site(), self.site()
        name = self.rng.choice(("Win_flush_all", "Win_flush_local_all", "Win_sync"))

        def run() -> None:
            for rank, operations in every.items():
                made = [operate() for operate in operations]
                self.complete(rank, [one for one in made if one], "Waitall", waits)
                self.call(rank, name, comm=comm, site=flushes)

        return run
