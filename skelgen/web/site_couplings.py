"""Pages of kernels: how they affect each other, and what that says of their loop.

References
----------
Wu, Taylor, Paris 2005, section 3.3, figures 11 to 13.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skelgen.models.kernel_prediction import CoupledChain
from skelgen.units import format_seconds
from skelgen.web.model_links import model_links
from skelgen.web.site import (
    Block,
    ColumnHead,
    CommandLine,
    Heading,
    Prose,
    SitePage,
    SiteTable,
    TableCell,
    address,
    cells,
)
from skelgen.web.site_steps import LinkLine, Option, StepField, StepForm

#: Where kernels become a model.
COUPLINGS_PAGE = "/model/coupling"
#: Couplings that differ by more from 1 have the stronger colour.
_STRONG = 0.1
EFFECTS = {"share": "share", "disturb": "disturb each other", "not seen": "not seen"}


@dataclass(frozen=True, slots=True)
class ShownPlace:
    """Couplings of a place: where it is, and those of its chains."""

    shown: str
    chains: tuple[CoupledChain, ...]


@dataclass(frozen=True, slots=True)
class CouplingsShown:
    """What a store has of couplings.

    Attributes
    ----------
    applications : tuple of str
        That have kernels.
    application, system : str
        The chosen ones; may be empty.
    systems : tuple of str
    loop : tuple of str
    places : tuple of ShownPlace
    problem : str
        Why there is nothing, and what to do.
    """

    applications: tuple[str, ...]
    application: str = ""
    system: str = ""
    systems: tuple[str, ...] = ()
    loop: tuple[str, ...] = ()
    places: tuple[ShownPlace, ...] = ()
    problem: str = ""


def couplings_page(found: CouplingsShown) -> SitePage:
    """Return the page of couplings: a matrix of kernels for each place."""
    blocks: list[Block] = [model_links("/couplings")]
    if not found.applications:
        blocks += no_kernels()
        lead = "No kernels were measured yet."
        return SitePage("Couplings", tuple(blocks), "/models", lead)
    fields = (
        StepField(
            *("app", "Application", found.application),
            choices=tuple(Option(one, one) for one in found.applications),
        ),
        system_field(found.system, found.systems),
    )
    blocks.append(StepForm("/couplings", "Show", fields=fields, said=found.problem))
    for one in found.places:
        blocks.append(Heading(f"At {one.shown}"))
        blocks += _place(found.loop, one)
    if found.places:
        link = address("model", "coupling", app=found.application, system=found.system)
        blocks.append(LinkLine("What can be done", ((link, "Predict the loop"),)))
    lead = (
        "A coupling is the time of kernels together over the sum of their times alone: "
        "below 1 they share, above 1 they disturb each other."
    )
    return SitePage("Couplings", tuple(blocks), "/models", lead)


def no_kernels() -> list[Block]:
    """Say what to do where no kernels were measured."""
    return [
        Prose("Time kernels alone and in chains, and say which they are:"),
        CommandLine(
            "skelgen time --app loop --input kernels=a+b,n=64 -- mpirun -n 4 ./loop a b"
        ),
    ]


def system_field(chosen: str, systems: Sequence[str]) -> StepField:
    """Return the field that chooses a system, or none."""
    named = [one for one in systems if one]
    choices = (Option("", "any"), *(Option(one, one) for one in named))
    return StepField("system", "System", chosen, choices=choices)


def _place(loop: Sequence[str], one: ShownPlace) -> list[Block]:
    if not one.chains:
        return [
            Prose(
                "No chain ran here whose kernels ran alone, too; measure those: "
                f"{'+'.join(loop[:2])}."
            )
        ]
    found: list[Block] = []
    pairs: dict[tuple[str, ...], CoupledChain] = {
        c.coupling.chain: c for c in one.chains if len(c.coupling.chain) == 2
    }
    if pairs:
        found.append(_matrix(loop, pairs, one.shown))
    found.append(_chains(one.chains, one.shown))
    return found


def _matrix(
    loop: Sequence[str], pairs: Mapping[tuple[str, ...], CoupledChain], shown: str
) -> SiteTable:
    """Return couplings of pairs: a row for the first kernel, a column for the next."""
    head = (ColumnHead("first \\ next"), *(ColumnHead(one, True) for one in loop))
    rows = tuple(
        (TableCell(first), *(_coupling(pairs.get((first, after))) for after in loop))
        for first in loop
    )
    return SiteTable(f"Couplings of pairs at {shown}", head, rows)


def _coupling(one: CoupledChain | None) -> TableCell:
    if one is None:
        return TableCell("")
    number = one.coupling.value
    return TableCell(f"{number:.3f}", tone=tone_of(number, one.effect))


def tone_of(number: float, effect: str) -> str:
    """Return how a coupling is coloured."""
    if effect not in ("share", "disturb"):
        return ""
    return f"{effect}{2 if abs(number - 1.0) > _STRONG else 1}"


def _chains(chains: Sequence[CoupledChain], shown: str) -> SiteTable:
    rows = tuple(
        (
            *cells(
                "+".join(one.coupling.chain),
                format_seconds(one.coupling.together_s),
                format_seconds(one.coupling.together_s / one.coupling.value),
            ),
            _coupling(one),
            *cells(EFFECTS[one.effect], str(one.runs)),
        )
        for one in chains
    )
    return SiteTable(f"Chains at {shown}", CHAIN_HEAD, rows)


CHAIN_HEAD = (
    ColumnHead("chain"),
    ColumnHead("together", True),
    ColumnHead("sum alone", True),
    ColumnHead("coupling", True),
    ColumnHead("effect"),
    ColumnHead("runs", True),
)
