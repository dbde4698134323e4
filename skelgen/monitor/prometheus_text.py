"""The newest sample as text of Prometheus."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

#: What quantities mean; their metrics are called ``skelgen_`` and this name.
_HELP = {
    "cpu": "Share of one core that a new process would get, 0 to 1.",
    "cpu_left": "The same without the watched applications, while one runs, 0 to 1.",
    "run_queue": "Threads that run or wait for a core, on average.",
    "pressure": "Part of the time in which some thread waited for a core, 0 to 1.",
    "steal": "Part of the time that the hypervisor took from the cores, 0 to 1.",
    "memory_bytes": "Memory that new programs can have.",
    "traffic_bytes_per_s": "Bytes per second between cores and memory.",
    "bandwidth": "What a new TCP stream gets of a link, as share of its rate, 0 to 1.",
    "bandwidth_bytes_per_s": "Bytes per second that a new TCP stream gets of a link.",
    "latency_s": "Half of the median time of small round trips on a link.",
    "received_bytes_per_s": "Bytes per second that an interface received.",
    "sent_bytes_per_s": "Bytes per second that an interface sent.",
}
_NAMES = {"cpu": "cpu_available"}
#: What stands after the colon of a quantity.
_LABELS = {
    "cpu": "source",
    "received_bytes_per_s": "interface",
    "sent_bytes_per_s": "interface",
}
_TIME = "skelgen_sample_timestamp_seconds"


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest sample of a host.

    Attributes
    ----------
    host : str
    time : float
        Its end, seconds since 1970 in UTC [s].
    values : mapping of str to float
        By quantity, such as ``received_bytes_per_s:eth0``.
    """

    host: str
    time: float
    values: Mapping[str, float]


def metrics_text(newest: Iterable[Newest]) -> str:
    r"""Return samples as text of Prometheus, version 0.0.4.

    Examples
    --------
    >>> text = metrics_text([Newest("n1", 1.5, {"steal": 0.25})])
    >>> text.splitlines()[-1]
    'skelgen_steal{host="n1"} 0.25'
    """
    lines: dict[str, list[str]] = {_TIME: []}
    helps = {_TIME: "End of the newest sample."}
    for one in newest:
        host = f'host="{_escaped(one.host)}"'
        lines[_TIME].append(f"{_TIME}{{{host}}} {one.time!r}")
        for quantity, value in one.values.items():
            if not math.isfinite(value):
                continue
            base, colon, of = quantity.partition(":")
            name = _metric(base)
            label = f',{_LABELS.get(base, "of")}="{_escaped(of)}"' if colon else ""
            helps[name] = _HELP.get(base, f"{_plain(base)}, as the monitor names it.")
            lines.setdefault(name, []).append(f"{name}{{{host}{label}}} {value!r}")
    return "".join(
        f"# HELP {name} {helps[name]}\n# TYPE {name} gauge\n"
        + "".join(f"{line}\n" for line in found)
        for name, found in sorted(lines.items())
    )


def _metric(base: str) -> str:
    return f"skelgen_{_plain(_NAMES.get(base, base))}"


def _plain(text: str) -> str:
    """Return a text with nothing that a name may not have."""
    return re.sub(r"[^a-zA-Z0-9_]", "_", text)


def _escaped(text: str) -> str:
    r"""Escape the value of a label.

    Examples
    --------
    >>> print(_escaped('a"b\n\\'))
    a\"b\n\\
    """
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return quoted.encode(errors="replace").decode()
