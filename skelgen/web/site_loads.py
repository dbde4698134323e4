"""The page of loads: series of nodes and links, a forecast, and what came."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from skelgen.forecasts import LoadForecast
from skelgen.store.sampling import NewestSample, ShortSeries
from skelgen.trust import Doubt, verdict_of
from skelgen.units import format_seconds
from skelgen.web.loads_chart import (
    ForecastShown,
    LoadsDrawn,
    averages,
    load_text,
    loads_chart,
)
from skelgen.web.site import (
    Block,
    ColumnHead,
    CommandLine,
    FactList,
    Form,
    FormField,
    Heading,
    Paging,
    Prose,
    SitePage,
    SitePicture,
    SiteTable,
    TableCell,
    address,
    cells,
    date,
    names_text,
    share,
)

#: Fields of the page.
LOAD_FIELDS = ("hosts", "quantity", "span", "until", "horizon")
#: Rows of the table next to the picture.
_ROWS = 24


@dataclass(frozen=True, slots=True)
class LoadsShown:
    """What the page shows.

    Attributes
    ----------
    drawn : LoadsDrawn
    quantities : tuple of str
        To choose from.
    newest : tuple of NewestSample
        Of the series of this part.
    total, first : int
        All series, and those before this part.
    expert : LoadForecast or None
        Who made the forecast.
    doubts : tuple of Doubt
        Of the forecast.
    missing : str
        Why there is no forecast, or why it lacks something.
    command : str
        Makes the forecast in a terminal; empty: there is none.
    earlier : tuple of ForecastShown
        Of all quantities.
    scores : tuple of tuple of str
        Of earlier forecasts: a row each.
    """

    drawn: LoadsDrawn
    quantities: tuple[str, ...]
    newest: tuple[NewestSample, ...]
    total: int
    first: int
    expert: LoadForecast | None = None
    doubts: tuple[Doubt, ...] = ()
    missing: str = ""
    command: str = ""
    earlier: tuple[ForecastShown, ...] = ()
    scores: tuple[tuple[str, ...], ...] = ()


def loads_page(
    found: LoadsShown, asked: Mapping[str, str], before: str, after: str
) -> SitePage:
    """Return the page of loads.

    Parameters
    ----------
    found : LoadsShown
    asked : mapping of str to str
        What was typed: `LOAD_FIELDS` and ``part``.
    before, after : str
        Numbers of the parts before and after; empty where there is none.
    """
    if not found.quantities:
        return _nothing()
    drawn = found.drawn
    blocks: list[Block] = [_form(found, asked)]
    if not found.newest:
        blocks.append(Prose("There is no such series; ask for other nodes."))
        return SitePage("Loads", tuple(blocks), "/loads")
    blocks.append(_picture(found, asked))
    kept = {name: asked.get(name, "") for name in LOAD_FIELDS}
    blocks += [_series(found, kept), _paging(found, kept, before, after)]
    blocks += _forecast(found)
    blocks += _earlier(found)
    lead = (
        f"{drawn.quantity} of {names_text([one.host for one in drawn.series])}, "
        f"{date(drawn.begin)} to {date(drawn.end)} UTC."
    )
    return SitePage("Loads", tuple(blocks), "/loads", lead)


def _nothing() -> SitePage:
    blocks = (
        Prose(
            "Monitors measure loads on the nodes; put what they have into the store:"
        ),
        CommandLine(
            "skelgen monitor show --json | jq -c '.series[] + {row: \"series\"}' | "
            "skelgen store add -"
        ),
        Prose("Or read what another tool measured:"),
        CommandLine("skelgen monitor import --help"),
    )
    return SitePage("Loads", blocks, "/loads", "There are no loads yet.")


def _form(found: LoadsShown, asked: Mapping[str, str]) -> Form:
    quantity = found.drawn.quantity
    fields = (
        FormField("hosts", "Nodes and their links", asked.get("hosts", ""), "n1,n2"),
        FormField("quantity", "Quantity", quantity, "", found.quantities),
        FormField("span", "Time", asked.get("span", "") or "hour", "",
                  ("hour", "day", "week")),
        FormField("until", "Up to", asked.get("until", ""),
                  "2026-01-31T12:00; else the newest sample"),
        FormField("horizon", "Forecast over", asked.get("horizon", ""), "2h"),
    )  # fmt: skip
    return Form("/loads", fields, "Show")


def _picture(found: LoadsShown, asked: Mapping[str, str]) -> SitePicture:
    drawn = found.drawn
    kept = {name: asked.get(name, "") for name in (*LOAD_FIELDS, "part")}
    text = f"{drawn.quantity} over time: the average, and smallest to largest sample"
    if drawn.forecast is not None:
        text += "; then the forecast with its 90 % interval"
    place = address("loads", "picture.svg", **kept)
    return SitePicture(place, text, _table(drawn), loads_chart(drawn).size)


def _table(drawn: LoadsDrawn) -> SiteTable:
    """Return the averages of parts of the time, a column for each series."""
    found = averages_table(drawn.series, drawn.begin, drawn.end)
    if (said := drawn.forecast) is None:
        return found
    middle, low, high = (
        load_text(one, drawn.quantity)
        for one in (said.interval.p50, said.interval.p5, said.interval.p95)
    )
    text = f"forecast of {names_text(said.nodes)}: {middle} ({low} to {high})"
    empty = [""] * (len(drawn.series) - 1)
    last = cells(date(said.begin + said.horizon_s), text, *empty)
    return replace(found, rows=(*found.rows, last))


def averages_table(
    series: Sequence[ShortSeries], begin: float, end: float, *, several: bool = False
) -> SiteTable:
    """Return the averages of parts of a time, a column for each series.

    Parameters
    ----------
    series : sequence of ShortSeries
    begin, end : float
        Seconds since 1970 in UTC [s].
    several : bool
        Whether these are several quantities, which the columns name.
    """
    width_s = (end - begin) / _ROWS
    columns = [(one.quantity, averages(one, begin, width_s)) for one in series]
    rows = tuple(
        cells(
            date(begin + (at + 1) * width_s),
            *(load_text(means.get(at, math.nan), name) for name, means in columns),
        )
        for at in range(_ROWS)
    )
    names = (f"{one.host} {one.quantity}" if several else one.host for one in series)
    head = (ColumnHead("until, UTC"), *(ColumnHead(name, True) for name in names))
    caption = f"Average of each {format_seconds(width_s)}; empty: no samples"
    return SiteTable(caption, head, rows)


def _series(found: LoadsShown, kept: Mapping[str, str]) -> SiteTable:
    head = (
        ColumnHead("node or link"),
        ColumnHead("newest", True),
        ColumnHead("measured"),
        *(ColumnHead(text, True) for text in ("average", "least", "most")),
        ColumnHead("of the time known", True),
    )
    rows = tuple(
        _row(one, short, found.drawn, kept)
        for one, short in zip(found.newest, found.drawn.series, strict=True)
    )
    return SiteTable(f"{found.drawn.quantity} of nodes and links", head, rows)


def _row(
    one: NewestSample, short: ShortSeries, drawn: LoadsDrawn, kept: Mapping[str, str]
) -> tuple[TableCell, ...]:
    numbers = (short.mean, *short.ends)
    return (
        TableCell(one.host, address("loads", **{**kept, "hosts": one.host})),
        *cells(load_text(one.value, one.quantity), date(one.time)),
        *cells(*(load_text(number, one.quantity) for number in numbers)),
        TableCell(share(short.known(drawn.begin, drawn.end))),
    )


def _paging(
    found: LoadsShown, kept: Mapping[str, str], before: str, after: str
) -> Paging:
    last = found.first + len(found.newest)
    return Paging(
        f"{found.first + 1} to {last} of {found.total}",
        address("loads", **kept, part=before) if before else "",
        address("loads", **kept, part=after) if after else "",
    )


def _forecast(found: LoadsShown) -> list[Block]:
    blocks: list[Block] = []
    if found.missing:
        blocks.append(Prose(found.missing, "doubt"))
    said = found.drawn.forecast
    if said is not None and found.expert is not None:
        middle, low, high = (
            load_text(one, said.quantity)
            for one in (said.interval.p50, said.interval.p5, said.interval.p95)
        )
        verdict = verdict_of(found.doubts)
        rows = (
            ("of", ", ".join(said.nodes)),
            ("average over the next", format_seconds(said.horizon_s)),
            ("forecast", f"{middle} (90 %: {low} to {high}); {verdict}"),
            ("rule over nodes", found.expert.covariate),
            ("made by", found.expert.expert),
            ("its error in the past", f"{found.expert.postcast_error:.3g}"),
        )
        blocks.append(FactList(tuple((name, TableCell(text)) for name, text in rows)))
        blocks += [Prose(f"Do not trust: {one}", "doubt") for one in found.doubts]
    if blocks:
        blocks.insert(0, Heading("Forecast"))
    if found.command:
        blocks += [
            Prose("In a terminal, where it is kept and compared with what comes:"),
            CommandLine(found.command),
        ]
    return blocks


def _earlier(found: LoadsShown) -> list[Block]:
    if not found.earlier:
        return []
    names = ("method", "quantity", "of", "horizon", "forecasts", "happened",
             "median error", "90 % are within", "inside the interval")  # fmt: skip
    head = tuple(ColumnHead(text, at > 2) for at, text in enumerate(names))
    scores = SiteTable("How good they were", head, tuple(cells(*one)
                       for one in found.scores))  # fmt: skip
    return [
        Heading("Earlier forecasts, and what came"), scores, _outcomes(found.earlier)
    ]  # fmt: skip


def _outcomes(found: Sequence[ForecastShown]) -> SiteTable:
    head = (
        *map(ColumnHead, ("begins", "nodes", "quantity")),
        *(ColumnHead(text, True) for text in ("over", "forecast", "90 %", "came")),
        ColumnHead(""),
    )
    return SiteTable("The last ones first", head, tuple(map(_outcome, found)))


def _outcome(one: ForecastShown) -> tuple[TableCell, ...]:
    low, middle, high = (
        load_text(number, one.quantity)
        for number in (one.interval.p5, one.interval.p50, one.interval.p95)
    )
    came, said = "not yet", ""
    if one.truth is not None:
        came = load_text(one.truth, one.quantity)
        inside = one.interval.p5 <= one.truth <= one.interval.p95
        said = "inside" if inside else "outside"
    return cells(
        *(date(one.begin), names_text(one.nodes), one.quantity),
        *(format_seconds(one.horizon_s), middle, f"{low} to {high}", came, said),
    )
