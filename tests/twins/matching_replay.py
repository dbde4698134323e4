"""Twin of `skelgen.matching.replay`, in plain Python."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from skelgen.matching.thread_order import Depend, Integers


def replay(given: Depend) -> Integers:
    """Return the calls of all ranks in the order in which they could return.

    Parameters
    ----------
    given : Depend

    Returns
    -------
    (n,) int64 array
        Calls of the first rank, then of the next. Those that can never return stand
        last.
    """
    return _Replay(given).run()


class _Replay:
    """One replay."""

    def __init__(self, given: Depend) -> None:
        self.given = given
        total, ranks = len(given.lane), len(given.first) - 1
        self.rank = np.repeat(np.arange(ranks), np.diff(given.first)).tolist()
        self.lane, self.lane_first = given.lane.tolist(), given.lane_first.tolist()
        self.enter, self.leave = given.enter_ns.tolist(), given.leave_ns.tolist()
        self.head = [-1] * int(given.lane_first[-1])
        self.next = [-1] * total
        for call in reversed(range(total)):
            self.next[call] = self.head[self.lane[call]]
            self.head[self.lane[call]] = call
        self.missing = np.bincount(given.begins.values, minlength=given.ends).tolist()
        #: Ends that each call still waits for: others, and soft ones.
        self.lacking = [[0, 0] for _ in range(total)]
        for call, soft in zip(given.waiters.values, given.soft.tolist(), strict=True):
            self.lacking[call][soft] += 1
        self.sends = [soft > 0 for _, soft in self.lacking]
        self.before = np.bincount(given.after.values, minlength=total).tolist()
        self.offered, self.begun, self.done = ([False] * total for _ in range(3))
        self.held = [False] * given.ends
        self.heap: list[tuple[int, int]] = []
        self.order: list[list[int]] = [[] for _ in range(ranks)]

    def run(self) -> Integers:
        for rank in range(len(self.order)):
            self._offer(rank)
        while self.heap or self._force():
            if self.heap:
                self._act(heappop(self.heap)[1])
        last = [call for call, done in enumerate(self.done) if not done]
        for call in last:
            self.order[self.rank[call]].append(call)
        return np.array([call for own in self.order for call in own], np.int64)

    def _sends_first(self, call: int) -> tuple[bool, int]:
        return not self.sends[call], call

    def _blocks(self, call: int) -> bool:
        first = self.given.waits.first
        return bool(first[call + 1] > first[call])

    def _offer(self, rank: int) -> None:
        """Let the threads of a rank begin their next calls, where they may."""
        for lane in range(*self.lane_first[rank : rank + 2]):
            call = self.head[lane]
            if call < 0 or self.offered[call]:
                continue
            if self._blocks(call) or not self.before[call]:
                others = self.head[slice(*self.lane_first[rank : rank + 2])]
                if not any(self._precedes(other, call) for other in others):
                    self.offered[call] = True
                    heappush(self.heap, (self.enter[call], call))

    def _precedes(self, other: int, call: int) -> bool:
        """Say whether a call had returned before another one was entered."""
        return 0 <= other < call and self.leave[other] <= self.enter[call]

    def _act(self, call: int) -> None:
        if not self.begun[call]:
            self._begin(call)
        elif not self.done[call]:
            # A message of a rank to itself: its send stands first, and can be mended.
            for one in sorted(self._together(call), key=self._sends_first):
                self._finish(one)

    def _begin(self, call: int) -> None:
        given = self.given
        self.begun[call] = True
        for end in given.begins.row(call):
            self.missing[end] -= 1
            if not self.missing[end]:
                self._complete(end)
        if self._blocks(call):
            self._consider(call)
        else:
            self._finish(call)

    def _complete(self, end: int) -> None:
        """Tell those that wait that all have come."""
        row = slice(*self.given.waiters.first[end : end + 2].tolist())
        calls = self.given.waiters.values[row].tolist()
        for call, soft in zip(calls, self.given.soft[row].tolist(), strict=True):
            self.lacking[call][soft] -= 1
            self._consider(call)

    def _consider(self, call: int) -> None:
        """Let a call return when its time comes, if it could."""
        if self.begun[call] and self._is_ready(call):
            heappush(self.heap, (self.leave[call], call))

    def _is_ready(self, call: int) -> bool:
        ready = not any(self.lacking[call]) and not self.before[call]
        return ready and not self.done[call]

    def _together(self, call: int) -> set[int]:
        """Return the calls that return with this one; none if one of them cannot."""
        given, found, waiting, stuck = self.given, {call}, [call], False
        while waiting and not stuck:
            for end in given.waits.row(waiting.pop()):
                row = slice(*given.waiters.first[end : end + 2].tolist())
                for other in given.waiters.values[row][given.holds[row]].tolist():
                    if other not in found and not self.done[other]:
                        stuck |= not (self.begun[other] and self._is_ready(other))
                        found.add(other)
                        waiting.append(other)
        if not stuck:
            return found
        for one in found:
            for end in given.waits.row(one):
                self.held[end] = True
        return set()

    def _finish(self, call: int) -> None:
        given, rank = self.given, self.rank[call]
        self.done[call] = True
        self.order[rank].append(call)
        self.head[self.lane[call]] = self.next[call]
        for other in given.after.row(call):
            self.before[other] -= 1
            self._consider(other)
        for end in given.waits.row(call):
            if self.held[end]:
                self.held[end] = False
                for other in given.waiters.row(end):
                    self._consider(other)
        self._offer(rank)

    def _force(self) -> bool:
        """Let happen what happened first in the recording."""
        found = []
        for call in self.head:
            if call < 0:
                continue
            if not self.begun[call]:
                if self._blocks(call) or not self.before[call]:
                    found.append((False, self.enter[call], call))
            elif not self.lacking[call][0] and not self.before[call]:
                met = not self.lacking[call][1]
                found.append((met, self.leave[call], call))
        if not found:
            return False
        call = min(found)[2]
        if self.begun[call]:
            self._finish(call)
        else:
            self.offered[call] = True
            self._begin(call)
        return True
