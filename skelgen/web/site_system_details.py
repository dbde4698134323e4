"""Pages of systems in detail: the history of a value, and two systems compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from skelgen.store.rows import Fact, Message
from skelgen.units import format_bytes, format_seconds
from skelgen.web.site import (
    Block,
    ColumnHead,
    CommandLine,
    FactList,
    Form,
    FormField,
    Heading,
    Prose,
    SitePage,
    SitePicture,
    SiteTable,
    TableCell,
    address,
    cells,
    date,
    names_text,
)
from skelgen.web.site_systems import quantity_of
from skelgen.web.system_charts import fitted_s, history_chart, messages_chart

#: Rows of the table next to the picture of messages.
_MOST_ROWS = 400


@dataclass(frozen=True, slots=True)
class SystemDifference:
    """A value of two systems.

    Attributes
    ----------
    name, unit : str
    cores : int
        Cores of a fact, ranks of an operation.
    first, second, ratio : float
    differs : bool
        Whether the ranges of the repeats do not overlap.
    """

    name: str
    unit: str
    cores: int
    first: float
    second: float
    ratio: float
    differs: bool


def compare_form(names: Sequence[str], chosen: Sequence[str] = ()) -> Form:
    """Return the form that chooses two systems."""
    first, second = [*chosen, "", ""][:2]
    fields = (
        FormField("with", "Compare", first, "", ("", *names)),
        FormField("with", "with", second, "", ("", *names)),
    )
    return Form("/systems", fields, "Compare")


def compared_page(
    chosen: Sequence[str], names: Sequence[str], found: Sequence[SystemDifference]
) -> SitePage:
    """Return the page of two systems, value by value."""
    first, second = chosen
    blocks: list[Block] = [compare_form(names, chosen)]
    if not found:
        blocks.append(Prose("No value was measured of both.", "doubt"))
        return SitePage("Systems compared", tuple(blocks), "/systems")
    head = (
        ColumnHead("value"),
        *(
            ColumnHead(text, True)
            for text in ("cores or ranks", first, second, "ratio")
        ),
        ColumnHead(""),
    )
    rows = tuple(
        cells(
            *(one.name, str(one.cores or "")),
            *(quantity_of(number, one.unit) for number in (one.first, one.second)),
            "" if math.isnan(one.ratio) else f"{one.ratio:.3f}",
            "differs" if one.differs else "within the spread",
        )
        for one in found
    )
    differ = sum(one.differs for one in found)
    lead = (
        f"{differ} of {len(found)} values differ by more than the spread of their "
        "repeats."
    )
    blocks += [
        SiteTable(f"Ratio: {second} / {first}", head, rows),
        Heading("In a terminal"),
        CommandLine(f"skelgen system compare {first} {second}"),
    ]
    return SitePage("Systems compared", tuple(blocks), "/systems", lead)


def history_page(name: str, fact: str, found: Sequence[Fact]) -> SitePage:
    """Return the page of one value of a host or system over time."""
    place = address("systems", name, "history.svg", fact=fact)
    size = history_chart(fact, found).size
    text = f"{fact} over time"
    picture = SitePicture(place, text, _history(found), size)
    count = len({one.measured for one in found})
    lead = f"{fact} of {name} was measured {count} times."
    blocks = (picture, FactList((("of", TableCell(name, address("systems", name))),)))
    return SitePage(f"{fact} of {name}", blocks, "/systems", lead)


def _history(found: Sequence[Fact]) -> SiteTable:
    head = (
        *map(ColumnHead, ("measured", "host")),
        *(
            ColumnHead(text, True)
            for text in ("cores", "median", "low", "high", "change")
        ),
        *map(ColumnHead, ("compiler", "kernel", "doubt")),
    )
    before: dict[tuple[str, int], float] = {}
    rows = []
    for one in found:
        last = before.get((one.host, one.cores), math.nan)
        before[one.host, one.cores] = one.value
        change = one.value / last - 1 if last else math.nan
        numbers = (one.value, one.low, one.high)
        rows.append(
            cells(
                *(date(one.measured), one.host, str(one.cores or "")),
                *(quantity_of(number, one.unit) for number in numbers),
                "" if math.isnan(change) else f"{change:+.1%}",
                *(one.compiler, one.kernel, one.doubt),
            )
        )
    return SiteTable("The oldest first; change is from the one before", head,
                     tuple(rows))  # fmt: skip


def messages_picture(name: str, found: Sequence[Message]) -> SitePicture | None:
    """Return the picture of messages over sizes; None where no sizes are known."""
    drawn = messages_chart(found)
    if not drawn.panels:
        return None
    return SitePicture(
        address("systems", name, "messages.svg"),
        "Times of MPI operations over sizes, and the line that was fitted",
        _sizes(found),
        drawn.size,
    )


def _sizes(found: Sequence[Message]) -> SiteTable:
    head = (
        *map(ColumnHead, ("operation", "hosts")),
        *(
            ColumnHead(text, True)
            for text in ("ranks", "size", "measured", "fitted", "off")
        ),
    )
    rows = [
        cells(
            *(one.operation, names_text(one.hosts), str(one.ranks)),
            *(format_bytes(size), format_seconds(time_s)),
            format_seconds(fit := fitted_s(one, size)),
            f"{fit / time_s - 1:+.1%}" if time_s > 0 else "",
        )
        for one in found
        for size, time_s in one.points
    ]
    more = f"; the first {_MOST_ROWS} of {len(rows)}" if len(rows) > _MOST_ROWS else ""
    return SiteTable(f"Medians{more}", head, tuple(rows[:_MOST_ROWS]))
