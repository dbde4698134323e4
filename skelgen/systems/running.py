"""Run the program on hosts: first for their cores, then with a rank on each core."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skelgen.errors import ApplicationError
from skelgen.launch.host_runner import Runner, Running
from skelgen.launch.hosts import Host
from skelgen.launch.launchers import Launcher, OpenMpi, Srun
from skelgen.launch.run_end import ended, failure_of
from skelgen.systems.program_output import read_printed
from skelgen.systems.types import HostFacts, MeasuredRate, Printed

logger = logging.getLogger(__name__)

#: How often the user's benchmark runs on each host.
BENCHMARK_RUNS = 5
#: Longest time of a run that only asks for cores, and of a benchmark [s].
_ABOUT_LIMIT_S, _BENCHMARK_LIMIT_S = 120.0, 3600.0
#: A run may take this many times its budget and as long besides [1, s].
_PATIENCE, _PATIENCE_S = 20.0, 120.0


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """How long each part of a measurement takes [s].

    Attributes
    ----------
    cores_s : float
        Arithmetic and memory with 1, 2, ... all cores; all hosts at the same time.
    grid_s : float
        The platform contribution; all hosts at the same time.
    inside_s : float
        Messages between two ranks of a host; all hosts at the same time.
    pair_s : float
        Messages between two hosts, one pair after the other.
    collectives_s : float
        All collectives with all numbers of ranks.
    """

    cores_s: float
    grid_s: float
    inside_s: float
    pair_s: float
    collectives_s: float

    @classmethod
    def of(cls, whole_s: float) -> TimeBudget:
        """Divide the time of a pair of hosts.

        A sixth is left for starting ranks, for what is done before times are known,
        and for a machine that is slower than planned.

        Examples
        --------
        >>> TimeBudget.of(30.0).whole_s(hosts=2) <= 25.0
        True
        """
        return cls(
            cores_s=0.30 * whole_s,
            grid_s=0.07 * whole_s,
            inside_s=0.10 * whole_s,
            pair_s=0.12 * whole_s,
            collectives_s=0.24 * whole_s,
        )

    def whole_s(self, hosts: int) -> float:
        """Return the time of all parts for a number of hosts [s]."""
        alone_s = self.cores_s + self.grid_s + self.inside_s + self.collectives_s
        return alone_s + self.pair_s * max(0, hosts - 1)

    @property
    def words(self) -> list[str]:
        """Return the arguments of the program."""
        parts = (
            self.cores_s, self.grid_s, self.inside_s, self.pair_s, self.collectives_s,
        )  # fmt: skip
        return [f"{part:.6g}" for part in parts]


def unbound(launcher: Launcher) -> Launcher:
    """Return a launcher that leaves its ranks all cores of their host."""
    if isinstance(launcher, OpenMpi):
        return launcher.with_words([*launcher.words, "--bind-to", "none"])
    if isinstance(launcher, Srun):
        return launcher.with_words([*launcher.words, "--cpu-bind=none"])
    return launcher


def describe_hosts(
    program: Path, runner: Runner, hosts: Sequence[Host]
) -> tuple[HostFacts, ...]:
    """Ask each host what it is.

    Parameters
    ----------
    program : Path
    runner : Runner
        One that does not bind ranks to cores.
        hosts : sequence of Host
        This machine when empty.

    Raises
    ------
    ApplicationError
        When a host cannot run the program.
    """
    sets = [(Host(one.name),) for one in hosts]
    return tuple(_about(program, runner, sets or [()]))


def with_cores(
    hosts: Sequence[Host], known: Sequence[HostFacts]
) -> tuple[tuple[Host, ...], int]:
    """Return the hosts with the ranks of each, and the sum of these.

    Parameters
    ----------
    hosts : sequence of Host
        With more slots than 1, so many cores of it are used at most; this machine when
        empty.
    known : sequence of HostFacts
        Of each host.

    Examples
    --------
    >>> known = HostFacts("n1", "", "", "", "", cores=8)
    >>> with_cores([Host("n1", 4)], [known])
    ((Host(name='n1', slots=4),), 4)
    """
    if not hosts:
        return (), known[0].cores
    cores = tuple(
        Host(one.name, min(one.slots, of.cores) if one.slots > 1 else of.cores)
        for one, of in zip(hosts, known, strict=True)
    )
    return cores, sum(one.slots for one in cores)


def with_all_cores(printed: Printed, known: Sequence[HostFacts]) -> Printed:
    """Return what ranks printed with the cores of their hosts, not of a bound rank."""
    cores = {one.host: one.cores for one in known}
    hosts = (
        replace(one, cores=cores.get(one.host, one.cores)) for one in printed.hosts
    )
    return replace(printed, hosts=tuple(hosts))


def run_measurement(
    program: Path,
    runner: Runner,
    hosts: Sequence[Host],
    ranks: int,
    budget: TimeBudget,
) -> Printed:
    """Run all parts with a rank on each core.

    Raises
    ------
    ApplicationError
        When it fails, or prints something else.
    """
    whole_s = budget.whole_s(max(1, len(hosts)))
    words = [str(program), "run", *budget.words]
    running = runner.start(
        words,
        ranks=ranks,
        hosts=hosts,
        environment={},
        limit_s=_PATIENCE * whole_s + _PATIENCE_S,
    )
    return read_printed(_output(running, hosts), program)


def run_benchmark(
    program: Path, runner: Runner, host: Host | None, command: Sequence[str]
) -> list[MeasuredRate]:
    """Time a serial program of the user several times on a host.

    Raises
    ------
    ApplicationError
        When it fails.
    """
    where = [] if host is None else [Host(host.name)]
    found: list[MeasuredRate] = []
    for _ in range(BENCHMARK_RUNS):
        running = runner.start(
            [str(program), "time", *command],
            ranks=1,
            hosts=where,
            environment={},
            limit_s=_BENCHMARK_LIMIT_S,
        )
        printed = read_printed(_output(running, where), program, whole=False)
        if len(printed.times) != 1:
            raise ApplicationError(
                f"the benchmark {command[0]} gave {len(printed.times)} times, expected "
                "one; give a serial program after --benchmark --"
            )
        found += printed.times
    return found


def _about(
    program: Path, runner: Runner, sets: Sequence[tuple[Host, ...]]
) -> list[HostFacts]:
    """Ask all hosts at the same time."""
    runs: list[Running] = []
    found: list[HostFacts] = []
    try:
        for hosts in sets:
            runs.append(
                runner.start(
                    [str(program), "about"],
                    ranks=1,
                    hosts=hosts,
                    environment={},
                    limit_s=_ABOUT_LIMIT_S,
                )
            )
        for hosts, running in zip(sets, runs, strict=True):
            printed = read_printed(_output(running, hosts), program, whole=False)
            if len(printed.hosts) != 1:
                raise ApplicationError(
                    f"{_names(hosts)}: {program} printed {len(printed.hosts)} lines "
                    "about its host, expected one; is the cache folder on a disk that "
                    "the hosts share? SKELGEN_CACHE names another"
                )
            found += printed.hosts
    finally:
        for running in runs:
            running.stop()
    return found


def _output(running: Running, hosts: Sequence[Host]) -> str:
    done = ended(running)
    if (reason := failure_of(done)) is not None:
        raise ApplicationError(f"{_names(hosts)}: the measuring program {reason}")
    return done.output


def _names(hosts: Sequence[Host]) -> str:
    return ",".join(host.name for host in hosts) or "this machine"
