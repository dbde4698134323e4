"""Write completions, starts and releases of requests."""

from __future__ import annotations

import numpy as np

from skelgen.events.functions import CallKind
from skelgen.skeleton.emit.calls.arguments import Surroundings, nap
from skelgen.skeleton.emit.fragments import Fragment, Word, helper, helpers
from skelgen.skeleton.emit.layout import Statement, call
from skelgen.skeleton.share.call_steps import CallStep
from skelgen.skeleton.share.request_places import Reference
from skelgen.symbols.types import ALL_OUTSTANDING

#: Helpers that wait by functions which do not wait as MPI_Wait does.
_OTHER_WAITS = {"MPI_Waitany": "wait_any", "MPI_Waitsome": "wait_some"}

#: Longest list of numbers that stands in a call.
_LONGEST_LIST = 12


def completion(around: Surroundings, index: int, depth: int) -> list[Statement]:
    """Write what a call does with requests that others created."""
    step = around.routine.steps[index]
    slots = slots_of(around, index)
    if slots is None:
        if len(step.ages) == 1:
            request = f"&request[aged({step.ages[0]})]"
            return [_one(around, index, depth, request, "aged")]
        count, ages = len(step.ages), _list(around, "ages", list(step.ages))
        text = f"aged_all({count}, {ages.text})"
        found = Fragment(text, ages.uses | helpers("aged_all"))
        return [_scattered(around, step, depth, count, found)]
    if not slots:
        return []  # nothing but requests that were over before
    if len(slots) == 1:
        return [_one(around, index, depth, f"&request[{slots[0]}]")]
    if slots == list(range(slots[0], slots[-1] + 1)):
        return [_together(around, step, depth, len(slots), slots[0])]
    listed = _list(around, "slots", slots)
    return [_scattered(around, step, depth, len(slots), listed)]


def slots_of(around: Surroundings, index: int) -> list[int] | None:
    """Return the places of the requests that a call refers to.

    None when they change, so that they must be found by age while running.
    """
    lives = around.routine.lifetimes
    variants = lives.references.get(index, {()})
    if around.routine.steps[index].ages == (ALL_OUTSTANDING,):
        return _all_slots(around, variants)
    found = {_slots(around, references) for references in variants}
    return list(found.pop() or ()) if len(found) == 1 and None not in found else None


def most_requests(around: Surroundings) -> int:
    """Return the length of the longest list of requests that a call takes."""
    return max(
        (
            len(slots_of(around, index) or around.routine.steps[index].ages)
            for index in around.routine.lifetimes.references
        ),
        default=0,
    )


def _all_slots(around: Surroundings, variants: set[tuple[Reference, ...]]) -> list[int]:
    """Return the places in which any request that is not persistent may be outstanding.

    A place without one has MPI_REQUEST_NULL, so those between them do no harm.
    """
    lives, first = around.routine.lifetimes, around.memory.requests.first
    operations = {one[0] for references in variants for one in filter(None, references)}
    own = [range(first[op], first[op] + lives.spans[op]) for op in operations]
    if not own or any(around.routine.steps[op].info.persistent for op in lives.spans):
        return sorted({place for places in own for place in places})
    return list(range(min(one.start for one in own), max(one.stop for one in own)))


def _slots(
    around: Surroundings, references: tuple[Reference, ...]
) -> tuple[int, ...] | None:
    """Return the places of some requests; None when they rotate."""
    lives = around.routine.lifetimes
    lags: dict[int, set[int]] = {}
    for operation, lag in filter(None, references):
        lags.setdefault(operation, set()).add(lag)
    slots: list[int] = []
    for operation, known in lags.items():
        span = lives.spans[operation]
        if len(known) < span:
            return None  # some of them, and the places rotate
        first = around.memory.requests.first[operation]
        slots += range(first, first + span)
    return tuple(sorted(slots))


def _list(around: Surroundings, stem: str, values: list[int]) -> Fragment:
    if len(values) > _LONGEST_LIST:
        return around.tables.constant("int", stem, np.array(values, float))
    words = ", ".join(str(value) for value in values)
    return Fragment("(const int[]){" + words + "}")


def _one(
    around: Surroundings, index: int, depth: int, place: str, *further: str
) -> Statement:
    step = around.routine.steps[index]
    request = Fragment(place, helpers("request", *further))
    if _polls(step):
        return call(depth, helper("poll_for"), [request, nap(around, step)])
    if step.function in _OTHER_WAITS:
        return call(depth, helper(_OTHER_WAITS[step.function]), ["1", request])
    if step.kind is CallKind.COMPLETE:
        return call(depth, "MPI_Wait", [request, "MPI_STATUS_IGNORE"])
    if step.kind is CallKind.START:
        return call(depth, "MPI_Start", [request])
    name = "MPI_Cancel" if step.function == "MPI_Cancel" else "MPI_Request_free"
    return call(depth, name, [request])


def _together(
    around: Surroundings, step: CallStep, depth: int, count: int, first: int
) -> Statement:
    words: list[Word] = [str(count), Fragment(f"&request[{first}]", helpers("request"))]
    if step.kind is CallKind.START:
        return call(depth, "MPI_Startall", words)
    if _polls(step):
        return call(depth, helper("poll_for_all"), [*words, nap(around, step)])
    if step.function in _OTHER_WAITS:
        return call(depth, helper(_OTHER_WAITS[step.function]), words)
    return call(depth, "MPI_Waitall", [*words, helper("status")])


def _scattered(
    around: Surroundings, step: CallStep, depth: int, count: int, slots: Fragment
) -> Statement:
    if _polls(step):
        words: list[Word] = [str(count), slots, nap(around, step)]
        return call(depth, helper("poll_for_places"), words)
    name = "start_all" if step.kind is CallKind.START else "wait_all"
    if step.function in _OTHER_WAITS:
        name = f"{_OTHER_WAITS[step.function]}_places"
    return call(depth, helper(name), [str(count), slots])


def _polls(step: CallStep) -> bool:
    return step.kind is CallKind.COMPLETE and step.polls
