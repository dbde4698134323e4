"""Fold strings in which iterations skip calls.

A time step with nothing to send has no send. Its string differs from that of other
steps, so an exact folding ends the loop there and begins another one. Where that
happens all the time, calls that come irregularly become loops that may run no time:

1. calls that always follow each other are one token;
2. *anchors* are tokens that take turns, each as often as the others. A token that
   comes between them irregularly becomes a part of its neighbours;
3. without anchors the tokens are put into one order: a round has each of them, or
   skips it. A new round begins where the order is broken;
4. what is left is folded as ever.

Nothing is lost: trip counts say where calls were skipped. The nest is expanded again
before it is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.loops.kernel import fold
from skelgen.loops.parts import items_of, nested
from skelgen.loops.thresholds import (
    FEW_ITEMS,
    LARGEST_PATTERN_SHARE,
    LEAST_COMMON_SHARE,
    MOST_ROUND_ENTRIES,
    MOST_TOKENS,
    TORN_ITEMS_PER_SYMBOL,
)
from skelgen.loops.tokens import Tokens
from skelgen.loops.types import Nest
from skelgen.loops.unfold import expand, positions


def fold_with_skips(symbols: NDArray[np.int32]) -> Nest:
    """Fold a string into nested loops, some of which may run no time.

    Parameters
    ----------
    symbols : (n,) int32 array
        Not negative.

    Returns
    -------
    Nest
        Expands to the same string. It is that of `fold`, unless skipping makes it
        less than half as long.

    Raises
    ------
    InputError
        As `fold`.

    Examples
    --------
    >>> steps = [[0, 1, 1, 2], [0, 2], [0, 1, 2], [0, 2], [0, 1, 1, 1, 2], [0, 2]]
    >>> string = np.array(sum(steps * 3 + steps[:3] * 2 + steps[1:] * 2, []), np.int32)
    >>> fold_with_skips(string).body_items.tolist()
    [4, 0, 1, 0, 0]
    """
    return _with_skips(symbols, fold(symbols))


def fold_alike(
    strings: Mapping[int, NDArray[np.int32]],
    longest: Callable[[int], int] = lambda own: own,
) -> dict[int, Nest]:
    """Fold the strings of ranks, all with skips or none.

    Each item of an exact nest knows what comes before it, and so how long that takes.
    With skips that is lost. Where one rank has them but another has not, their
    iterations are not alike. So skips are for runs in which some nest is long.

    Parameters
    ----------
    strings : mapping of int to (n,) int32 array
        Of ranks, symbols not negative.
    longest : callable
        Of the longest nest here, the longest one of all processes that fold.
    """
    nests = {rank: fold(string) for rank, string in strings.items()}
    if longest(max(map(len, nests.values()), default=0)) <= FEW_ITEMS:
        return nests
    return {rank: _with_skips(strings[rank], nest) for rank, nest in nests.items()}


def _with_skips(symbols: NDArray[np.int32], exact: Nest) -> Nest:
    if not _is_torn(exact):
        return exact
    tokens = Tokens.of_symbols(symbols)
    _settle(tokens, len(symbols), len(exact))
    outer = fold(tokens.string.astype(np.int32))
    if 2 * max(len(outer), tokens.items()) > len(exact):
        return exact
    found = nested(outer, iter(tokens.at_leaves(positions(outer))))
    shorter = 2 * len(found) <= len(exact)
    return found if shorter and np.array_equal(expand(found), symbols) else exact


def _is_torn(nest: Nest) -> bool:
    """Say whether symbols stand in so many places that loops seem to be torn."""
    leaves = nest.symbol[nest.body_items == 0]
    return len(nest) > TORN_ITEMS_PER_SYMBOL * len(np.unique(leaves))


def _settle(tokens: Tokens, length: int, limit: int) -> None:
    """Attach irregular tokens, then others or make rounds while the string is torn."""
    anchors = _anchors(tokens)
    if anchors:
        anchors = _marked(tokens, anchors)
    regular = _Regular(tokens, anchors)
    while 2 * tokens.items() <= limit:
        found = _easiest(tokens, anchors, regular)
        if (found is None or found.regular) and not _still_torn(tokens):
            return
        if found is None:
            tokens.in_rounds(_order(tokens, anchors), MOST_ROUND_ENTRIES * length)
            return
        tokens.attach(found.token, behind=found.behind)


def _marked(tokens: Tokens, anchors: list[int]) -> list[int]:
    """Mark where steps begin; return the mark and the anchors that still take turns."""
    last = max(anchors, key=lambda token: int(np.argmax(tokens.string == token)))
    mark = tokens.mark_steps(last)
    return [
        mark,
        *(one for one in anchors if _alternate(tokens.string, mark, one)),
    ]


def _still_torn(tokens: Tokens) -> bool:
    return len(tokens.string) > 1 and _is_torn(fold(tokens.string.astype(np.int32)))


def _common(tokens: Tokens, anchors: list[int]) -> list[int]:
    """Return the tokens that are not too rare to be a part of iterations."""
    counts = tokens.counts()
    iterations = counts[anchors].max() if anchors else counts.max()
    least = max(2, LEAST_COMMON_SHARE * int(iterations))
    return np.flatnonzero(counts >= least).tolist()


def _anchors(tokens: Tokens) -> list[int]:
    """Return the largest group of tokens that take turns."""
    common = _common(tokens, [])
    if len(common) > MOST_TOKENS:
        return []
    counts = tokens.counts()
    best: list[int] = []
    weight = 0
    for first in sorted(common, key=lambda token: -int(counts[token])):
        group = [first]
        for other in common:
            near = abs(int(counts[other] - counts[first])) <= 1
            if near and all(_alternate(tokens.string, one, other) for one in group):
                group.append(other)
        if len(group) > 1 and len(group) * counts[first] > weight:
            best, weight = group, len(group) * int(counts[first])
    return best


def _alternate(string: NDArray[np.int64], one: int, other: int) -> bool:
    """Say whether two different tokens take turns."""
    both = string[(string == one) | (string == other)]
    return one != other and bool((both[1:] != both[:-1]).all())


@dataclass(frozen=True, slots=True, order=True)
class _Candidate:
    """A token that can be attached; the easiest is the least.

    Attributes
    ----------
    regular : bool
        It comes regularly between the anchors.
    items : int
        That its copies have.
    token : int
    behind : bool
        Whether to attach it behind other tokens.
    """

    regular: bool
    items: int
    token: int
    behind: bool


def _easiest(
    tokens: Tokens, anchors: list[int], regular: _Regular
) -> _Candidate | None:
    """Return the token to attach next.

    Without anchors only those are attached that come in a single place.
    """
    pairs = tokens.neighbours()
    common = [token for token in _common(tokens, anchors) if token not in anchors]
    if len(common) > MOST_TOKENS or (not anchors and len(common) < 2):
        return None
    found = []
    for token in common:
        before, after = pairs.places(token)
        if min(before, after) == 1 or anchors:
            items = min(before, after) * items_of(tokens.parts[token])
            found.append(_Candidate(regular[token], items, token, before <= after))
    return min(found, default=None)


class _Regular(dict[int, bool]):
    """Says whether a token comes between the anchors in a pattern that repeats.

    Others that are attached to their neighbours do not change that.
    """

    def __init__(self, tokens: Tokens, anchors: list[int]) -> None:
        self.tokens, self.anchors = tokens, anchors

    def __missing__(self, token: int) -> bool:
        """Find it out. A pattern is said in fewer numbers than it has exceptions."""
        string, exceptions = self.tokens.string, 0
        some = string[np.isin(string, [*self.anchors, token])]
        nest = fold(some.astype(np.int32))
        for anchor in self.anchors:
            followed = some[1:][some[:-1] == anchor] == token
            with_it = int(np.count_nonzero(followed))
            exceptions += min(with_it, len(followed) - with_it)
        numbers = len(nest) + len(nest.trips)
        self[token] = not self.anchors or numbers <= LARGEST_PATTERN_SHARE * exceptions
        return self[token]


def _order(tokens: Tokens, anchors: list[int]) -> NDArray[np.int64]:
    """Order tokens so that few follow one that comes behind them in the order.

    Each time the token goes next that is followed most and follows least among those
    that are left (Eades, Lin and Smyth 1993, a fast heuristic for feedback arcs).
    """
    pairs = tokens.neighbours()
    size = len(tokens)
    left = np.zeros(size, bool)
    left[_common(tokens, anchors)] = True
    order = np.full(size, -1)
    if np.count_nonzero(left) > MOST_TOKENS:
        return order
    for place in range(int(np.count_nonzero(left))):
        inside = left[pairs.before] & left[pairs.after]
        gain = np.bincount(pairs.before, pairs.times * inside, size)
        gain -= np.bincount(pairs.after, pairs.times * inside, size)
        token = int(np.argmax(np.where(left, gain, -np.inf)))
        order[token] = place
        left[token] = False
    return order
