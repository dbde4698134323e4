"""In which order runs are made, so that a drifting machine meets all alike.

A prediction is wrong by drift when application and skeleton meet different states of
the machine in one scenario and not in the quiet one. So within a *block* (one scenario)
every skeleton runs right before and right after the application, in mirrored order:
whatever drifts linearly cancels in each block. The application runs twice: equal runs
of programs that live in caches differ by 10 %. Skeletons run four times: short runs
differ more, and `skelgen predict` makes three at least. Where they differ by far more,
beside competitors on all nodes, it makes more, and so does ``--beside``. All
predictions share the quiet times, so a quiet block stands before, between and behind
all others, with two runs of all. Odd repeats take all blocks backwards. All
applications have their first repeat before any has its second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.accuracy.results import (
    APPLICATION,
    FITTED,
    METHODS,
    PAPER,
    SKELETON,
    SMALL,
    TOUCHED,
    Key,
)
from tests.testbed.scenarios import Scenario


@dataclass(frozen=True, slots=True)
class Design:
    """What is run.

    Attributes
    ----------
    lengths_s, other_lengths_s : tuple of float
        Times of our skeletons, and of those that they are compared with [s].
    scenarios : tuple of Scenario
        Quiet ones are added.
    repeats : int
    kinds : tuple of str
        How skeletons are built.
    beside : int
        Runs of each skeleton on each side of the application, where others share the
        nodes: an even number.
    """

    lengths_s: tuple[float, ...]
    other_lengths_s: tuple[float, ...]
    scenarios: tuple[Scenario, ...]
    repeats: int
    kinds: tuple[str, ...] = METHODS
    beside: int = 2

    def methods(self, scenario: Scenario) -> list[tuple[str, float]]:
        """Return the skeletons that run in a scenario: how built, wanted time [s]."""
        # The scenario with a placement of its own is about kinds of computation only.
        ours = (FITTED, TOUCHED)
        both = (SKELETON, *ours) if scenario.hosts else (*ours, PAPER)
        found = [(kind, s) for s in self.other_lengths_s for kind in both]
        if not scenario.hosts:
            found = [(SKELETON, s) for s in self.lengths_s] + found
        return [(kind, s) for kind, s in found if kind in self.kinds]

    def blocks(self, repeat: int) -> list[Scenario]:
        """Return the scenarios of a repeat, in order."""
        found: list[Scenario] = []
        shared = [one for one in self.scenarios if one != one.reference]
        for quiet in dict.fromkeys(one.reference for one in self.scenarios):
            group = [one for one in shared if one.reference == quiet]
            found += [quiet, *(one for shared in group for one in (shared, quiet))]
        return found[::-1] if repeat % 2 else found


def trials(
    design: Design, name: str, repeat: int, *, small: bool
) -> Iterator[tuple[Scenario, list[Key]]]:
    """Name the runs of one application in one repeat, block by block."""
    counted: Counter[tuple[str, str, float]] = Counter()
    for number in range(repeat + 1):
        for scenario in design.blocks(number):
            keys = []
            for run in _block(design, scenario, small=small):
                keys.append(Key(name, *run, counted[run]))
                counted[run] += 1
            if number == repeat:
                yield scenario, keys


def _block(
    design: Design, scenario: Scenario, *, small: bool
) -> list[tuple[str, str, float]]:
    """Return scenario, what and length [s] of each run of a block."""
    skeletons = [(scenario.name, *method) for method in design.methods(scenario)]
    application = (scenario.name, APPLICATION, 0.0)
    middle = [application]
    if small and not scenario.hosts:
        middle.append((scenario.name, SMALL, 0.0))
    if scenario == scenario.reference:  # it comes again
        return [*skeletons, *middle, application, *skeletons[::-1]]
    side = [*skeletons, *skeletons[::-1]] * (design.beside // 2)
    return [*side, *middle, application, *side]
