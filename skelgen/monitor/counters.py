"""Read what the kernel counts, from the text of its files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CoreTimes:
    """What a core has done since the machine was started.

    Attributes
    ----------
    busy_s : float
        Time of processes and of interrupts [s].
    idle_s : float
        Time without work, waits for disks among it [s].
    interrupts_s : float
        Part of `busy_s` that no process can have [s].
    steal_s : float
        Time in which the hypervisor ran something else [s].
    """

    busy_s: float
    idle_s: float
    interrupts_s: float
    steal_s: float

    def since(self, before: CoreTimes) -> CoreTimes:
        """Return what was done after an earlier reading."""
        return CoreTimes(
            max(self.busy_s - before.busy_s, 0.0),
            max(self.idle_s - before.idle_s, 0.0),
            max(self.interrupts_s - before.interrupts_s, 0.0),
            max(self.steal_s - before.steal_s, 0.0),
        )


def core_times(text: str, ticks_per_s: float) -> dict[int, CoreTimes]:
    r"""Read the cores from ``/proc/stat``.

    Examples
    --------
    >>> core_times("cpu  9\ncpu0 100 0 50 800 50 10 20 5 0 0\nintr 1\n", 100)[0]
    CoreTimes(busy_s=1.8, idle_s=8.5, interrupts_s=0.3, steal_s=0.05)
    """
    found = {}
    for line in text.splitlines():
        if not line.startswith("cpu"):
            break  # the lines after the cores are long
        name, *words = line.split()
        if name == "cpu":
            continue
        user, nice, system, idle, wait, hard, soft, steal = map(int, words[:8])
        found[int(name[3:])] = CoreTimes(
            (user + nice + system + hard + soft) / ticks_per_s,
            (idle + wait) / ticks_per_s,
            (hard + soft) / ticks_per_s,
            steal / ticks_per_s,
        )
    return found


def runnable(text: str) -> int:
    """Return how many threads run or wait for a core, from ``/proc/loadavg``.

    Examples
    --------
    >>> runnable("0.42 1.19 1.47 3/95 8875")
    3
    """
    return int(text.split()[3].partition("/")[0])


def queued_s(text: str) -> dict[int, float]:
    r"""Return the time that threads ran or waited on each core [s].

    From ``/proc/schedstat``, which not every kernel has.

    Examples
    --------
    >>> queued_s("version 17\ncpu0 0 0 0 0 0 0 2000000000 500000000 9\n")
    {0: 2.5}
    """
    found = {}
    for line in text.splitlines():
        if line.startswith("cpu"):
            name, *words = line.split()
            found[int(name[3:])] = (int(words[6]) + int(words[7])) / 1e9
    return found


def waited_s(text: str) -> float:
    """Return for how long some thread waited, from a file of ``/proc/pressure`` [s].

    Examples
    --------
    >>> waited_s("some avg10=0.91 avg60=6.78 avg300=12.16 total=5476824446")
    5476.824446
    """
    for line in text.splitlines():
        if line.startswith("some "):
            return int(line.rpartition("total=")[2]) / 1e6
    raise ValueError("no line that begins with some")


def memory_bytes(text: str) -> int:
    r"""Return the memory that new programs can have, from ``/proc/meminfo`` [bytes].

    Examples
    --------
    >>> memory_bytes("MemTotal: 20 kB\nMemFree: 1 kB\nMemAvailable: 12 kB\n")
    12288
    """
    for line in text.splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise ValueError("no line that begins with MemAvailable")


def interface_bytes(text: str) -> dict[str, tuple[int, int]]:
    r"""Return the bytes received and sent, from ``/proc/net/dev`` [bytes].

    Examples
    --------
    >>> interface_bytes("a\nb\n eth0: 1169 3 0 0 0 0 0 0 2218 2 0 0 0 0 0 0\n")
    {'eth0': (1169, 2218)}
    """
    found = {}
    for line in text.splitlines()[2:]:
        name, _, rest = line.rpartition(":")
        words = rest.split()
        found[name.strip()] = (int(words[0]), int(words[8]))
    return found


def core_list(text: str) -> frozenset[int]:
    """Read a list of cores as the kernel writes it.

    Examples
    --------
    >>> sorted(core_list("0-2,7"))
    [0, 1, 2, 7]
    """
    found: set[int] = set()
    for word in text.strip().split(","):
        if word:
            first, _, last = word.partition("-")
            found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)
