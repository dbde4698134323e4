"""Give every request of a program a place in an array, by running its loops dry.

Requests are known by their ages. Most completions always finish requests of the
same calls; those calls get fixed places. A loop is followed until the outstanding
requests at its end are those at its beginning, so the cost does not grow with the
number of trips.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from skelgen.events.functions import PERSISTENT, CallKind
from skelgen.loops import Nest, trip_rows
from skelgen.symbols.types import ALL_OUTSTANDING

#: A request as a completion sees it: (operation that created it, how many requests
#: that operation has created since); None for one that is over already.
Reference = tuple[int, int] | None
#: A request by whether it is persistent and its number among those.
Birth = tuple[bool, int]

#: An age that no request reaches.
_HOWEVER_OLD = 1 << 62


@dataclass(frozen=True, slots=True)
class RequestRole:
    """What an operation does with requests.

    Attributes
    ----------
    kind : CallKind
    creates : bool
    ages : tuple of int
    receives : bool
        Whether its request, when freed, may still be receiving.
    """

    kind: CallKind
    creates: bool
    ages: tuple[int, ...]
    receives: bool = False

    @property
    def idle(self) -> bool:
        """Return whether it has nothing to do with requests."""
        return not self.creates and not self.ages


@dataclass(slots=True)
class Lifetimes:
    """Which requests of a program exist at the same time.

    Attributes
    ----------
    spans : dict of int to int
        For each creating operation how many of its requests, counted back from the
        latest, may be outstanding.
    conflicts : set of (int, int)
        Operations that create a request while one of the other is outstanding.
    references : dict of int to set of tuple of Reference
        What each completion or start refers to; several when it is now these
        operations, now those.
    left : bool
        Whether requests remain when the program ends.
    """

    spans: dict[int, int] = field(default_factory=dict)
    conflicts: set[tuple[int, int]] = field(default_factory=set)
    references: dict[int, set[tuple[Reference, ...]]] = field(default_factory=dict)
    left: bool = False

    def join(self, other: Lifetimes) -> None:
        """Take in what holds for other ranks that share the text."""
        for operation, span in other.spans.items():
            self.spans[operation] = max(span, self.spans.get(operation, 0))
        self.conflicts |= other.conflicts
        for operation, references in other.references.items():
            self.references.setdefault(operation, set()).update(references)
        self.left |= other.left


def lifetimes(nest: Nest, roles: Sequence[RequestRole]) -> Lifetimes:
    """Find out which requests a program has outstanding at a time.

    Parameters
    ----------
    nest : Nest
        Loops over indices into `roles`.
    roles : sequence of RequestRole
    """
    walk = _Walk(nest, roles)
    walk.items(0, len(nest))
    walk.found.left |= any(not walk.persistent(op) for op, _ in walk.alive.values())
    return walk.found


class _Walk:
    """The state of a dry run."""

    def __init__(self, nest: Nest, roles: Sequence[RequestRole]) -> None:
        self.roles = roles
        self.symbol = [int(symbol) for symbol in nest.symbol]
        self.body = [int(items) for items in nest.body_items]
        self.trips = [_Trips(nest, item) for item in range(len(nest))]
        self.idle = [self._idle(item) for item in range(len(nest))]
        ages = [age for role in roles for age in role.ages]
        #: Of each sort, persistent or not, the oldest age and how many there are.
        self.oldest = {False: max([0, *ages]), True: -min([0, *ages])}
        if ALL_OUTSTANDING in ages:
            self.oldest[False] = _HOWEVER_OLD
        self.created = {False: 0, True: 0}
        self.own = [0] * len(roles)
        #: birth: (operation, creation number among its own)
        self.alive: dict[Birth, tuple[int, int]] = {}
        #: Of each operation with outstanding requests, how many.
        self.outstanding: dict[int, int] = {}
        #: Calls and ages walked: in all, and in each loop since it was looked at.
        self.walked = 0
        self.unseen = [0] * len(nest)
        self.found = Lifetimes()

    def _idle(self, item: int) -> bool:
        inside = self.symbol[item : item + self.body[item] + 1]
        return all(symbol < 0 or self.roles[symbol].idle for symbol in inside)

    def persistent(self, operation: int) -> bool:
        return self.roles[operation].kind in PERSISTENT

    def items(self, begin: int, end: int) -> None:
        """Run the items of a body."""
        item = begin
        while item < end:
            if not self.idle[item]:
                if self.symbol[item] >= 0:
                    self.operation(self.symbol[item])
                else:
                    self.loop(item)
            item += self.body[item] + 1

    def loop(self, item: int) -> None:
        """Run a loop until a trip leaves the requests as it found them.

        A look at the requests takes as long as there are requests, so there is one
        each time that as much has been walked.
        """
        inside = range(item + 1, item + self.body[item] + 1)
        steady = all(self.trips[i].constant for i in inside)
        for _ in range(self.trips[item].next()):
            looks = steady and self.unseen[item] >= len(self.alive)
            before = self.state() if looks else None
            walked = self.walked
            self.items(inside.start, inside.stop)
            self.unseen[item] += self.walked - walked
            if looks:
                self.unseen[item] = 0
                if self.state() == before:
                    break

    def state(self) -> tuple[tuple[Birth, int, int], ...]:
        """Return the outstanding requests as they look from now."""
        return tuple(
            ((sort, self.created[sort] - number), operation, self.own[operation] - own)
            for (sort, number), (operation, own) in self.alive.items()
        )

    def operation(self, operation: int) -> None:
        role = self.roles[operation]
        self.walked += 1 + len(role.ages)
        if role.ages:
            self.refer(operation, role)
        if role.creates:
            self.create(operation)

    def create(self, operation: int) -> None:
        sort = self.persistent(operation)
        forgotten = (sort, self.created[sort] - self.oldest[sort])
        if forgotten in self.alive:
            # Nothing will ever refer to it; its place is used again.
            self.end(forgotten)
            self.found.left |= not sort
        if operation not in self.outstanding:
            # Those that begin later, while it is outstanding, will see it.
            self.found.conflicts.update(
                (min(operation, other), max(operation, other))
                for other in self.outstanding
            )
        self.created[sort] += 1
        self.own[operation] += 1
        self.alive[sort, self.created[sort]] = (operation, self.own[operation])
        self.outstanding[operation] = self.outstanding.get(operation, 0) + 1
        self.found.spans.setdefault(operation, 1)

    def end(self, birth: Birth) -> None:
        """Take a request out of those that are outstanding."""
        operation, _ = self.alive.pop(birth)
        self.outstanding[operation] -= 1
        if not self.outstanding[operation]:
            del self.outstanding[operation]

    def refer(self, operation: int, role: RequestRole) -> None:
        births = self.births(role.ages)
        references = tuple(self.reference(birth) for birth in births)
        self.found.references.setdefault(operation, set()).add(references)
        for birth in births:
            if birth in self.alive and self.ends(role, self.alive[birth][0]):
                self.end(birth)

    def births(self, ages: tuple[int, ...]) -> list[Birth]:
        """Return the requests of some ages."""
        if ages == (ALL_OUTSTANDING,):
            # In an order of their own: how they are interleaved does not matter.
            plain = [birth for birth in self.alive if not birth[0]]
            self.walked += len(plain)
            return sorted(plain, key=self.alive.__getitem__)
        return [(age < 0, self.created[age < 0] - abs(age) + 1) for age in ages]

    def reference(self, birth: Birth) -> Reference:
        if birth not in self.alive:
            return None
        operation, own = self.alive[birth]
        lag = self.own[operation] - own
        self.found.spans[operation] = max(self.found.spans[operation], lag + 1)
        return operation, lag

    def ends(self, role: RequestRole, operation: int) -> bool:
        """Return whether nothing of a request remains after a call."""
        if role.kind is CallKind.RELEASE:
            return self.persistent(operation) or not self.roles[operation].receives
        return role.kind is CallKind.COMPLETE and not self.persistent(operation)


class _Trips:
    """The trip counts of a loop, execution after execution."""

    def __init__(self, nest: Nest, item: int) -> None:
        self.rows = trip_rows(nest, item).tolist()
        self.constant = len({trips for trips, _ in self.rows}) <= 1
        self.values = self._values()

    def _values(self) -> Iterator[int]:
        for trips, often in self.rows:
            for _ in range(often):
                yield trips

    def next(self) -> int:
        return self.rows[0][0] if self.constant else next(self.values)


@dataclass(frozen=True, slots=True)
class Places:
    """Non-overlapping places in one row of cells.

    Attributes
    ----------
    first : dict of int to int
        First cell of each operation.
    cells : int
        Cells in use.
    """

    first: dict[int, int]
    cells: int


def places(
    needs: dict[int, int], conflicts: set[tuple[int, int]], *, begin: int = 0
) -> Places:
    """Give each operation the lowest cells that no conflicting one has.

    Parameters
    ----------
    needs : dict of int to int
        Cells that each operation needs.
    conflicts : set of (int, int)
    begin : int
        First cell that is free.

    Examples
    --------
    >>> places({0: 2, 1: 1, 2: 1}, {(0, 1)}).first
    {0: 0, 1: 2, 2: 0}
    """
    neighbours: dict[int, list[int]] = {}
    for a, b in conflicts:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    first: dict[int, int] = {}
    cells = begin
    for operation in sorted(needs):
        taken = sorted(
            (first[other], first[other] + needs[other])
            for other in neighbours.get(operation, ())
            if other in first
        )
        place = begin
        for low, high in taken:
            if place + needs[operation] <= low:
                break
            place = max(place, high)
        first[operation] = place
        cells = max(cells, place + needs[operation])
    return Places(first, cells)
