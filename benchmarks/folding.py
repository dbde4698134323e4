"""How fast are strings of symbols folded, and does expanding give them back?

``python benchmarks/folding.py [--symbols 10000000]``
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from numpy.typing import NDArray

from skelgen import loops

STEP, REBUILD = [1, 2, 3, 4, 5], [6, 7, 1, 2, 8]


def nested(n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    once = np.array([*(STEP * 19 + REBUILD) * 10, 20, 21])
    return np.resize(once, n).astype(np.int32)


def random_inner(n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    counts = rng.integers(1, 30, n // 60)
    parts = [np.array([7] + [1, 2, 3, 4] * int(count)) for count in counts]
    return np.resize(np.concatenate(parts), n).astype(np.int32)


def noisy(n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    string = np.resize(np.arange(12), n).astype(np.int32)
    string[rng.random(n) < 1e-4] = 50
    return string


def flat(n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    return np.resize(np.arange(20_000), n).astype(np.int32)


def flat_random(n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    return np.resize(rng.integers(0, 200, 20_000), n).astype(np.int32)


def random_4(n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    return rng.integers(0, 4, n).astype(np.int32)


def random_1000(n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    return rng.integers(0, 1000, n).astype(np.int32)


SHAPES = {
    "nested, fixed counts": nested,
    "random inner counts": random_inner,
    "noise 1e-4": noisy,
    "flat body of 20,000": flat,
    "the same, 200 symbols": flat_random,
    "no loops, 4 symbols": random_4,
    "no loops, 1000 symbols": random_1000,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--symbols", type=int, default=10_000_000)
    n = parser.parse_args().symbols
    print(f"{'shape':<24}{'symbols':>12}{'items':>11}{'M symbols/s':>13}{'exact':>7}")
    for name, make in SHAPES.items():
        for length in (n // 100, n // 10, n):
            string = make(length, np.random.default_rng(1))
            start = time.perf_counter()
            nest = loops.fold(string)
            taken = time.perf_counter() - start
            exact = np.array_equal(loops.expand(nest), string)
            print(
                f"{name:<24}{len(string):>12,}{len(nest):>11,}"
                f"{len(string) / taken / 1e6:>13.1f}{'yes' if exact else 'NO':>7}",
                flush=True,
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MiB, {peak * 2**20 / n:.0f} bytes per symbol")


if __name__ == "__main__":
    main()
