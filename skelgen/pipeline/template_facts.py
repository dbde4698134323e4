"""What was measured of a system, as facts of a template: the words of the 2005 paper.

A send and receive, and a broadcast, become formulas of their size, so that sizes may
depend on inputs.

References
----------
Wu, Taylor, Paris 2005, section 3.2.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Sequence

from skelgen.models.facts import Definition, TemplateFacts
from skelgen.models.families.template_facts import PROCESSES
from skelgen.models.formulas import (
    Expression,
    FunctionCall,
    Name,
    Number,
    Product,
    Quotient,
    Sum,
)
from skelgen.pipeline.known_systems import SystemRows
from skelgen.store import Message

#: Times of core computations: words of the paper, and the rates that they are one over.
_TIMES = {
    "ADDM": "float_multiply_add",
    "IADD": "integer_add",
    "IMADD": "integer_multiply_add",
}

#: Words of the paper for facts of a system, with their units.
FACT_WORDS = {
    **dict.fromkeys(_TIMES, "s"),
    **{
        f"{operation}{where}": "s"
        for operation in ("SR", "BC")
        for where in ("", "_inside", "_between")
    },
}

#: Of several links the one in the middle counts, by the time of such a message [bytes].
_TYPICAL_BYTES = 1 << 16

_SIZE = "L"


def facts_of(rows: SystemRows) -> TemplateFacts:
    """Return the facts of a host or a system; of several hosts the medians.

    Parameters
    ----------
    rows : SystemRows
        Of that host or system only.

    Returns
    -------
    TemplateFacts
        Rates of one core under their own names, ``ADDM``, ``IADD`` and ``IMADD`` [s],
        ``SR(L)`` and ``BC(L, P)`` [s] of messages between hosts where there are any,
        and ``SR_inside``, ``SR_between``, ``BC_inside``, ``BC_between``.
    """
    found: dict[str, list[float]] = defaultdict(list)
    units: dict[str, str] = {}
    for one in rows.facts:
        if one.cores <= 1 and one.name.isidentifier():
            found[one.name].append(one.value)
            units[one.name] = "" if one.unit == "1" else one.unit
    values = {name: statistics.median(some) for name, some in found.items()}
    for word, rate in _TIMES.items():
        if values.get(rate, 0.0) > 0.0:
            values[word], units[word] = 1.0 / values[rate], "s"
    return TemplateFacts(values, units, _definitions(rows.messages))


def _definitions(messages: Sequence[Message]) -> dict[str, Definition]:
    found: dict[str, Definition] = {}
    for operation in ("SR", "BC"):
        ours = [one for one in messages if one.operation == operation and one.ranks > 1]
        inside = [one for one in ours if len(one.hosts) == 1]
        between = [one for one in ours if len(one.hosts) > 1]
        for name, some in (
            (f"{operation}_inside", inside),
            (f"{operation}_between", between),
            (operation, between or inside),
        ):
            if some:
                law = _send if operation == "SR" else _broadcast
                found[name] = law(some)
    return found


def _send(messages: Sequence[Message]) -> Definition:
    return (_SIZE,), _over_sizes(_middle(messages))


def _middle(messages: Sequence[Message]) -> Message:
    """Return the one in the middle of several links."""
    ordered = sorted(messages, key=lambda one: _time_s(one, _TYPICAL_BYTES))
    return ordered[(len(ordered) - 1) // 2]


def _stretches(one: Message) -> list[tuple[int, float, float]]:
    """Return where each stretch begins, its latency and its bandwidth."""
    return sorted(one.knees) or [(0, one.latency_s, one.bandwidth_bytes_per_s)]


def _time_s(one: Message, size: float) -> float:
    holds = [part for part in _stretches(one) if part[0] <= size]
    _, latency, bandwidth = (holds or _stretches(one)[:1])[-1]
    return latency if math.isnan(bandwidth) else latency + size / bandwidth


def _over_sizes(one: Message) -> Expression:
    """Return the time of a message over its size: a sum of stretches.

    min(1, floor(L/begin)) is 1 from the begin of a stretch on, and 0 before it.
    """
    stretches = _stretches(one)
    terms: list[Expression] = []
    for i, (begin, latency, bandwidth) in enumerate(stretches):
        time = _line(latency, bandwidth)
        if i:
            time = Product((_from(begin), time))
        if i + 1 < len(stretches):
            before = Sum(
                (Number(1.0), Product((Number(-1.0), _from(stretches[i + 1][0]))))
            )
            time = Product((before, time))
        terms.append(time)
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))


def _line(latency: float, bandwidth: float) -> Expression:
    known = Number(latency, "s")
    if math.isnan(bandwidth):
        return known
    return Sum((known, Product((Number(1.0 / bandwidth, "s"), Name(_SIZE)))))


def _from(begin: int) -> Expression:
    step = FunctionCall("floor", (Quotient(Name(_SIZE), Number(float(begin))),))
    return FunctionCall("min", (Number(1.0), step))


def _broadcast(messages: Sequence[Message]) -> Definition:
    """Return the time of a broadcast over its size and the ranks.

    Between the numbers of ranks that were measured it is linear in their logarithm.
    Below the fewest and above the most it goes with the logarithm, as in the paper.
    """
    by_ranks: dict[int, list[Message]] = defaultdict(list)
    for one in messages:
        by_ranks[one.ranks].append(one)
    counts = sorted(by_ranks)
    terms = [
        Product((_weight(counts, i), _over_sizes(_middle(by_ranks[count]))))
        for i, count in enumerate(counts)
    ]
    body = terms[0] if len(terms) == 1 else Sum(tuple(terms))
    return (_SIZE, PROCESSES), body


def _weight(counts: Sequence[int], i: int) -> Expression:
    """Return the part that a measured number of ranks has at others: 1 at itself."""
    places = [0.0, *map(math.log2, counts)]  # a broadcast to nobody takes no time
    before, here, last = places[i], places[i + 1], i + 1 == len(counts)
    rising = _between(before, here)
    if not last:
        return _positive(rising, _between(places[i + 2], here))
    return _positive(rising, _between(0.0, here)) if i else rising


def _between(zero: float, one: float) -> Expression:
    """Return a line in the logarithm of the ranks: 0 at one place, 1 at another."""
    ranks: Expression = FunctionCall("log2", (Name(PROCESSES),))
    place = Sum((ranks, Number(-zero))) if zero else ranks
    if one - zero == 1.0:
        return place
    return Product((Number(1.0 / (one - zero)), place))


def _positive(first: Expression, second: Expression) -> Expression:
    return FunctionCall("max", (Number(0.0), FunctionCall("min", (first, second))))


def told_doubts(rows: SystemRows, names: Sequence[str]) -> tuple[str, ...]:
    """Return what was doubted of each measurement that names of a template stand for.

    Parameters
    ----------
    rows : SystemRows
    names : sequence of str
        Of values and functions.
    """
    facts = {_TIMES.get(name, name) for name in names}
    operations = {name.partition("_")[0] for name in names}
    return (
        *(one.doubt for one in rows.facts if one.cores <= 1 and one.name in facts),
        *(one.doubt for one in rows.messages if one.operation in operations),
    )
