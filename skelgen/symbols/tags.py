"""Choose the tags that a skeleton uses.

Tags belong to matching, not to what a call is: a loop index as a tag would make every
iteration different. Messages between two ranks of a communicator that are received in
the order in which they were sent match without tags. Where they are not, the recorded
tags stay if they are few, and are numbered anew if they are many. A few tags also stay
where receives take messages from any source: there they tell what a message is, such
as the result of a worker or its request for more.

The choice is made for all messages of a family and distance at once, at both ends and
on all ranks, so that ranks that do the same keep the same symbols.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skelgen.events.functions import PERSISTENT, RECEIVING, SENDING, TWO_SIDED
from skelgen.events.parts import looked_up
from skelgen.events.types import WILDCARD_SOURCE
from skelgen.matching import Matching
from skelgen.symbols.key_numbers import combine, factorise, factorise_parts
from skelgen.symbols.pairs import Pairs
from skelgen.symbols.thresholds import MOST_RECORDED_TAGS, MOST_TELLING_TAGS

#: Every MPI has at least these tags.
_TAGS_EVERYWHERE = 32767

#: Messages that are looked at at a time: for less memory.
_PART = 1 << 16


@dataclass(frozen=True, slots=True)
class Tags:
    """Tags of all calls.

    Attributes
    ----------
    tag, tag2 : (p,) int64 arrays
        Of each pair.
    call : (c,) int64 array
        Calls that have tags of their own, ascending.
    call_tag, call_tag2 : (c,) int64 arrays
    """

    tag: NDArray[np.int64]
    tag2: NDArray[np.int64]
    call: NDArray[np.int64]
    call_tag: NDArray[np.int64]
    call_tag2: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Ends:
    """Ends of messages: one for each pair that sends or receives, two for Sendrecv."""

    pair: NDArray[np.int64]
    second: NDArray[np.bool_]  # the tag stands in tag2
    channels: NDArray[np.int64]  # channels for which one choice is made
    tag: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Messages:
    """Messages between calls that are not persistent, in the order of sending."""

    send: NDArray[np.signedinteger]
    receive: NDArray[np.signedinteger]
    channel: NDArray[np.int32]


def canonical_tags(
    matching: Matching,
    pairs: Pairs,
    inside: NDArray[np.bool_],
    joined: NDArray[np.int64],
) -> Tags:
    """Choose the tags of all calls.

    Parameters
    ----------
    matching : Matching
    pairs : Pairs
    inside : (n,) bool array
        Which calls have a symbol.
    joined : (p,) int64 array
        Pairs with the same number here share one choice; -1: on their own.

    Returns
    -------
    Tags
        With them the messages match in the pairs that the run had.
    """
    used = pairs.having(inside)
    ends, of_send = _ends(pairs, used, joined)
    known = factorise(combine(ends.channels, ends.tag))[1]
    different = np.bincount(ends.channels[known], minlength=1)
    plain = different <= 1
    fixed = pairs.is_kind(*PERSISTENT)[ends.pair]
    recorded = np.zeros(len(different), bool)
    recorded[ends.channels[fixed]] = True
    questions = ~plain & ~recorded
    chosen = questions[of_send] & (of_send >= 0)
    messages = _messages(matching, pairs, inside, chosen)
    plain |= questions
    late = messages.send[_overtaken(messages)]
    plain[of_send[pairs.of_call[late]]] = False
    many = ~plain & ~recorded & (different > MOST_RECORDED_TAGS)
    tag, tag2 = (pairs.shape[end].astype(np.int64) for end in ("tag", "tag2"))
    new = _shortened(
        ends, plain[ends.channels] & ~_telling(pairs, messages, ends, of_send)
    )
    tag[ends.pair[~ends.second]] = new[~ends.second]
    tag2[ends.pair[ends.second]] = new[ends.second]
    sender = looked_up(pairs.of_call, messages.send)
    return _renumbered(pairs, tag, tag2, messages, looked_up(many[of_send], sender))


def _ends(
    pairs: Pairs, used: NDArray[np.bool_], joined: NDArray[np.int64]
) -> tuple[_Ends, NDArray[np.int64]]:
    """Return the ends, and for each pair that sends the channels of its send."""
    size = np.maximum(pairs.size, 1)
    both = pairs.is_kind(*TWO_SIDED)
    sends = used & pairs.is_kind(*SENDING) & (pairs.peer >= 0)
    receives = used & pairs.is_kind(*RECEIVING) & ~both & (pairs.peer >= 0)
    second = used & both & (pairs.peer2 >= 0)
    rows = [np.flatnonzero(part) for part in (sends, receives, second)]
    distance = np.concatenate(
        [
            pairs.peer[rows[0]],
            -pairs.peer[rows[1]] % size[rows[1]],
            -pairs.peer2[rows[2]] % size[rows[2]],
        ]
    )
    pair = np.concatenate(rows)
    tag = pairs.shape["tag"][pair].astype(np.int64)
    is_second = np.arange(len(pair)) >= len(rows[0]) + len(rows[1])
    tag[is_second] = pairs.shape["tag2"][rows[2]]
    channels = _joined(combine(pairs.family[pair], distance), joined[pair])
    of_send = np.full(len(pairs), -1, np.int64)
    of_send[rows[0]] = channels[: len(rows[0])]
    return _Ends(pair, is_second, channels, tag), of_send


def _joined(number: NDArray[np.int64], key: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the numbers that appear with one key (-1: no key) one number."""
    if not len(number):
        return number
    key = factorise(np.where(key < 0, -1 - number, key))[0].astype(np.int64)
    lowest = number.copy()
    while True:
        least = np.full(len(number), len(number), np.int64)
        np.minimum.at(least, key, lowest)
        by_number = np.full(int(number.max()) + 1, len(number), np.int64)
        np.minimum.at(by_number, number, least[key])
        new = by_number[number]
        if (new == lowest).all():
            return factorise(new)[0].astype(np.int64)
        lowest = new


