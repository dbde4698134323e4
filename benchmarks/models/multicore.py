"""Several ranks to a host: how well families tell the time of more hosts and ranks.

``python -m benchmarks.models multicore --results FOLDER [--budget 45m]``: LAMMPS,
heat2d and conjugate gradient on 1 to 4 hosts of half a core with 1, 2 and 4 ranks to a
host, on two platforms of the test cluster (root). Printed are, of each family,

- ``left out``: those on two and three hosts, each by all others (interpolation);
- ``ahead``: those on three and four hosts by those on one and two;
- ``platform``: those with 2 and 4 ranks to a host on the slower platform, by all runs
  on the other one and its own with 1 rank, given the speed of each platform;
- ``factor``: the same by a model of the other one, times one factor: the median of the
  runs with 1 rank over what it says of them.

Errors in %: mean and worst. It goes on where it ended.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.models.hosts import Runner, checked_cluster
from benchmarks.models.programs.building import Built, build
from benchmarks.models.rows import Found, Rows
from skelgen.errors import ApplicationError, InputError
from skelgen.models.comparing import not_told
from skelgen.models.model import fit_model, predict_with
from skelgen.models.runs import Meaning, ModelInput, RunTable
from skelgen.units import parse_seconds
from tests.testbed.cluster import HEAD, LOADS, Cluster, spawn

HOSTS, PER_HOST = (1, 2, 3, 4), (1, 2, 4)
#: Programs with what makes them take some seconds, in steps that are longer than the
#: time over which a host's share is kept.
PROGRAMS: dict[str, tuple[str, ...]] = {
    "lammps": (),
    "heat2d": ("2400", "150"),
    "conjugate-gradient": ("600000", "2", "20"),
}
#: Longest run [s].
_LIMIT_S = 120.0
#: The share of a host is kept over so much time [us]. Hosts wait for each other for as
#: long, because their shares do not begin together.
_PERIOD_US = 4000
#: What a platform's speed is measured with: steps of this in a second on one host.
SPEED = ("kernels", ("64", "400"), 400.0)


@dataclass(frozen=True, slots=True)
class Platform:
    """Hosts as they are shared out.

    Attributes
    ----------
    name : str
    share : float
        Of a core for each host [1].
    memory : bool
        Whether a process for each core streams memory beside the hosts.
    """

    name: str
    share: float
    memory: bool = False

    def up(self, cluster: Cluster) -> None:
        """Bring it up."""
        cluster.up(max(HOSTS), share=self.share)
        for host in cluster.hosts:
            cpus = (cluster.groups.folders(host)[-1] / "cpuset.cpus").read_text()
            cluster.groups.make(
                host, cpus=cpus.strip(), share=self.share, period_us=_PERIOD_US
            )
        cluster.link("all", "1gbit")
        for _ in os.sched_getaffinity(0) if self.memory else ():
            spawn(cluster.words(HEAD, [sys.executable, "-c", LOADS["memory"]]))


#: The slower one leaves the competitors, outside of the hosts, a third of each core.
PLATFORMS = (Platform("half", 0.5), Platform("slow", 0.3, memory=True))


@dataclass(frozen=True, slots=True)
class Run:
    """A measured run: hosts, ranks to a host, time [s], speed of the platform [1/s]."""

    hosts: int
    per_host: int
    time_s: float
    speed: float

    @property
    def row(self) -> dict[str, float]:
        """What a family is told."""
        return {
            "nodes": self.hosts,
            "ranks_per_node": self.per_host,
            "platform_contribution": self.speed,
        }


def measure(
    rows: Rows, folder: Path, programs: Sequence[str], repeats: int, end_s: float
) -> bool:
    """Make the runs that are missing; say whether all are there."""
    names = (*programs, SPEED[0])
    # Ranks that poll would take the core of those that they wait for.
    built = {one: build(one, folder / "programs", yielding=True) for one in names}
    cluster = checked_cluster("multicore")
    for repeat in range(repeats):
        for platform in PLATFORMS:
            wanted = list(_wanted(platform, repeat, programs))
            missing = [one for one in wanted if not rows.known_or(one, {})]
            if not missing:
                continue
            with cluster.used(max(HOSTS), share=platform.share):
                platform.up(cluster)
                runner = Runner(cluster, folder, _LIMIT_S)
                for one in missing:
                    if time.monotonic() > end_s:
                        return False
                    _make(rows, runner, built, one)
    return _complete(rows, programs, repeats)


def _complete(rows: Rows, programs: Sequence[str], repeats: int) -> bool:
    return all(
        rows.known_or(one, {})
        for repeat in range(repeats)
        for each in PLATFORMS
        for one in _wanted(each, repeat, programs)
    )


def _wanted(
    platform: Platform, repeat: int, programs: Sequence[str]
) -> Iterator[dict[str, object]]:
    """Yield the runs of a platform in an order of their own for each repeat."""
    every = [(SPEED[0], 1, 1)]
    every += [(p, n, k) for p in programs for n in HOSTS for k in PER_HOST]
    order = np.random.default_rng(repeat).permutation(len(every))
    for name, hosts, per_host in (every[i] for i in order):
        yield {
            "platform": platform.name,
            "program": name,
            "hosts": hosts,
            "per_host": per_host,
            "repeat": repeat,
        }


def _make(
    rows: Rows, runner: Runner, built: dict[str, Built], run: dict[str, object]
) -> None:
    name, hosts, per_host = str(run["program"]), run["hosts"], run["per_host"]
    assert isinstance(hosts, int), "as made above"
    assert isinstance(per_host, int), "as made above"
    size = SPEED[1] if name == SPEED[0] else PROGRAMS[name]

    def make() -> Found:
        names = runner.cluster.hosts[:hosts]
        return {
            "seconds": runner.seconds(built[name], size, hosts=names, per_host=per_host)
        }

    try:
        found = rows.get(run, make)
    except ApplicationError as error:
        print(f"{_shown(run)}: {error}; tried again next time", flush=True)
        return
    print(f"{_shown(run)}: {found['seconds']:.2f} s", flush=True)


def _shown(run: dict[str, object]) -> str:
    return f"{run['platform']}, {run['program']}, {run['hosts']} x {run['per_host']}"


def runs_of(rows: Rows, platform: Platform, program: str) -> list[Run]:
    """Return the medians of what is known, by configuration."""
    speed = SPEED[2] / _median(rows, platform, SPEED[0], 1, 1)
    return [
        Run(hosts, per_host, _median(rows, platform, program, hosts, per_host), speed)
        for hosts in HOSTS
        for per_host in PER_HOST
    ]


def _median(
    rows: Rows, platform: Platform, program: str, hosts: int, per_host: int
) -> float:
    wanted = {"platform": platform.name, "program": program}
    wanted |= {"hosts": hosts, "per_host": per_host}  # type: ignore[dict-item]
    found = []
    for repeat in range(100):
        one = rows.known_or({**wanted, "repeat": repeat}, {})
        if not one:
            break
        found.append(float(one["seconds"]))
    if not found:
        raise ApplicationError(
            f"no run of {_shown(dict(wanted))} yet; start it again to go on"
        )
    return statistics.median(found)


_NODES = ModelInput("nodes", Meaning.NODES)
_PER_NODE = ModelInput("ranks_per_node", Meaning.RANKS_PER_NODE)
_SPEED = ModelInput("platform_contribution", Meaning.FACT)


def asked(
    family: str, learnt: Sequence[Run], wanted: Sequence[Run], *, facts: bool = False
) -> list[float]:
    """Return the errors of a family, which learns from some runs [1].

    Raises
    ------
    InputError
        When it cannot.
    """
    inputs = (_NODES, _PER_NODE, *((_SPEED,) if facts else ()))
    table = RunTable.gather(
        inputs, [one.row for one in learnt], [one.time_s for one in learnt]
    )
    model = fit_model(table, family)
    said = [predict_with(model, one.row).interval.p50 for one in wanted]
    return [a / b.time_s - 1.0 for a, b in zip(said, wanted, strict=True)]


def left_out(family: str, runs: Sequence[Run]) -> list[float]:
    """Return the errors of each configuration by the others, but for the corners."""
    errors = []
    for one in runs:
        if one.hosts in (min(HOSTS), max(HOSTS)):
            continue
        errors += asked(family, [other for other in runs if other != one], [one])
    return errors


def ahead(family: str, runs: Sequence[Run]) -> list[float]:
    """Return the errors on three and four hosts by one and two."""
    few = [one for one in runs if one.hosts <= 2]
    return asked(family, few, [one for one in runs if one.hosts > 2])


def platform(family: str, one: Sequence[Run], other: Sequence[Run]) -> list[float]:
    """Return the errors on another platform by all of one and few runs there."""
    few = [run for run in other if run.per_host == 1]
    rest = [run for run in other if run.per_host > 1]
    return asked(family, [*one, *few], rest, facts=True)


def factor(family: str, one: Sequence[Run], other: Sequence[Run]) -> list[float]:
    """Return the same errors of a model of one, scaled by few runs of the other."""
    few = [run for run in other if run.per_host == 1]
    scale = statistics.median(1.0 / (1.0 + error) for error in asked(family, one, few))
    rest = [run for run in other if run.per_host > 1]
    return [(1.0 + error) * scale - 1.0 for error in asked(family, one, rest)]


def table(rows: Rows, programs: Sequence[str]) -> str:
    """Write the table: mean and worst error over all programs."""
    first = f"{'family':16}"
    heads = ["left out", "ahead", "platform", "factor"]
    lines = [first + "".join(f"{head + ', mean':>16}{'worst':>8}" for head in heads)]
    for family in not_told():
        cells = [
            _errors([partial(_of_one, left_out, family, rows, p) for p in programs]),
            _errors([partial(_of_one, ahead, family, rows, p) for p in programs]),
            _errors([partial(_of_both, platform, family, rows, p) for p in programs]),
            _errors([partial(_of_both, factor, family, rows, p) for p in programs]),
        ]
        lines.append(f"{family:16}" + "".join(cells))
    return "\n".join(lines)


def _of_one(
    ask: Callable[[str, Sequence[Run]], list[float]],
    family: str,
    rows: Rows,
    program: str,
) -> list[float]:
    return ask(family, runs_of(rows, PLATFORMS[0], program))


def _of_both(
    ask: Callable[[str, Sequence[Run], Sequence[Run]], list[float]],
    family: str,
    rows: Rows,
    program: str,
) -> list[float]:
    first, other = PLATFORMS
    return ask(family, runs_of(rows, first, program), runs_of(rows, other, program))


def _errors(questions: Sequence[Callable[[], list[float]]]) -> str:
    """Write the mean and the worst of the errors of all programs."""
    try:
        errors = [abs(error) for ask in questions for error in ask()]
    except (InputError, ApplicationError):  # it cannot, or runs are missing
        return f"{'-':>16}{'-':>8}"
    return f"{statistics.mean(errors):16.1%}{max(errors):8.1%}"


def main(arguments: Sequence[str]) -> None:
    """Make the runs that are missing, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models multicore")
    parser.add_argument("--results", type=Path, required=True, help="folder, kept")
    parser.add_argument("--apps", default=",".join(PROGRAMS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--budget", type=parse_seconds, default=math.inf)
    options = parser.parse_args(arguments)
    programs = options.apps.split(",")
    rows = Rows.of(options.results / "multicore.jsonl")
    end_s = time.monotonic() + options.budget
    if not measure(rows, options.results, programs, options.repeats, end_s):
        print("not done: start it again to go on")
    print(table(rows, programs))
