"""The page that predicts a loop from its kernels, in three steps.

References
----------
Wu, Taylor, Paris 2005, section 3.3, figures 11 to 13.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skelgen.units import format_seconds, number_of
from skelgen.web.kernel_bars import BARS_WIDTH, KernelBar, bar_shapes, bars_height
from skelgen.web.model_links import model_links
from skelgen.web.site import (
    Block,
    ColumnHead,
    CommandLine,
    DrawingShown,
    Heading,
    Prose,
    SitePage,
    SiteTable,
    TableCell,
    address,
    cells,
    value,
)
from skelgen.web.site_couplings import (
    CHAIN_HEAD,
    COUPLINGS_PAGE,
    EFFECTS,
    no_kernels,
    system_field,
    tone_of,
)
from skelgen.web.site_steps import Option, StepDone, StepField, StepForm


@dataclass(frozen=True, slots=True)
class CouplingSteps:
    """What was chosen, and what can be.

    Attributes
    ----------
    chosen : dict of str to str
        Fields of the address.
    applications, systems, loop : tuple of str
    inputs : tuple of (str, tuple of float)
        Numbers that differ between the runs, and their values.
    families : tuple of (str, str)
        Name, and what people read.
    step : int
        The one that is to be filled in: 1 to 3.
    problem : str
    """

    chosen: dict[str, str]
    applications: tuple[str, ...]
    systems: tuple[str, ...] = ()
    loop: tuple[str, ...] = ()
    inputs: tuple[tuple[str, tuple[float, ...]], ...] = ()
    families: tuple[tuple[str, str], ...] = ()
    step: int = 1
    problem: str = ""


#: What fields of kernels and values are called.
TYPE, FORMULA, FIXED = "type.", "formula.", "fixed."
_TITLES = {1: "1. Application and system", 2: "2. Kernels", 3: "3. Values"}


def coupling_page(
    steps: CouplingSteps, command: str = "", found: Mapping[str, Any] | None = None
) -> SitePage:
    """Return the page of the steps, and of what came of them.

    Parameters
    ----------
    steps : CouplingSteps
    command : str
        Gives the same in a terminal.
    found : mapping, optional
        What it says with ``--json``.
    """
    blocks: list[Block] = [model_links(COUPLINGS_PAGE)]
    lead = (
        "A loop takes the time of its kernels, weighted by how they affect each other."
    )
    if not steps.applications:
        blocks += no_kernels()
        return SitePage("Model by kernels", tuple(blocks), "/models", lead)
    blocks += [_done(steps, number) for number in range(1, steps.step)]
    blocks.append((_first, _second, _third)[steps.step - 1](steps))
    if found is not None:
        blocks += _result(found)
        blocks += [Heading("The same in a terminal"), CommandLine(command)]
    return SitePage("Model by kernels", tuple(blocks), "/models", lead)


def _first(steps: CouplingSteps) -> StepForm:
    chosen = steps.chosen
    fields = [
        StepField(
            *("app", "Application", chosen.get("app", "")),
            choices=tuple(Option(one, one) for one in steps.applications),
        )
    ]
    if steps.systems:
        fields.append(system_field(chosen.get("system", ""), steps.systems))
    return StepForm(
        COUPLINGS_PAGE, "Next", _TITLES[1], tuple(fields), said=steps.problem
    )


def _done(steps: CouplingSteps, number: int) -> StepDone:
    chosen = steps.chosen
    if number == 1:
        rows = [("application", chosen.get("app", ""))]
        rows.append(("system", chosen.get("system", "") or "any"))
        return StepDone(_TITLES[1], tuple(rows), COUPLINGS_PAGE)
    labels = dict(steps.families)
    rows = [("chains of", chosen.get("chain", "2")), ("over", chosen.get("over", ""))]
    for name in steps.loop:
        form = chosen.get(f"{FORMULA}{name}", "")
        kind = chosen.get(f"{TYPE}{name}", "") or "default"
        rows.append((name, form or labels.get(kind, kind)))
    back = {name: chosen.get(name, "") for name in ("app", "system")}
    return StepDone(
        _TITLES[2], tuple(rows), address("model", "coupling", **back, step="2")
    )


def _hidden(steps: CouplingSteps, before: int) -> tuple[tuple[str, str], ...]:
    names = ["app", "system"]
    if before > 2:
        names += ["chain", "over"]
        names += [f"{kind}{one}" for one in steps.loop for kind in (TYPE, FORMULA)]
    chosen = steps.chosen
    found = tuple((name, chosen[name]) for name in names if chosen.get(name))
    return (*found, ("step", str(before)))


def _second(steps: CouplingSteps) -> StepForm:
    chosen = steps.chosen
    lengths = range(2, len(steps.loop) + 1)
    fields = [
        StepField(
            *("chain", "Kernels in a chain", chosen.get("chain", "2")),
            choices=tuple(Option(str(one), str(one)) for one in lengths),
        )
    ]
    if steps.inputs:
        names = [name for name, _ in steps.inputs]
        fields.append(
            StepField(
                *("over", "Arranged by", chosen.get("over", "")),
                hint="the input that differs between the runs",
                choices=tuple(Option(one, one) for one in names),
            )
        )
    for name in steps.loop:
        fields.append(
            StepField(
                *(f"{TYPE}{name}", name, chosen.get(f"{TYPE}{name}", "")),
                choices=tuple(Option(*one) for one in steps.families),
            )
        )
        fields.append(
            StepField(
                f"{FORMULA}{name}",
                f"or a formula of {name}",
                chosen.get(f"{FORMULA}{name}", ""),
                "such as a*n^3/ranks + b; names that are no inputs are fitted",
            )
        )
    return StepForm(
        *(COUPLINGS_PAGE, "Next", _TITLES[2], tuple(fields), _hidden(steps, 3)),
        said=steps.problem,
        left="The graph type is used only at values where the kernel did not run.",
    )


def _third(steps: CouplingSteps) -> StepForm:
    chosen, over = steps.chosen, steps.chosen.get("over", "")
    fields: list[StepField] = []
    for name, numbers in steps.inputs:
        known = ", ".join(value(one) for one in numbers[:12])
        if name == over:
            low, high = _exact(numbers[0]), _exact(numbers[-1])
            fields += [
                StepField(
                    "low",
                    f"{name} from",
                    chosen.get("low", low),
                    f"least of the runs to use; they have {known}",
                ),
                StepField(
                    "high",
                    f"{name} to",
                    chosen.get("high", high),
                    "largest of the runs to use",
                ),
                StepField("to", f"predict at {name}", chosen.get("to", high)),
            ]
        else:
            field = f"{FIXED}{name}"
            given = chosen.get(field, _exact(numbers[-1]))
            hint = f"runs: {known}; any other number is predicted from all of them"
            fields.append(StepField(field, name, given, hint))
    return StepForm(
        *(COUPLINGS_PAGE, "Predict", _TITLES[3], tuple(fields), _hidden(steps, 4)),
        said=steps.problem,
    )


def _exact(number: float) -> str:
    """Write a number so that a condition finds it again."""
    return f"{number:.17g}"


def _result(found: Mapping[str, Any]) -> list[Block]:
    at = ", ".join(f"{name}={value(one)}" for name, one in found["at"].items())
    low, middle, high = (format_seconds(found[name]) for name in ("p5", "p50", "p95"))
    said = f"The loop takes {middle} (90 %: {low} to {high})"
    said += f" at {at}" if at else ""
    said += f"; the kernels alone add up to {format_seconds(found['sum'])}"
    if found["measured"] is not None:
        said += f"; {format_seconds(found['measured'])} were measured"
    doubts = found["doubts"]
    blocks: list[Block] = [
        Heading("What kernels and couplings say"),
        Prose(f"{said}; {found['verdict']}.", "plain" if doubts else "good"),
    ]
    for one in doubts:
        text = f"{one['text']}; {one['remedy']}"
        blocks.append(Prose(f"Do not trust: {text}", "doubt"))
    blocks += [Prose(one) for one in found["notes"]]
    blocks += [_bars(found), _kernels(found), _chains_of(found)]
    return blocks


def _bars(found: Mapping[str, Any]) -> DrawingShown:
    kernels = found["kernels"]
    bars = [
        KernelBar(
            "kernels alone", tuple((one["name"], one["alone"]) for one in kernels)
        ),
        KernelBar(
            "with their couplings",
            tuple((one["name"], one["coupled"]) for one in kernels),
            (found["p5"], found["p95"]),
        ),
    ]
    if found["measured"] is not None:
        bars.append(KernelBar("measured", (("the loop", found["measured"]),)))
    shown = [format_seconds(one.time_s) for one in bars]
    head = (
        ColumnHead("what"),
        ColumnHead("time", True),
        ColumnHead("5 %", True),
        ColumnHead("95 %", True),
    )
    rows = tuple(
        cells(
            one.name, text, *(map(format_seconds, one.ends) if one.ends else ("", ""))
        )
        for one, text in zip(bars, shown, strict=True)
    )
    return DrawingShown(
        "The loop by its kernels",
        (BARS_WIDTH, bars_height(bars)),
        bar_shapes(bars, shown),
        SiteTable("The loop by its kernels", head, rows),
    )


def _kernels(found: Mapping[str, Any]) -> SiteTable:
    head = (
        ColumnHead("kernel"),
        ColumnHead("alone", True),
        ColumnHead("5 %", True),
        ColumnHead("95 %", True),
        ColumnHead("from"),
        ColumnHead("weight", True),
        ColumnHead("in the loop", True),
    )
    rows = tuple(
        cells(
            one["name"],
            *(format_seconds(one[name]) for name in ("alone", "p5", "p95")),
            f"{one['family']}: {one['formula']}"
            if one["formula"]
            else number_of(one["runs"], "run"),
            f"{one['weight']:.3f}",
            format_seconds(one["coupled"]),
        )
        for one in found["kernels"]
    )
    return SiteTable("Kernels", head, rows)


def _chains_of(found: Mapping[str, Any]) -> SiteTable:
    at = ", ".join(f"{name}={value(one)}" for name, one in found["chains_at"].items())
    rows = tuple(
        (
            *cells(
                "+".join(one["kernels"]),
                format_seconds(one["together"]),
                format_seconds(one["alone"]),
            ),
            TableCell(
                f"{one['coupling']:.3f}", tone=tone_of(one["coupling"], one["effect"])
            ),
            *cells(EFFECTS[one["effect"]], str(one["runs"])),
        )
        for one in found["chains"]
    )
    return SiteTable(
        f"Couplings, measured at {at or 'the size of all runs'}", CHAIN_HEAD, rows
    )