def _messages(
    matching: Matching,
    pairs: Pairs,
    inside: NDArray[np.bool_],
    chosen: NDArray[np.bool_],
) -> _Messages:
    if not chosen.any():
        none = np.empty(0, np.int64)
        return _Messages(none, none, none.astype(np.int32))
    send, receive = matching.send_call, matching.receive_call
    taken = looked_up(chosen, looked_up(pairs.of_call, send))
    taken &= looked_up(inside, send)
    if not taken.all():
        send, receive = send[taken], receive[taken]
    if (send[1:] < send[:-1]).any():
        order = np.argsort(send, kind="stable")
        send, receive = send[order], receive[order]
    # Few pairs of calls talk to each other: find those, then their channels.

    def ends(part: slice) -> NDArray[np.int64]:
        both = pairs.of_call[send[part]] * np.int64(len(pairs))
        both += pairs.of_call[receive[part]]
        return both

    number, first = factorise_parts(_parts(len(send)), ends)
    sender, receiver = pairs.of_call[send[first]], pairs.of_call[receive[first]]
    channel = combine(
        pairs.shape["communicator"][sender].astype(np.int64),
        pairs.rank[sender],
        pairs.rank[receiver],
    )
    channel_of = channel.astype(np.int32)
    return _Messages(send, receive, looked_up(channel_of, number, out=number))


def _parts(messages: int) -> list[slice]:
    """Return all messages in parts."""
    return [
        slice(begin, min(begin + _PART, messages))
        for begin in range(0, messages, _PART)
    ]


def _overtaken(messages: _Messages) -> NDArray[np.int64]:
    """Return messages that are not received later than the one sent before them."""
    last = np.full(int(messages.channel.max(initial=0)) + 1, -1, np.int64)
    narrow = np.uint16 if len(last) <= 1 << 16 else np.int64
    found = [np.empty(0, np.int64)]
    for part in _parts(len(messages.send)):
        # NumPy sorts narrow numbers in linear time.
        order = np.argsort(messages.channel[part].astype(narrow), kind="stable")
        channel, receive = messages.channel[part][order], messages.receive[part][order]
        first = np.concatenate([[True], channel[1:] != channel[:-1]])
        before = np.concatenate([[-1], receive[:-1]])
        before[first] = last[channel[first]]
        found.append(part.start + order[receive <= before])
        ends = np.append(first[1:], True)
        last[channel[ends]] = receive[ends]
    return np.concatenate(found)


