"""Find calls of a rank that may come in another order than they were recorded in.

A master receives from any source and goes on with who came: it answers with the next
task. In the recording that was one order out of many. Here its calls are divided into
*turns*: a message from any source with the calls behind it that go on with the same
partner. Turns of one kind with nothing between them are a *stretch*, and may change
places in it. That cannot make anybody wait for ever, for

- of each partner there are as many turns in a stretch as before, in the same order;
- a partner makes its calls of a turn one behind the other, so a turn that has begun
  ends whatever the other ranks do;
- all ranks but the served one's do the same in every order: whoever came by a turn in
  the recorded order, with less done before it, comes by it in any other.

No partner serves others itself. The two orders that are furthest from the recorded one
are simulated all the same: where one of them stalls, the recorded order stays.

Partners may also share the turns of a stretch. Theirs then follow each other, with
nothing else between them, so whatever a partner does before or behind them depends on
others as whole runs of turns only, in the recorded order. A stretch is over after as
many turns as in the recording. At its beginning as many are left as partners are open,
or more; and when no more are left than that, whoever comes is told that it is over. So
each partner comes at least once, and all are told before the stretch ends.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skelgen.events import CallKind
from skelgen.keys import occurrence_of
from skelgen.skeleton.proof.script import NOBODY, Script
from skelgen.skeleton.proof.simulation import simulate
from skelgen.skeleton.quantities.symbols import PlanSymbols
from skelgen.skeleton.task_farm.visits import PLAIN, Visits, visits_of
from skelgen.skeleton.types import Program


@dataclass(frozen=True, slots=True, eq=False)
class Turns:
    """Turns of the ranks of a program.

    Attributes
    ----------
    program : int
    step : (n, calls) int64 array
        Calls of each turn as places in the program's string, in the recorded order.
    peer : (n,) int64 array
        Relative partner.
    stretch : (n,) int64 array
        Turns with the same number may change places.
    """

    program: int
    step: NDArray[np.int64]
    peer: NDArray[np.int64]
    stretch: NDArray[np.int64]


def turns_in(
    programs: Sequence[Program],
    symbols: PlanSymbols,
    ranks: Collection[int],
    goes_on: Mapping[int, NDArray[np.bool_]],
    *,
    any_tag: bool = False,
) -> list[Turns]:
    """Divide what some ranks execute that receive from any source.

    Parameters
    ----------
    programs : sequence of Program
    symbols : PlanSymbols
    ranks : collection of int
    goes_on : mapping of int to (steps,) bool array
        Of programs, what receives from any source but goes on with the partner before.
    any_tag : bool
        Whether turns are of one kind that differ in their tags, where a send answers.

    Returns
    -------
    list of Turns
        At most one of each program, with two partners or more in a stretch.
    """
    divided = (
        _turns(number, visits_of(one, symbols, goes_on.get(number)), any_tag=any_tag)
        for number, one in enumerate(programs)
        if {*one.ranks} <= {*ranks}
    )
    return [turns for turns in divided if turns is not None]


def harmless(
    found: Sequence[Turns],
    programs: Sequence[Program],
    script: Script,
    mate: NDArray[np.int64],
) -> list[Turns]:
    """Return those turns whose order cannot let anybody wait for ever.

    Parameters
    ----------
    found : sequence of Turns
    programs : sequence of Program
        Proved to finish.
    script : Script
        Of these programs.
    mate : (steps,) int64 array
        Its `mates`.
    """
    kept: list[Turns] = []
    serving: set[int] = set()
    served: set[int] = set()
    for turns in found:
        ranks = programs[turns.program].ranks
        partners = _partners(script, mate, turns, ranks)
        if partners is None or partners & {*serving, *ranks} or served & {*ranks}:
            continue
        if all(_finishes(script, turns, ranks, turned) for turned in (1, -1)):
            kept.append(turns)
            serving |= {*ranks}
            served |= partners
    return kept


def _turns(number: int, visits: Visits | None, *, any_tag: bool) -> Turns | None:
    """Take the most frequent kind of a program's visits."""
    if visits is None:
        return None
    turn = _most_frequent(visits, visits.plain_key if any_tag else visits.key)
    if turn is None:
        return None
    step = visits.first[turn, None] + np.arange(visits.calls[turn[0]])
    stretch = np.cumsum(np.append(0, np.diff(turn) != 1))
    found = Turns(number, step, visits.peer[step[:, 0]], stretch)
    pairs = np.unique(np.stack([stretch, found.peer]), axis=1)
    return found if len(pairs[0]) > len(np.unique(stretch)) else None


