"""Pages of templates: formulas with names that runs, systems or people give values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.models.formulas import Expression, to_mathml
from skelgen.web.model_links import model_links
from skelgen.web.site import (
    Block,
    ColumnHead,
    CommandLine,
    FactList,
    Prose,
    SitePage,
    SiteTable,
    TableCell,
    address,
    cells,
    date,
)
from skelgen.web.site_formulas import (
    formula_block,
    is_shown_as_mathematics,
    short_fact,
)
from skelgen.web.site_steps import LinkLine


@dataclass(frozen=True, slots=True)
class TemplateShown:
    """A template as pages show it.

    Attributes
    ----------
    identity, name, application, text : str
    formula : Expression or None
        None where it cannot be read.
    fault : str
        Why it cannot, or why its units do not fit.
    inputs, free : tuple of str
    facts : tuple of (str, str)
    unit : str
    model, author : str
        Identity of the model that was fitted to it, and who fitted it; else empty.
    fitted : float
        Seconds since 1970 in UTC; nan where there is no model [s].
    """

    identity: str
    name: str
    application: str
    text: str
    formula: Expression | None
    fault: str
    inputs: tuple[str, ...]
    free: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    unit: str
    model: str
    author: str
    fitted: float


def templates_page(found: Sequence[TemplateShown]) -> SitePage:
    """Return the page of all templates."""
    links = model_links("/templates")
    if not found:
        advice = (
            links,
            Prose("Type one at Model by a template, or keep one with its model:"),
            CommandLine(
                "skelgen model fit --app heat --template 'a*n^3/ranks + b' --name heat"
            ),
        )
        return SitePage("Templates", advice, "/models", "There are no templates yet.")
    head = (
        ColumnHead("template"),
        ColumnHead("application"),
        ColumnHead("formula"),
        ColumnHead("inputs"),
        ColumnHead("facts of a system"),
        ColumnHead("fitted to runs"),
        ColumnHead("unit"),
        ColumnHead("from"),
    )
    table = SiteTable("Templates", head, tuple(map(_row, found)))
    return SitePage("Templates", (links, table), "/models")


def _row(one: TemplateShown) -> tuple[TableCell, ...]:
    return (
        TableCell(one.name, address("templates", one.identity)),
        TableCell(one.application),
        _formula_cell(one),
        *cells(
            ", ".join(one.inputs),
            ", ".join(name for name, _ in one.facts),
            ", ".join(one.free),
            "does not fit" if one.fault else one.unit,
        ),
        TableCell("a model", address("models", one.model))
        if one.model
        else TableCell("a row"),
    )


def _formula_cell(one: TemplateShown) -> TableCell:
    if one.formula is None or not is_shown_as_mathematics(one.formula):
        return TableCell(one.text)
    return TableCell(one.text, mathematics=to_mathml(one.formula))


def template_page(one: TemplateShown) -> SitePage:
    """Return the page of a template: formula, what its names are, units."""
    blocks: list[Block] = [model_links(), *template_blocks(one)]
    ask = address("model", "template", app=one.application, template=one.text)
    blocks.append(LinkLine("What can be done", ((ask, "Compute or fit it"),)))
    lead = f"A formula for {one.application}." if one.application else ""
    return SitePage(f"Template {one.name}", tuple(blocks), "/models", lead)


def template_blocks(one: TemplateShown) -> list[Block]:
    """Return a formula, what its names are, and whether its units fit."""
    found: list[Block] = []
    if one.formula is None:
        return [
            CommandLine(one.text),
            Prose(f"It cannot be read: {one.fault}", "doubt"),
        ]
    found.append(formula_block("time", one.formula))
    facts = ", ".join(
        " = ".join(short_fact(f"{name}={value}")) if value else name
        for name, value in one.facts
    )
    rows = (
        ("inputs", ", ".join(one.inputs)),
        ("facts of a system", facts),
        ("free names, fitted to runs", ", ".join(one.free)),
        ("unit of the formula", one.unit),
        ("fitted", date(one.fitted)),
        ("by", one.author),
    )
    found.append(
        FactList(tuple((name, TableCell(text)) for name, text in rows if text))
    )
    if one.fault:
        found.append(Prose(f"Its units do not fit: {one.fault}", "doubt"))
    elif one.unit == "s":
        found.append(Prose("Its units fit: all that is added is in seconds.", "good"))
    elif one.unit == "a plain number":
        found.append(
            Prose(
                "No number or fact in it has a unit, so nothing was checked: it is "
                "taken as seconds."
            )
        )
    elif one.unit != "of any unit":
        found.append(Prose(f"It gives {one.unit}, and a time is in s.", "doubt"))
    return found
