"""Lists of hosts: what the user writes, and how many ranks each host gets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from skelgen.errors import InputError, NodesError, UsageError

_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]*)")
_COMMA = re.compile(r",(?![^\[]*\])")
_MOST = 100_000


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
    """Read ``n1,n2``, ``n1:4,n2:4``, ``n[1-3,7]``, or what else ClusterShell reads.

    A name that comes again adds a slot, as Open MPI reads it.

    Examples
    --------
    >>> [host.name for host in parse_hosts("n[08-10]")]
    ['n08', 'n09', 'n10']
    """
    return _joined(_listed(text))


def parse_pool(text: str) -> tuple[Host, ...]:
    """Read the hosts to choose from: a list as `parse_hosts` does, or a file's name.

    In a file a name that comes again is a slot; in a list it is a mistake.
    """
    # Unlike Path's, this takes a list that is too long for a name as one.
    if os.path.isfile(text) or ("/" in text and "[" not in text):  # noqa: PTH113
        return read_hostfile(Path(text))
    hosts = _listed(text)
    for host in (pool := _joined(hosts)):
        if host not in hosts:
            raise UsageError(
                f"{text}: {host.name} is there twice; write {host.name}:{host.slots} "
                "for a host with that many slots"
            )
    return pool


def _listed(text: str) -> list[Host]:
    """Return hosts in the order of the text: the first gets rank 0."""
    # Operations on sets (!, & and ^) hold for all that stands before them.
    words = [text] if set(text) & set("!&^") else re.split(_COMMA, text)
    hosts: list[Host] = []
    for word in words:
        name, colon, number = word.strip().rpartition(":")
        counted = bool(colon) and number.isdecimal()
        slots = int(number) if counted else 1
        if slots == 0:
            raise UsageError(f"{word!r} is not a host: write name or name:slots")
        hosts += [Host(part, slots) for part in _expand(name if counted else word)]
    return hosts


def _expand(text: str) -> list[str]:
    """Return the names of a node set, groups of ClusterShell's configuration too."""
    from ClusterShell.NodeSet import NodeSet, NodeSetException

    try:
        for first, last in re.findall(r"[\[,](\d+)-(\d+)", text):
            if int(last) - int(first) >= _MOST:
                raise UsageError(f"{text!r}: {first}-{last} is too long a range")
        names = [str(name) for name in NodeSet(text.strip())]
    except NodeSetException as error:
        raise UsageError(f"{text!r} is not a list of hosts: {error}") from error
    if not names:
        raise UsageError(f"{text!r} names no host; write n1,n2 or n[1-4]")
    for name in names:
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} is not the name of a host")
    return names


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
            f"hosts, or write {hosts[0].name}:{-(-ranks // len(hosts))} to put several "
            "ranks on a host"
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
