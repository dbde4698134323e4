"""The page of a model of all inputs: two steps."""

from __future__ import annotations

from collections.abc import Sequence

from skelgen.units import number_of
from skelgen.web.model_links import model_links
from skelgen.web.modelling_steps import DefaultSteps, InputSpan
from skelgen.web.site import (
    Block,
    CommandLine,
    Prose,
    SitePage,
    address,
    value,
)
from skelgen.web.site_curve import application_field, executable_field
from skelgen.web.site_steps import Option, StepDone, StepField, StepForm

#: Where it is.
DEFAULT = "/model/default"
_FIRST, _SECOND = "1. Application", "2. Inputs and ranges"


def default_page(steps: DefaultSteps, result: Sequence[Block] = ()) -> SitePage:
    """Return the page of the steps, and of the result when both are done.

    Parameters
    ----------
    steps : DefaultSteps
    result : sequence of Block
    """
    if not steps.applications:
        advice = (
            Prose("There are no runs yet. Time a program and keep what it took:"),
            CommandLine("skelgen time --input n=1024 -- mpirun -n 2 ./app 1024"),
        )
        return SitePage("Fit a model", (model_links(DEFAULT), *advice), "/models")
    blocks: list[Block] = [model_links(DEFAULT)]
    if steps.step == 1:
        fields = [application_field(steps.applications, steps.app)]
        if steps.executables:
            fields.append(executable_field(steps.executables, steps.exe))
        left = f"{number_of(steps.runs, 'run')} that ended well." if steps.runs else ""
        blocks.append(
            StepForm(
                DEFAULT, "Go on", _FIRST, tuple(fields), said=steps.said, left=left
            )
        )
    else:
        rows = [("Application", steps.app)]
        if steps.executables:
            rows.append(("program", steps.exe[:12] or "not known"))
        blocks.append(StepDone(_FIRST, tuple(rows), DEFAULT))
        blocks.append(_second(steps))
    blocks += result
    title = f"Fit a model to {steps.app}" if steps.app else "Fit a model"
    lead = "" if result else "All inputs at once, by the family that skelgen chooses."
    return SitePage(title, tuple(blocks), "/models", lead)


def _second(steps: DefaultSteps) -> StepForm | StepDone:
    hidden = [("app", steps.app), ("exe", steps.exe)]
    left = f"{number_of(steps.runs, 'run')} left."
    if steps.step > 2:
        change = address("model", "default", app=steps.app, exe=steps.exe)
        return StepDone(_SECOND, tuple(_chosen(steps)), change)
    if not steps.spans:
        choices = tuple(
            Option(one.text, f"{one.text} ({number_of(one.runs, 'run')})")
            for one in steps.settings
        )
        if not choices:
            return StepForm(DEFAULT, "Begin again", _SECOND, said=steps.said)
        field = StepField(
            "fixed", "Fixed at", steps.fixed, "inputs that are text", choices
        )
        return StepForm(
            DEFAULT, "Go on", _SECOND, (field,), _given(hidden), steps.said, left
        )
    hidden.append(("fixed", steps.fixed))
    fields = tuple(field for one in steps.spans for field in _fields(one))
    left += " A range of one value fixes the input."
    return StepForm(DEFAULT, "Fit", _SECOND, fields, _given(hidden), steps.said, left)


def _given(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, one) for name, one in pairs if one)


def _fields(one: InputSpan) -> tuple[StepField, ...]:
    return (
        StepField(f"low-{one.name}", f"{one.name} from", one.low or value(one.least)),
        StepField(f"high-{one.name}", f"{one.name} to", one.high or value(one.most)),
        StepField(f"to-{one.name}", f"Predict at {one.name}", one.to, "may be empty"),
    )


def _chosen(steps: DefaultSteps) -> list[tuple[str, str]]:
    rows = [("at", steps.fixed)] if steps.fixed else []
    for one in steps.spans:
        ends = (one.low or value(one.least), one.high or value(one.most))
        told = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
        rows.append((one.name, told))
        rows += [(f"predicted at {one.name}", one.to)] if one.to else []
    return rows
