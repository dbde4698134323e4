"""Write plans of skeletons by hand, one call a line of Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from skelgen.events.types import HOLES, IN_PLACE, NO_PEER, NO_TAG
from skelgen.loops import Nest
from skelgen.reference.calibration import ComputeCalibration, Mix
from skelgen.signature import (
    CommunicatorFamily,
    Provenance,
    RankGroup,
    Signature,
    Spread,
)
from skelgen.skeleton import OccurrenceSeries, Operation, Plan, Program, Report
from skelgen.symbols.types import SYMBOL_DTYPE, VARYING

CALIBRATION = ComputeCalibration(
    Mix(), (600.0, 0.0, 0.0), 0.0065, 0.0456, 2, "reference", "Reference CPU"
)


@dataclass(frozen=True)
class Do:
    """One call; `ms` and `size` are a number, one for each rank, or columns."""

    function: str
    size: object = 0
    us: object = 0.0
    peer: object = NO_PEER
    tag: int = NO_TAG
    peer2: int = NO_PEER
    tag2: int = NO_TAG
    ages: tuple[int, ...] = ()
    family: int = 0
    datatype: int = 1
    piece: int = 0
    op: int = 0
    in_place: bool = False
    holes: bool = False
    vectors: object = None
    site: int = 0
    idle_us: object = 0.0


@dataclass(frozen=True)
class Loop:
    """A loop; several trip counts are those of its executions."""

    trips: int | Sequence[int]
    body: Sequence[Do | Loop]


@dataclass
class Builder:
    """Collects what a plan is made of."""

    ranks: int
    families: list[CommunicatorFamily] = field(default_factory=list)
    symbols: list[tuple[int, ...]] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    programs: list[Program] = field(default_factory=list)

    def program(
        self, ranks: Sequence[int], *items: Do | Loop, tail_us: float = 0.0
    ) -> Builder:
        nest = _NestText()
        for item in items:
            nest.add(item, 1)
        operations = tuple(
            self._operation(do, len(ranks), often, leaf)
            for leaf, (do, often) in enumerate(nest.leaves)
        )
        tail_ns = np.full(len(ranks), tail_us * 1e3)
        zero = np.zeros(len(ranks))
        around = tail_ns, zero, zero
        self.programs.append(Program(tuple(ranks), nest.nest(), operations, *around))
        return self

    def _operation(self, do: Do, ranks: int, often: int, leaf: int) -> Operation:
        if do.function not in self.functions:
            self.functions.append(do.function)
        peer = do.peer if isinstance(do.peer, int) else VARYING
        symbol = (
            self.functions.index(do.function),
            IN_PLACE * do.in_place | HOLES * do.holes,
            do.family,
            peer,
            do.tag,
            do.peer2,
            do.tag2,
            do.datatype,
            do.piece,
            do.op,
            do.site,
            0,
            -1,
        )
        if symbol not in self.symbols:
            self.symbols.append(symbol)
        vectors = np.zeros((ranks, 2, 0)) if do.vectors is None else do.vectors
        return Operation(
            symbol=self.symbols.index(symbol),
            group=0,
            leaf=0,
            occurrences=often,
            ages=do.ages,
            compute_ns=_series(do.us, ranks, 1e3),
            idle_ns=_series(do.idle_us, ranks, 1e3),
            size_bytes=_series(do.size, ranks, 1.0),
            receive_bytes=np.full(ranks, _received(do), np.int64),
            peers=np.array([] if isinstance(do.peer, int) else do.peer, np.int32),
            vectors=np.asarray(vectors, float),
        )

    def family(self, kind: str, *instances: Sequence[int]) -> int:
        """Add a family of communicators and return its number."""
        self._built_in()
        self.families.append(
            CommunicatorFamily(kind, 0, tuple(tuple(i) for i in instances))
        )
        return len(self.families) - 1

    def _built_in(self) -> None:
        if not self.families:
            every = tuple(range(self.ranks))
            self.families = [
                CommunicatorFamily("world", -1, (every,)),
                CommunicatorFamily("self", -1, tuple((rank,) for rank in every)),
            ]

    def plan(self, application: str = "ring", scale: float = 10.0) -> Plan:
        self._built_in()
        signature = Signature(
            provenance=Provenance(
                application,
                ("mpirun", application),
                "MPICH 5.0.2",
                "here",
                "2025-01-01T00:00:00Z",
                "0.1.0",
                (),
                (self.ranks,),
            ),
            ranks=self.ranks,
            application_s=10.0,
            functions=tuple(self.functions),
            symbols=np.array(self.symbols, SYMBOL_DTYPE),
            age_first=np.zeros(2, np.int64),
            age_values=np.zeros(0, np.int64),
            families=tuple(self.families),
            sites=("ring+0x1234",),
            groups=(_no_statistics(self.ranks),),
            events=1000,
            dropped=(),
        )
        report = Report((), 0.1, 1.0, 0.0, (), (), 0.1, 100.0, ())
        return Plan(
            signature,
            scale,
            tuple(self.functions),
            signature.symbols,
            tuple(self.programs),
            report,
        )


class _NestText:
    """A nest under construction."""

    def __init__(self) -> None:
        self.body: list[int] = []
        self.symbol: list[int] = []
        self.trips: list[list[tuple[int, int]]] = []
        self.leaves: list[tuple[Do, int]] = []

    def add(self, item: Do | Loop, often: int) -> None:
        place = len(self.body)
        self.body.append(0)
        self.trips.append([])
        if isinstance(item, Do):
            self.symbol.append(len(self.leaves))
            self.leaves.append((item, often))
            return
        self.symbol.append(-1)
        if isinstance(item.trips, int):
            self.trips[place] = [(item.trips, often)]
            inside = item.trips * often
        else:
            self.trips[place] = [(trips, 1) for trips in item.trips]
            inside = sum(item.trips)
        for inner in item.body:
            self.add(inner, inside)
        self.body[place] = len(self.body) - place - 1

    def nest(self) -> Nest:
        first = np.cumsum([0] + [len(rows) for rows in self.trips])
        rows = [row for rows in self.trips for row in rows]
        return Nest(
            np.array(self.body, np.int32),
            np.array(self.symbol, np.int32),
            first.astype(np.int64),
            np.array(rows, np.int64).reshape(-1, 2),
        )


def _received(do: Do) -> int:
    receives = "recv" in do.function.lower()
    return int(np.max(np.asarray(do.size))) if receives else 0


def _series(value: object, ranks: int, factor: float) -> OccurrenceSeries:
    array = np.asarray(value, float)
    if array.ndim == 0:
        array = np.full((ranks, 1), array)
    elif array.ndim == 1:
        array = array.reshape(ranks, 1)
    return OccurrenceSeries(array * factor)


def _no_statistics(ranks: int) -> RankGroup:
    zero = np.zeros((1, ranks))
    spread = Spread(
        zero, zero, zero, zero, np.zeros((1, ranks, 1), np.int64), zero[:, :, None]
    )
    nest = Nest(
        np.zeros(1, np.int32),
        np.zeros(1, np.int32),
        np.zeros(2, np.int64),
        np.zeros((0, 2), np.int64),
    )
    return RankGroup(
        tuple(range(ranks)),
        nest,
        np.ones(1, np.int64),
        spread,
        zero,
        zero,
        zero,
        zero,
        spread,
        zero,
        (np.zeros((0, 2), np.int32),),
        (np.zeros((ranks, 2, 0)),),
        zero[0],
        zero[0],
    )
