"""Write a signature as YAML, the same bytes for equal signatures."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skelgen.documents import sealed_yaml
from skelgen.documents.numbers import format_integers, format_real, format_repeated
from skelgen.documents.text_of_bytes import escaped
from skelgen.signature.leaves import leaf_symbols
from skelgen.signature.long_occurrences import long_lines
from skelgen.signature.neighbour_text import format_neighbours
from skelgen.signature.nest_text import nest_lines
from skelgen.signature.spread_text import spread_lines
from skelgen.signature.symbol_text import symbol_lines, symbol_names
from skelgen.signature.tables import peer_lines, row_lines, vector_lines
from skelgen.signature.types import (
    COUNTS_WHERE_ANY,
    CommunicatorFamily,
    Provenance,
    RankGroup,
    Signature,
)
from skelgen.trust.recording_doubts import Unseen

#: Version of the format.
SIGNATURE_VERSION = 1
_HEAD = "# An execution signature; docs/signature_format.md of skelgen describes it."
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
#: What YAML does not let stand as it is.
_UNPRINTABLE = re.compile(
    '["\\\\\x00-\x1f\x7f-\xa0\u2028\u2029\ufdd0\ufeff\ufffe\uffff]'
)


def signature_text(signature: Signature) -> str:
    """Return the YAML document of a signature, sealed with its checksum."""
    names = symbol_names(signature)
    lines = [_HEAD, f"skelgen_signature: {SIGNATURE_VERSION}"]
    lines += provenance_lines(signature.provenance)
    lines += [
        f"ranks: {signature.ranks}",
        f"application_s: {format_real(signature.application_s)}",
        f"events: {signature.events}",
        *_list("dropped", [
            f"- [{quoted(reason)}, {calls}, {format_real(time_s)}]"
            for reason, calls, time_s in signature.dropped
        ]),
        *_recorded_calls(signature),
        *_counts(signature),
        *_usage_gaps(signature),
        *_not_computed(signature),
        *unseen_lines(signature.unseen),
        *_touched(signature),
        *_list("sites", [f"- {quoted(site)}" for site in signature.sites]),
        *_list("families", [_family(family) for family in signature.families]),
    ]  # fmt: skip
    rows = zip(names, symbol_lines(signature), strict=True)
    symbols = [f"  {name}: {line}" for name, line in rows]
    lines += ["symbols:", *symbols] if symbols else ["symbols: {}"]
    lines += ["groups:"]
    for group in signature.groups:
        lines += _group(group, names)
    return sealed_yaml("\n".join(lines) + "\n")


def _recorded_calls(signature: Signature) -> list[str]:
    rows = signature.recorded_calls
    lines = [
        f"- [{quoted(name)}, {n}, {format_real(time_s)}]" for name, n, time_s in rows
    ]
    return ["recorded_calls:", *lines] if rows else []


def _counts(signature: Signature) -> list[str]:
    counts = {name: getattr(signature, name) for name in COUNTS_WHERE_ANY}
    return [f"{name}: {count}" for name, count in counts.items() if count]


def _usage_gaps(signature: Signature) -> list[str]:
    gaps = signature.usage_gaps
    return [f"usage_gaps: {format_integers(gaps)}"] if gaps else []


def _not_computed(signature: Signature) -> list[str]:
    parts = [f"{what}: {format_real(t)}" for what, t in signature.not_computed]
    return [f"not_computed: {{{', '.join(parts)}}}"] if parts else []


def _touched(signature: Signature) -> list[str]:
    return [f"touched: {_flow(asdict(signature.touched))}"] if signature.touched else []


def unseen_lines(unseen: Unseen | None) -> list[str]:
    """Write what no event shows; nothing where the recorder did not look."""
    if unseen is None:
        return []
    return ["unseen:", *(f"  {name}: {_flow(v)}" for name, v in unseen.facts().items())]


def _flow(value: Any) -> str:
    """Write a plain value in one line."""
    if isinstance(value, dict):
        parts = (f"{name}: {_flow(inner)}" for name, inner in value.items())
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, float):
        return format_real(value)
    return quoted(value) if isinstance(value, str) else str(value)


def _list(name: str, entries: list[str]) -> list[str]:
    return [f"{name}:", *entries] if entries else [f"{name}: []"]


def quoted(text: str) -> str:
    """Return a text as a YAML string."""

    def escape(match: re.Match[str]) -> str:
        character = match[0]
        return _ESCAPES.get(character, f"\\u{ord(character):04x}")

    return f'"{_UNPRINTABLE.sub(escape, escaped(text))}"'


def provenance_lines(known: Provenance) -> list[str]:
    """Write where a signature comes from."""
    command = ", ".join(map(quoted, known.command))
    parameters = ", ".join(
        f"{quoted(name)}: {quoted(value)}" for name, value in known.parameters
    )
    return [
        "provenance:",
        f"  application: {quoted(known.application)}",
        f"  command: [{command}]",
        f"  mpi: {quoted(known.mpi)}",
        f"  host: {quoted(known.host)}",
        f"  recorded: {quoted(known.recorded)}",
        f"  skelgen: {quoted(known.skelgen)}",
        f"  parameters: {{{parameters}}}",
        f"  ranks_per_host: {quoted(format_integers(known.ranks_per_host))}",
    ]


def _family(family: CommunicatorFamily) -> str:
    instances = ", ".join(
        f"{quoted(format_integers(members))}" for members in family.instances
    )
    around = "".join(
        f", {name}: [{', '.join(quoted(format_neighbours(n)) for n in found)}]"
        for name, found in (
            ("sources", family.sources),
            ("destinations", family.destinations),
        )
        if found
    )
    return (
        f"- {{kind: {quoted(family.kind)}, parent: {family.parent}, "
        f"instances: [{instances}]{around}}}"
    )


def _group(group: RankGroup, names: list[str]) -> list[str]:
    leaf_names = [names[symbol] for symbol in leaf_symbols(group.nest).tolist()]
    leaves = [
        f"{leaf} {name} {count}"
        for leaf, (name, count) in enumerate(
            zip(leaf_names, group.count.tolist(), strict=True)
        )
    ]
    return [
        f"- ranks: {format_integers(group.ranks)}",
        f"  samples: {group.compute_ns.samples.shape[2]}",
        f"  tail_ns: {_of_ranks(group.tail_ns)}",
        *_tail_idle(group),
        *_list("  nest", nest_lines(group.nest, names, "  ")),
        *_table("leaves", ["# leaf symbol count", *leaves]),
        *_table("compute_ns", spread_lines(group.compute_ns, group.ranks, group.count)),
        *_table("long_ns", long_lines(group.long_occurrences, group.ranks)),
        *_table("mpi_ns", ["# leaf, sum of each rank", *row_lines(group.mpi_ns)]),
        *_rows("idle_ns", group.idle_ns),
        *_rows("polls", group.polls),
        *_rows("nap_ns", group.nap_ns),
        *_table("size_bytes", spread_lines(group.size_bytes, group.ranks, group.count)),
        *_rows("size_steps", group.size_steps),
        *_table("peers", peer_lines(group.peers)),
        *_table("vectors", vector_lines(group.vectors, group.ranks)),
    ]


def _of_ranks(values: NDArray[np.float64]) -> str:
    return format_repeated([format_real(value) for value in values.tolist()])


def _tail_idle(group: RankGroup) -> list[str]:
    some = bool(group.tail_idle_ns.any())
    return [f"  tail_idle_ns: {_of_ranks(group.tail_idle_ns)}"] if some else []


def _rows(name: str, values: NDArray[np.float64]) -> list[str]:
    """Write sums of each rank, where any is not 0."""
    return _table(name, row_lines(values) if values.any() else [])


def _table(name: str, lines: list[str]) -> list[str]:
    if not lines:
        return []
    return [f"  {name}: |", *(f"    {line}" for line in lines)]
