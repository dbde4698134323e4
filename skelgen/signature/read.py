"""Read a signature from YAML, and refuse what does not fit with one clear line."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skelgen.documents.document import read_document
from skelgen.documents.document_field import Field, read_given
from skelgen.documents.numbers import MOST_RANKS, NumberError, reals
from skelgen.errors import InputError
from skelgen.events.touched_memory import Touched
from skelgen.launch.secrets import hidden
from skelgen.signature.check import (
    check_ages,
    check_members,
    check_ranks,
    partner_limits,
)
from skelgen.signature.leaves import leaf_symbols
from skelgen.signature.long_occurrences import read_long
from skelgen.signature.neighbour_text import read_neighbours
from skelgen.signature.nest_text import ReadNest, read_nest
from skelgen.signature.spread_text import SpreadReader
from skelgen.signature.symbol_text import SymbolReader
from skelgen.signature.tables import read_peers, read_rows, read_vectors
from skelgen.signature.thresholds import MOST_SAMPLES
from skelgen.signature.types import (
    COUNTS_WHERE_ANY,
    CommunicatorFamily,
    Neighbours,
    Provenance,
    RankGroup,
    Signature,
)
from skelgen.signature.write import SIGNATURE_VERSION
from skelgen.trace.format import trace_format
from skelgen.trust.recording_doubts import read_unseen
from skelgen.trust.skeleton_doubts import read_not_computed

#: Leaves x ranks of a group.
_MOST_CELLS = 10_000_000
_MOST_EVENTS = 1 << 60
_LARGEST_SET_BYTES = 1 << 60
#: Kinds of the first families, which are always there.
_BUILT_IN = ("world", "self")
#: What made a communicator: dup, split, cart_sub, fence_window.
_KIND = re.compile(r"[a-z][a-z_]{0,39}")
#: A function of the MPI standard.
_FUNCTION = re.compile(r"MPIX?_[A-Za-z0-9_]{1,60}")
_FIELDS = (
    "skelgen_signature",
    "provenance",
    "ranks",
    "application_s",
    "events",
    "dropped",
    "sites",
    "families",
    "symbols",
    "groups",
)
_OPTIONAL = ("usage_gaps", "recorded_calls", "not_computed", "unseen", "touched")


def read_signature(path: Path) -> Signature:
    """Read the YAML document of a signature.

    Parameters
    ----------
    path : Path

    Raises
    ------
    InputError
        When the file, a field or what fields say together is wrong.
    """
    document = Field(path, "", read_document(path))
    _check_version(document)
    fields = document.mapping(_FIELDS, (*COUNTS_WHERE_ANY, *_OPTIONAL))
    unseen = fields.get("unseen")
    counts = {
        name: fields[name].integer(0, _MOST_EVENTS)
        for name in COUNTS_WHERE_ANY
        if name in fields
    }
    ranks = fields["ranks"].integer(1, MOST_RANKS)
    families = _families(fields["families"], ranks)
    sites = tuple(field.text() for field in fields["sites"].items())
    symbols = SymbolReader(families, len(sites))
    rows: dict[str, int] = {}
    for name, field in fields["symbols"].mapping(optional=None).items():
        rows[name] = len(rows)
        symbols.read(field)
    groups = [
        _Group(field, symbols, rows, ranks).read() for field in fields["groups"].items()
    ]
    if not groups:
        raise fields["groups"].error("read an empty list, expected groups of ranks")
    check_ranks(groups, ranks, fields["groups"].items())
    age_first, age_values = symbols.age_rows()
    return Signature(
        provenance=read_provenance(fields["provenance"]),
        ranks=ranks,
        application_s=fields["application_s"].amount(),
        functions=tuple(symbols.functions),
        symbols=symbols.table(),
        age_first=age_first,
        age_values=age_values,
        families=families,
        sites=sites,
        groups=tuple(groups),
        events=_events(fields["events"], groups),
        dropped=_counted(fields["dropped"]),
        recorded_calls=_recorded_calls(fields.get("recorded_calls")),
        not_computed=read_not_computed(fields.get("not_computed")),
        unseen=read_unseen(unseen) if unseen else None,
        touched=_touched(fields.get("touched")),
        usage_gaps=_usage_gaps(fields.get("usage_gaps")),
        **counts,
    )


def _usage_gaps(field: Field | None) -> tuple[int, ...]:
    if field is None:
        return ()
    lengths = trace_format()["QUERY_GAPS"]
    gaps = tuple(field.integers(0, _MOST_EVENTS, lengths))
    if len(gaps) < lengths:
        raise field.error(f"read {len(gaps)} numbers, expected {lengths}")
    return gaps


def _touched(field: Field | None) -> Touched | None:
    if field is None:
        return None
    fields = field.mapping(("bytes_per_us", "set_bytes", "looks"), ("share",))
    return Touched(
        bytes_per_us=fields["bytes_per_us"].amount(),
        set_bytes=fields["set_bytes"].integer(0, _LARGEST_SET_BYTES),
        looks=fields["looks"].integer(1, _MOST_EVENTS),
        **read_given(fields, {"share": Field.share}),
    )


def _check_version(document: Field) -> None:
    fields = document.mapping(("skelgen_signature",), optional=None)
    version = fields["skelgen_signature"]
    if version.text() != str(SIGNATURE_VERSION):
        raise version.error(
            f"read version {version.text()[:60]!r}, expected {SIGNATURE_VERSION}: "
            "build the signature again with this skelgen"
        )


def read_provenance(field: Field) -> Provenance:
    """Read where a signature comes from."""
    texts = ("application", "mpi", "host", "recorded", "skelgen")
    fields = field.mapping((*texts, "command", "parameters", "ranks_per_host"))
    parameters = fields["parameters"].mapping(optional=None)
    return Provenance(
        command=hidden([word.text() for word in fields["command"].items()]),
        parameters=tuple((name, value.text()) for name, value in parameters.items()),
        ranks_per_host=tuple(
            fields["ranks_per_host"].integers(0, MOST_RANKS, MOST_RANKS)
        ),
        **{name: fields[name].text() for name in texts},
    )


def _families(field: Field, ranks: int) -> tuple[CommunicatorFamily, ...]:
    families: list[CommunicatorFamily] = []
    for entry in field.items():
        around = ("sources", "destinations")
        fields = entry.mapping(("kind", "parent", "instances"), around)
        instances: list[tuple[int, ...]] = []
        seen: set[int] = set()
        for instance in fields["instances"].items():
            members = tuple(instance.integers(0, ranks - 1, ranks))
            known = len(seen)
            seen.update(members)
            if len(seen) != known + len(members) or not members:
                raise instance.error("expected ranks that appear once in the family")
            instances.append(members)
        if not instances:
            raise fields["instances"].error("expected at least one communicator")
        parent = fields["parent"].integer(-1, len(families) - 1)
        families.append(
            CommunicatorFamily(
                fields["kind"].text(),
                parent,
                tuple(instances),
                *(_neighbours(fields.get(side), instances) for side in around),
            )
        )
        _check_kind(fields["kind"], len(families) - 1)
    return tuple(families)


def _check_kind(field: Field, number: int) -> None:
    """Refuse a first family that is not the world, a second that is not self."""
    built_in = dict(enumerate(_BUILT_IN))
    kind, expected = field.text(), built_in.get(number)
    if not _KIND.fullmatch(kind):
        raise field.error(f"read {kind[:60]!r}, expected a word of small letters")
    if kind != expected and (expected is not None or kind in _BUILT_IN):
        raise field.error(
            f"read {kind[:60]!r}, expected {expected or 'another kind'}: the first "
            "families are world and self"
        )


def _neighbours(
    field: Field | None, instances: list[tuple[int, ...]]
) -> tuple[Neighbours, ...]:
    if field is None:
        return ()
    found = field.items()
    if len(found) != len(instances):
        raise field.error(f"read {len(found)} entries, expected {len(instances)}")
    return tuple(
        read_neighbours(entry, len(members))
        for entry, members in zip(found, instances, strict=True)
    )


def _events(field: Field, groups: list[RankGroup]) -> int:
    calls = sum(int(group.count.sum()) * len(group.ranks) for group in groups)
    events = field.integer(0, _MOST_EVENTS)
    if events < calls:
        raise field.error(f"read {events}, but the groups hold {calls} calls")
    return events


def _recorded_calls(field: Field | None) -> tuple[tuple[str, int, float], ...]:
    rows = () if field is None else _counted(field)
    for name, *_ in rows:
        if field is not None and not _FUNCTION.fullmatch(name):
            raise field.error(f"read {name[:60]!r}, expected the name of a function")
    return rows


def _counted(field: Field) -> tuple[tuple[str, int, float], ...]:
    dropped = []
    for entry in field.items():
        parts = entry.items()
        if len(parts) != 3:
            raise entry.error(f"read {len(parts)} values, expected reason, calls, time")
        calls = parts[1].integer(0, _MOST_EVENTS)
        dropped.append((parts[0].text(), calls, parts[2].amount()))
    return tuple(dropped)


class _Group:
    """Reads one group of ranks."""

    def __init__(
        self, field: Field, symbols: SymbolReader, rows: dict[str, int], ranks: int
    ) -> None:
        required = (
            "ranks", "samples", "tail_ns", "nest", "leaves", "compute_ns", "mpi_ns",
            "size_bytes",
        )  # fmt: skip
        optional = (
            "peers", "vectors", "idle_ns", "polls", "nap_ns", "size_steps",
            "tail_idle_ns", "long_ns",
        )  # fmt: skip
        self.fields = field.mapping(required, optional)
        self.symbols = symbols
        self.rows = rows
        members = self.fields["ranks"].integers(0, ranks - 1, ranks)
        if not members or any(b <= a for a, b in pairwise(members)):
            raise self.fields["ranks"].error("expected ascending ranks")
        self.ranks = tuple(members)
        self.table = symbols.table()

    def read(self) -> RankGroup:
        """Read all fields and check them against each other."""
        fields = self.fields
        known = read_nest(fields["nest"], self.rows)
        leaves = len(known.count)
        if leaves * len(self.ranks) > _MOST_CELLS:
            raise fields["nest"].error(
                f"{leaves} leaves of {len(self.ranks)} ranks, expected at most "
                f"{_MOST_CELLS} in all"
            )
        self._check_leaves(known)
        strata = min(MOST_SAMPLES, int(known.count.max(initial=0)))
        samples = fields["samples"].integer(min(strata, 1), strata)
        spread = SpreadReader(self.ranks, known.count, samples)
        again = SpreadReader(self.ranks, known.count, samples)
        group = RankGroup(
            ranks=self.ranks,
            nest=known.nest,
            count=known.count,
            compute_ns=spread.read(fields["compute_ns"]),
            mpi_ns=read_rows(fields["mpi_ns"], leaves, len(self.ranks)),
            idle_ns=self._sums("idle_ns", leaves),
            polls=self._sums("polls", leaves),
            nap_ns=self._sums("nap_ns", leaves),
            size_bytes=again.read(fields["size_bytes"]),
            size_steps=self._sums("size_steps", leaves),
            peers=self._peers(known),
            vectors=read_vectors(fields.get("vectors"), leaves, self.ranks),
            tail_ns=self._tail(fields["tail_ns"]),
            tail_idle_ns=self._tail(fields.get("tail_idle_ns")),
            long_occurrences=read_long(fields.get("long_ns"), known.count, self.ranks),
        )
        self._check(group)
        return group

    def _check_leaves(self, known: ReadNest) -> None:
        names = list(self.rows)
        field = self.fields["leaves"]
        symbols = leaf_symbols(known.nest).tolist()
        lines = list(field.lines())
        if len(lines) != len(symbols):
            raise field.error(f"read {len(lines)} leaves, the nest has {len(symbols)}")
        counts = known.count.tolist()
        for leaf, (number, line) in enumerate(lines):
            expected = [str(leaf), names[symbols[leaf]], str(counts[leaf])]
            if line.split() != expected:
                raise field.line(number).error(
                    f"read {line[:60]!r}, but the nest says {' '.join(expected)!r}"
                )

    def _peers(self, known: ReadNest) -> tuple[NDArray[np.int32], ...]:
        limits = partner_limits(
            known.nest, self.table, self.symbols.families, self.ranks
        )
        try:
            return read_peers(self.fields.get("peers"), known.count, limits)
        except NumberError as error:
            raise self.fields["nest"].error(str(error)) from error

    def _sums(self, name: str, leaves: int) -> NDArray[np.float64]:
        """Read what a file has only where it is not 0; older ones do not say it."""
        field = self.fields.get(name)
        if field is None:
            return np.zeros((leaves, len(self.ranks)))
        return read_rows(field, leaves, len(self.ranks))

    def _tail(self, field: Field | None) -> NDArray[np.float64]:
        if field is None:
            return np.zeros(len(self.ranks))
        try:
            values = reals(field.text(), len(self.ranks))
        except NumberError as error:
            raise field.error(str(error)) from error
        if len(values) != len(self.ranks) or None in values:
            raise field.error(f"read {len(values)} numbers, expected {len(self.ranks)}")
        return np.array(values, np.float64)

    def _check(self, group: RankGroup) -> None:
        check_members(group, self.table, self.symbols.families, self.fields["ranks"])
        functions = list(self.symbols.functions)
        ages = list(self.symbols.ages)
        check_ages(group.nest, self.table, functions, ages, self.fields["nest"])


def expect_signature(path: Path) -> Path:
    """Return the file of a signature, given that file or its folder.

    Raises
    ------
    InputError
        When there is none.
    """
    if path.is_dir():
        path = path / "signature.yaml"
    if not path.is_file():
        raise InputError(f"{path}: there is no such file; expected a signature")
    return path
