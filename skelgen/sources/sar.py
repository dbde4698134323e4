"""What sar kept, as its tool sadf writes it: JSON (-j) or a table (-d)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skelgen.documents import Field, json_field
from skelgen.documents.dates import moment_s
from skelgen.documents.numbers import NumberError
from skelgen.errors import InputError
from skelgen.sources.types import Line, Usage, number

_KIB = 1024.0
#: What sadf is asked for.
REPORTS = ("-u", "ALL", "-P", "ALL", "-q", "ALL", "-r", "-n", "DEV")
#: Names of JSON by those of the table: a report has the columns of one of these.
_CORES = {"%irq": "irq", "%soft": "soft"} | {
    f"%{name}": name for name in ("idle", "iowait", "steal")
}
_RESTART = re.compile(r"LINUX-RESTART\s*\(?\s*(\d+)?")


@dataclass(slots=True)
class _Moment:
    """What reports say of one moment, in the words of sadf's JSON."""

    cpu: dict[str, float] = field(default_factory=dict)
    cores: int = 0
    usage: Usage = field(default_factory=lambda: Usage("", math.nan))


def read_json(source: str, text: str) -> Iterator[Usage]:
    """Read what ``sadf -j`` writes.

    Raises
    ------
    InputError
        When it is something else.
    """
    whole = json_field(text, Path(source)).mapping(("sysstat",), None)
    for host in whole["sysstat"].mapping(("hosts",), None)["hosts"].items():
        facts = host.mapping(("nodename", "statistics"), None)
        zone = facts["timezone"].text() if "timezone" in facts else ""
        cores = facts["number-of-cpus"].number() if "number-of-cpus" in facts else 0.0
        for one in facts["statistics"].items():
            reports = one.mapping(optional=None)
            if "timestamp" not in reports:
                continue
            moment = _Moment(cores=int(min(max(cores, 0.0), 1e6)))
            moment.usage.host = facts["nodename"].text()
            moment.usage.time = _time(reports["timestamp"], zone)
            for name, take in _REPORTS.items():
                if name in reports:
                    take(moment, reports[name])
            yield _whole(moment)


def _time(stamp: Field, zone: str) -> float:
    """Read a time [s]."""
    parts = stamp.mapping(("date", "time"), None)
    is_utc = "utc" in parts and parts["utc"].value in (1, True)
    if not is_utc and zone not in ("UTC", "GMT"):
        raise stamp.error("read a local time; write the file with sadf -j, without -t")
    try:
        return moment_s(f"{parts['date'].text()}T{parts['time'].text()}+00:00")
    except NumberError as error:
        raise stamp.error(str(error)) from error


def _take_cpu(moment: _Moment, report: Field) -> None:
    for one in report.items():
        fields = one.mapping(("cpu",), None)
        if fields["cpu"].text() == "all":
            moment.cpu = _numbers(fields, _CORES.values())


def _take_queue(moment: _Moment, report: Field) -> None:
    fields = report.mapping(optional=None)
    found = _numbers(fields, ("runq-sz",))
    moment.usage.run_queue = found.get("runq-sz", math.nan)


def _take_memory(moment: _Moment, report: Field) -> None:
    found = _numbers(report.mapping(optional=None), ("avail",))
    moment.usage.memory_bytes = found.get("avail", math.nan) * _KIB


def _take_network(moment: _Moment, report: Field) -> None:
    devices = report.mapping(optional=None).get("net-dev")
    for one in devices.items() if devices else ():
        fields = one.mapping(("iface",), None)
        name = fields["iface"].text()
        found = _numbers(fields, ("rxkB", "txkB"))
        moment.usage.received[name] = found.get("rxkB", math.nan) * _KIB
        moment.usage.sent[name] = found.get("txkB", math.nan) * _KIB


def _take_pressure(moment: _Moment, report: Field) -> None:
    cpu = report.mapping(optional=None).get("psi-cpu")
    found = _numbers(cpu.mapping(optional=None), ("some_avg",)) if cpu else {}
    moment.usage.pressure = found.get("some_avg", math.nan) / 100


