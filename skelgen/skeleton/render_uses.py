"""Find out which helper functions the text of a skeleton needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.skeleton.render_routines import Routine
from skelgen.skeleton.render_tables import Tables


@dataclass(frozen=True, slots=True)
class Uses:
    """Which helpers the text needs; an unused one would be a warning.

    Attributes
    ----------
    compute, peer, peer_in, nobody, created, wait_all, start_all : bool
    left, persistent : bool
        Whether requests remain outstanding, or persistent, when the routine ends.
    most : int
        Longest list of requests that a helper takes.
    ring : int
        How far back requests are looked up by age.
    """

    compute: bool
    peer: bool
    peer_in: bool
    nobody: bool
    status: bool
    wait_all: bool
    start_all: bool
    aged: bool
    aged_list: bool
    created: bool
    series: bool
    count: bool
    one: bool
    runs: bool
    row: bool
    left: bool
    persistent: bool
    most: int
    ring: int

    @classmethod
    def of(cls, text: str, joined: Sequence[Routine], tables: Tables) -> Uses:
        """Find the helpers that a text calls."""
        steps = [step for routine in joined for step in routine.steps]
        left = any(routine.lifetimes.left for routine in joined)
        return cls(
            compute="compute(" in text,
            peer="peer(" in text,
            peer_in="peer_in(" in text or "peer_or_nobody(" in text,
            nobody="peer_or_nobody(" in text,
            status=left or re.search(r"wait_all\(|, status\)", text) is not None,
            wait_all="wait_all(" in text,
            start_all="start_all(" in text,
            aged=re.search(r"aged\(\d+\)", text) is not None,
            aged_list=re.search(r"aged_all\(", text) is not None,
            created="created(" in text,
            series="next(&" in text or "count(&" in text,
            count="count(&" in text,
            one=any("ONE(" in line for line in tables.lines),
            runs="next_run(&" in text,
            row=tables.by_row,
            left=left,
            persistent=any(step.function.endswith("_init") for step in steps),
            most=max((len(step.ages) for step in steps), default=0),
            ring=max((max(step.ages) for step in steps if step.ages), default=0),
        )
