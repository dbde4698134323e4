"""Many small random cases in blocks: in several processes, kept, gone on with."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.models.rows import Found, Rows

Make = Callable[[int, Sequence[int]], Found]

#: Cases of a block: what is lost when the command is stopped.
SIZE = 100


@dataclass(frozen=True, slots=True)
class Blocks:
    """Cases that are asked for.

    Attributes
    ----------
    what : str
        Names the kind of case in the file.
    seed, cases, jobs : int
    results : Path or None
        File of results, to go on later.
    """

    what: str
    seed: int
    cases: int
    jobs: int = 1
    results: Path | None = None

    def run(self, make: Make) -> Iterator[Found]:
        """Yield what came of each block, in any order.

        Parameters
        ----------
        make : callable
            Takes the seed and the numbers of cases, and returns ``counts`` and
            ``wrong``: a number and what was wrong for each case that was. It must not
            be a local function, because it runs in other processes.
        """
        rows = Rows.of(self.results) if self.results else None
        missing = []
        for begin in range(0, self.cases, SIZE):
            numbers = range(begin, min(begin + SIZE, self.cases))
            found = rows.known_or(self._key(numbers), {}) if rows else {}
            if found:
                yield found
            else:
                missing.append(numbers)
        for numbers, found in self._made(make, missing):
            if rows is not None:
                rows.get(self._key(numbers), partial(dict, found))
            yield found

    def _key(self, numbers: range) -> dict[str, str | int]:
        begin, end = numbers.start, numbers.stop
        return {"what": self.what, "seed": self.seed, "begin": begin, "end": end}

    def _made(
        self, make: Make, missing: Sequence[range]
    ) -> Iterator[tuple[range, Found]]:
        """Make blocks; those whose process died with another one again, alone."""
        lost = []
        with _processes(self.jobs) as pool:
            futures = {pool.submit(make, self.seed, one): one for one in missing}
            for future in as_completed(futures):
                try:
                    yield futures[future], future.result()
                except BrokenProcessPool:
                    lost.append(futures[future])
        for numbers in lost:
            yield numbers, self._alone(make, numbers)

    def _alone(self, make: Make, numbers: range) -> Found:
        try:
            with _processes(1) as pool:
                return pool.submit(make, self.seed, numbers).result()
        except BrokenProcessPool:
            told = f"the process died, or never returned, before {numbers.stop}"
            return {"counts": {}, "wrong": [[numbers.start, told]]}


def _processes(jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"))
