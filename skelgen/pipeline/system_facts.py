"""What machines are told of systems, by commands and by the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skelgen.documents.dates import date_of

if TYPE_CHECKING:
    from skelgen.pipeline.known_systems import ComparedValue, SystemRows
    from skelgen.store import Fact, Message
    from skelgen.trust import Doubt


def system_doubts(rows: SystemRows) -> tuple[Doubt, ...]:
    """Return why what was measured should not be trusted, summed up."""
    from skelgen.systems.doubts import doubts_of

    return doubts_of(rows.doubts)


def summary_of(rows: SystemRows, host: str) -> dict[str, Any]:
    """Return how much is known of a host."""
    cores = [one.value for one in rows.facts if one.name == "cores"]
    return {
        "host": host,
        "system": rows.facts[-1].system,
        "measured": measured_date(rows.measured),
        "cores": int(cores[-1]) if cores else None,
        "facts": len(rows.facts),
        "messages": len(rows.messages),
        "doubted": sum(map(bool, rows.doubts)),
    }


def known_of(rows: SystemRows, host: str) -> dict[str, Any]:
    """Return what machines are told of a host."""
    found = rows.of(host)
    return {
        "host": host,
        "measured": measured_date(found.measured),
        "facts": [_fact(one) for one in found.facts],
        "messages": [_message(one) for one in found.messages],
    }


def compared_facts(
    names: Sequence[str], values: Sequence[ComparedValue]
) -> dict[str, Any]:
    """Return what machines are told of two hosts or systems."""
    those = [
        {
            "name": one.name,
            "unit": one.unit,
            "cores": one.cores,
            "values": [one.first, one.second],
            "ratio": one.ratio,
            "differs": one.differs,
        }
        for one in values
    ]
    return {"hosts": list(names), "values": those}


def history_facts(name: str, fact: str, found: Sequence[Fact]) -> dict[str, Any]:
    """Return what machines are told of a value that was measured several times."""
    return {"host": name, "name": fact, "facts": [_fact(one) for one in found]}


def _fact(one: Fact) -> dict[str, Any]:
    return {
        "name": one.name,
        "value": one.value,
        "unit": one.unit,
        "low": one.low,
        "high": one.high,
        "repeats": one.repeats,
        "host": one.host,
        "cores": one.cores,
        "measured": measured_date(one.measured),
        "system": one.system,
        "compiler": one.compiler,
        "kernel": one.kernel,
        "doubt": one.doubt,
    }


def _message(one: Message) -> dict[str, Any]:
    return {
        "operation": one.operation,
        "ranks": one.ranks,
        "latency_s": one.latency_s,
        "bandwidth_bytes_per_s": one.bandwidth_bytes_per_s,
        "eager_bytes": one.eager_bytes,
        "hosts": one.hosts,
        "stretches": [
            {"from_bytes": begin, "latency_s": latency, "bandwidth_bytes_per_s": rate}
            for begin, latency, rate in one.knees
        ],
        "points": one.points,
        "repeats": one.repeats,
        "spread": one.spread,
        "measured": measured_date(one.measured),
        "system": one.system,
        "mpi": one.mpi,
        "doubt": one.doubt,
    }


def measured_date(seconds: float) -> str | None:
    """Return when something was measured; None where it is not known."""
    found = date_of(seconds)
    return None if found is None else found.isoformat(timespec="seconds")
