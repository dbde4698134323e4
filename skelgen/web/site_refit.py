"""What can be done with a kept model: fit it again, compare, make a run for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skelgen.models.next_run import NextRun
from skelgen.web.site import Block, CommandLine, Heading, Prose
from skelgen.web.site_fit import add_here, next_runs_block
from skelgen.web.site_steps import StepForm


@dataclass(frozen=True, slots=True)
class RefitShown:
    """A kept model and what can be done with it.

    Attributes
    ----------
    address : str
        Of its page.
    application, system : str
        The second is empty where the runs are not of one.
    fixed : str
        Inputs that are the same in all runs, as people type them.
    ranks : int
        Likewise; 0: they differ, or nobody knows.
    next_runs : sequence of NextRun
    commands : mapping of str to str
        What does the same in a terminal; empty where its runs were in a file.
    changed : bool
        Whether the store has other runs now.
    may_add : bool
    """

    address: str
    application: str
    system: str
    fixed: str
    ranks: int
    next_runs: Sequence[NextRun]
    commands: Mapping[str, str]
    changed: bool
    may_add: bool


def refit_blocks(one: RefitShown) -> list[Block]:
    """Return what can be done with a kept model."""
    blocks: list[Block] = []
    if one.commands and one.may_add:
        told = "The store has other runs now." if one.changed else "Its runs are the "
        told += "" if one.changed else "same now: it would be the same model."
        blocks += [
            Heading("Do more with it"),
            StepForm(f"{one.address}/again", "Fit again", left=told, changes=True),
            StepForm(
                f"{one.address}/compare",
                "Compare families",
                left="Each family predicts the larger runs from the smaller ones: a "
                "job.",
                changes=True,
            ),
        ]
    if one.next_runs:
        blocks += next_runs_block(one.next_runs)
        if one.may_add:
            best = one.next_runs[0].run
            blocks.append(
                add_here(best, one.application, one.fixed, one.ranks, one.system)
            )
    if one.commands:
        blocks.append(Heading("The same in a terminal"))
    for what, command in one.commands.items():
        blocks += [Prose(f"{what}:"), CommandLine(command)]
    return blocks
