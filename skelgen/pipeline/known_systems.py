"""What is known of systems: read it from stores and files, compare two of them."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skelgen.documents import read_json, sealed_json
from skelgen.errors import InputError, NoFileError, UsageError
from skelgen.launch.folders import new_file
from skelgen.store import Fact, Message, open_store
from skelgen.store.lines import from_field, to_line

_FORMAT = 1
_KIND = "skelgen system"
#: How a file begins that may be replaced.
SYSTEM_BEGINS = re.compile(rb'\s*\{\s*"kind":\s*"skelgen system"')
_MEASURE = "skelgen system measure makes some"
#: In the order in which they are shown.
_FACTS = (
    "cores", "clock", "memory", "network_nominal", "platform_contribution",
    "integer_add", "integer_multiply_add", "float_multiply_add", "cache", "read",
    "write", "latency",
)  # fmt: skip
_OPERATIONS = (
    "SR", "BC", "reduce", "allreduce", "allgather", "alltoall", "barrier",
)  # fmt: skip
_SIZE = re.compile(r"_([0-9]{1,9})(b|kib|mib|gib)$")
_UNITS = {"b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}


@dataclass(frozen=True, slots=True)
class SystemRows:
    """Facts of hosts and times of MPI operations, as stores keep them."""

    facts: tuple[Fact, ...] = ()
    messages: tuple[Message, ...] = ()

    @property
    def rows(self) -> list[Fact | Message]:
        """Return all of them."""
        return [*self.facts, *self.messages]

    @property
    def hosts(self) -> list[str]:
        """Return the hosts that there are facts of, sorted."""
        return sorted({one.host for one in self.facts})

    @property
    def measured(self) -> float:
        """Return when the last of them was measured, seconds since 1970 [s]."""
        dates = [one.measured for one in self.rows]
        return max((one for one in dates if not math.isnan(one)), default=math.nan)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Return the doubt of each value; empty for none."""
        return tuple(one.doubt for one in self.rows)

    def of(self, name: str) -> SystemRows:
        """Return what is known of a host, or of all hosts of a system."""
        return SystemRows(
            tuple(one for one in self.facts if name in (one.host, one.system)),
            tuple(one for one in self.messages if name in (*one.hosts, one.system)),
        )

    def newest(self) -> SystemRows:
        """Return the last measurement of each value, in an order for people."""
        old_facts, old_messages = self._by_date()
        facts = {(one.host, one.name, one.cores): one for one in old_facts}
        messages = {(one.hosts, one.operation, one.ranks): one for one in old_messages}
        return SystemRows(
            tuple(sorted(facts.values(), key=_fact_order)),
            tuple(sorted(messages.values(), key=_message_order)),
        )

    def _by_date(self) -> tuple[list[Fact], list[Message]]:
        def date(row: Fact | Message) -> float:
            return -math.inf if math.isnan(row.measured) else row.measured

        return sorted(self.facts, key=date), sorted(self.messages, key=date)


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """A value of two hosts or systems.

    Attributes
    ----------
    name, unit : str
    cores : int
        Cores of a fact, ranks of an operation.
    first, second : float
        Medians over the hosts, in `unit`.
    differs : bool
        Whether the ranges of the repeats do not overlap.
    """

    name: str
    unit: str
    cores: int
    first: float
    second: float
    differs: bool

    @property
    def ratio(self) -> float:
        """Return second / first [1]."""
        return self.second / self.first if self.first else math.nan


def _fact_order(fact: Fact) -> tuple[str, int, int, str, int]:
    """Order facts by host, kind, size and cores."""
    kind = fact.name.partition(":")[0]
    kind = kind if kind in _FACTS else kind.partition("_")[0]
    size = _SIZE.search(fact.name)
    number = int(size[1]) * _UNITS[size[2]] if size else 0
    place = _FACTS.index(kind) if kind in _FACTS else len(_FACTS)
    return fact.host, place, number, fact.name, fact.cores


def _message_order(one: Message) -> tuple[int, tuple[str, ...], int, str, int]:
    """Order times of operations by hosts, operation and ranks."""
    known = one.operation in _OPERATIONS
    place = _OPERATIONS.index(one.operation) if known else len(_OPERATIONS)
    return len(one.hosts), one.hosts, place, one.operation, one.ranks


