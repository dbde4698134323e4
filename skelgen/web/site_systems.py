"""Pages of systems: what was measured of hosts and links."""

from __future__ import annotations

import math
from collections.abc import Sequence

from skelgen.store.rows import Fact, Message
from skelgen.units import format_bytes, format_seconds
from skelgen.web.site import (
    Block,
    ColumnHead,
    CommandLine,
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

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def systems_page(
    hosts: Sequence[tuple[str, str, float, int, int]], before: Sequence[Block] = ()
) -> SitePage:
    """Return the page of all hosts.

    Parameters
    ----------
    hosts : sequence of tuple
        Host, system, when it was measured [s], values, and those in doubt.
    before : sequence of Block
        What stands above the list.
    """
    if not hosts:
        advice = (
            Prose("Measure hosts and the links between them:"),
            CommandLine("skelgen system measure --hosts n1,n2"),
        )
        return SitePage("Systems", advice, "/systems", "No system was measured yet.")
    head = (
        *map(ColumnHead, ("host", "system", "measured")),
        ColumnHead("values", True),
        ColumnHead("in doubt", True),
    )
    rows = tuple(
        (
            TableCell(host, address("systems", host)),
            TableCell(system, address("systems", system) if system else ""),
            *cells(date(measured), str(values), str(doubted)),
        )
        for host, system, measured, values, doubted in hosts
    )
    table = SiteTable(f"{len(hosts)} hosts", head, rows)
    return SitePage("Systems", (*before, table), "/systems")


def system_page(
    name: str,
    facts: Sequence[Fact],
    messages: Sequence[Message],
    picture: SitePicture | None = None,
) -> SitePage:
    """Return the page of a host or of a system.

    Parameters
    ----------
    name : str
    facts, messages : sequence of Fact, sequence of Message
    picture : SitePicture, optional
        Of the messages.
    """
    blocks: list[Block] = [_facts(name, facts)]
    if messages:
        blocks += [Heading("Messages: latency + size / bandwidth"), _messages(messages)]
        blocks += [] if picture is None else [picture]
    return SitePage(f"System {name}", tuple(blocks), "/systems")


def _facts(name: str, facts: Sequence[Fact]) -> SiteTable:
    head = (
        *map(ColumnHead, ("host", "value")),
        *(
            ColumnHead(text, True)
            for text in ("cores", "median", "low", "high", "repeats")
        ),
        *map(ColumnHead, ("measured", "doubt")),
    )
    rows = tuple(
        (
            TableCell(one.host),
            TableCell(one.name, address("systems", name, "history", fact=one.name)),
            TableCell(str(one.cores or "")),
            *cells(*_numbers(one), str(one.repeats), date(one.measured), one.doubt),
        )
        for one in facts
    )
    return SiteTable(
        "The newest of each value; its name leads to earlier ones", head, rows
    )


def _messages(messages: Sequence[Message]) -> SiteTable:
    head = (
        *map(ColumnHead, ("operation", "hosts")),
        *(ColumnHead(text, True) for text in ("ranks", "latency", "bandwidth")),
        *map(ColumnHead, ("measured", "doubt")),
    )
    rows = tuple(
        cells(
            *(one.operation, names_text(one.hosts), str(one.ranks)),
            format_seconds(one.latency_s),
            quantity_of(one.bandwidth_bytes_per_s, "bytes/s"),
            *(date(one.measured), one.doubt),
        )
        for one in messages
    )
    return SiteTable("Times of MPI operations", head, rows)


def _numbers(one: Fact) -> tuple[str, ...]:
    return tuple(
        quantity_of(number, one.unit) for number in (one.value, one.low, one.high)
    )


def quantity_of(number: float, unit: str) -> str:
    """Return a measured number with its unit for people."""
    if math.isnan(number):
        return ""
    if unit == "s":
        return format_seconds(number)
    if unit == "bytes":
        return format_bytes(number)
    for factor, prefix in _PREFIXES:
        if abs(number) >= factor:
            return f"{number / factor:.3g} {prefix}{unit}"
    return f"{number:.3g} {unit}"
