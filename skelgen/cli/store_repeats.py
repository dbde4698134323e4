"""Runs of one configuration, as `skelgen store list --repeats` shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skelgen.cli.output import print_result, print_table, say
from skelgen.units import format_seconds

if TYPE_CHECKING:
    from skelgen.store.repeats import RepeatedRuns


def tell_repeats(found: Sequence[RepeatedRuns], *, mean: bool, json: bool) -> None:
    """Print the configurations that ran more than once, and what they need."""
    from skelgen.results.stored_runs import RepeatedConfiguration, StoreRepeatsResult

    facts = [RepeatedConfiguration.of(one, mean=mean) for one in found]
    if json:
        print_result(StoreRepeatsResult(repeats=facts))
        return
    if not found:
        say("no configuration ran more than once")
        return
    head = ["application", "inputs", "ranks", "runs", "time", "spread", "same nodes"]
    print_table(
        [*head, "same job"],
        [
            [
                one.runs[0].application,
                " ".join(f"{name}={value}" for name, value in fact.inputs.items()),
                str(one.runs[0].ranks or ""),
                str(len(one.runs)),
                format_seconds(fact.time_s),
                f"{one.spread:.1%}",
                _said(one.same_nodes),
                _said(one.same_allocation),
            ]
            for one, fact in zip(found, facts, strict=True)
        ],
    )
    for one in found:
        if one.wide:
            say(_remedy(one))


def _said(answer: bool | None) -> str:
    return {True: "yes", False: "no", None: "?"}[answer]


def _remedy(one: RepeatedRuns) -> str:
    """Say what runs that differ need, as the 2010 paper found."""
    run = one.runs[0]
    what = " ".join([run.application, *(f"{n}={v}" for n, v in run.inputs)])
    if one.same_nodes and one.same_allocation:
        remedy = "in one job on the same nodes: other jobs share these nodes"
    elif one.same_nodes:
        remedy = "on the same nodes: repeat them in one job"
    else:
        remedy = "not known to be on the same nodes: repeat them in one job on these"
    return f"{what}: {len(one.runs)} runs differ by {one.spread:.0%}, {remedy}"
