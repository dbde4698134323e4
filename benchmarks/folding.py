"""How fast are strings folded, and into how many items?

``python benchmarks/folding.py [--symbols 1e7]``

Four shapes of applications, for which 10 million symbols/s are asked; strings without
structure, said once or several times, which show the worst case; then the same shapes
from 1e5 to 1e7 symbols, for time must be linear. Each is folded three times, and the
fastest counts (processor time of one thread, so that other programs disturb less).
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from skelgen.loops import Nest, expand, fold

ROOT = Path(__file__).resolve().parent.parent

#: As drawn; `row` makes of them the int32 that `fold` takes.
Symbols = NDArray[np.int64]
RUNS = 3


def nested_fixed(count: int, _: np.random.Generator) -> Symbols:
    """Repeat 19 steps of two inner loops, then three other symbols."""
    step = [0, 1, 2] * 10 + [3] + [4, 5] * 5 + [6] * 4
    return np.resize(np.array(step * 19 + [7, 8, 9]), count)


def random_inner_counts(count: int, random: np.random.Generator) -> Symbols:
    """Repeat two inner loops whose trips are drawn anew each time."""
    first, second = random.integers(1, 10, count), random.integers(1, 6, count)
    parts: list[list[int]] = []
    length = 0
    for one, other in zip(first.tolist(), second.tolist(), strict=True):
        parts.append([0, 1, 2] * one + [3] + [4, 5] * other)
        length += len(parts[-1])
        if length >= count:
            break
    return np.fromiter(itertools.chain.from_iterable(parts), np.int64)[:count]


def noise(count: int, random: np.random.Generator) -> Symbols:
    """Replace one symbol in 10,000 of the nested loops by a random one."""
    string = nested_fixed(count, random).copy()
    wrong = random.random(count) < 1e-4
    string[wrong] = random.integers(0, 40, int(wrong.sum()))
    return string


def flat_body(count: int, random: np.random.Generator) -> Symbols:
    """Repeat 20,000 random symbols of 1000."""
    return np.resize(random.integers(0, 1000, 20_000), count)


def random_4(count: int, random: np.random.Generator) -> Symbols:
    return random.integers(0, 4, count)


def random_1000(count: int, random: np.random.Generator) -> Symbols:
    return random.integers(0, 1000, count)


def all_different(count: int, _: np.random.Generator) -> Symbols:
    return np.arange(count)


def squarefree(count: int, _: np.random.Generator) -> Symbols:
    """Return a string over three symbols in which no stretch follows its like."""
    ones = np.zeros(count + 1, np.int64)
    for bit in range(int(count).bit_length()):
        ones ^= (np.arange(count + 1) >> bit) & 1
    return np.diff(ones) + 1


def thrice(count: int, random: np.random.Generator) -> Symbols:
    """Say random symbols of 1000 three times."""
    return np.resize(random.integers(0, 1000, -(-count // 3)), count)


def different_thrice(count: int, random: np.random.Generator) -> Symbols:
    """Say symbols that are all different three times."""
    return np.resize(random.permutation(-(-count // 3)), count)


def thirty_times(count: int, random: np.random.Generator) -> Symbols:
    """Say random symbols of 4 thirty times."""
    return np.resize(random.integers(0, 4, -(-count // 30)), count)


def six_times(count: int, random: np.random.Generator) -> Symbols:
    """Say random symbols of 30 six times: most of it is reduced in each reading."""
    return np.resize(random.integers(0, 30, -(-count // 6)), count)


def one_changed(count: int, random: np.random.Generator) -> Symbols:
    """Say random symbols of 30 six times, one of them otherwise each time."""
    string = six_times(count, random)
    part = -(-count // 6)
    changed = part * np.arange(count // part) + random.integers(0, part, count // part)
    string[changed] = random.integers(30, 60, len(changed))
    return string


def blocks_of_blocks(count: int, random: np.random.Generator) -> Symbols:
    """Repeat random blocks, in blocks that are repeated: both two or three times."""
    string = np.zeros(0, np.int64)
    while len(string) < count:
        inner = [
            np.tile(random.integers(0, 8, 500), random.integers(2, 4))
            for _ in range(40)
        ]
        outer = np.tile(np.concatenate(inner), random.integers(2, 4))
        string = np.concatenate([string, outer])
    return string[:count]


def fibonacci(count: int, _: np.random.Generator) -> Symbols:
    """Return the Fibonacci string: squares of all its lengths stand everywhere."""
    shorter, string = np.array([0]), np.array([0, 1])
    while len(string) < count:
        shorter, string = string, np.concatenate([string, shorter])
    return string[:count]


def all_words(count: int, _: np.random.Generator) -> Symbols:
    """Return a string of 4 symbols in which no word of twelve stands twice.

    Lyndon words in order, a de Bruijn sequence.
    """
    word, found, length = [0], [0], 1
    while length < count:
        word = (word * 12)[:12]
        while word[-1] == 3:
            word.pop()
        word[-1] += 1
        if 12 % len(word) == 0:
            found += word
            length += len(word)
    return np.array(found[:count])


SHAPES = (nested_fixed, random_inner_counts, noise, flat_body)
WORST = (
    random_4,
    random_1000,
    all_different,
    squarefree,
    thrice,
    different_thrice,
    thirty_times,
    six_times,
    one_changed,
    blocks_of_blocks,
    fibonacci,
    all_words,
)


def fastest_s(string: NDArray[np.int32]) -> tuple[float, Nest]:
    best = float("inf")
    for _ in range(RUNS):
        start = time.process_time()
        nest = fold(string)
        best = min(best, time.process_time() - start)
    return best, nest


def row(make: Callable[[int, np.random.Generator], Symbols], count: int) -> None:
    string = make(count, np.random.default_rng(1)).astype(np.int32)
    time_s, nest = fastest_s(string)
    exact = "yes" if np.array_equal(expand(nest), string) else "NO"
    start = time.process_time()
    expand(nest)
    back_s = time.process_time() - start
    print(
        f"{make.__name__:20}{count:>10}{len(nest):>10}{count / time_s / 1e6:>13.1f}"
        f"{count / back_s / 1e6:>16.1f}   {exact}"
    )


def peak_bytes_per_symbol(name: str, count: int) -> float:
    """Fold in a process of its own and return its peak above what it had before."""
    code = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(ROOT / "benchmarks")!r})
import folding
string = folding.{name}({count}, folding.np.random.default_rng(1)).astype("int32")
def kib(word):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(word))
Path("/proc/self/clear_refs").write_text("5")
before = kib("VmRSS")
nest = folding.fold(string)
print(kib("VmHWM") - before)
"""
    found = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True
    )
    return int(found.stdout) * 1024 / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--symbols", type=float, default=1e7)
    count = int(parser.parse_args().symbols)
    head = f"{'shape':20}{'symbols':>10}{'items':>10}{'M symbols/s':>13}"
    print(f"{head}{'expand M/s':>16}   exact")
    for make in (*SHAPES, *WORST):
        row(make, count)
    print("\ntime against length")
    for make in (*SHAPES, *WORST):
        for part in (count // 100, count // 10):
            row(make, part)
    print("\npeak memory of folding above the string [bytes per symbol]")
    for make in (*SHAPES, *WORST):
        peak = peak_bytes_per_symbol(make.__name__, count)
        print(f"{make.__name__:20}{peak:>10.1f}")


if __name__ == "__main__":
    main()
