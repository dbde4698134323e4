"""Skeletons for tests: the parts of a plan, and what makes a kept set whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skelgen.events import CallKind, Calls, Events, function_info
from skelgen.matching import Matching, match
from skelgen.signature import Signature, calls_of
from skelgen.skeleton.keep.closure import KeptCalls, close
from skelgen.skeleton.keep.expansion import Expansion, expand
from skelgen.skeleton.keep.selection import select
from skelgen.skeleton.keep.units import Units, units_of
from skelgen.skeleton.passes.draft import Draft, Pass, draft_of
from skelgen.skeleton.plan import Plan
from skelgen.skeleton.proof.script import Script, script_of
from skelgen.symbols.pairs import ON_REQUESTS
from tests import builders
from tests.summaries import build


@dataclass(frozen=True)
class Parts:
    """What planning works on, up to the kept calls."""

    signature: Signature
    calls: Calls
    matching: Matching
    expansion: Expansion
    units: Units
    chosen: Any
    kept: KeptCalls


def signature(source: Events | str) -> Signature:
    """Return the signature of a trace or of a text that describes one."""
    events = builders.events(source) if isinstance(source, str) else source
    return build(events).signature


def parts(source: Signature | Events | str, scaling_factor: float) -> Parts:
    """Plan as far as the kept calls."""
    known = source if isinstance(source, Signature) else signature(source)
    calls = calls_of(known)
    matching = match(calls)
    expansion = expand(known, 1 / scaling_factor)
    units = units_of(known, expansion, calls, matching)
    chosen = select(known, expansion, calls, units, 1 / scaling_factor)
    kept = close(calls, matching, units, chosen)
    return Parts(known, calls, matching, expansion, units, chosen, kept)


def draft(source: Events | str, scaling_factor: float, *passes: Pass) -> Draft:
    """Return a draft after some passes, whether or not they apply."""
    known = signature(source)
    begun = draft_of(known, scaling_factor, expand(known, 1 / scaling_factor))
    for one in passes:
        begun = one.rewrite(begun)
    return begun


def script(plan: Plan) -> Script:
    """Return what a plan's ranks execute."""
    return script_of(
        plan.programs, plan.functions, plan.symbols, plan.signature.families
    )


def kept_functions(found: Parts, rank: int) -> list[str]:
    """Return the functions that a rank of a skeleton calls, without ``MPI_``."""
    first, last = found.kept.first[rank : rank + 2]
    rows = found.calls.shape[found.kept.call[first:last]]
    names = found.calls.functions
    return [names[f].removeprefix("MPI_") for f in found.calls.shapes["function"][rows]]


def flaws_of_kept_set(found: Parts) -> list[str]:
    """Follow the kept calls one by one; say where they are not whole.

    This is closure, written a second time and slowly: messages and collectives have
    all their ends, requests that are completed exist and were kept, and requests
    that the application completed are completed.
    """
    calls, kept = found.calls, found.kept
    is_kept = np.zeros(len(calls), bool)
    is_kept[kept.call] = True
    flaws = []
    if (np.diff(kept.call) <= 0).any():
        flaws.append("order changed")
    for event in range(found.matching.whole_events):
        members = np.flatnonzero(found.matching.whole_event == event)
        if len(set(is_kept[members].tolist())) > 1:
            flaws.append(f"event {event} is kept in part: {members.tolist()}")
    for rank in range(calls.ranks):
        flaws += _flaws_of_requests(found, is_kept, rank)
    return flaws


def _flaws_of_requests(found: Parts, is_kept: Any, rank: int) -> list[str]:
    calls, kept = found.calls, found.kept
    flaws: list[str] = []
    # Calls that created a request, of either sort, and those that are kept.
    every: dict[bool, list[int]] = {False: [], True: []}
    some: dict[bool, list[int]] = {False: [], True: []}
    active: dict[int, bool] = {}  # creator: whether its latest operation is kept
    own = {int(c): i for i, c in enumerate(kept.call) if _rank(calls, c) == rank}
    for call in range(calls.first[rank], calls.first[rank + 1]):
        shape = calls.shapes[calls.shape[call]]
        info = function_info(calls.functions[shape["function"]])
        row = calls.ages[call] if info.kind in ON_REQUESTS else 0
        ages = calls.age_values[calls.age_first[row] : calls.age_first[row + 1]]
        named = [every[age < 0][-abs(age)] for age in ages.tolist()]
        got = []
        if call in own:
            i = own[call]
            new = kept.ages[kept.age_first[i] : kept.age_first[i + 1]].tolist()
            if any(not 1 <= abs(age) <= len(some[age < 0]) for age in new):
                flaws.append(f"call {call} names a request that was not kept")
                continue
            got = [some[age < 0][-abs(age)] for age in new]
        if info.kind is CallKind.START:
            for creator in named:
                active[creator] = call in own
            wanted = named if call in own else []
        elif info.kind is CallKind.COMPLETE:
            wanted = [creator for creator in named if active.get(creator)]
        elif info.kind is CallKind.RELEASE:
            wanted = [creator for creator in named if is_kept[creator]]
        else:
            wanted = []
        if got != wanted:
            flaws.append(f"call {call} names {got} instead of {wanted}")
        if info.creates:
            every[info.persistent].append(call)
            if call in own:
                some[info.persistent].append(call)
            active[call] = call in own and not info.persistent
    return flaws


def _rank(calls: Calls, call: int) -> int:
    return int(np.searchsorted(calls.first, call, side="right")) - 1
