"""Quantities of a divided signature: averages, or a K-th of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from skelgen.events import function_info
from skelgen.events.functions import PERSISTENT
from skelgen.signature import RankGroup, Signature
from skelgen.signature.leaves import leaf_symbols
from skelgen.skeleton.keep.expansion import Expansion
from skelgen.skeleton.passes.draft import Draft
from skelgen.skeleton.quantities.durations import Durations
from skelgen.skeleton.quantities.nodes import Nodes
from skelgen.skeleton.quantities.outstanding import with_all_outstanding
from skelgen.skeleton.quantities.programs import programs_of
from skelgen.skeleton.quantities.sizes import sizes_of
from skelgen.skeleton.quantities.strings import (
    INSERTED,
    SharedStrings,
    shared_strings,
)
from skelgen.skeleton.types import Program


class DivisionRole(IntEnum):
    """What a call stands for."""

    WHOLE = 0  # an iteration of a divided loop
    ONE_FOR_K = 1  # K equal calls
    REDUCED = 2  # a K-th of itself


_ROLES = len(DivisionRole)


@dataclass(frozen=True, slots=True)
class DividedQuantities:
    """Give what the ranks execute the average quantities of a divided signature."""

    def applies(self, draft: Draft) -> bool:
        """Say whether the ranks execute something."""
        return bool(len(draft.strings.call))

    def rewrite(self, draft: Draft) -> Draft:
        """Return the draft with programs."""
        strings = with_all_outstanding(draft.strings, draft.symbols, draft.signature)
        shared = shared_strings(strings, draft.expansion.group)
        nodes = Nodes(
            draft.leaves,
            shared,
            draft.symbols.functions,
            draft.symbols.table,
            draft.units,
        )
        sizes = sizes_of(nodes, draft.matching)
        durations = [
            _durations(draft, shared, program) for program in range(len(shared.ranks))
        ]
        first = draft.calls.first
        programs = programs_of(nodes, sizes, durations, draft.expansion, first)
        leaves = [len(group.count) for group in draft.signature.groups]
        named = tuple(_named(program, leaves) for program in programs)
        return replace(draft, programs=named, nodes=nodes)

    def doubts(self, draft: Draft) -> list[str]:
        """Doubt nothing: that all are averages is the method."""
        return []


def _named(program: Program, leaves: list[int]) -> Program:
    """Let operations name the leaves of the signature again."""
    operations = tuple(
        operation
        if operation.leaf == INSERTED
        else replace(operation, leaf=operation.leaf % leaves[operation.group])
        for operation in program.operations
    )
    return replace(program, operations=operations)


def averages(signature: Signature, expansion: Expansion, factor: int) -> Signature:
    """Return a signature with average sizes, of every leaf in its three roles.

    Parameters
    ----------
    signature : Signature
    expansion : Expansion
        With the leaves of roles.
    factor : int
        K.
    """
    groups = []
    for number, group in enumerate(signature.groups):
        own = slice(expansion.first[number], expansion.first[number + 1])
        groups.append(_group_averages(signature, group, expansion.leaf[own], factor))
    return replace(signature, groups=tuple(groups))


def _group_averages(
    signature: Signature, group: RankGroup, role_leaf: NDArray[np.int32], factor: int
) -> RankGroup:
    leaves = len(group.count)
    part = np.ones((_ROLES, leaves, 1))
    part[DivisionRole.REDUCED] /= factor
    functions = signature.symbols["function"][leaf_symbols(group.nest)].tolist()
    for leaf, function in enumerate(functions):
        # What starts a persistent request is divided, not what every start sends.
        if function_info(signature.functions[function]).kind in PERSISTENT:
            part[DivisionRole.REDUCED, leaf] = 1
    total = np.concatenate(list(group.size_bytes.total * part))
    count = np.tile(group.count, _ROLES)
    mean = total / np.maximum(count, 1)[:, np.newaxis]
    return replace(
        group,
        count=count,
        size_bytes=replace(group.size_bytes, total=total, least=mean, most=mean),
        peers=_peers(group, role_leaf),
        vectors=tuple(
            group.vectors[leaf] * part[role, leaf]
            for role in range(_ROLES)
            for leaf in range(leaves)
        ),
    )


def _peers(
    group: RankGroup, role_leaf: NDArray[np.int32]
) -> tuple[NDArray[np.int32], ...]:
    """Share partners that vary out to the roles of their leaf."""
    leaves = len(group.count)
    found = [np.zeros((0, 2), np.int32)] * (_ROLES * leaves)
    for leaf, runs in enumerate(group.peers):
        if len(runs):
            partners = np.repeat(runs[:, 0], runs[:, 1])
            taken = role_leaf[role_leaf % leaves == leaf]
            for role in range(_ROLES):
                of_role = partners[taken == leaf + role * leaves]
                once = np.ones_like(of_role)
                found[leaf + role * leaves] = np.stack([of_role, once], axis=1)
    return tuple(found)


def _durations(draft: Draft, current: SharedStrings, program: int) -> Durations:
    """Give the calls of a program the average computation of those they stand for.

    What stood before completions that nobody needs goes to the next call. So every
    rank keeps exactly a K-th of its computation. The paper knows no sleep: it is
    computation, too.
    """
    number, rank = current.group[program], current.ranks[program][0]
    group = draft.signature.groups[number]
    rows = np.searchsorted(group.ranks, current.ranks[program])
    steps = slice(current.strings.first[rank], current.strings.first[rank + 1])
    call = current.strings.call[steps]
    position = call[call != INSERTED] - draft.calls.first[rank]
    given, often = _given(draft, number, position)
    mean_ns = group.before_ns[:, rows] / np.maximum(group.count, 1)[:, None]
    held_ns = np.zeros((len(often) + 1, len(rows)))
    for (heir, leaf), worth in given.items():
        held_ns[heir] += mean_ns[leaf] * worth
    none = np.zeros((len(rows), 1))
    series = tuple(
        none if leaf == INSERTED else held_ns[leaf][:, np.newaxis] / often[leaf]
        for leaf in current.column("leaf", program).tolist()
    )
    tail_ns = group.after_ns[rows] / round(draft.scaling_factor)
    zero = np.zeros(len(rows))
    idle_ns = (none,) * len(series)
    naps = (None,) * len(series)
    return Durations(series, idle_ns, tail_ns + held_ns[-1], zero, zero, naps)


def _given(
    draft: Draft, number: int, position: NDArray[np.int64]
) -> tuple[dict[tuple[int, int], float], NDArray[np.int64]]:
    """Say how often each leaf of a role has the computation of each leaf.

    Parameters
    ----------
    draft : Draft
    number : int
        Rank group.
    position : (k,) int64 array
        Positions of the group that are kept, ascending.

    Returns
    -------
    dict of (int, int) to float
        By leaf of a role, or the number of those for the end, and leaf; all
        occurrences together [1].
    (leaves of roles,) int64 array
        How often each is kept.
    """
    expansion = draft.expansion
    own = slice(expansion.first[number], expansion.first[number + 1])
    leaves = len(draft.signature.groups[number].count)
    of_role = expansion.leaf[own].astype(np.int64)
    leaf, kept = of_role % leaves, of_role[position]
    often = np.bincount(kept, minlength=_ROLES * leaves)
    heirs = np.append(kept, len(often))
    heir = heirs[np.searchsorted(position, draft.stands[own])]
    # Iterations that stay have the computation of those that do not.
    in_loop = ~((expansion.weight[own] > 0) & (expansion.weight[own] < 1))
    present = often[:leaves] > 0
    heir = np.where(in_loop & present[leaf], leaf, heir)
    pairs, count = np.unique(heir * leaves + leaf, return_counts=True)
    worth = count / round(draft.scaling_factor)
    ends = zip((pairs // leaves).tolist(), (pairs % leaves).tolist(), strict=True)
    return dict(zip(ends, worth.tolist(), strict=True)), often