def _most_frequent(visits: Visits, key: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the visits of the most frequent kind of those that ask."""
    best = None
    for length in np.unique(visits.calls[visits.asks]).tolist():
        visit = np.flatnonzero(visits.asks & (visits.calls == length))
        kinds, which, count = np.unique(
            key[visits.first[visit, None] + np.arange(length)],
            axis=0,
            return_inverse=True,
            return_counts=True,
        )
        chosen = visit[which.ravel() == int(count.argmax())]
        if len(kinds) and (best is None or len(chosen) > len(best)):
            best = chosen
    return best


def mates(script: Script) -> NDArray[np.int64]:
    """Return for each step of a script the other end of its message.

    -1 where there is none, and where nonblocking calls use the same channel.
    """
    row = script.row
    kind = script.kind[row]
    count = np.diff(script.partner_first)
    at = script.partner_first[row] + occurrence_of(row) % np.maximum(count[row], 1)
    owner = np.repeat(np.arange(len(count)), count)
    other = ~np.isin(script.kind[owner], PLAIN)
    shared = np.zeros(len(script.channels) + 1, bool)
    for channels in (script.send_channel, script.receive_channel):
        shared[channels[other]] = True
    shared[NOBODY] = True
    ends = []
    for channels, which in (
        (script.send_channel, CallKind.SEND),
        (script.receive_channel, CallKind.RECEIVE),
    ):
        step = np.flatnonzero(kind == which)
        channel = channels[at[step]]
        step, channel = step[~shared[channel]], channel[~shared[channel]]
        ends.append(step[np.argsort(channel, kind="stable")])
    found = np.full(len(row), NOBODY, np.int64)
    if len(ends[0]) == len(ends[1]):
        found[ends[0]], found[ends[1]] = ends[1], ends[0]
    return found


def _partners(
    script: Script, mate: NDArray[np.int64], turns: Turns, ranks: Sequence[int]
) -> set[int] | None:
    """Return whom some ranks serve, None when a turn may wait for others."""
    found: set[int] = set()
    for rank in ranks:
        other = mate[script.first[rank] + turns.step]
        if (other < 0).any() or (np.diff(other, axis=1) != 1).any():
            return None
        owner = np.searchsorted(script.first, other, side="right") - 1
        if (owner != owner[:, :1]).any():
            return None
        found |= set(owner[:, 0].tolist())
    return found


def _finishes(script: Script, turns: Turns, ranks: Sequence[int], turned: int) -> bool:
    """Say whether all ranks finish with the turns of each stretch put in order.

    Parameters
    ----------
    script : Script
    turns : Turns
    ranks : sequence of int
    turned : int
        1 for ascending partners, -1 for descending ones.
    """
    order = np.lexsort((turned * turns.peer, turns.stretch))
    changed = reordered(script, turns, ranks, order)
    return changed is not None and all(
        simulate(changed, rendezvous=rendezvous).sound for rendezvous in (True, False)
    )


def reordered(
    script: Script, turns: Turns, ranks: Sequence[int], order: NDArray[np.int64]
) -> Script | None:
    """Return a script in which some ranks take their turns in another order.

    Messages whose size depends on the occurrence keep the size of the place.

    Parameters
    ----------
    script : Script
    turns : Turns
    ranks : sequence of int
    order : (n,) int64 array
        The turn at each place.

    Returns
    -------
    Script or None
        None when partners of a call repeat, so that they cannot change places.
    """
    row = script.row.copy()
    count = np.diff(script.partner_first)
    send, receive = script.send_channel.copy(), script.receive_channel.copy()
    at = script.partner_first[row] + occurrence_of(row) % np.maximum(count[row], 1)
    for rank in ranks:
        own = slice(*script.first[rank : rank + 2].tolist())
        moves = np.unique(script.row[own][turns.step])
        came_from = np.arange(own.stop - own.start)
        came_from[turns.step.ravel()] = turns.step[order].ravel()
        row[own] = script.row[own][came_from]
        moved = at[own][came_from]
        for number in moves[count[moves] > 1].tolist():
            there = moved[row[own] == number]
            if len(there) != count[number]:
                return None
            partners = slice(*script.partner_first[number : number + 2].tolist())
            send[partners] = script.send_channel[there]
            receive[partners] = script.receive_channel[there]
    return replace(script, row=row, send_channel=send, receive_channel=receive)
