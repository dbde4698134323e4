"""Traces for tests, written as text or call by call.

`events` reads text, one event a line::

    ranks 4                         # when not the highest that is named
    comm row members=0,1            # same name: same family, another instance
    comm row members=2,3
    rank 0                          # or: rank 0,2 / rank 0-3 / rank *
      1000 Isend to=1 tag=5 bytes=800 site=3 as=s
         0 Irecv from=*1 tag=*5 bytes=1000 as=r
      2500 Waitall of=s,r           # or by age: ages=2,1
      repeat 20 {
        10 Allreduce bytes=8 op=1 comm=row
      }
      tail 500

The leading number is the computation before the call [ns], 0 when left out. ``sleep=``
and ``queued=`` are how long the rank slept there, and how long others had its core
[ns]; ``tail 500 sleep=200`` has both too. ``mpi=`` is the time inside the call [ns],
100 when left out. Partners are ranks of the
communicator: ``to=1``; ``to=+1`` and ``from=-1`` are relative and wrap around;
``to=>1`` and ``from=<1`` are relative and end in ``MPI_PROC_NULL`` at the borders;
``to=null``. ``from=*1`` and ``tag=*5`` are wildcards with the source and tag that the
message had, ``from=*`` one that was never resolved. Other words: ``root=``,
``tag2=`` and ``from=`` of a Sendrecv, ``type=8`` (bytes of an element),
``sends=1,2`` and ``receives=3,4`` (bytes for each rank), ``comm=`` (default world;
``self``), ``inplace``, ``holes``. ``window w members=0,1`` defines a window, whose
epochs have the communicators ``w:fence``, ``w:pscw``, ``w:lock``, ``w:open``;
``partners=`` names those of Win_post, Win_start, Win_complete and Win_wait.
``repeat 3,5 {`` has 3 trips
at its first execution and 5 at its second, and so on in turn. A communicator with
neighbours has, for each of its ranks, ``sources=1,2;-;0`` and ``destinations=``.

`EventsBuilder` does the same call by call, for programs that make programs.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from skelgen.events import (
    SHAPE_DTYPE,
    CallKind,
    Calls,
    Communicator,
    Events,
    function_info,
)
from skelgen.events.away import AWAY_DTYPE
from skelgen.events.functions import TWO_SIDED
from skelgen.events.types import (
    AMID_WORK,
    COMPLETED,
    EXPOSED,
    FAILED_POLL,
    HOLES,
    IN_PLACE,
    NO_COMMUNICATOR,
    NO_PEER,
    NO_TAG,
    PROC_NULL,
    WILDCARD_SOURCE,
    WILDCARD_TAG,
    WINDOW_KINDS,
)

WORLD = 0
_FLAGS = {
    "inplace": IN_PLACE,
    "holes": HOLES,
    "failed": FAILED_POLL,
    "amid_work": AMID_WORK,
}
_WITHOUT_COMMUNICATOR = {
    CallKind.START,
    CallKind.COMPLETE,
    CallKind.RELEASE,
    CallKind.LOCAL,
}


class EventsBuilder:
    """Collect calls rank by rank and turn them into `Events`.

    Communicator 0 is ``MPI_COMM_WORLD``, 1 + r is rank r's ``MPI_COMM_SELF``.
    """

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.communicators = [Communicator(0, -1, "world", tuple(range(ranks)))]
        self.communicators += [Communicator(1, -1, "self", (r,)) for r in range(ranks)]
        self.names = {"world": [0], "self": list(range(1, ranks + 1))}
        self.clock_ns = [0] * ranks
        #: Of each rank the requests so far that are not persistent, and those that are.
        self.created = [[0, 0] for _ in range(ranks)]
        self.tail_ns = [0] * ranks
        self.tail_asleep_ns = [0] * ranks
        self._functions: dict[str, int] = {}
        self._shapes: dict[tuple[int, ...], int] = {}
        self._ages: dict[tuple[int, ...], int] = {(): 0}
        # Of each rank: rows of shape, size, ages row, compute, enter, leave, and of
        # time that others had its core, and sleep.
        self._rows: list[list[tuple[int, ...]]] = [[] for _ in range(ranks)]
        self._vectors: list[list[tuple[int, Any, Any]]] = [[] for _ in range(ranks)]

    def communicator(
        self,
        name: str,
        members: Sequence[int],
        *,
        family: int | None = None,
        parent: int = WORLD,
        kind: str = "split",
        remote: Sequence[int] = (),
        dims: Sequence[int] = (),
        periods: Sequence[bool] = (),
        sources: Sequence[tuple[int, ...]] = (),
        destinations: Sequence[tuple[int, ...]] = (),
    ) -> int:
        """Define a communicator; instances of one family share a name."""
        if family is None:
            known = self.names.get(name)
            families = [c.family for c in self.communicators]
            family = families[known[0]] if known else max(families) + 1
        self.communicators.append(
            Communicator(
                family,
                parent,
                kind,
                tuple(members),
                tuple(remote),
                tuple(dims),
                tuple(periods),
                tuple(sources),
                tuple(destinations),
            )
        )
        self.names.setdefault(name, []).append(len(self.communicators) - 1)
        return len(self.communicators) - 1

    def instance(self, name: str, rank: int) -> int:
        """Return the communicator of this name that a world rank belongs to."""
        for index in self.names[name]:
            if rank in self.communicators[index].members:
                return index
        raise ValueError(f"rank {rank} is in no communicator named {name}")

    def call(
        self,
        rank: int,
        function: str,
        *,
        peer: int = NO_PEER,
        tag: int = NO_TAG,
        peer2: int = NO_PEER,
        tag2: int = NO_TAG,
        size_bytes: int = 0,
        comm: int | None = None,
        datatype_bytes: int | None = None,
        piece_bytes: int = 0,
        op: int = 0,
        site: int = 0,
        flags: int = 0,
        ages: Sequence[int] = (),
        requests: Sequence[int] = (),
        sends: Sequence[int] | None = None,
        receives: Sequence[int] | None = None,
        compute_ns: int = 0,
        queued_ns: int = 0,
        asleep_ns: int = 0,
        mpi_ns: int = 100,
    ) -> int:
        """Append a call; return the number of the request that it creates, or 0.

        `requests` are such numbers, turned into ages; those of persistent requests
        are negative. The function is named
        without ``MPI_``.
        """
        info = function_info(function)
        if comm is None:
            local = info.kind in _WITHOUT_COMMUNICATOR
            comm = NO_COMMUNICATOR if local else WORLD
        if sends is not None:
            size_bytes = sum(sends)
        if datatype_bytes is None:
            datatype_bytes = 1 if size_bytes or tag != NO_TAG else 0
        number = self._functions.setdefault(f"MPI_{function}", len(self._functions))
        key = (
            number, flags, comm, peer, tag, peer2, tag2, datatype_bytes, piece_bytes,
            op, site,
        )  # fmt: skip
        shape = self._shapes.setdefault(key, len(self._shapes))
        if requests:
            ages = [*ages, *(self._age(rank, request) for request in requests)]
        row = self._ages.setdefault(tuple(ages), len(self._ages))
        enter = self.clock_ns[rank] + compute_ns + queued_ns + asleep_ns
        leave = self.clock_ns[rank] = enter + mpi_ns
        rows = self._rows[rank]
        if sends is not None or receives is not None:
            self._vectors[rank].append((len(rows), sends, receives))
        away = queued_ns, asleep_ns
        rows.append((shape, size_bytes, row, compute_ns, enter, leave, *away))
        if info.creates:
            self.created[rank][info.persistent] += 1
            number = self.created[rank][info.persistent]
            return -number if info.persistent else number
        return 0

    def _age(self, rank: int, request: int) -> int:
        persistent = request < 0
        age = self.created[rank][persistent] + 1 - abs(request)
        return -age if persistent else age

    def length(self) -> int:
        """Return the number of calls so far, all ranks."""
        return sum(map(len, self._rows))

    def calls(self) -> Calls:
        """Return what was collected, without times."""
        return self.events().calls

    def events(self) -> Events:
        """Return what was collected."""
        rows = np.array([r for rank in self._rows for r in rank], np.int64)
        rows = rows.reshape(-1, 8)
        away_calls = np.flatnonzero(rows[:, 6:].any(axis=1))
        away = np.zeros(len(away_calls), AWAY_DTYPE)
        away["call"] = away_calls
        away["queued_ns"], away["asleep_ns"] = rows[away_calls, 6:].T
        counts = [len(rank) for rank in self._rows]
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        vector_call, vectors = self._vector_arrays(first)
        age_rows = list(self._ages)
        calls = Calls(
            first=first,
            shape=rows[:, 0].astype(np.uint32),
            size_bytes=rows[:, 1].copy(),
            ages=rows[:, 2].astype(np.uint32),
            age_first=np.cumsum([0, *map(len, age_rows)]).astype(np.int64),
            age_values=np.array([a for row in age_rows for a in row], np.int64),
            vector_call=vector_call,
            vectors=vectors,
            shapes=np.array(list(self._shapes), SHAPE_DTYPE),
            communicators=tuple(self.communicators),
            functions=tuple(self._functions),
        )
        sites = int(calls.shapes["site"].max(initial=0)) + 1
        tail = np.array(self.tail_ns, np.int64)
        tail_asleep = np.array(self.tail_asleep_ns, np.int64)
        return Events(
            calls=calls,
            enter_ns=rows[:, 4].copy(),
            leave_ns=rows[:, 5].copy(),
            compute_ns=rows[:, 3].copy(),
            begin_ns=np.zeros(self.ranks, np.int64),
            end_ns=np.array(self.clock_ns, np.int64) + tail + tail_asleep,
            tail_ns=tail,
            tail_asleep_ns=tail_asleep,
            away=away,
            sites=tuple(f"app+{site:#x}" for site in range(sites)),
        )

    def _vector_arrays(self, first: Any) -> tuple[Any, Any]:
        entries = [
            (int(first[rank]) + row, sends, receives)
            for rank, rank_entries in enumerate(self._vectors)
            for row, sends, receives in rank_entries
        ]
        vectors = np.full((len(entries), 2), None, dtype=object)
        for i, (_, *sides) in enumerate(entries):
            for side, values in enumerate(sides):
                if values is not None:
                    vectors[i, side] = np.array(values, np.int64)
        return np.array([entry[0] for entry in entries], np.int64), vectors


def rarely_long(ranks: int = 2, before: str = "") -> str:
    """Return a program with a call that is long at 7, 50 and 110 of 120 occurrences."""
    calls = "\n".join(
        f"{900_000 if turn in (7, 50, 110) else 1000} Allreduce bytes=8 op=1"
        for turn in range(120)
    )
    return f"ranks {ranks}\nrank *\n{before}\n{calls}"


def events(text: str) -> Events:
    """Read a trace that is written as text, in the format of this module."""
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    return _Reader(lines).events()


def longer(found: Events, times: int) -> Events:
    """Return events all of whose times are some times as long."""
    columns = ("enter_ns", "leave_ns", "compute_ns", "begin_ns", "end_ns", "tail_ns")
    return dataclasses.replace(
        found, **{name: getattr(found, name) * times for name in columns}
    )


def calls(text: str) -> Calls:
    """Read the calls of a trace that is written as text."""
    return events(text).calls


@dataclasses.dataclass
class _Loop:
    """A repeat block; `executed` says which of its trip counts comes next."""

    trips: list[int]
    body: list[Any] = dataclasses.field(default_factory=list)
    executed: int = 0


class _Reader:
    """Interpret the lines of one text."""

    def __init__(self, lines: list[str]) -> None:
        heads = [line.split() for line in lines]
        stated = [int(words[1]) for words in heads if words[0] == "ranks"]
        numbers = [
            int(number)
            for words in heads
            for word in words
            if words[0] == "rank" or word.startswith(("members=", "remote="))
            for number in re.findall(r"\d+", word)
        ]
        self.builder = EventsBuilder(stated[0] if stated else max(numbers) + 1)
        self.named: dict[tuple[int, str], int] = {}
        self.lines = [line for line in lines if not line.startswith("ranks")]

    def events(self) -> Events:
        position = 0
        while position < len(self.lines):
            word, *rest = self.lines[position].split()
            position += 1
            if word == "comm":
                self._communicator(rest)
            elif word == "window":
                self._window(rest)
            elif word == "rank":
                body: list[Any] = []
                position = self._block(position, body)
                for rank in self._ranks(rest[0]):
                    self._execute(rank, body)
            else:
                raise ValueError(f"expected 'comm' or 'rank', not {word!r}")
        return self.builder.events()

    def _ranks(self, text: str) -> list[int]:
        if text == "*":
            return list(range(self.builder.ranks))
        ranks: list[int] = []
        for part in text.split(","):
            low, _, high = part.partition("-")
            ranks += range(int(low), int(high or low) + 1)
        return ranks

    def _communicator(self, words: list[str]) -> None:
        given: dict[str, Any] = dict(word.split("=") for word in words[1:])
        for key in ("members", "remote", "dims"):
            if key in given:
                given[key] = tuple(map(int, given[key].split(",")))
        for key in ("sources", "destinations"):
            if key in given:
                given[key] = [
                    tuple(int(rank) for rank in ranks.split(",") if rank != "-")
                    for ranks in given[key].split(";")
                ]
        if "periods" in given:
            given["periods"] = tuple(p == "1" for p in given["periods"].split(","))
        if "family" in given:
            given["family"] = int(given["family"])
        if "parent" in given:
            member = given["members"][0]
            given["parent"] = self.builder.instance(given["parent"], member)
        self.builder.communicator(words[0], **given)

    def _window(self, words: list[str]) -> None:
        for kind in WINDOW_KINDS:
            way = kind.removesuffix("window").rstrip("_")
            name = f"{words[0]}:{way}" if way else words[0]
            self._communicator([name, *words[1:], f"kind={kind}"])

    def _block(self, position: int, body: list[Any]) -> int:
        while position < len(self.lines):
            words = self.lines[position].split()
            if words[0] in ("rank", "comm", "window"):
                return position
            position += 1
            if words[0] == "}":
                return position
            if words[0] == "repeat":
                loop = _Loop([int(trip) for trip in words[1].split(",")])
                position = self._block(position, loop.body)
                body.append(loop)
            else:
                body.append(words)
        return position

    def _execute(self, rank: int, body: list[Any]) -> None:
        for item in body:
            if isinstance(item, _Loop):
                trips = item.trips[item.executed % len(item.trips)]
                item.executed += 1
                for _ in range(trips):
                    self._execute(rank, item.body)
            elif item[0] == "tail":
                self.builder.tail_ns[rank] = int(item[1])
                if len(item) > 2:
                    self.builder.tail_asleep_ns[rank] = int(item[2].split("=")[1])
            else:
                self._call(rank, item)

    def _call(self, rank: int, words: list[str]) -> None:
        compute_ns = 0
        if words[0].isdigit():
            compute_ns, words = int(words[0]), words[1:]
        function = words[0]
        given = {key: value for key, _, value in (w.partition("=") for w in words[1:])}
        options: dict[str, Any] = {"compute_ns": compute_ns, "flags": 0}
        comm = given.pop("comm", None)
        if comm is not None:
            options["comm"] = self.builder.instance(comm, rank)
        created = given.pop("as", None)
        for key, value in given.items():
            self._option(rank, function, key, value, options)
        request = self.builder.call(rank, function, **options)
        if created is not None:
            self.named[rank, created] = request

    def _option(
        self, rank: int, function: str, key: str, value: str, options: dict[str, Any]
    ) -> None:
        plain = {"bytes": "size_bytes", "type": "datatype_bytes", "mpi": "mpi_ns"}
        plain |= {"sleep": "asleep_ns", "queued": "queued_ns", "piece": "piece_bytes"}
        receives = key == "from" and function_info(function).kind in TWO_SIDED
        if key in ("from", "tag", "tag2") and value.startswith("*"):
            wildcard = WILDCARD_SOURCE if key == "from" else WILDCARD_TAG
            options["flags"] |= wildcard
            value = value[1:]
            if not value:
                return
        if key in ("to", "from", "root"):
            comm = options.get("comm", WORLD)
            options["peer2" if receives else "peer"] = self._peer(rank, comm, value)
        elif key in _FLAGS:
            options["flags"] |= _FLAGS[key]
        elif key == "partners":
            members = self.builder.communicators[options.get("comm", WORLD)].members
            own = members.index(rank)
            relative = [(int(p) - own) % len(members) for p in value.split(",")]
            options["ages"] = sorted(relative)
            tells = function in ("Win_post", "Win_start")
            options["tag"] = EXPOSED if tells else COMPLETED
        elif key in ("ages", "sends", "receives"):
            options[key] = [int(number) for number in value.split(",") if number]
        elif key == "of":
            options["requests"] = [self.named[rank, name] for name in value.split(",")]
        elif key in ("tag", "tag2", "op", "site", *plain):
            options[plain.get(key, key)] = int(value)
        else:
            raise ValueError(f"unknown word {key}={value} after {function}")

    def _peer(self, rank: int, comm: int, value: str) -> int:
        if value == "null":
            return PROC_NULL
        communicator = self.builder.communicators[comm]
        own = communicator.members.index(rank)
        size = len(communicator.remote or communicator.members)
        if value[0] in "+-":
            return (own + int(value)) % size
        if value[0] in "<>":
            peer = own + int(value[1:]) * (1 if value[0] == ">" else -1)
            return peer if 0 <= peer < size else PROC_NULL
        return int(value)