def known_systems(
    files: Sequence[Path] = (), *, store: str | None = None
) -> SystemRows:
    """Read what was measured, the newest of each value.

    Parameters
    ----------
    files : sequence of Path
        Files of ``skelgen system measure -o``; without any the store is read.
    store : str, optional
        As ``--store`` names it; read in addition to files when it is given.

    Raises
    ------
    InputError
        When a file is damaged, or there is no store.
    """
    facts: list[Fact] = []
    messages: list[Message] = []
    for path in files:
        rows = read_rows(path)
        facts += rows.facts
        messages += rows.messages
    if store is not None or not files:
        try:
            with open_store(store, make=False) as opened:
                facts += opened.newest_facts()
                messages += opened.messages()
        except NoFileError as error:
            raise NoFileError(
                f"{str(error).partition(';')[0]}; {_MEASURE}, and --file reads "
                "those of a file"
            ) from error
    return SystemRows(tuple(facts), tuple(messages)).newest()


def chosen(rows: SystemRows, name: str) -> SystemRows:
    """Return what is known of a host or system.

    Raises
    ------
    UsageError
        When nothing is known of it.
    """
    found = rows.of(name)
    if not found.facts and not found.messages:
        known = ", ".join(rows.hosts[:8]) or "none"
        raise UsageError(
            f"nothing was measured of {name[:60]!r}; known hosts: {known}; {_MEASURE}"
        )
    return found


def compare_systems(first: SystemRows, second: SystemRows) -> list[ComparedValue]:
    """Compare what was measured of both: facts, then times of operations."""
    left, right = _by_place(first), _by_place(second)
    found = []
    for key in left:
        if key not in right:
            continue
        ours, theirs = left[key], right[key]
        apart = max(ours[1]) < min(theirs[1]) or max(theirs[1]) < min(ours[1])
        values = statistics.median(ours[0]), statistics.median(theirs[0])
        found.append(ComparedValue(*key, *values, apart))
    return found


_Values = tuple[list[float], list[float]]


def _by_place(rows: SystemRows) -> dict[tuple[str, str, int], _Values]:
    """Return medians and all ends of ranges, by name, unit and cores."""
    found: dict[tuple[str, str, int], _Values] = {}
    for fact in rows.facts:
        values, ends = found.setdefault((fact.name, fact.unit, fact.cores), ([], []))
        values.append(fact.value)
        ends += [fact.low, fact.high]
    for one in rows.messages:
        places = "inside" if len(one.hosts) == 1 else "between"
        for what, unit, value in (
            ("latency", "s", one.latency_s),
            ("bandwidth", "bytes/s", one.bandwidth_bytes_per_s),
        ):
            if math.isnan(value):
                continue
            key = (f"{one.operation} {places} hosts, {what}", unit, one.ranks)
            values, ends = found.setdefault(key, ([], []))
            values.append(value)
            ends += [value * (1 - one.spread / 2), value * (1 + one.spread / 2)]
    return found


def write_rows(rows: SystemRows, target: Path, *, force: bool) -> None:
    """Write a file with a checksum, which `read_rows` reads."""
    lines = [to_line(one) for one in rows.rows]
    text = sealed_json({"kind": _KIND, "format": _FORMAT, "rows": lines})
    with new_file(target, SYSTEM_BEGINS, force=force) as beside:
        beside.write_text(text, encoding="utf-8", newline="\n")


def read_rows(path: Path) -> SystemRows:
    """Read a file of `write_rows`.

    Raises
    ------
    InputError
        When it is none.
    """
    document = read_json(path)
    fields = document.mapping((), None)
    if "kind" not in fields or fields["kind"].value != _KIND:
        raise InputError(
            f"{path}: is no file of skelgen system measure -o; give one of these"
        )
    fields = document.mapping(("kind", "format", "rows"))
    fields["format"].integer(_FORMAT, _FORMAT)
    rows = [from_field(one) for one in fields["rows"].items()]
    facts = tuple(one for one in rows if isinstance(one, Fact))
    messages = tuple(one for one in rows if isinstance(one, Message))
    if len(facts) + len(messages) < len(rows):
        raise fields["rows"].error("read rows of other kinds than fact and message")
    return SystemRows(facts, messages)
