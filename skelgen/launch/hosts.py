"""Lists of hosts: what the user writes, and how many ranks each host gets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from skelgen.errors import InputError, NodesError, UsageError

_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]*)")


@dataclass(frozen=True, slots=True)
class Host:
    """A host and how many ranks it may run.

    Attributes
    ----------
    name : str
    slots : int
        1 unless the user said more.
    """

    name: str
    slots: int = 1


def parse_hosts(text: str) -> tuple[Host, ...]:
    """Read ``n1,n2``, ``n1:4,n2:4`` or ``n[1-3,7]``.

    A name that comes again adds a slot, as Open MPI reads it.

    Examples
    --------
    >>> [host.name for host in parse_hosts("n[08-10]")]
    ['n08', 'n09', 'n10']
    """
    hosts: list[Host] = []
    for word in re.split(r",(?![^\[]*\])", text):
        name, colon, number = word.strip().partition(":")
        if colon and not (number.isdecimal() and int(number) > 0):
            raise UsageError(f"{word!r} is not a host: write name or name:slots")
        slots = int(number) if colon else 1
        hosts += [Host(part, slots) for part in _expand(name)]
    return _joined(hosts)


def _expand(name: str) -> list[str]:
    """Write ``n[1-3]`` out; zeros in front of the first number are kept."""
    before, bracket, rest = name.partition("[")
    if not bracket:
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} is not the name of a host")
        return [name]
    inside, closed, after = rest.partition("]")
    names: list[str] = []
    for part in inside.split(","):
        first, _, last = part.partition("-")
        last = last or first
        if not (closed and first.isdecimal() and last.isdecimal()):
            raise UsageError(f"{name!r} is not a list of hosts such as n[1-4]")
        numbers = range(int(first), int(last) + 1)
        if not 0 < len(numbers) <= 100_000:
            raise UsageError(f"{name!r}: {first}-{last} is not a range of hosts")
        names += [f"{before}{number:0{len(first)}}" for number in numbers]
    return [longer for middle in names for longer in _expand(middle + after)]


def _joined(hosts: Iterable[Host]) -> tuple[Host, ...]:
    slots: dict[str, int] = {}
    for host in hosts:
        slots[host.name] = slots.get(host.name, 0) + host.slots
    return tuple(Host(name, count) for name, count in slots.items())


def read_hostfile(path: Path) -> tuple[Host, ...]:
    """Read a hostfile of Open MPI (``n1 slots=4``) or of MPICH (``n1:4``)."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"hostfile {path} cannot be read: {_reason(error)}") from error
    hosts: list[Host] = []
    for number, line in enumerate(lines, start=1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            named = parse_hosts(words[0])
        except UsageError as error:
            raise InputError(f"hostfile {path} line {number}: {error}") from error
        slots = [word for word in words[1:] if word.startswith("slots=")]
        if slots and slots[0][6:].isdecimal() and int(slots[0][6:]) > 0:
            named = tuple(Host(host.name, int(slots[0][6:])) for host in named)
        elif slots:
            raise InputError(
                f"hostfile {path} line {number}: {slots[0]!r} is no number"
            )
        hosts += named
    if not hosts:
        raise InputError(f"hostfile {path} names no host")
    return _joined(hosts)


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "not text"


def place(ranks: int, hosts: Sequence[Host]) -> tuple[Host, ...]:
    """Give every host its number of ranks, as evenly as the slots allow.

    Returns
    -------
    tuple of Host
        With ``slots`` the ranks that the host runs; hosts without a rank are left
        out.

    Raises
    ------
    NodesError
        When there are fewer slots than ranks.

    Examples
    --------
    >>> place(3, [Host("n1", 4), Host("n2", 4)])
    (Host(name='n1', slots=2), Host(name='n2', slots=1))
    """
    slots = sum(host.slots for host in hosts)
    if slots < ranks:
        names = ",".join(f"{host.name}:{host.slots}" for host in hosts)
        raise NodesError(
            f"{ranks} ranks need {ranks} slots, but {names} has {slots}; name more "
            f"hosts, or write {hosts[0].name}:{ranks} to put several ranks on a host"
        )
    given = [0] * len(hosts)
    while sum(given) < ranks:
        free = [i for i, host in enumerate(hosts) if given[i] < host.slots]
        given[min(free, key=lambda i: given[i])] += 1
    return tuple(
        Host(host.name, count)
        for host, count in zip(hosts, given, strict=True)
        if count > 0
    )
