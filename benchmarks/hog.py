"""How long does a memory hog on another core cost anything here? A minute of samples.

``python benchmarks/hog.py [--seconds 60]``

Arrays of several sizes are streamed on one core, with the hog of the test cluster's
sixth scenario stopped and running in turn. On a virtual machine whose cores the host
moves about, the two share caches now and not a second later: where the spread within
one row is as large as its mean, the sixth scenario cannot be judged.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skelgen import _paths  # noqa: F401  (installed: not the checkout's)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.skeletons import busy_core
from tests.testbed.cluster import LOADS

#: Within a core's own cache, within the last one, beyond it [MiB].
SIZES_MIB = (0.5, 4, 12, 96)
SAMPLE_S, SETTLE_S = 0.1, 0.02
#: Slowed by more than this, the hog is felt [1].
FELT = 1.1


def passes_per_s(array: NDArray[np.float64]) -> float:
    """Return how often a second the array is streamed [1/s]."""
    for length_s in (SETTLE_S, SAMPLE_S):
        begin, count = time.perf_counter(), 0
        while time.perf_counter() - begin < length_s:
            array *= 1.0000001
            count += 1
    return count / (time.perf_counter() - begin)


def sample(pid: int, array: NDArray[np.float64]) -> float:
    """Return how much longer the array takes beside the hog [1]."""
    os.kill(pid, signal.SIGSTOP)
    quiet = passes_per_s(array)
    os.kill(pid, signal.SIGCONT)
    return quiet / passes_per_s(array)


def measured(seconds: float) -> dict[float, list[float]]:
    """Return the slowdowns of each size [1], one of each at least."""
    own, *others = sorted(os.sched_getaffinity(0))
    if not others:
        sys.exit("hog: there is one core only; the hog needs another than the arrays")
    arrays = {mib: np.ones(int(mib * (1 << 17))) for mib in SIZES_MIB}
    found: dict[float, list[float]] = {mib: [] for mib in SIZES_MIB}
    with busy_core(str(others[0]), LOADS["memory"]) as hog:
        os.sched_setaffinity(0, {own})
        end = time.monotonic() + seconds
        while not found[SIZES_MIB[-1]] or time.monotonic() < end:
            for mib, array in arrays.items():
                found[mib].append(sample(hog.pid, array))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    found = measured(parser.parse_args().seconds)
    print(f"{'array':>10}{'samples':>9}{'mean':>8}{'p10':>8}{'p50':>8}{'p90':>8}  felt")
    for mib, values in found.items():
        low, middle, high = np.quantile(values, (0.1, 0.5, 0.9))
        felt = statistics.fmean(value > FELT for value in values)
        print(
            f"{mib:>6g} MiB{len(values):>9}{statistics.fmean(values):>7.2f}x"
            f"{low:>7.2f}x{middle:>7.2f}x{high:>7.2f}x{felt:>6.0%}"
        )


if __name__ == "__main__":
    main()
