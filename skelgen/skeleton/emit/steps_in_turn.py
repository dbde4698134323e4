"""Write steps that follow no pattern: a list says which of them comes next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from skelgen.loops import expand
from skelgen.skeleton.emit.calls.arguments import Surroundings
from skelgen.skeleton.emit.layout import Statement
from skelgen.skeleton.share.routines import Routine


class Body(Protocol):
    """Writes the items of a routine."""

    around: Surroundings
    routine: Routine

    def text(self, items: Sequence[tuple[int, ...]], depth: int) -> list[Statement]:
        """Write items of a body."""
        ...


def steps_in_turn(body: Body) -> list[Statement]:
    """Write a routine as a list of its steps; nothing where it is loops."""
    if not body.routine.in_turn:
        return []
    nest = body.routine.nests[0]
    order = expand(nest).astype(np.int64)
    ranks = len(body.routine.ranks)
    which = body.around.tables.in_turn("order", np.tile(order, (ranks, 1)))
    found = [
        Statement(("\t/* The calls follow no pattern: a list has their order. */",)),
        Statement((f"\tfor (int i = 0; i < {len(order)}; i++) {{",)),
        Statement((f"\t\tswitch ({which.text}) {{",), uses=which.uses),
    ]
    symbol = nest.symbol.tolist()
    for step in range(len(body.routine.steps)):
        if inside := body.text([(symbol.index(step),)], 3):
            found.append(Statement((f"\t\tcase {step}:",)))
            found += [*inside, Statement(("\t\t\tbreak;",))]
    return [*found, Statement(("\t\t}",)), Statement(("\t}",))]