_REPORTS: Mapping[str, Callable[[_Moment, Field], None]] = {
    "cpu-load": _take_cpu,
    "cpu-load-all": _take_cpu,
    "queue": _take_queue,
    "memory": _take_memory,
    "network": _take_network,
    "psi": _take_pressure,
}


def _numbers(fields: Mapping[str, Field], names: Iterable[str]) -> dict[str, float]:
    return {name: fields[name].number() for name in names if name in fields}


def _whole(moment: _Moment) -> Usage:
    """Turn percentages of all cores into cores."""
    usage, cpu = moment.usage, moment.cpu
    if moment.cores and "idle" in cpu:
        share = moment.cores / 100
        stolen = cpu.get("steal", 0.0)
        usage.cores = float(moment.cores)
        usage.stolen = stolen * share
        usage.busy = (100 - cpu["idle"] - cpu.get("iowait", 0.0) - stolen) * share
        # Rounded percentages need not sum to 100.
        usage.busy = 0.0 if -0.05 < usage.busy < 0 else usage.busy
        usage.interrupts = (cpu.get("irq", 0.0) + cpu.get("soft", 0.0)) * share
    return usage


def read_table(source: str, lines: Iterable[Line]) -> Iterator[Usage]:
    """Read what ``sadf -d`` writes: a table for each report, one after the other.

    Raises
    ------
    InputError
        With the line that is something else.
    """
    moments: dict[tuple[str, float], _Moment] = {}
    cores: dict[str, int] = {}
    header: list[str] = []
    for at, line in lines:
        cells = [cell.strip() for cell in line.lstrip("# ").split(";")]
        if not line.strip():
            continue
        if line.startswith("#"):
            header = cells
            continue
        if len(cells) > 3 and (restart := _RESTART.match(cells[3])):
            cores[cells[0]] = int(restart[1] or 0)
            continue
        if len(cells) != len(header) or len(cells) < 4:
            raise InputError(
                f"{source}: line {at}: read {len(cells)} columns, expected the "
                f"{len(header)} of the header that begins with # hostname;interval"
            )
        try:
            row = dict(zip(header, cells, strict=True))
            _take_row(row, moments, cores)
        except (NumberError, KeyError) as error:
            raise InputError(f"{source}: line {at}: {_said(error)}") from error
    for (host, time), moment in sorted(moments.items(), key=lambda one: one[0]):
        moment.usage.host, moment.usage.time = host, time
        moment.cores = cores.get(host, 0)
        yield _whole(moment)


def _said(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"the column {error.args[0]} is missing"
    return str(error)


def _take_row(
    row: Mapping[str, str],
    moments: dict[tuple[str, float], _Moment],
    cores: dict[str, int],
) -> None:
    """Put a line of any report where it belongs."""
    host, stamp = row["hostname"], row["timestamp"]
    if not stamp.endswith(" UTC") and not stamp.isdecimal():
        raise NumberError(
            f"read the local time {stamp[:30]!r}; write the file with sadf -d, "
            "without -t"
        )
    time = moment_s(stamp.removesuffix(" UTC"))
    moment = moments.setdefault((host, time), _Moment())
    if "CPU" in row and "%idle" in row:
        core = number(row["CPU"])
        if core >= 0:
            cores[host] = max(cores.get(host, 0), int(min(core, 1e6)) + 1)
        else:
            moment.cpu = {_CORES[n]: number(row[n]) for n in _CORES if n in row}
    elif "runq-sz" in row:
        moment.usage.run_queue = number(row["runq-sz"])
    elif "kbavail" in row:
        moment.usage.memory_bytes = number(row["kbavail"]) * _KIB
    elif "IFACE" in row and "rxkB/s" in row:
        moment.usage.received[row["IFACE"]] = number(row["rxkB/s"]) * _KIB
        moment.usage.sent[row["IFACE"]] = number(row["txkB/s"]) * _KIB
    elif "%scpu" in row:
        moment.usage.pressure = number(row["%scpu"]) / 100
