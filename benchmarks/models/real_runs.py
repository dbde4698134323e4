"""Make the real runs: under weather that changes, or that stays for a run."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.models.hosts import Runner, checked_cluster
from benchmarks.models.programs.building import Built, build
from benchmarks.models.real_loads import HISTORY_S
from benchmarks.models.rows import Found, Rows
from skelgen.errors import ApplicationError
from skelgen.launch.hosts import parse_hosts, place
from skelgen.launch.launchers import launcher_of
from tests.testbed.weather import beside

#: Of free links.
RATE = "1gbit"
#: What a skeleton takes on quiet hosts [s]; so often it runs each time.
SKELETON_S, SKELETON_RUNS = 1.0, 3
#: A forecast wants so much history at least [s].
_LEAST_S = HISTORY_S / 2


@dataclass(frozen=True, slots=True)
class Study:
    """A program with its sizes.

    Attributes
    ----------
    name : str
    small, large : tuple of int
        Sizes to learn from, and to predict.
    more : tuple of str
        What follows the size on the command line.
    computation, communication : str
        Complexities, as the 2006 paper gives them for such a program.
    """

    name: str
    small: tuple[int, ...]
    large: tuple[int, ...]
    more: tuple[str, ...]
    computation: str
    communication: str

    def words(self, size: int) -> tuple[str, ...]:
        """Return the program's arguments."""
        return (str(size), *self.more)


@dataclass(slots=True)
class Laboratory:
    """What measures: the cluster and what is known.

    Attributes
    ----------
    rows : Rows
    folder : Path
    runner : Runner
    hold : str
        How long weather that changes is held, such as ``20s,50s``.
    end_s : float
        When no further run begins, on the monotonic clock [s].
    """

    rows: Rows
    folder: Path
    runner: Runner
    hold: str
    end_s: float

    @property
    def hosts(self) -> list[str]:
        """All of them."""
        return self.runner.cluster.hosts

    def is_over(self) -> bool:
        """Say whether the time is over."""
        return time.monotonic() > self.end_s


def key(study: Study, phase: str, size: int, repeat: int) -> dict[str, object]:
    """Name a run."""
    return {"program": study.name, "phase": phase, "size": size, "repeat": repeat}


@contextlib.contextmanager
def laboratory(
    rows: Rows, folder: Path, hosts: int, hold: str, end_s: float
) -> Iterator[Laboratory]:
    """Have a cluster of quiet hosts."""
    cluster = checked_cluster("real")
    with cluster.used(hosts):
        cluster.link("all", RATE)
        yield Laboratory(rows, folder, Runner(cluster, folder), hold, end_s)


def skeleton(lab: Laboratory, study: Study, built: Built) -> Built:
    """Return a skeleton of a run in the middle, and measure it while all is quiet."""
    folder = lab.folder / f"skeleton-{study.name}"
    size = study.small[len(study.small) // 2]
    if not (folder / "skeleton").exists():
        where = place(len(lab.hosts), parse_hosts(",".join(lab.hosts)))
        program = [*built.words, *study.words(size)]
        launch = launcher_of(built.mpi).arguments(
            program, ranks=len(lab.hosts), hosts=where
        )
        run = str(lab.folder / f"run-{study.name}")
        record = ["skelgen", "record", "--force", "-o", run, "--", *launch]
        lab.runner.at_head(record, f"recording {study.name}")
        make = ["skelgen", "build", run, "--force", "-o", str(folder)]
        make += ["--target-time", f"{SKELETON_S:g}s", "--compute-mix", "100,0,0"]
        lab.runner.at_head(make, f"skeleton of {study.name}")
        compiler = built.mpi.compiler or "mpicc.openmpi"
        line = ["make", "-s", "-C", str(folder), f"MPICC={compiler}"]
        lab.runner.at_head(line, f"compiling the skeleton of {study.name}")
    made = Built(study.name, (str(folder / "skeleton"),), built.mpi, built.timed)
    lab.rows.get(key(study, "skeleton", size, 0), lambda: _skeleton(lab, made))
    return made


def _skeleton(lab: Laboratory, made: Built) -> Found:
    times = [lab.runner.seconds(made, hosts=lab.hosts) for _ in range(SKELETON_RUNS)]
    return {"seconds": statistics.median(times)}


@dataclass(frozen=True, slots=True)
class Tested:
    """A program, its skeleton, and its sizes."""

    study: Study
    built: Built
    skeleton: Built


def prepared(lab: Laboratory, study: Study) -> Tested:
    """Build a program and its skeleton."""
    built = build(study.name, lab.folder / "programs")
    return Tested(study, built, skeleton(lab, study, built))


def changing(lab: Laboratory, one: Tested, repeats: int, seed: int) -> bool:
    """Learn from small sizes and run the large ones in one weather; all there?"""
    study = one.study
    wanted = [
        key(study, phase, size, repeat)
        for phase, sizes in (("learn", study.small), ("changing", study.large))
        for repeat in range(repeats)
        for size in sizes
    ]
    missing = [run for run in wanted if not lab.rows.known_or(run, {})]
    if not missing:
        return True
    number = len(list(lab.folder.glob(f"weather-{study.name}-*.jsonl")))
    log = lab.folder / f"weather-{study.name}-{number}.jsonl"
    words = ("--seed", str(seed + number), "--for", "3h", "--hold", lab.hold)
    with beside(lab.runner.cluster, log, *words, "--rate", RATE):
        begun = time.monotonic()
        for run in missing:
            if lab.is_over():
                return False
            if run["phase"] == "changing":
                time.sleep(max(0.0, begun + _LEAST_S - time.monotonic()))
            _measured(lab, one, run, log)
    return True


def steady(lab: Laboratory, one: Tested, repeats: int, seed: int) -> bool:
    """Run the large sizes, each in a weather that stays; all there?"""
    for repeat in range(repeats):
        for place_, size in enumerate(one.study.large):
            run = key(one.study, "steady", size, repeat)
            if lab.rows.known_or(run, {}):
                continue
            if lab.is_over():
                return False
            log = lab.folder / f"steady-{one.study.name}-{size}-{repeat}.jsonl"
            log.unlink(missing_ok=True)
            own = str(seed + 1000 + 100 * repeat + place_)
            words = ("--seed", own, "--for", "3h", "--hold", "3h", "--rate", RATE)
            with beside(lab.runner.cluster, log, *words):
                _measured(lab, one, run, log)
    return True


def _measured(lab: Laboratory, one: Tested, run: dict[str, object], log: Path) -> None:
    """Run the skeleton, where it shall say how slow hosts are now, and the program."""
    size = run["size"]
    assert isinstance(size, int), "as made above"

    def make() -> Found:
        found: Found = {"log": log.name}
        if run["phase"] != "learn":
            found["skeleton"] = _skeleton(lab, one.skeleton)["seconds"]
        found["begin"] = time.time()
        words = one.study.words(size)
        found["seconds"] = lab.runner.seconds(one.built, words, hosts=lab.hosts)
        found["end"] = time.time()
        return found

    try:
        found = lab.rows.get(run, make)
    except ApplicationError as error:
        print(f"{error}; it is left out, and tried again next time", flush=True)
        return
    print(
        f"{run['program']}, {run['phase']}, {size}: {found['seconds']:.2f} s",
        flush=True,
    )
