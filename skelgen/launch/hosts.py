"""Lists of hosts: what the user writes, and how many ranks each host gets."""

from __future__ import annotations

import bisect
import math
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from skelgen.documents.files import read_text
from skelgen.documents.numbers import NumberError, integer
from skelgen.errors import InputError, NodesError, UsageError

_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]*)")
#: What node sets are made of: names of groups come to a shell of the site, and must be
#: neither options nor anything else there.
_PLAIN = re.compile(r"(?:[\w.,\[\]/!&^*? -]|[@:](?!-))*")
#: Between the words of a node set: commas and operations, but not inside brackets.
_APART = re.compile(r"[,!&^ ](?![^\[]*\])")
_INSIDE = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"([0-9]{1,18})-([0-9]{1,18})(?:/([0-9]{1,18}))?")
_COMMA = re.compile(r",(?![^\[]*\])")
#: Hosts of one list.
_MOST = 100_000
#: Ranks of one host.
_MOST_SLOTS = 10_000_000
_MOST_BYTES = 16 << 20


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
    once = set(hosts)
    for host in (pool := _joined(hosts)):
        if host not in once:
            raise UsageError(
                f"{text}: {host.name} is there twice; write {host.name}:{host.slots} "
                "for a host with that many slots"
            )
    return pool


def _listed(text: str) -> list[Host]:
    """Return hosts in the order of the text: the first gets rank 0."""
    if (count := _count(text)) > _MOST:
        raise UsageError(
            f"{text[:60]!r} names {count} hosts, expected at most {_MOST}; name fewer"
        )
    # Operations on sets (!, & and ^) hold for all that stands before them.
    words = [text] if set(text) & set("!&^") else re.split(_COMMA, text)
    hosts: list[Host] = []
    for word in words:
        name, colon, number = word.strip().rpartition(":")
        counted = bool(colon) and number.isdecimal()
        slots = _slots(number) if counted else 1
        if not slots:
            raise UsageError(
                f"{word[:60]!r} is not a host: write name or name:slots, with 1 to "
                f"{_MOST_SLOTS} slots"
            )
        hosts += [Host(part, slots) for part in _expand(name if counted else word)]
    return hosts


def _expand(text: str) -> list[str]:
    """Return the names of a node set, groups of ClusterShell's configuration too."""
    from ClusterShell.NodeSet import NodeSet, NodeSetException
    from ClusterShell.NodeUtils import GroupResolverError, GroupSourceError

    if not _PLAIN.fullmatch(text):
        raise UsageError(
            f"{text[:60]!r} is not a list of hosts: it has characters of "
            "no name; write n1,n2 or n[1-4]"
        )
    try:
        names = [str(name) for name in NodeSet(text.strip())]
    except (NodeSetException, GroupResolverError, GroupSourceError) as error:
        raise UsageError(f"{text[:60]!r} is not a list of hosts: {error}") from error
    if not names:
        raise UsageError(f"{text[:60]!r} names no host; write n1,n2 or n[1-4]")
    for name in names:
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} is not the name of a host")
    return names


def _count(text: str) -> int:
    """Return how many names a node set stands for at most, without listing them.

    Examples
    --------
    >>> _count("n[1-9999]x[1-9999]"), _count("a,n[1-3,7-9/2]"), _count("a[1-4]!a[1-2]")
    (99980001, 6, 6)
    """
    return sum(
        math.prod(
            sum(map(_span, inside.split(","))) for inside in _INSIDE.findall(word)
        )
        for word in _APART.split(text)
        if word.strip()
    )


def _span(text: str) -> int:
    """Return how many numbers ``1-9`` or ``1-9/2`` stands for; 1 for anything else."""
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        return 1
    first, last, step = (int(part or 1) for part in found.groups())
    return max(0, last - first) // max(step, 1) + 1


def _joined(hosts: Iterable[Host]) -> tuple[Host, ...]:
    slots: dict[str, int] = {}
    for host in hosts:
        slots[host.name] = slots.get(host.name, 0) + host.slots
    return tuple(Host(name, count) for name, count in slots.items())


def read_hostfile(path: Path) -> tuple[Host, ...]:
    """Read a hostfile of Open MPI (``n1 slots=4``) or of MPICH (``n1:4``)."""
    text = read_text(path, most_bytes=_MOST_BYTES, pipes=True)
    hosts: list[Host] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            named = parse_hosts(words[0])
        except UsageError as error:
            raise InputError(f"hostfile {path} line {number}: {error}") from error
        slots = [word for word in words[1:] if word.startswith("slots=")]
        if slots and not (count := _slots(slots[0][6:])):
            raise InputError(
                f"hostfile {path} line {number}: {slots[0][:60]!r} is no number from 1 "
                f"to {_MOST_SLOTS}"
            )
        if slots:
            named = tuple(Host(host.name, count) for host in named)
        hosts += named
    if not hosts:
        raise InputError(f"hostfile {path} names no host")
    return _joined(hosts)


def _slots(text: str) -> int:
    """Return a number of slots, 0 for what is none."""
    try:
        return integer(text, 1, _MOST_SLOTS)
    except NumberError:
        return 0


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
    level = bisect.bisect_right(
        range(ranks + 1), ranks, key=lambda most: sum(min(h.slots, most) for h in hosts)
    )
    given = [min(host.slots, level - 1) for host in hosts]
    left = ranks - sum(given)
    more = [at for at, host in enumerate(hosts) if host.slots >= level][:left]
    for at in more:
        given[at] += 1
    return tuple(
        Host(host.name, count)
        for host, count in zip(hosts, given, strict=True)
        if count > 0
    )
