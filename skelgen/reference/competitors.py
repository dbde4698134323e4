"""Known competitors of a computation, and what its parts take beside them.

One keeps a core busy in its registers: who shares the core finds its caches empty.
The other streams memory on a core of its own, if there is one: caches and memory that
cores share are taken. Time is CPU time, so the share that the scheduler gives cancels.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from skelgen.launch.process import running
from skelgen.reference.calibration import ComputeCalibration, Mix
from skelgen.reference.compiled_program import checked, compiled
from skelgen.reference.compute import ComputeNumbers, unmeasured
from skelgen.reference.thresholds import (
    MIXTURE_ROUNDS_FACTOR,
    ROUNDS_BESIDE_COMPETITORS,
)
from skelgen.reference.turns import CompetitorTurns
from skelgen.rendering.c_template import fill

#: What competes, in the order of :data:`Slowdown`.
COMPETITORS = ("arithmetic", "memory")


#: CPU time beside each competitor over that on the quiet machine [1].
Slowdown: TypeAlias = tuple[float, float]

_ALL = Mix(0.5, 0.25, 0.25)


@dataclass(frozen=True, slots=True)
class Bench:
    """Where ranks and competitors run on this machine.

    Attributes
    ----------
    compiler : str
        The ``mpicc`` that compiles skeletons.
    cores : tuple of int
        Those of the ranks first.
    processes : int
        Ranks, at most as many as cores.
    """

    compiler: str
    cores: tuple[int, ...]
    processes: int

    @classmethod
    def of(cls, compiler: str, ranks: int) -> Bench:
        """Use the cores that we may use, the first ones for ranks."""
        cores = tuple(sorted(os.sched_getaffinity(0)))
        return cls(compiler, cores, max(1, min(ranks, len(cores))))

    def parts(self, working_set_bytes: int) -> tuple[Slowdown, ...]:
        """Measure arithmetic, streaming and chasing in a working set."""
        mix = replace(_ALL, working_set_bytes=working_set_bytes)
        return self._measured(unmeasured(mix, self.processes), mixture=False)

    def mixture(self, speed: ComputeCalibration) -> Slowdown:
        """Measure a mixture as skeletons compute it."""
        return self._measured(speed, mixture=True)[0]

    @contextmanager
    def beside(self, competitor: str) -> Iterator[None]:
        """Compete while something else runs on the cores of the ranks.

        Parameters
        ----------
        competitor : str
            One of :data:`COMPETITORS`, or empty for none.
        """
        before = os.sched_getaffinity(0)
        with self._program(unmeasured(_ALL, self.processes), False) as words:
            os.sched_setaffinity(0, self.cores[: self.processes])
            try:
                if not competitor:
                    yield
                    return
                with running([*words, competitor]):
                    yield
            finally:
                os.sched_setaffinity(0, before)

    @contextmanager
    def in_turns(self, turn_s: float) -> Iterator[Callable[[], CompetitorTurns]]:
        """Let both compete in turns while something else runs on the cores of ranks.

        Parameters
        ----------
        turn_s : float
            Mean length of a turn [s].

        Yields
        ------
        callable
            Returns the turns so far.
        """
        before = os.sched_getaffinity(0)
        with self._program(unmeasured(_ALL, self.processes), False) as words:
            log = Path(words[0]).with_name("turns")
            with running([*words, "turns", f"{turn_s:.3f}", str(log)]):
                os.sched_setaffinity(0, self.cores[: self.processes])
                try:
                    yield lambda: CompetitorTurns.read(log)
                finally:
                    os.sched_setaffinity(0, before)

    @contextmanager
    def _program(self, speed: ComputeCalibration, mixture: bool) -> Iterator[list[str]]:
        source = fill(
            "beside.c.j2",
            work=ComputeNumbers.of(speed),
            processes=self.processes,
            cores=self.cores,
            mixture=mixture,
            rounds=ROUNDS_BESIDE_COMPETITORS
            * (MIXTURE_ROUNDS_FACTOR if mixture else 1),
        )
        with compiled(self.compiler, source) as program:
            yield [str(program), str(os.getpid())]

    def _measured(
        self, speed: ComputeCalibration, *, mixture: bool
    ) -> tuple[Slowdown, ...]:
        with self._program(speed, mixture) as words:
            lines = checked(*words).splitlines()
        rows = ([float(word) for word in line.split()] for line in lines)
        return tuple((arithmetic, memory) for arithmetic, memory in rows)
