"""Skeletons of 500 random programs finish; ``benchmarks/deadlock.py`` tries more."""

from __future__ import annotations

import random

import numpy as np
import pytest

from skelgen.errors import UsageError
from skelgen.events import function_info
from skelgen.skeleton.plan import plan
from skelgen.skeleton.proof.simulation import simulate
from skelgen.skeleton.quantities.vectors import is_pairwise
from skelgen.skeleton.types import Plan
from tests.random_programs import random_program
from tests.skeletons import script, signature

PROGRAMS, BATCHES = 500, 10


@pytest.mark.parametrize("batch", range(BATCHES))
def test_skeletons_of_random_programs_finish(batch: int) -> None:
    planned = 0
    for seed in range(batch, PROGRAMS, BATCHES):
        rng = random.Random(seed)
        known = signature(random_program(rng, calls=rng.choice((60, 150, 300))))
        if not any(group.count.sum() for group in known.groups):
            continue
        factor = rng.choice((1.05, 1.3, 1.7, 2, 3, 5, 8, 13, 21))
        try:
            made = plan(known, factor)
        except UsageError:  # too short for this K
            made = plan(known, 1.01)
        planned += 1
        given = script(made)
        assert simulate(given, rendezvous=True).sound, (seed, factor)
        assert simulate(given, rendezvous=False).sound, (seed, factor)
        assert not any("buffered" in text for text in made.report.warnings), seed
        assert alltoalls_agree(made), (seed, factor)
    assert planned > 0.95 * PROGRAMS / BATCHES


def alltoalls_agree(made: Plan) -> bool:
    """Return whether what one rank sends another in total is what that one takes.

    The simulator does not look into the vectors of Alltoallv.
    """
    ranks = made.signature.ranks
    for family in made.signature.families:
        for number, members in enumerate(family.instances):
            sent, taken = np.zeros((2, ranks, ranks))
            for program in made.programs:
                for rank in set(program.ranks) & set(members):
                    for operation in program.operations:
                        row = made.symbols[operation.symbol]
                        name = made.functions[row["function"]]
                        if not is_pairwise(name):
                            continue
                        if made.signature.families[row["family"]] is not family:
                            continue
                        vectors = operation.vectors[program.ranks.index(rank)]
                        to, of = vectors * operation.occurrences
                        targets = sources = list(members)
                        if function_info(name).neighbourhood:
                            own = members.index(rank)
                            targets = [
                                members[r] for r in family.destinations[number][own]
                            ]
                            sources = [members[r] for r in family.sources[number][own]]
                        np.add.at(sent, (rank, targets), to[: len(targets)])
                        np.add.at(taken, (sources, rank), of[: len(sources)])
            if not np.array_equal(sent, taken):
                return False
    return True
