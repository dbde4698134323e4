"""The launchers of MPI programs: what to write on their command line.

Each class holds the path of its launcher and the words that a user gave it, and
returns argument lists; nothing here starts a process.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, Self

from skelgen.errors import UsageError
from skelgen.launch.hosts import Host
from skelgen.launch.mpi import Mpi, MpiKind

_ROOT = "--allow-run-as-root"


@dataclass(frozen=True, slots=True)
class Grammar:
    """Which words of a launcher take values.

    Attributes
    ----------
    ranks : frozenset of str
        Options whose value is the number of ranks.
    places : Mapping of str to int
        Options that say where ranks run, with how many values follow.
    values : Mapping of str to int
        Other options with how many values follow.
    """

    ranks: frozenset[str]
    places: Mapping[str, int]
    values: Mapping[str, int]

    def width(self, word: str) -> int | None:
        """Return how many values follow an option, None when it is not known."""
        if word in self.ranks:
            return 1
        return self.places.get(word, self.values.get(word))


class Launcher(Protocol):
    """What starts an MPI program on hosts."""

    grammar: ClassVar[Grammar]

    @property
    def words(self) -> tuple[str, ...]:
        """Return the launcher and the options of the user that are kept."""

    def arguments(
        self, program: Sequence[str], *, ranks: int, hosts: Sequence[Host] = ()
    ) -> list[str]:
        """Return the command that runs a program.

        Parameters
        ----------
        program : sequence of str
            Program and its arguments.
        ranks : int
        hosts : sequence of Host, optional
            With the number of ranks of each, as `place` returns them; this
            machine, or what a batch system gave, when empty.
        """

    def typed(self, options: Sequence[str], variables: Mapping[str, str]) -> list[str]:
        """Return the launcher with options as a user typed them.

        Parameters
        ----------
        options : sequence of str
        variables : mapping
            Environment that the ranks, and only they, get in addition.
        """

    def with_words(self, words: Sequence[str]) -> Self:
        """Return the same launcher with other words of the user."""


def _spread(names: str, values: int) -> dict[str, int]:
    """Give each option its spellings with one and two dashes."""
    return {
        dashes + name: values
        for name in names.split()
        for dashes in (("-",) if len(name) == 1 else ("-", "--"))
    }


@dataclass(frozen=True, slots=True)
class Hydra:
    """mpirun and mpiexec of MPICH and its descendants.

    Attributes
    ----------
    words : tuple of str
        The launcher and options of the user that are kept.
    """

    words: tuple[str, ...]
    grammar: ClassVar[Grammar] = Grammar(
        ranks=frozenset(_spread("n np", 1)),
        places=_spread("hosts host f machinefile hostfile ppn perhost", 1),
        values={
            **_spread("genv env", 2),
            **_spread(
                "genvlist envlist rankmap wdir configfile launcher launcher-exec rmk "
                "bootstrap bootstrap-exec topolib bind-to map-by membind demux iface "
                "memory-alloc-kinds errfile-pattern outfile-pattern prepend-pattern "
                "gpus-per-proc localhost nameserver order-nodes usize pmi-port-range",
                1,
            ),
        },
    )

    def arguments(
        self, program: Sequence[str], *, ranks: int, hosts: Sequence[Host] = ()
    ) -> list[str]:
        """Return the command; hosts are named with their number of ranks."""
        where: list[str] = []
        if hosts:
            where = ["-hosts", ",".join(f"{host.name}:{host.slots}" for host in hosts)]
        return [*self.words, *where, "-n", str(ranks), *program]

    def typed(self, options: Sequence[str], variables: Mapping[str, str]) -> list[str]:
        """Return the launcher, ``-genv NAME VALUE`` and the options."""
        pairs = [("-genv", name, value) for name, value in variables.items()]
        return [self.words[0], *(word for pair in pairs for word in pair), *options]

    def with_words(self, words: Sequence[str]) -> Hydra:
        """Return the same launcher with other words of the user."""
        return replace(self, words=tuple(words))


@dataclass(frozen=True, slots=True)
class OpenMpi:
    """mpirun of Open MPI.

    Attributes
    ----------
    words : tuple of str
        The launcher and options of the user that are kept.
    cores : int
        Cores of this machine: more ranks than that must be allowed in words.
    """

    words: tuple[str, ...]
    cores: int = os.cpu_count() or 1
    grammar: ClassVar[Grammar] = Grammar(
        ranks=frozenset([*_spread("n np c", 1)]),
        places={
            **_spread("H host hostfile machinefile default-hostfile npernode", 1),
            **_spread("N", 1),
        },
        values={
            **_spread("mca gmca pmixmca prtemca omca", 2),
            **_spread(
                "x wdir wd bind-to map-by rank-by cpu-set cpu-list output rankfile "
                "tune personality display prefix path stdin timeout preload-files "
                "output-filename report-uri app dvm pmixam runtime-options",
                1,
            ),
        },
    )

    def arguments(
        self, program: Sequence[str], *, ranks: int, hosts: Sequence[Host] = ()
    ) -> list[str]:
        """Return the command; more ranks than cores here are allowed in words."""
        where: list[str] = []
        if hosts:
            where = ["--host", ",".join(f"{host.name}:{host.slots}" for host in hosts)]
        elif ranks > self.cores and not self._maps():
            where = ["--map-by", ":OVERSUBSCRIBE"]
        return [*self.words, *where, "-n", str(ranks), *program]

    def _maps(self) -> bool:
        return any(
            word.lstrip("-") in ("map-by", "oversubscribe") for word in self.words
        )

    def typed(self, options: Sequence[str], variables: Mapping[str, str]) -> list[str]:
        """Return the launcher, ``-x NAME=VALUE`` and the options."""
        pairs = [("-x", f"{name}={value}") for name, value in variables.items()]
        flag = [word for word in self.words if word == _ROOT and word not in options]
        head = [self.words[0], *flag[:1]]
        return [*head, *(word for pair in pairs for word in pair), *options]

    def with_words(self, words: Sequence[str]) -> OpenMpi:
        """Return the same launcher with other words of the user."""
        return replace(self, words=tuple(words))


@dataclass(frozen=True, slots=True)
class Srun:
    """Slurm's srun.

    Attributes
    ----------
    words : tuple of str
        The launcher and options of the user that are kept, ``--mpi`` among them.
    """

    words: tuple[str, ...]
    grammar: ClassVar[Grammar] = Grammar(
        ranks=frozenset(["-n", "--ntasks"]),
        places={
            **dict.fromkeys(["-w", "--nodelist", "-N", "--nodes", "-x"], 1),
            **dict.fromkeys(["--exclude", "--ntasks-per-node", "-m"], 1),
            **dict.fromkeys(["--distribution", "-F", "--nodefile"], 1),
        },
        values=dict.fromkeys(
            "-A --account -p --partition -t --time -c --cpus-per-task -J --job-name "
            "-o --output -e --error -i --input -D --chdir --mpi --mem --export --qos "
            "-q -C --constraint --jobid --gres --cpu-bind --mem-bind -r --relative "
            "--mem-per-cpu --reservation -T --threads -B --network --het-group".split(),
            1,
        ),
    )

    def arguments(
        self, program: Sequence[str], *, ranks: int, hosts: Sequence[Host] = ()
    ) -> list[str]:
        """Return the command; uneven numbers of ranks are listed rank by rank."""
        where: list[str] = []
        if hosts:
            numbers = {host.slots for host in hosts}
            if len(numbers) == 1:
                names = [host.name for host in hosts]
                how = ["--ntasks-per-node", str(numbers.pop())]
            else:
                names = [host.name for host in hosts for _ in range(host.slots)]
                how = ["-m", "arbitrary"]
            where = ["-N", str(len(hosts)), "-w", ",".join(names), *how]
        return [*self.words, *where, "-n", str(ranks), *program]

    def typed(self, options: Sequence[str], variables: Mapping[str, str]) -> list[str]:
        """Return the launcher, one ``--export`` and the options.

        What a user exports comes later in the line and would win, so it is joined.
        """
        pairs = [f"{name}={value}" for name, value in variables.items()]
        if not pairs:
            return [self.words[0], *options]
        chosen, rest = _take(options, "--export")
        export = ",".join([chosen or "ALL", *pairs])
        return [self.words[0], f"--export={export}", *rest]

    def with_words(self, words: Sequence[str]) -> Srun:
        """Return the same launcher with other words of the user."""
        return replace(self, words=tuple(words))


@dataclass(frozen=True, slots=True)
class FluxRun:
    """``flux run`` of Flux.

    Attributes
    ----------
    words : tuple of str
        ``flux``, ``run`` and options of the user that are kept.
    """

    words: tuple[str, ...]
    grammar: ClassVar[Grammar] = Grammar(
        ranks=frozenset(["-n", "--ntasks"]),
        places=dict.fromkeys(["-N", "--nodes", "--requires", "--tasks-per-node"], 1),
        values=dict.fromkeys("-c -g -t -q -o -B --env --queue --bank".split(), 1),
    )

    def arguments(
        self, program: Sequence[str], *, ranks: int, hosts: Sequence[Host] = ()
    ) -> list[str]:
        """Return the command; Flux gives every host the same number of ranks."""
        if not hosts:
            return [*self.words, "-n", str(ranks), *program]
        numbers = {host.slots for host in hosts}
        if len(numbers) > 1:
            raise UsageError(
                f"{ranks} ranks on {len(hosts)} hosts: flux run puts the same number "
                "on each; choose sets whose size divides the ranks"
            )
        names = ",".join(host.name for host in hosts)
        where = ["-N", str(len(hosts)), f"--tasks-per-node={numbers.pop()}"]
        return [*self.words, *where, f"--requires=host:{names}", *program]

    def typed(self, options: Sequence[str], variables: Mapping[str, str]) -> list[str]:
        """Return ``flux run``, ``--env=NAME=VALUE`` and the options after ``run``."""
        pairs = [f"--env={name}={value}" for name, value in variables.items()]
        return [*self.words[:2], *pairs, *options[1:]]

    def with_words(self, words: Sequence[str]) -> FluxRun:
        """Return the same launcher with other words of the user."""
        return replace(self, words=tuple(words))


def _take(words: Sequence[str], option: str) -> tuple[str, list[str]]:
    """Take an option with its value out of a list of words."""
    value, rest = "", list(words)
    for at, word in enumerate(words):
        if word == option and at + 1 < len(words):
            value, rest = words[at + 1], [*words[:at], *words[at + 2 :]]
        elif word.startswith(f"{option}="):
            value, rest = word.partition("=")[2], [*words[:at], *words[at + 1 :]]
    return value, rest


def launcher_of(mpi: Mpi, *, root: bool | None = None) -> Launcher:
    """Return the launcher of an MPI.

    Parameters
    ----------
    mpi : Mpi
    root : bool, optional
        Whether the user is root, which Open MPI refuses unless told otherwise;
        asked from the system when not given.
    """
    path = str(mpi.launcher)
    if mpi.kind is not MpiKind.OPEN_MPI:
        return Hydra((path,))
    root = os.geteuid() == 0 if root is None else root
    return OpenMpi((path, _ROOT) if root else (path,))


def for_ranks(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a launcher must be given as words.

    Open MPI's launcher hands its own on to the ranks and no others.
    """
    return {name: text for name, text in variables.items() if "_MCA_" not in name}