def _telling(
    pairs: Pairs, messages: _Messages, ends: _Ends, of_send: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return the ends whose tag tells a receive from any source what it has got."""
    anybody = (pairs.shape["flags"] & WILDCARD_SOURCE) != 0
    if not anybody.any() or not len(messages.send):
        return np.zeros(len(ends.pair), bool)
    taken = messages.send[anybody[pairs.of_call[messages.receive]]]
    senders = np.unique(pairs.of_call[taken])
    channels = np.concatenate([of_send[senders], ends.channels])
    tag = np.concatenate([pairs.shape["tag"][senders].astype(np.int64), ends.tag])
    key = combine(channels, tag)
    known, first = np.unique(key[: len(senders)], return_index=True)
    different = np.bincount(of_send[senders[first]], minlength=int(channels.max()) + 1)
    few = (different > 1) & (different <= MOST_TELLING_TAGS)
    return np.isin(key[len(senders) :], known) & few[ends.channels]


def _shortened(ends: _Ends, plain: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the tags that ends have: 0 where tags are not needed."""
    tag = ends.tag.copy()
    tag[plain] = 0
    too_large = np.unique(ends.channels[tag > _TAGS_EVERYWHERE])
    for channels in too_large.tolist():
        rows = ends.channels == channels
        tag[rows] = np.unique(tag[rows], return_inverse=True)[1]
    return tag


def _renumbered(
    pairs: Pairs,
    tag: NDArray[np.int64],
    tag2: NDArray[np.int64],
    messages: _Messages,
    chosen: NDArray[np.bool_],
) -> Tags:
    """Give messages that overtake others tags of their own, the fewest that do."""
    rows = np.flatnonzero(chosen)
    send, receive = messages.send[rows], messages.receive[rows]
    new = fewest_tags(messages.channel[rows], receive)
    call = np.union1d(send, receive)
    of_pair = pairs.of_call[call]
    call_tag, call_tag2 = tag[of_pair], tag2[of_pair]
    call_tag[np.searchsorted(call, send)] = new
    second = pairs.is_kind(*TWO_SIDED)[pairs.of_call[receive]]
    call_tag[np.searchsorted(call, receive[~second])] = new[~second]
    call_tag2[np.searchsorted(call, receive[second])] = new[second]
    return Tags(tag, tag2, call, call_tag, call_tag2)


def fewest_tags(
    channel: NDArray[np.signedinteger], receive: NDArray[np.signedinteger]
) -> NDArray[np.int64]:
    """Choose tags so that those of a channel and number arrive in order.

    Parameters
    ----------
    channel : (m,) integer array
        Channel of each message, in the order of sending.
    receive : (m,) integer array
        Position of its receive.

    Returns
    -------
    (m,) int64 array
        Tags from 0. A message gets the smallest tag that keeps the order.

    Examples
    --------
    >>> fewest_tags(np.zeros(4, int), np.array([5, 3, 6, 4])).tolist()
    [0, 1, 0, 1]
    """
    tag = np.zeros(len(channel), np.int64)
    rows = np.argsort(channel, kind="stable")
    span = int(receive.max(initial=0)) + 1
    # A later channel's positions lie above all of an earlier one's, so that one
    # running maximum serves all channels.
    position = factorise(channel[rows])[0].astype(np.int64) * span + receive[rows]
    number = 0
    while len(rows):
        highest = np.maximum.accumulate(position)
        late = np.concatenate([[False], position[1:] <= highest[:-1]])
        tag[rows[~late]] = number
        rows, position = rows[late], position[late]
        number += 1
    return tag
