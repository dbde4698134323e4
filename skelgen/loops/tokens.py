"""A string of tokens: stretches of calls that are alike, with what they contain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from skelgen.loops.parts import (
    Part,
    chosen,
    divided,
    first_apart,
    items_of,
    loop_of,
    skipped,
)


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """Which tokens follow each other.

    Attributes
    ----------
    before, after : (pairs,) int64 arrays
    times : (pairs,) int64 array
        How often the one follows the other.
    """

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    times: NDArray[np.int64]

    def places(self, token: int) -> tuple[int, int]:
        """Return how many different tokens come before and after a token."""
        return (
            int(np.count_nonzero(self.after == token)),
            int(np.count_nonzero(self.before == token)),
        )


class Tokens:
    """A string that gets shorter while its tokens get longer, without loss.

    Attributes
    ----------
    string : (n,) int64 array
        Tokens; none stands twice in a row.
    parts : list of tuple of Part
        What each token contains, for all its occurrences.
    """

    def __init__(
        self, string: NDArray[np.int64], parts: list[tuple[Part, ...]]
    ) -> None:
        self.string, self.parts = string, parts
        self._join_all()

    @classmethod
    def of_symbols(cls, symbols: NDArray[np.int32]) -> Self:
        """Return a string whose tokens are symbols."""
        known, string = np.unique(symbols, return_inverse=True)
        return cls(string, [(Part(symbol),) for symbol in known.tolist()])

    def __len__(self) -> int:
        """Return the number of different tokens, those that are gone included."""
        return len(self.parts)

    def counts(self) -> NDArray[np.int64]:
        """Return how often each token occurs."""
        return np.bincount(self.string, minlength=len(self.parts))

    def items(self) -> int:
        """Return how many items the tokens that occur have."""
        used = np.flatnonzero(self.counts()).tolist()
        return sum(items_of(self.parts[token]) for token in used)

    def at_leaves(self, leaf: NDArray[np.int32]) -> list[tuple[Part, ...]]:
        """Return what stands at each leaf of a nest that expands to the string.

        Parameters
        ----------
        leaf : (n,) int32 array
            Leaf of each place of the string.
        """
        found: list[tuple[Part, ...]] = [()] * (int(leaf.max(initial=-1)) + 1)
        order = np.argsort(self.string, kind="stable")
        ends = np.flatnonzero(np.diff(self.string[order])) + 1
        for places in np.split(order, ends) if len(order) else ():
            parts = self.parts[int(self.string[places[0]])]
            leaves, share = np.unique(leaf[places], return_inverse=True)
            own = divided(parts, share, len(leaves)) if len(leaves) > 1 else [parts]
            for one, parts in zip(leaves.tolist(), own, strict=True):
                found[one] = parts
        return found

    def neighbours(self) -> Neighbours:
        """Return which tokens follow each other."""
        size = len(self.parts)
        pair = self.string[:-1] * size + self.string[1:]
        if size * size <= len(pair):
            times = np.bincount(pair, minlength=size * size)
            pairs = np.flatnonzero(times)
            return Neighbours(pairs // size, pairs % size, times[pairs])
        pairs, times = np.unique(pair, return_counts=True)
        return Neighbours(pairs // size, pairs % size, times)

    def _occurrence(self) -> NDArray[np.int64]:
        """Say of each place which occurrence of its token it is."""
        few = self.string.astype(np.uint16) if len(self) < 1 << 16 else self.string
        order = np.argsort(few, kind="stable")
        first = np.cumsum(self.counts()) - self.counts()
        found = np.empty(len(order), np.int64)
        found[order] = np.arange(len(order)) - first[self.string[order]]
        return found

    def mark_steps(self, last: int) -> int:
        """Put a new, empty token where steps begin; return it.

        They begin with the string, and behind each occurrence of their last token.
        """
        mark = len(self.parts)
        self.parts.append(())
        place = np.flatnonzero(self.string[:-1] == last) + 1
        self.string = np.insert(self.string, np.append(0, place), mark)
        self._tell_apart_behind(mark, last)
        self._join_all()
        return mark

    def _tell_apart_behind(self, mark: int, last: int) -> None:
        """Give what follows a mark tokens of its own, if that is now this, now that.

        What a program computes between two steps stands before its first call there.
        """
        behind = np.flatnonzero(self.string[:-1] == mark) + 1
        following = np.unique(self.string[behind]).tolist()
        for token in following if len(following) > 1 else ():
            place = np.flatnonzero(self.string == token)
            first = np.isin(place, behind)
            if token == last or first.all():
                continue
            body = self.parts[token]
            self.string[place[first]] = len(self.parts)
            self.parts.append(first_apart(chosen(body, np.flatnonzero(first))))
            self.parts[token] = chosen(body, np.flatnonzero(~first))

    def attach(self, token: int, *, behind: bool) -> None:
        """Make a token a part of those before it, or of those behind it.

        They contain it at all their occurrences, but skip it where it was not. An
        occurrence at the end of the string that has no such neighbour stays.
        """
        step = -1 if behind else 1
        place = np.flatnonzero(self.string == token)
        inside = (place + step >= 0) & (place + step < len(self.string))
        own, place = np.flatnonzero(inside), place[inside]
        host, left = self.string[place + step], np.flatnonzero(~inside)
        where, counts = self._occurrence()[place + step], self.counts()
        body = self.parts[token]
        for one in np.unique(host).tolist():
            mine = chosen(body, own[host == one])
            extra = skipped(mine, int(counts[one]), where[host == one])
            kept = self.parts[one]
            self.parts[one] = kept + extra if behind else extra + kept
        self.parts[token] = chosen(body, left)
        self.string = np.delete(self.string, place)
        self._join_all()

    def in_rounds(self, order: NDArray[np.int64], most: int) -> bool:
        """Make rounds of neighbouring tokens: each has all of them, or skips them.

        Parameters
        ----------
        order : (tokens,) int64 array
            Place of each token in a round; negative for those that stay outside.
        most : int
            Most rounds times tokens.

        Returns
        -------
        bool
            False when there would be more; then nothing was changed.
        """
        place = order[self.string]
        inside = place >= 0
        begins = inside & (np.diff(place, prepend=-1) <= 0)
        begins |= inside & ~np.concatenate([[False], inside[:-1]])
        rounds = int(np.count_nonzero(begins))
        members = np.argsort(order)[np.count_nonzero(order < 0) :].tolist()
        if not rounds or rounds * len(members) > most:
            return False
        number = np.cumsum(begins) - 1
        body: tuple[Part, ...] = ()
        for token in members:
            where = number[self.string == token]
            body += skipped(self.parts[token], rounds, where)
        self.parts.append(body)
        self.string = np.where(inside, len(self.parts) - 1, self.string)
        self.string = self.string[begins | ~inside]
        self._join_all()
        return True

    def _join_all(self) -> None:
        self._join_runs()
        while self._join_chains():
            self._join_runs()

    def _join_runs(self) -> None:
        """Make one token of those that stand in a row."""
        first = np.flatnonzero(np.diff(self.string, prepend=-1))
        if len(first) == len(self.string):
            return
        length = np.diff(np.append(first, len(self.string)))
        self.string = self.string[first]
        for token in np.unique(self.string[length > 1]).tolist():
            self.parts[token] = loop_of(self.parts[token], length[self.string == token])

    def _join_chains(self) -> bool:
        """Make one token of those that always follow each other."""
        pairs, counts = self.neighbours(), self.counts()
        always = (pairs.times == counts[pairs.before]) & (
            pairs.times == counts[pairs.after]
        )
        if not always.any():
            return False
        follows = dict(
            zip(
                pairs.before[always].tolist(), pairs.after[always].tolist(), strict=True
            )
        )
        for head in follows.keys() - set(follows.values()):
            token = head
            while token in follows:
                token = follows[token]
                self.parts[head] += self.parts[token]
        self.string = self.string[~np.isin(self.string, list(follows.values()))]
        return True
