"""Programs of known phases, as text traces with the noise of a machine.

Each returns what `tests.builders.events` reads, and how often the program does what it
does again and again: weight by weight, in order of their shares of the time.
"""

from __future__ import annotations

import random
from collections.abc import Callable

#: Standard deviation of a computation over its mean, and how many in a thousand are
#: interrupted by another process, for so long [ns].
_NOISE, _INTERRUPTED, _SLICE_NS = 0.03, 2, 30_000


class Program:
    """Lines of calls of 4 ranks."""

    def __init__(self, seed: int = 1, noise: float = _NOISE) -> None:
        self._random, self._noise = random.Random(seed), noise
        self.lines = ["rank 0-3"]

    def _gap(self, ns: float) -> int:
        ns *= max(self._random.gauss(1, self._noise), 0.1)
        if self._noise and self._random.randrange(1000) < _INTERRUPTED:
            ns += _SLICE_NS
        return round(ns)

    def exchange(self, ns: float, size: int = 800, site: int = 1) -> None:
        """Compute, and exchange with the neighbours."""
        line = f"to=+1 from=-1 tag=1 tag2=1 bytes={size} site={site}"
        self.lines.append(f"{self._gap(ns)} Sendrecv {line}")

    def reduce(self, ns: float, site: int = 2) -> None:
        """Compute, and agree."""
        self.lines.append(f"{self._gap(ns)} Allreduce bytes=8 op=1 site={site}")

    def barrier(self, ns: float, site: int = 3) -> None:
        """Compute, and wait for all."""
        self.lines.append(f"{self._gap(ns)} Barrier site={site}")

    def text(self, tail_ns: int = 0) -> str:
        """Return the trace."""
        return "\n".join([*self.lines, f"tail {tail_ns}"])


def steps(number: int, seed: int = 1, noise: float = _NOISE) -> str:
    """Two sweeps of one function, the second of which takes nine times as long."""
    program = Program(seed, noise)
    for _ in range(number):
        program.exchange(3000)
        for ns in (200, 1800):
            for _ in range(20):
                program.exchange(ns, site=4)
        program.reduce(1500)
    return program.text()


def multigrid(cycles: int, seed: int = 1) -> str:
    """V-cycles of 5 levels that call one function with grids of other sizes."""
    program = Program(seed)
    for _ in range(cycles):
        for level in (4, 3, 2, 1, 0, 1, 2, 3, 4):
            for _ in range(16 if level == 0 else 2):
                program.exchange(400 * 4**level, 64 * 2**level, site=4)
        program.reduce(500)
    return program.text()


def even_and_odd(number: int, seed: int = 1) -> str:
    """Steps of two kinds in turn, which call the same."""
    program = Program(seed)
    for step in range(number):
        program.exchange(20_000 if step % 2 else 35_000)
        program.reduce(1000)
    return program.text()


def output(number: int, seed: int = 1) -> str:
    """Every tenth step writes a file, without a call."""
    program = Program(seed)
    for step in range(number):
        program.exchange(20_000)
        program.reduce(60_000 if step % 10 == 9 else 1000)
    return program.text()


def set_up(number: int, seed: int = 1) -> str:
    """Keys are made before the first call, for as long as half of the loop takes."""
    program = Program(seed)
    program.exchange(10_000 * number)
    program.reduce(1000)
    for _ in range(number - 1):
        program.exchange(20_000)
        program.reduce(1000)
    return program.text(tail_ns=3000 * number)


def convergence(number: int, seed: int = 1) -> str:
    """Time steps with a solver, of which the first ones iterate longer."""
    program, draw = Program(seed), random.Random(seed + 1)
    program.barrier(50_000)
    for step in range(number):
        program.exchange(4000)
        for _ in range(draw.randint(18, 22) + 60 // (step + 1)):
            program.exchange(900, site=4)
            program.reduce(300, site=5)
    return program.text()


def task_farm(tasks: int, seed: int = 1) -> str:
    """Rank 0 gives each of 3 workers a task when it is ready, of random length."""
    draw = random.Random(seed)
    lengths = [draw.randint(5000, 40_000) for _ in range(tasks)]
    free, order, mine = [0, 0, 0], [], [[], [], []]
    for length in lengths:
        worker = min(range(3), key=free.__getitem__)
        order.append(worker + 1)
        mine[worker].append(length)
        free[worker] += length
    lines = ["rank 0"]
    for worker in order:
        lines += [
            f"100 Recv from=*{worker} tag=1 bytes=8 site=1",
            f"100 Send to={worker} tag=2 bytes=64 site=2",
        ]
    for worker in (1, 2, 3):
        lines.append(f"rank {worker}")
        for length in mine[worker - 1]:
            lines += [
                "100 Send to=0 tag=1 bytes=8 site=3",
                f"100 Recv from=0 tag=2 bytes=64 site=4 mpi={length}",
            ]
    return "\n".join(lines)


def factorisation(number: int, seed: int = 1) -> str:
    """Each step has a smaller matrix left than the one before."""
    program = Program(seed)
    for step in range(number):
        left = number - step
        program.barrier(30 * left**2, site=3)
        program.exchange(10 * left**2, 80 * left)
    return program.text()


def adaptive_mesh(number: int, seed: int = 1) -> str:
    """The mesh is made again every 20 steps: other sizes, and other times."""
    program, draw = Program(seed), random.Random(seed + 1)
    cells = 20_000
    for step in range(number):
        if step % 20 == 0:
            cells = int(cells * draw.uniform(0.9, 1.3))
            program.barrier(2 * cells)
        for _ in range(3):
            program.exchange(cells, cells // 20)
        program.reduce(1000)
    return program.text()


Maker = Callable[[int], str]
