"""Samples of quantities, as the monitor names them, from what sources say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from skelgen.documents.dates import LATEST_S
from skelgen.errors import InputError
from skelgen.monitor.records import wrong
from skelgen.sources.estimate import MOST_THREADS, available_cpu
from skelgen.sources.rates import Rates
from skelgen.sources.types import Look, Notes, Usage, host_name, is_counted

#: Most samples that are taken at once.
_MOST_SAMPLES = 20_000_000
#: Most that a quantity can be: an exabyte, or as many in a second.
_MOST = 1e18
#: Most that the stolen and waiting parts may exceed 1 by, of rounding.
_SLACK = 0.01


class Loads:
    """Samples by host and quantity, and what was left out.

    Parameters
    ----------
    kind : str
        Of the source, a name of `KINDS`; the estimated CPU is named for it.
    """

    def __init__(self, kind: str) -> None:
        self.kind, self.notes = kind, Notes()
        self._rates = Rates(self.notes)
        self._samples: dict[tuple[str, str], dict[float, float]] = {}
        self._count = 0
        self._source, self._host = "", ""
        self._names: set[str] = set()

    def begin(self, source: str, host: str = "") -> None:
        """Begin with a source.

        Parameters
        ----------
        source : str
            For messages.
        host : str
            The node, where the source does not say it.
        """
        self._source, self._host = source, host
        self._names.clear()

    def look(self, look: Look) -> None:
        """Take counters of a moment.

        Raises
        ------
        InputError
            When nobody says of which host they are, or there are too many.
        """
        look.host = self._named(look.host)
        for case in look.unusable:
            self.left_out("a value is no number of at least 0", case)
        if self._is_moment(look.time):
            self._take(self._rates.usage(self._source, look))

    def usage(self, usage: Usage) -> None:
        """Take what a source has compared itself; errors as those of `look`."""
        usage.host = self._named(usage.host)
        if self._is_moment(usage.time):
            self._take(usage)

    def left_out(self, reason: str, case: str) -> None:
        """Count something that the source says and that cannot be used."""
        self.notes.add(self._source, reason, case[:100])

    def take(self) -> Iterator[tuple[str, str, Sequence[float], Sequence[float]]]:
        """Give host, quantity, times and values of all samples, and forget them."""
        found, self._samples = self._samples, {}
        self._count = 0
        for (host, quantity), samples in sorted(found.items()):
            times = sorted(samples)
            yield host, quantity, times, [samples[time] for time in times]

    def _named(self, host: str) -> str:
        if not host and not self._host:
            raise InputError(
                f"{self._source}: does not say of which node it is; name it: --host"
            )
        self._names.add(host)
        if self._host and len(self._names) > 1:
            one, other, *_ = sorted(self._names)
            raise InputError(
                f"{self._source}: is of several nodes, {one[:60]!r} and {other[:60]!r};"
                " leave out --host"
            )
        try:
            return host_name(self._host or host)
        except InputError as error:
            raise InputError(f"{self._source}: {error}") from error

    def _is_moment(self, time: float) -> bool:
        if 0 <= time <= LATEST_S:
            return True
        self.left_out("no moment between 1970 and 2286", f"{time:g}")
        return False

    def _take(self, usage: Usage) -> None:
        for name, value in self._quantities(usage):
            if math.isnan(value):
                continue
            reason = wrong(name.partition(":")[0], value)
            most = MOST_THREADS if name == "run_queue" else _MOST
            if not reason and value > most:
                reason = f"{name} is {value:g}, expected at most {most:g}"
            if reason:
                self.left_out("a value cannot be true", reason)
                continue
            samples = self._samples.setdefault((usage.host, name), {})
            self._count += usage.time not in samples
            samples.setdefault(usage.time, value)
        if self._count > _MOST_SAMPLES:
            raise InputError(
                f"{self._source}: more than {_MOST_SAMPLES} samples; import fewer files"
            )

    def _quantities(self, usage: Usage) -> Iterator[tuple[str, float]]:
        cpu = available_cpu(usage)
        if math.isnan(cpu) and 0 < usage.cores < usage.busy:
            part = usage.busy / usage.cores
            self.left_out("a value cannot be true", f"{part:.0%} of the cores worked")
        yield f"cpu:{self.kind}", cpu
        yield "run_queue", usage.run_queue
        yield "pressure", _part(usage.pressure)
        yield "steal", _part(usage.stolen / usage.cores) if usage.cores else math.nan
        yield "memory_bytes", usage.memory_bytes
        for direction, rates in (("received", usage.received), ("sent", usage.sent)):
            for name, rate in rates.items():
                if is_counted(name):
                    yield f"{direction}_bytes_per_s:{name}", rate


def _part(value: float) -> float:
    """Return a part of the time; rounding may make it a bit more than 1."""
    return min(value, 1.0) if value <= 1 + _SLACK else value
