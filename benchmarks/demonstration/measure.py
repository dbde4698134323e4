"""Run the matrix product on two systems of the test cluster, and measure them."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.models.hosts import Runner, checked_cluster
from benchmarks.models.multicore import Platform
from benchmarks.models.programs.building import Built, build
from benchmarks.models.rows import Found, Rows
from skelgen.errors import ApplicationError
from skelgen.launch.hosts import parse_hosts, place
from skelgen.launch.launchers import launcher_of
from skelgen.models.coupling import Chain, chains_of

#: As `examples/matrix_product.c` has them, in the order of its loop.
KERNELS: Chain = ("broadcast", "scatter", "multiply", "gather")
#: With one rank on each host.
RANKS = (2, 3, 4)
#: A run takes so long at least: a host's share is kept over a time [s].
_LEAST_S = 0.6
_SAID = re.compile(r"steps in ([\d.]+) s")


@dataclass(frozen=True, slots=True)
class MadeSystem:
    """A system of the test cluster, and what runs there.

    Attributes
    ----------
    name : str
    share : float
        Of a core for each host [1].
    rate : str
        Of each link.
    sizes : tuple of int
        Of the product.
    repeats : int
    of_kernels : tuple of int
        Sizes at which kernels run alone and in pairs.
    """

    name: str
    share: float
    rate: str
    sizes: tuple[int, ...]
    repeats: int
    of_kernels: tuple[int, ...]

    def host(self, number: int) -> str:
        """Return the name that the store has for a host of the test cluster."""
        return f"{self.name[-1]}{number}"


SYSTEMS = (
    MadeSystem(
        *("cluster-a", 0.5, "1gbit", (200, 300, 400, 500, 600, 800, 1000), 3),
        (200, 400, 600, 800),
    ),
    MadeSystem(
        *("cluster-b", 0.25, "100mbit", (200, 300, 400, 600), 2), (200, 300, 400, 600)
    ),
)


def wanted(system: MadeSystem) -> Iterator[tuple[dict[str, object], Chain]]:
    """Yield each run of a system with its kernels."""
    alone: list[Chain] = [(one,) for one in KERNELS]
    for ranks in RANKS:
        for repeat in range(system.repeats):
            for size in system.sizes:
                yield _key(system, size, ranks, KERNELS, repeat), KERNELS
        for size in system.of_kernels:
            for chain in (*alone, *chains_of(KERNELS, 2)):
                yield _key(system, size, ranks, chain, 0), chain


def _key(
    system: MadeSystem, size: int, ranks: int, chain: Chain, repeat: int
) -> dict[str, object]:
    where = {"system": system.name, "size": size, "ranks": ranks}
    return {**where, "chain": list(chain), "repeat": repeat}


def measure(folder: Path) -> None:
    """Make the runs that are missing, and measure the systems."""
    rows = Rows.of(folder / "matrix-product.jsonl")
    built = build("matrix-product", folder / "programs")
    for system in SYSTEMS:
        cluster = checked_cluster("demo")
        runner = Runner(cluster, folder)
        # A quota hardly shows in short measurements: cores are measured without one.
        if not (cores := folder / f"{system.name}-cores.db").exists():
            with cluster.used(max(RANKS)):
                _facts(runner, cores, system, cluster.hosts[:2])
                _facts(runner, cores, system, cluster.hosts[2:])
        with cluster.used(max(RANKS), share=system.share):
            Platform(system.name, system.share).up(cluster)
            cluster.link("all", system.rate)
            if not (links := folder / f"{system.name}.db").exists():
                _facts(runner, links, system, cluster.hosts)
            for key, chain in wanted(system):
                found = rows.get(key, partial(_made, runner, built, key, chain))
                print(f"{key}: {found['seconds']:.3f} s", flush=True)


def _facts(
    runner: Runner, place: Path, system: MadeSystem, hosts: Sequence[str]
) -> None:
    """Measure hosts and the links between them."""
    line = ["skelgen", "system", "measure", "--hosts", ",".join(hosts), "--budget"]
    line += ["20s", "--system", system.name, "--store", str(place)]
    runner.at_head(line, f"measuring {system.name}")


def _made(runner: Runner, built: Built, key: dict[str, object], chain: Chain) -> Found:
    """Run a chain so often that it takes long enough."""
    steps, size, ranks = 1, str(key["size"]), int(str(key["ranks"]))
    while True:
        begun = time.time()
        seconds = _seconds(runner, built, (size, str(steps), *chain), ranks)
        if seconds >= _LEAST_S / 2:
            return {"steps": steps, "seconds": seconds, "begun": begun}
        steps = math.ceil(steps * min(max(_LEAST_S / max(seconds, 1e-6), 2), 1000))


def _seconds(runner: Runner, built: Built, words: tuple[str, ...], ranks: int) -> float:
    """Return what the steps of a run take [s]."""
    hosts = ",".join(runner.cluster.hosts[:ranks])
    line = launcher_of(built.mpi).arguments(
        [*built.words, *words], ranks=ranks, hosts=place(ranks, parse_hosts(hosts))
    )
    said = _SAID.search(runner.at_head(line, f"matrix_product {' '.join(words)}"))
    if not said:
        raise ApplicationError(f"matrix_product {' '.join(words)}: it printed no time")
    return float(said[1])
