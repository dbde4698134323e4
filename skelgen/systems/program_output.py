"""Read what the program prints: a line of JSON for each quantity."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from skelgen.documents import Field, json_field
from skelgen.documents.numbers import MOST_RANKS
from skelgen.errors import ApplicationError, InputError
from skelgen.systems.types import (
    HostFacts,
    MeasuredMessage,
    MeasuredRate,
    Printed,
)

#: The member that names the kind of a line, and the last line's kind.
_KIND, _END = "system", "end"
_MOST_BYTES = 1 << 50


def read_printed(output: str, program: Path, *, whole: bool = True) -> Printed:
    """Read the output of a run; launchers may print between the lines.

    Parameters
    ----------
    output : str
    program : Path
        For messages.
    whole : bool
        Whether the line must be there that says that all was printed.

    Raises
    ------
    ApplicationError
        When a line is not what the program prints, or lines are missing.
    """
    found: dict[str, list[Any]] = {kind: [] for kind in _READ}
    ended = False
    for number, line in enumerate(output.splitlines(), start=1):
        if not line.lstrip().startswith(f'{{"{_KIND}"'):
            continue
        try:
            fields = json_field(line, program, f"line {number} of its output").mapping(
                (_KIND,), None
            )
            kind = fields[_KIND].text()
            ended = ended or kind == _END
            if kind != _END:
                found[_kind(fields[_KIND])].append(_READ[kind](fields))
        except InputError as error:
            raise ApplicationError(
                f"{error}; expected what skelgen's program prints: run skelgen system "
                "measure again, and clear skelgen's cache if it goes on"
            ) from error
    if whole and not ended:
        raise ApplicationError(
            f"{program} printed no line that says that it has ended; its ranks were "
            "ended from outside, or their output was lost: run it again"
        )
    return Printed(*(tuple(found[kind]) for kind in _READ))


def _kind(field: Field) -> str:
    kind = field.text()
    if kind not in _READ:
        raise field.error(f"read {kind[:60]!r}, expected {', '.join(_READ)} or {_END}")
    return kind


def _needed(fields: Mapping[str, Field], *names: str) -> list[Field]:
    for name in names:
        if name not in fields:
            raise fields[_KIND].error(f"the field {name!r} is missing")
    return [fields[name] for name in names]


def _host(fields: Mapping[str, Field]) -> HostFacts:
    words = ("host", "cpu", "kernel", "compiler", "mpi")
    host, cpu, kernel, compiler, mpi = (
        " ".join(one.text().split()) for one in _needed(fields, *words)
    )
    cores, clock, memory, networks = _needed(
        fields, "cores", "clock_hz", "memory_bytes", "networks"
    )
    return HostFacts(
        host=host,
        cpu=cpu,
        kernel=kernel,
        compiler=compiler,
        mpi=mpi,
        cores=cores.integer(1, MOST_RANKS),
        clock_hz=_known(clock),
        memory_bytes=_known(memory),
        networks=tuple(_network(one) for one in networks.items()),
    )


def _network(field: Field) -> tuple[str, float]:
    fields = field.mapping(("name", "bytes_per_s"))
    return fields["name"].text(), fields["bytes_per_s"].positive()


def _known(field: Field) -> float | None:
    """Read a number of which 0 and less mean that the kernel does not say."""
    number = field.number()
    return number if number > 0 else None


def _rate(fields: Mapping[str, Field]) -> MeasuredRate:
    host, name, cores, values, queued = _needed(
        fields, "host", "name", "cores", "values", "queued"
    )
    return MeasuredRate(
        host.text(),
        name.text(),
        cores.integer(1, MOST_RANKS),
        0,
        _values(values),
        _share(queued),
    )


def _memory(fields: Mapping[str, Field]) -> MeasuredRate:
    host, operation, cores, size, values, queued = _needed(
        fields, "host", "operation", "cores", "bytes", "values", "queued"
    )
    return MeasuredRate(
        host.text(),
        operation.text(),
        cores.integer(1, MOST_RANKS),
        size.integer(1, _MOST_BYTES),
        _values(values),
        _share(queued),
    )


def _message(fields: Mapping[str, Field]) -> MeasuredMessage:
    operation, hosts, ranks, size, values, eager, queued = _needed(
        fields, "operation", "hosts", "ranks", "bytes", "values", "eager_bytes",
        "queued",
    )  # fmt: skip
    return MeasuredMessage(
        operation.text(),
        tuple(sorted(set(hosts.texts()))),
        ranks.integer(2, MOST_RANKS),
        size.integer(0, _MOST_BYTES),
        _values(values),
        eager.integer(0, _MOST_BYTES),
        _share(queued),
    )


def _time(fields: Mapping[str, Field]) -> MeasuredRate:
    host, seconds, queued = _needed(fields, "host", "seconds", "queued")
    return MeasuredRate(
        host.text(), "time", 1, 0, (1 / seconds.positive(),), _share(queued)
    )


def _values(field: Field) -> tuple[float, ...]:
    values = tuple(one.positive() for one in field.items())
    if not values:
        raise field.error("read an empty list, expected a value for each repeat")
    return values


def _share(field: Field) -> float | None:
    share = field.number()
    return None if share < 0 or math.isnan(share) else min(share, 1.0)


_READ: dict[str, Callable[[Mapping[str, Field]], Any]] = {
    "host": _host,
    "rate": _rate,
    "memory": _memory,
    "message": _message,
    "time": _time,
}
