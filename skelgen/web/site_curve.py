"""The page of curve fitting: three steps, as in the paper of 2005."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from skelgen.units import number_of
from skelgen.web.model_links import model_links
from skelgen.web.modelling_steps import CurveAsked, CurveSteps, ExecutableRuns
from skelgen.web.site import (
    Block,
    ColumnHead,
    CommandLine,
    Prose,
    SitePage,
    SiteTable,
    address,
    cells,
    inputs_text,
    names_text,
    value,
)
from skelgen.web.site_steps import Option, StepDone, StepField, StepForm

#: Where it is.
CURVE = "/model/curve"
_TITLES = {1: "1. Application", 2: "2. Curve", 3: "3. Values"}
#: What people call graph types and quantities.
_ORDERS = {2: "quadratic", 3: "cubic", 4: "4th-order", 5: "5th-order", 6: "6th-order"}
GRAPH_TYPES = {
    "least-error": "choose for me (least error at runs ahead)",
    "least-residual": "the paper's choice (least residual)",
    "linear": "linear",
    "quadratic": "quadratic",
    "cubic": "cubic",
    **{f"poly{n}": f"{_ORDERS[n]} polynomial" for n in (4, 5, 6)},
    "inverse-1": "inverse linear",
    **{f"inverse-{n}": f"inverse {_ORDERS[n]}" for n in range(2, 7)},
}
_QUANTITIES = {
    "time": "run time",
    "rate": "rate: work per time",
    "speedup": "speedup",
    "efficiency": "efficiency",
}
#: Fields of each step, in order.
_FIELDS = {
    1: ("app", "exe"),
    2: ("family", "y", "amount", "x"),
    3: ("fixed", "low", "high", "to"),
}
#: Characters of the hash of a program, and values in a table.
_SHORT, _MOST_VALUES = 12, 200


def curve_page(steps: CurveSteps, result: Sequence[Block] = ()) -> SitePage:
    """Return the page of the steps, and of the result when all are done.

    Parameters
    ----------
    steps : CurveSteps
    result : sequence of Block
    """
    asked = steps.asked
    lead = "" if result else "Three steps: application, curve, values."
    if not steps.applications:
        advice = (
            Prose("There are no runs yet. Time a program and keep what it took:"),
            CommandLine("skelgen time --input n=1024 -- mpirun -n 2 ./app 1024"),
        )
        return SitePage("Fit a curve", (model_links(CURVE), *advice), "/models")
    done = [_done(steps, number) for number in range(1, min(steps.step, 4))]
    blocks: list[Block] = [model_links(CURVE), *done]
    if steps.step == 1:
        blocks.append(_first(steps))
    elif steps.step == 2:
        blocks.append(_second(steps))
    elif steps.step == 3:
        blocks += _third(steps)
    if result:
        blocks += [Prose(one) for one in _modelled(steps)]
    blocks += result
    title = f"Fit a curve to {asked.app}" if asked.app else "Fit a curve"
    return SitePage(title, tuple(blocks), "/models", lead)


def curve_address(asked: CurveAsked, *path: str, before: int = 4) -> str:
    """Return the address of what was chosen, up to a step that is left out."""
    return address("model", "curve", *path, **_chosen(asked, before))


def _chosen(asked: CurveAsked, before: int) -> dict[str, str]:
    known = asdict(asked)
    names = [name for number in range(1, before) for name in _FIELDS[number]]
    return {name: known[name] for name in names if known[name]}


def _done(steps: CurveSteps, number: int) -> StepDone:
    asked = steps.asked
    if number == 1:
        rows = [("Application", asked.app)]
        if steps.executables:
            rows.append(("program", _program(asked.exe)))
    elif number == 2:
        what = _QUANTITIES.get(asked.y, asked.y)
        what = f"{what} of {asked.amount}" if asked.y == "rate" else what
        rows = [
            (what, f"over {asked.x}"),
            ("graph type", GRAPH_TYPES.get(asked.family, asked.family)),
        ]
    else:
        rows = [(asked.x, f"{asked.low} to {asked.high}")]
        rows += [("at", asked.fixed)] if asked.fixed else []
        rows += [("predicted at", asked.to)] if asked.to else []
        rows.append(("runs", str(steps.runs)))
    change = curve_address(asked, before=number)
    return StepDone(_TITLES[number], tuple(rows), change)


def _program(digest: str) -> str:
    return digest[:_SHORT] or "not known"


def _first(steps: CurveSteps) -> StepForm:
    asked = steps.asked
    fields = [application_field(steps.applications, asked.app)]
    if steps.executables:
        fields.append(executable_field(steps.executables, asked.exe))
    return StepForm(
        CURVE,
        "Go on",
        _TITLES[1],
        tuple(fields),
        said=steps.said,
        left=_left(steps.runs) if steps.runs else "",
    )


def application_field(known: Sequence[tuple[str, int]], chosen: str) -> StepField:
    """Return the field of the application."""
    choices = tuple(
        Option(name, f"{name} ({number_of(runs, 'run')})") for name, runs in known
    )
    return StepField("app", "Application", chosen, "", choices)


def executable_field(known: Sequence[ExecutableRuns], chosen: str) -> StepField:
    """Return the field of the program."""
    choices = tuple(
        Option(one.digest, _program_text(one)) for one in known if one.digest
    )
    every = Option("any", f"any ({number_of(sum(one.runs for one in known), 'run')})")
    hint = "SHA-256 of the program"
    return StepField("exe", "Executable", chosen, hint, (every, *choices))


def _program_text(one: ExecutableRuns) -> str:
    where = f" on {names_text(one.systems)}" if one.systems else ""
    return f"{_program(one.digest)}{where} ({number_of(one.runs, 'run')})"


def _left(runs: int) -> str:
    return f"{number_of(runs, 'run')} that ended well."


def _second(steps: CurveSteps) -> StepForm:
    asked = steps.asked
    fields = (
        StepField(
            "family", "Graph type", asked.family, "",
            tuple(Option(one, GRAPH_TYPES[one]) for one in steps.families),
        ),
        StepField(
            "y", "Y", asked.y, "",
            tuple(Option(one, _QUANTITIES[one]) for one in steps.ys),
        ),
        StepField("amount", "Work, for a rate", asked.amount, "such as n^3"),
        StepField(
            "x", "X", asked.x, "",
            tuple(
                Option(name, f"{name} ({count} values)")
                for name, count in steps.xs.items()
            ),
        ),
    )  # fmt: skip
    return StepForm(
        CURVE,
        "Go on",
        _TITLES[2],
        fields,
        tuple(_chosen(asked, 2).items()),
        steps.said,
        _left(steps.runs),
    )


def _third(steps: CurveSteps) -> list[Block]:
    asked, chosen = steps.asked, steps.chosen
    hidden = tuple(_chosen(asked, 3).items())
    notes: list[Block] = []
    if steps.along:
        told = f"{', '.join(steps.along)} varies with {asked.x} in these runs."
        notes.append(Prose(told))
    left = f"{number_of(steps.runs, 'run')} left."
    if steps.few and chosen is None:
        left += f" {number_of(steps.few, 'other setting')} with too few values of "
        left += f"{asked.x}."
    if chosen is None:
        choices = tuple(
            Option(
                one.text,
                f"{one.text} ({number_of(one.runs, 'run')}, {len(one.values)} values "
                f"from {value(one.values[0][0])} to {value(one.values[-1][0])})",
            )
            for one in steps.settings
        )
        fields: tuple[StepField, ...] = (
            StepField("fixed", "All else fixed at", asked.fixed, "", choices),
        )
        if steps.others:
            fields = (*fields, _typed(steps))
        form = StepForm(CURVE, "Go on", _TITLES[3], fields, hidden, steps.said, left)
        return [form, *notes]
    low, high = chosen.values[0][0], chosen.values[-1][0]
    fields = (
        StepField("low", f"{asked.x} from", asked.low or value(low)),
        StepField("high", f"{asked.x} to", asked.high or value(high)),
        StepField("to", "Predict at", asked.to or value(2 * high), "end of the curve"),
    )
    if chosen.text:
        shown = StepField("fixed", "All else fixed at", chosen.text, _hint(steps))
        fields = (shown, *fields)
        left = f"{left} At {chosen.text}."
    form = StepForm(CURVE, "Fit", _TITLES[3], fields, hidden, steps.said, left)
    notes += [Prose(one) for one in _modelled(steps)]
    return [form, *notes, _values(asked.x, chosen.values)]


def _typed(steps: CurveSteps) -> StepField:
    return StepField("typed", "or at any other", steps.asked.typed, _hint(steps))


def _hint(steps: CurveSteps) -> str:
    told = f"one value of {' and '.join(steps.others)}"
    return f"{told}; a number may be one that never ran"


def _modelled(steps: CurveSteps) -> list[str]:
    """Say which inputs the curve has beside its own, and why."""
    if steps.chosen is None or not steps.chosen.inputs:
        return []
    names = [name for name, _ in steps.chosen.inputs]
    at = inputs_text(steps.chosen.inputs)
    here = f" at {', '.join(steps.chosen.where)}" if steps.chosen.where else ""
    return [
        f"No run has enough values of {steps.asked.x} at {at}: the curve is fitted to "
        f"all runs{here}, with {' and '.join(names)} as further input"
        f"{'s' if len(names) > 1 else ''}. A polynomial of each is added up."
    ]


def _values(name: str, values: Sequence[tuple[float, int]]) -> SiteTable:
    rows = tuple(cells(value(x), str(count)) for x, count in values[:_MOST_VALUES])
    return SiteTable(
        "Values that ran", (ColumnHead(name, True), ColumnHead("runs", True)), rows
    )
