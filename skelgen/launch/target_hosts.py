"""Where a launch runs, as far as its words and its batch job say."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skelgen.errors import SkelgenError
from skelgen.launch.allocation import allocated_hosts
from skelgen.launch.command import LaunchCommand
from skelgen.launch.hosts import Host, parse_hosts, read_hostfile
from skelgen.launch.launchers import OpenMpi, Srun

#: Options whose value is a list of hosts, and a file of them.
_LISTS = frozenset(("host", "hosts", "H", "w", "nodelist"))
_FILES = frozenset(
    ("f", "hostfile", "machinefile", "default-hostfile", "F", "nodefile")
)
#: Options that say how many ranks each host gets, and how many hosts there are.
_EACH = frozenset(("ppn", "perhost", "npernode", "ntasks-per-node"))
_NODES = frozenset(("N", "nodes"))


@dataclass(frozen=True, slots=True)
class Where:
    """Ranks and hosts of a launch.

    Attributes
    ----------
    ranks, ranks_per_node, nodes : int
        0 where the words do not say it.
    hosts : tuple of str
        Without repeats; empty where the words do not say them.
    """

    ranks: int = 0
    ranks_per_node: int = 0
    nodes: int = 0
    hosts: tuple[str, ...] = ()


def where_of(
    command: LaunchCommand, variables: Mapping[str, str] = os.environ
) -> Where:
    """Say where a launch runs.

    Parameters
    ----------
    command : LaunchCommand
    variables : mapping
        Environment, for a batch job around it.
    """
    said = _options(command)
    listed = _listed(said)
    hosts = listed or allocated_hosts(variables) or (platform.node(),)
    if command.launcher is None:
        return Where(hosts=hosts)
    on_nodes, each_of = (_NODES, _EACH)
    if isinstance(command.launcher, OpenMpi):
        on_nodes, each_of = frozenset[str](), _EACH | _NODES  # its -N is per node
    ranks, each = command.ranks or 0, _count(said, each_of)
    nodes = _count(said, on_nodes) or len(hosts)
    if nodes != len(hosts):
        hosts = ()  # some of those of the job, or more than are known
    ranks = ranks or each * nodes
    if listed and 0 < ranks < nodes:
        hosts, nodes = hosts[:ranks], ranks
    if not each and ranks % nodes == 0:
        each = ranks // nodes
    return Where(ranks, each, nodes, hosts)


def _options(command: LaunchCommand) -> dict[str, str]:
    """Return the options of a launcher that say where ranks run, by their names."""
    found: dict[str, str] = {}
    launcher, words = command.launcher, list(command.options)
    while launcher is not None and words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if not equals and isinstance(launcher, Srun) and word[:2] in ("-N", "-w"):
            name, value = word[:2], word[2:]
        width = launcher.grammar.width(name)
        if not equals and not value and width:
            value, words = words[0] if words else "", words[width:]
        found[name.lstrip("-")] = value
    return found


def _listed(said: Mapping[str, str]) -> tuple[str, ...]:
    """Return the hosts that words or files name."""
    found: list[Host] = []
    for name, value in said.items():
        try:
            if name in _LISTS:
                found += parse_hosts(value)
            elif name in _FILES:
                found += read_hostfile(Path(value))
        except SkelgenError:
            continue  # the launcher will say it
    return tuple(dict.fromkeys(host.name for host in found))


def _count(said: Mapping[str, str], names: frozenset[str]) -> int:
    values = [value for name, value in said.items() if name in names]
    return int(values[-1]) if values and values[-1].isdecimal() else 0
