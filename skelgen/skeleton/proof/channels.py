"""The channels of a script, numbered as they appear, rank after rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events.types import NO_PEER, PROC_NULL
from skelgen.signature import CommunicatorFamily
from skelgen.symbols.key_numbers import combine, factorise

_Integers = NDArray[np.int64]
_NONE = -1


class FilledRows:
    """Rows of different lengths; those that were not put are empty."""

    def __init__(self, rows: int) -> None:
        self._length = np.zeros(rows, np.int64)
        self._parts: list[tuple[_Integers, _Integers]] = []

    def put(self, rows: _Integers, values: _Integers) -> None:
        """Give each of some rows one of the rows of a matrix, or all the only one."""
        self._length[rows] = values.shape[1]
        self._parts.append((rows, values))

    def arrays(self) -> tuple[_Integers, _Integers]:
        """Return where each row begins, and the values of all rows."""
        first = np.concatenate([[0], np.cumsum(self._length)])
        flat = np.zeros(int(first[-1]), np.int64)
        for rows, values in self._parts:
            flat[first[rows][:, np.newaxis] + np.arange(values.shape[1])] = values
        return first, flat


@dataclass(frozen=True, slots=True)
class Meetings:
    """Where ranks meet partners; a matrix of ranks and partners each.

    Attributes
    ----------
    stream : (ranks, partners) int64 array
        Communicator, -1 where there is no partner.
    own, partner : (ranks, partners) int64 arrays
        World ranks.
    """

    stream: _Integers
    own: _Integers
    partner: _Integers


class MemberPlaces:
    """Where ranks stand in the communicators of families."""

    def __init__(self, families: Sequence[CommunicatorFamily]) -> None:
        self.streams = tuple(m for family in families for m in family.instances)
        sizes = np.array([len(members) for members in self.streams], np.int64)
        self._size = sizes
        self._first = np.cumsum(sizes) - sizes
        self._members = np.array(
            [rank for members in self.streams for rank in members], np.int64
        )
        counts = [len(family.instances) for family in families]
        self._edges = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._known: dict[int, _Integers] = {}

    def of(self, family: int, ranks: _Integers) -> tuple[_Integers, _Integers]:
        """Return the communicators of ranks, and their places among all members."""
        if family not in self._known:
            self._known[family] = self._places(family)
        member = self._known[family][ranks]
        assert (member >= 0).all()
        stream = np.searchsorted(self._first, member, side="right") - 1
        return stream, member

    def _places(self, family: int) -> _Integers:
        first = np.append(self._first, len(self._members))
        begin, end = first[self._edges[family : family + 2]].tolist()
        members = self._members[begin:end]
        place = np.full(int(self._members.max(initial=0)) + 1, _NONE)
        known = np.flatnonzero(members >= 0)
        place[members[known]] = begin + known
        return place

    def meet(self, family: int, ranks: _Integers, peers: _Integers) -> Meetings:
        """Return where ranks meet some partners relative to them."""
        shape = len(ranks), len(peers)
        nobody = np.isin(peers, (PROC_NULL, NO_PEER))
        own = np.broadcast_to(ranks[:, np.newaxis], shape)
        if nobody.all():
            none = np.full(shape, _NONE)
            return Meetings(none, own, none)
        stream, member = self.of(family, ranks)
        first = self._first[stream][:, np.newaxis]
        size = self._size[stream][:, np.newaxis]
        partner = self._members[first + (member[:, np.newaxis] - first + peers) % size]
        found = np.repeat(stream[:, np.newaxis], len(peers), axis=1)
        found[:, nobody] = _NONE
        return Meetings(found, own, partner)


class Channels:
    """Channels of the rows of a script: at most one set to send and one to receive."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        # A row has two halves: what it sends stands before what it receives.
        self._columns = [FilledRows(2 * rows) for _ in range(4)]
        self._put: list[tuple[_Integers, int]] = []

    def put(self, rows: _Integers, where: Meetings, tag: int, *, sends: bool) -> None:
        """Note the channels of an operation."""
        ends = (where.own, where.partner) if sends else (where.partner, where.own)
        half = 2 * rows + (0 if sends else 1)
        tags = np.full(where.stream.shape, tag)
        for column, values in zip(
            self._columns, (where.stream, *ends, tags), strict=True
        ):
            column.put(half, values)

    def numbered(
        self,
    ) -> tuple[
        _Integers,
        NDArray[np.int32],
        NDArray[np.int32],
        tuple[tuple[int, int, int, int], ...],
    ]:
        """Return where the partners of each row begin, their channels, and these."""
        first = self._columns[0].arrays()[0]
        columns = [column.arrays()[1] for column in self._columns]
        known = np.flatnonzero(columns[0] != _NONE)
        columns = [column[known] for column in columns]
        number, example = factorise(combine(*columns))
        channel = np.full(int(first[-1]), _NONE, np.int32)
        channel[known] = number
        found = zip(*(column[example].tolist() for column in columns), strict=True)
        length = np.diff(first).reshape(-1, 2)
        both = np.maximum(length.max(axis=1, initial=0), 1)
        partner_first = np.concatenate([[0], np.cumsum(both)])
        send, receive = (
            _spread(channel, first[:-1][half::2], length[:, half], both)
            for half in range(2)
        )
        return partner_first, send, receive, tuple(found)


def _spread(
    channel: NDArray[np.int32], first: _Integers, length: _Integers, wanted: _Integers
) -> NDArray[np.int32]:
    """Give each row as many channels as wanted: its own, its only one, or none."""
    row = np.repeat(np.arange(len(first)), wanted)
    place = np.arange(len(row)) - np.repeat(np.cumsum(wanted) - wanted, wanted)
    place %= np.maximum(length, 1)[row]
    has = length[row] > 0
    found = np.full(len(row), _NONE, np.int32)
    found[has] = channel[(first[row] + place)[has]]
    return found
